"""WHERE, WHEN and FILTER: from SQL to the conditions of `rowspace.workload.predicate`.

A truth is a condition or, for what holds always or never (``1 = 1``), a bool.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowspace.domain import Categorical
from rowspace.workload.predicate.syntax import And, Comparison, Condition, Not, Or, Test, Value
from rowspace.workload.sql_queries.columns import Columns
from rowspace.workload.sql_queries.reasons import refusal

if TYPE_CHECKING:
    from sqlglot import exp

Truth = Condition | bool

_LONGEST_NUMBER = 40
_COMPARISONS: dict[str, Comparison] = {
    "EQ": "=", "NEQ": "!=", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="
}  # fmt: skip
_MIRRORED: dict[Comparison, Comparison] = {
    "=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="
}  # fmt: skip
_ON_VALUES: dict[Comparison, Callable[[float | str, float | str], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def all_of(truths: Iterable[Truth]) -> Truth:
    """Where all hold."""
    found: list[Condition] = []
    for truth in truths:
        if truth is False:
            return False
        if not isinstance(truth, bool):
            found.extend(truth.conditions if isinstance(truth, And) else [truth])
    return True if not found else found[0] if len(found) == 1 else And(tuple(found))


def any_of(truths: Iterable[Truth]) -> Truth:
    """Where some holds."""
    found: list[Condition] = []
    for truth in truths:
        if truth is True:
            return True
        if not isinstance(truth, bool):
            found.extend(truth.conditions if isinstance(truth, Or) else [truth])
    return False if not found else found[0] if len(found) == 1 else Or(tuple(found))


def none_of(truths: Iterable[Truth]) -> Truth:
    """Where none holds."""
    truth = any_of(truths)
    return not truth if isinstance(truth, bool) else Not(truth)


@dataclass(frozen=True)
class ConditionReader:
    """Reads the conditions of one statement."""

    columns: Columns

    def read(self, node: exp.Expr) -> Truth:
        """The truth a piece of SQL states; `PredicateError` for anything but tests of columns against values."""
        from sqlglot import exp

        match node:
            case exp.Paren():
                return self.read(node.this)
            case exp.And():
                return all_of(self.read(part) for part in _chain(node, exp.And))
            case exp.Or():
                return any_of(self.read(part) for part in _chain(node, exp.Or))
            case exp.Not():
                return none_of([self.read(node.this)])
            case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
                return self.compare(node.this, _COMPARISONS[type(node).__name__], node.expression, node)
            case exp.Between() if not node.args.get("symmetric"):
                ends = (self.value(node.args["low"]), self.value(node.args["high"]))
                return self._test(node.this, "between", ends)
            case exp.In():
                return self._membership(node)
            case exp.Is():
                return self._is(node)
            case exp.Column():
                return self._test(node, "=", (True,))
            case exp.Boolean():
                return bool(node.this)
        raise self.columns.error(node, refusal(node))

    def compare(self, left: exp.Expr, comparison: Comparison, right: exp.Expr, node: exp.Expr) -> Truth:
        """A column against a value on either side, or two values such as ``1 = 1``."""
        from sqlglot import exp

        left, right = left.unnest(), right.unnest()
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            raise self.columns.error(node, refusal(right))
        if isinstance(left, exp.Column):
            return self._test(left, comparison, (self.value(right),))
        if isinstance(right, exp.Column):
            return self._test(right, _MIRRORED[comparison], (self.value(left),))
        first, second = self.value(left), self.value(right)
        if isinstance(first, str) != isinstance(second, str):
            raise self.columns.error(node, "a text is compared with a number")
        return bool(_ON_VALUES[comparison](first, second))

    def value(self, node: exp.Expr) -> Value:
        """A constant: a text, a number or a boolean."""
        from sqlglot import exp

        match node:
            case exp.Paren():
                return self.value(node.this)
            case exp.Literal() if node.is_string:
                return str(node.this)
            case exp.Literal():
                return self._number(node, str(node.this))
            case exp.Boolean():
                return bool(node.this)
            case exp.Neg():
                inner = self.value(node.this)
                if not isinstance(inner, bool | str):
                    return -inner
        raise self.columns.error(node, refusal(node))

    def _number(self, node: exp.Expr, text: str) -> int | float:
        if len(text) > _LONGEST_NUMBER:
            raise self.columns.error(
                node, f"a number has at most {_LONGEST_NUMBER} characters, got {len(text)}"
            )
        if text.isdecimal():
            return int(text)
        try:
            number = float(text)
        except ValueError:
            number = math.inf
        if not math.isfinite(number):
            raise self.columns.error(node, "expected a finite decimal number")
        return number

    def _test(self, node: exp.Expr, comparison: Comparison, values: tuple[Value, ...]) -> Test:
        from sqlglot import exp

        node = node.unnest()
        if not isinstance(node, exp.Column):
            raise self.columns.error(node, refusal(node))
        return Test(self.columns.name(node), comparison, values, self.columns.position(node))

    def _membership(self, node: exp.In) -> Test:
        listed = node.expressions
        if node.args.get("query") is not None:
            raise self.columns.error(node, refusal(node))
        if not listed or any(value for key, value in node.args.items() if key not in ("this", "expressions")):
            raise self.columns.error(node, "IN needs a list of values in parentheses")
        return self._test(node.this, "in", tuple(self.value(item) for item in listed))

    def _is(self, node: exp.Is) -> Truth:
        """IS [NOT] TRUE or FALSE, and IS [NOT] NULL, which the domain decides beforehand."""
        from sqlglot import exp

        wanted, subject = node.expression, node.this.unnest()
        if isinstance(wanted, exp.Boolean):
            return self._test(subject, "=", (bool(wanted.this),))
        if not isinstance(wanted, exp.Null) or not isinstance(subject, exp.Column):
            raise self.columns.error(node, refusal(node))
        name = self.columns.name(subject)
        attribute = self.columns.domain[self.columns.domain.resolve(name)[0]]
        if isinstance(attribute, Categorical) and attribute.other is not None:
            raise self.columns.error(
                node,
                f"NULLs of {name!r} share the bucket {attribute.other!r} with other values; compare with it instead",
            )
        return False  # records with a NULL here are outside the domain


def _chain(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """The links of ``a AND b AND c``, which the parser nests to the left: walked without calling itself."""
    links: list[exp.Expr] = []
    pending = [node]
    while pending:
        link = pending.pop()
        if isinstance(link, kind):
            pending.extend((link.expression, link.this))
        else:
            links.append(link)
    return links
