"""WHERE, WHEN and FILTER: from SQL to the conditions of `rowspace.workload.predicate`."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from rowspace.domain import Categorical, Dates, DayOfWeek, Domain
from rowspace.exceptions import InvalidDomain
from rowspace.workload.predicate.cells import bins_between
from rowspace.workload.predicate.relations import LinearSum, related
from rowspace.workload.predicate.syntax import (
    MIRRORED,
    Comparison,
    Condition,
    Missing,
    Not,
    Term,
    Test,
    Value,
)
from rowspace.workload.sql_queries.statements import refusal
from rowspace.workload.sql_queries.subjects import Columns, Subject, compare_steps, read_subject
from rowspace.workload.sql_queries.truths import Truth, all_of, any_of, is_boolean, keeps_missing, negated


def matching(
    name: str, pattern: str, domain: Domain, position: int, *, ignore_case: bool
) -> Condition | None:
    """Where the text of an attribute or level matches, or None where some of its values are not listed."""
    owner, level = domain.resolve(name)
    attribute = domain[owner]
    if not isinstance(attribute, Categorical) or attribute.other is not None:
        return None
    labels = attribute.values if level is None else attribute.level(level).labels
    texts = tuple(label for label in labels if isinstance(label, str))
    if len(texts) < len(labels):
        return None
    wanted = pattern.casefold() if ignore_case else pattern
    found = tuple(text for text in texts if like(text.casefold() if ignore_case else text, wanted))
    # What matches nothing is false where the value is known, and open where it is missing.
    return Test(name, "in", found, position) if found else Not(Test(name, "in", texts, position))


def like(text: str, pattern: str) -> bool:
    """Whether a text matches a pattern of LIKE, in time of the product of their lengths.

    >>> like("Harbour", "H%b_ur"), like("Harbour", "H%x%")
    (True, False)
    """
    at = place = 0
    star, resume = -1, 0
    while at < len(text):
        if place < len(pattern) and pattern[place] == "%":
            star, resume = place, at
            place += 1
        elif place < len(pattern) and pattern[place] in ("_", text[at]):
            at, place = at + 1, place + 1
        elif star >= 0:  # let the last % take one more character
            resume += 1
            at, place = resume, star + 1
        else:
            return False
    return pattern[place:].strip("%") == ""


_LONGEST_NUMBER = 40
_FULL_DATE = re.compile(r"\d{4}-\d\d-\d\d(?!\d)", re.ASCII)
_COMPARISONS: dict[str, Comparison] = {
    "EQ": "=", "NEQ": "!=", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="
}  # fmt: skip
_ON_VALUES: dict[Comparison, Callable[[float | str, float | str], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class ConditionReader:
    """Reads the conditions of one statement."""

    columns: Columns

    def read(self, node: exp.Expr) -> Truth:
        """The truth a piece of SQL states; `PredicateError` for anything but tests of columns against values."""
        match node:
            case exp.Paren():
                return self.read(node.this)
            case exp.And():
                return all_of(self.read(part) for part in _chain(node, exp.And))
            case exp.Or():
                return any_of(self.read(part) for part in _chain(node, exp.Or))
            case exp.Not():
                return negated(self.read(node.this))
            case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
                return self.compare(node.this, _COMPARISONS[type(node).__name__], node.expression, node)
            case exp.Between() if not node.args.get("symmetric"):
                ends = (self.value(node.args["low"]), self.value(node.args["high"]))
                return self._test(node.this, "between", ends)
            case exp.In():
                return self._membership(node)
            case exp.Is():
                return self._is(node)
            case exp.Like() | exp.ILike():
                found = self._like(node)
                return negated(found) if node.args.get("negate") else found
            case exp.Column():
                return self._test(node, "=", (True,))
            case exp.Boolean():
                return bool(node.this)
        raise self.columns.error(node, refusal(node))

    def compare(self, left: exp.Expr, comparison: Comparison, right: exp.Expr, node: exp.Expr) -> Truth:
        """A column against a value on either side, two values such as ``1 = 1``, or columns with each other."""
        left, right = left.unnest(), right.unnest()
        subjects = read_subject(left, self.columns), read_subject(right, self.columns)
        if subjects[0] is not None and subjects[1] is None and self._is_value(right):
            return self._test_of(subjects[0], comparison, (self.value(right),), left)
        if subjects[1] is not None and subjects[0] is None and self._is_value(left):
            return self._test_of(subjects[1], MIRRORED[comparison], (self.value(left),), right)
        if not (self._is_value(left) and self._is_value(right)):
            sums = self._sum(left), self._sum(right)
            if sums[0] is None or sums[1] is None:
                raise self.columns.error(node, refusal(left if sums[0] is None else right))
            return related(sums[0], comparison, sums[1], self.columns.position(node), self.columns.text)
        first, second = self.value(left), self.value(right)
        if isinstance(first, str) != isinstance(second, str):
            raise self.columns.error(node, "a text is compared with a number")
        return bool(_ON_VALUES[comparison](first, second))

    def _is_value(self, node: exp.Expr) -> bool:
        """Whether a piece names no column; if it is no value either, reading it says why."""
        return node.find(exp.Column) is None

    def _sum(self, node: exp.Expr) -> LinearSum | None:
        """Columns and numbers, added up; None for anything else. Chains nest to the left and are walked."""
        terms: list[Term] = []
        constant: int | float = 0
        pending: list[tuple[int, exp.Expr]] = [(1, node)]
        while pending:
            sign, piece = pending.pop()
            piece = piece.unnest()
            match piece:
                case exp.Add() | exp.Sub():
                    second = sign if isinstance(piece, exp.Add) else -sign
                    pending += [(second, piece.expression), (sign, piece.this)]
                case exp.Neg():
                    pending.append((-sign, piece.this))
                case exp.Column():
                    terms.append(Term(sign, self.columns.name(piece), self.columns.position(piece)))
                case exp.Literal() if not piece.is_string:
                    number = self.value(piece)
                    assert not isinstance(number, str)
                    constant += sign * number
                case _:
                    return None
        return LinearSum(tuple(terms), constant)

    def value(self, node: exp.Expr) -> Value:
        """A constant: a text, a number or a boolean."""
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
            case exp.Cast() if node.to.this in exp.DataType.TEMPORAL_TYPES and node.this.is_string:
                return str(node.this.this)  # DATE '2024-03-01'
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

    def _test(self, node: exp.Expr, comparison: Comparison, values: tuple[Value, ...]) -> Truth:
        subject = read_subject(node, self.columns)
        if subject is None:
            raise self.columns.error(node, refusal(node.unnest()))
        return self._test_of(subject, comparison, values, node)

    def _test_of(
        self, subject: Subject, comparison: Comparison, values: tuple[Value, ...], node: exp.Expr
    ) -> Truth:
        """A subject against values."""
        name, position = subject.name, self.columns.position(node)
        if subject.steps is not None:
            try:
                return compare_steps(subject.steps, name, comparison, values, position)
            except InvalidDomain as error:
                raise self.columns.error(node, str(error)) from None
        attribute = self.columns.domain[self.columns.domain.resolve(name)[0]]
        if subject.weekday is not None:
            if comparison not in ("=", "!=", "in"):
                raise self.columns.error(node, "days of the week are in a circle; list them with IN (...)")
            days = subject.values(values)
            held: Condition = Test(name, "in", days or DayOfWeek().values, position)
            held = held if days else Not(held)
            return Not(held) if comparison == "!=" else held
        if isinstance(attribute, Dates) and subject.part is None:
            for value in values:
                if isinstance(value, str) and not _FULL_DATE.match(value):
                    raise self.columns.error(
                        node, "a date in SQL is written in full, as in DATE '2024-03-01'"
                    )
        test = Test(name, comparison, values, position, subject.part)
        return test if subject.part is not None else bins_between(test, attribute)

    def _like(self, node: exp.Expr) -> Truth:
        """LIKE of a column against a text."""
        subject, pattern = node.this.unnest(), node.expression
        if not isinstance(subject, exp.Column) or not (
            isinstance(pattern, exp.Literal) and pattern.is_string
        ):
            raise self.columns.error(node, refusal(node))
        name, position = self.columns.name(subject), self.columns.position(node)
        found = matching(
            name, str(pattern.this), self.columns.domain, position, ignore_case=isinstance(node, exp.ILike)
        )
        if found is None:
            raise self.columns.error(
                node, f"{name!r} has values that are not listed, so a pattern is not decided; write IN (...)"
            )
        return found

    def _membership(self, node: exp.In) -> Truth:
        listed = node.expressions
        if node.args.get("query") is not None:
            raise self.columns.error(node, refusal(node))
        if not listed or any(value for key, value in node.args.items() if key not in ("this", "expressions")):
            raise self.columns.error(node, "IN needs a list of values in parentheses")
        return self._test(node.this, "in", tuple(self.value(item) for item in listed))

    def _is(self, node: exp.Is) -> Truth:
        """IS TRUE, IS FALSE and IS NULL; NOT around them is read as such."""
        wanted, subject = node.expression, node.this.unnest()
        if isinstance(wanted, exp.Boolean):
            return is_boolean(self.read(subject), bool(wanted.this), self.columns.domain)
        if not isinstance(wanted, exp.Null) or not isinstance(subject, exp.Column):
            raise self.columns.error(node, refusal(node))
        name = self.columns.name(subject)
        attribute = self.columns.domain[self.columns.domain.resolve(name)[0]]
        if keeps_missing(attribute):
            return Missing(name, position=self.columns.position(subject))
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
