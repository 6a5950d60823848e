"""The counts of a SELECT: COUNT(*), COUNT(*) FILTER, COUNT(CASE ...), SUM(CASE ... THEN 1 ELSE 0 END), COUNT_IF.

And of measures SUM(x), COUNT(x), and AVG(x), which is the one over the other, VAR_POP(x), VAR_SAMP(x), STDDEV_POP(x)
and STDDEV_SAMP(x); each with FILTER.

And GROUP BY: keys, and the sets of them that CUBE, ROLLUP and GROUPING SETS stand for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from rowspace.domain import DATE_PARTS, Attribute, Numeric
from rowspace.exceptions import PredicateError
from rowspace.workload.predicate.syntax import Condition, Missing, Value, names
from rowspace.workload.sql_queries.conditions import ConditionReader
from rowspace.workload.sql_queries.statements import SqlText, refusal, shown
from rowspace.workload.sql_queries.subjects import Subject, read_subject
from rowspace.workload.sql_queries.truths import Branch, Truth, all_of, keeps_missing, read_case, where_chosen


@dataclass(frozen=True)
class Count:
    """A column of counts: which records it counts beside those of WHERE, its alias, and where it stands.

    of, measure: what is asked of those records instead of their number: "sum", "records", "mean" or a spread of a
    measure. people: the column whose values are counted instead, each once.
    """

    condition: Truth
    alias: str | None
    position: int
    of: str = "count"
    measure: str | None = None
    people: str | None = None


def read_count(item: exp.Expr, reader: ConditionReader) -> Count | None:
    """The count that an item of a SELECT is, or None when it has nothing to do with counting."""
    body = item.this if isinstance(item, exp.Alias) else item
    if body.find(exp.AggFunc, exp.Window) is None:
        return None
    alias = item.alias if isinstance(item, exp.Alias) else None
    position = reader.columns.position(item)
    measured = _measured(body.unnest(), reader)
    if measured is not None:
        condition, of, name = measured
        words = f"{of} {'with' if of == 'records' else 'of'} {name}"
        return Count(condition, alias or words, position, of, name)
    counted, people = _of_people(body.unnest(), reader)
    return Count(_counted(counted, reader), alias or None, position, people=people)


def _of_people(node: exp.Expr, reader: ConditionReader) -> tuple[exp.Expr, str | None]:
    """COUNT(DISTINCT unit) as a count of records, and the column of the units: one that is no attribute."""
    for own in node.find_all(exp.Distinct):
        column = own.expressions[0].unnest() if len(own.expressions) == 1 else None
        if (
            isinstance(own.parent, exp.Count)
            and own.find_ancestor(exp.Query) is node.find_ancestor(exp.Query)
            and isinstance(column, exp.Column)
            and reader.columns.is_stranger(column)
        ):
            own.parent.set("this", exp.Star())
            return node, column.name
    return node, None


#: VARIANCE and STDDEV are those of a sample, as in PostgreSQL, DuckDB and Spark.
_OF_MEASURES: dict[type[exp.Expr], str] = {
    exp.Sum: "sum",
    exp.Count: "records",
    exp.Avg: "mean",
    exp.VariancePop: "variance",
    exp.StddevPop: "standard deviation",
    exp.Variance: "sample variance",
    exp.Stddev: "sample standard deviation",
    exp.StddevSamp: "sample standard deviation",
}


def _measured(node: exp.Expr, reader: ConditionReader) -> tuple[Truth, str, str] | None:
    """What an aggregate asks of a measure: of which records, what, of which one; None if of none."""
    if isinstance(node, exp.Filter):
        found = _measured(node.this, reader)
        if found is None:
            return None
        condition, of, name = found
        return all_of([condition, reader.read(node.expression.this)]), of, name
    if type(node) not in _OF_MEASURES or node.this is None or node.expressions:
        return None
    argument = node.this.unnest()
    if not isinstance(argument, exp.Column) or not reader.columns.is_measure(argument):
        return None
    return True, _OF_MEASURES[type(node)], reader.columns.spelt(argument)


def _counted(node: exp.Expr, reader: ConditionReader) -> Truth:
    """The records that an aggregate counts."""
    if isinstance(node, exp.AggFunc) and node.this is None:
        raise reader.columns.error(node, f"{node.sql_name()} needs something to count; write COUNT(*)")
    match node:
        case exp.Filter():
            return all_of([_counted(node.this, reader), reader.read(node.expression.this)])
        case exp.CountIf() if not isinstance(node.this, exp.Distinct):
            return reader.read(node.this)
        case exp.Count() if not node.expressions:
            return _of_count(node.this.unnest(), reader)
        case exp.Sum():
            return _of_sum(node.this.unnest(), reader)
    raise _not_linear(node, reader)


def _of_count(argument: exp.Expr, reader: ConditionReader) -> Truth:
    """COUNT(*), COUNT(1) or COUNT(CASE ...), which counts where the value is not NULL."""
    match argument:
        case exp.Star() | exp.Literal() | exp.Boolean():
            return True
        case exp.Case() | exp.If():
            branches = read_case(argument, reader)
            return where_chosen(
                branches, [branch.value is not None for branch in branches], reader.columns.domain
            )
        case exp.Distinct():
            raise reader.columns.error(
                argument,
                "COUNT(DISTINCT ...) is not a sum over records, so it is no linear counting query; "
                "GROUP BY the column, and count the groups of the release that are clearly not empty; COUNT(DISTINCT "
                "unit) counts people, where the column of the privacy unit is no attribute",
            )
        case exp.Column():
            name = reader.columns.name(argument)
            if keeps_missing(reader.columns.domain[reader.columns.domain.resolve(name)[0]]):
                return Missing(name, negated=True, position=reader.columns.position(argument))
            raise reader.columns.error(
                argument,
                "COUNT of a column skips its NULLs, which the domain does not tell apart; write COUNT(*)",
            )
    raise reader.columns.error(argument, refusal(argument))


def _of_sum(argument: exp.Expr, reader: ConditionReader) -> Truth:
    """SUM(CASE ... THEN 1 ELSE 0 END)."""
    if isinstance(argument, exp.Case | exp.If):
        branches = read_case(argument, reader)
        if all(_is_zero_or_one(branch.value) for branch in branches):
            return where_chosen(branches, [branch.value == 1 for branch in branches], reader.columns.domain)
    elif isinstance(argument, exp.Literal) and not argument.is_string and reader.value(argument) == 1:
        return True
    raise reader.columns.error(
        argument,
        "SUM adds up declared measures, as SUM(income), with FILTER (WHERE ...) for some records only, and counts, as "
        "SUM(CASE WHEN ... THEN 1 ELSE 0 END); this is neither",
    )


def _is_zero_or_one(value: Value | None) -> bool:
    """Whether SUM adds this as a count: 1 or nothing."""
    return value is None or (not isinstance(value, bool | str) and value in (0, 1))


def _not_linear(node: exp.Expr, reader: ConditionReader) -> PredicateError:
    """Why an expression around aggregates is refused."""
    if isinstance(node, exp.Window | exp.Query):
        return reader.columns.error(node, refusal(node))
    if isinstance(node, exp.AggFunc):
        name = node.sql_name()
        return reader.columns.error(
            node,
            f"{name} is not a count of records; only COUNT, and SUM(CASE WHEN ... THEN 1 ELSE 0 END), are, and SUM, "
            "AVG, VAR_POP and STDDEV_POP of declared measures",
        )
    return reader.columns.error(
        node,
        "arithmetic on counts is done on the released answers (release.difference, release.ratio, release.share); "
        "select each count by itself",
    )


#: Most sets of keys that one GROUP BY may stand for.
MAX_SETS = 4096


@dataclass(frozen=True)
class NameKey:
    """Groups by an attribute or a level of one."""

    name: str

    @property
    def names(self) -> frozenset[str]:
        """The attributes or levels it is about."""
        return frozenset({self.name})


@dataclass(frozen=True)
class CaseKey:
    """Groups by the branches of a CASE; branches of one value are one group."""

    branches: tuple[Branch, ...]

    @property
    def names(self) -> frozenset[str]:
        """The attributes or levels it is about."""
        found: list[Condition] = [b.condition for b in self.branches if not isinstance(b.condition, bool)]
        return frozenset(name for condition in found for name, _ in names(condition))


@dataclass(frozen=True)
class CellKey:
    """Groups the cells of an attribute by a part of their date, or by the step they lie on."""

    subject: Subject
    written: str = field(compare=False)
    position: int = field(compare=False)

    @property
    def names(self) -> frozenset[str]:
        """The attribute it is about."""
        return frozenset({self.subject.name})

    def codes(self, attribute: Attribute, text: SqlText) -> npt.NDArray[np.int64]:
        """The group of each cell."""
        assert isinstance(attribute, Numeric)
        found = None
        if self.subject.steps is not None:
            found = self.subject.steps.codes(attribute)
        elif self.subject.part is not None:
            part = DATE_PARTS[self.subject.part]
            first, last = part.spans(attribute)
            found = part.value(first) if np.array_equal(first, last) else None
        if found is None:
            raise text.error(
                f"cells of {self.subject.name!r} lie in several groups of {self.written}; group by the column itself, "
                "or declare finer cells that do not",
                self.position,
            )
        return found


Key = NameKey | CaseKey | CellKey
KeySet = tuple[Key, ...]


@dataclass(frozen=True)
class KeyReader:
    """Reads keys; `selected` are the items of the SELECT, which GROUP BY may name by number or alias."""

    conditions: ConditionReader
    selected: Sequence[exp.Expr]

    def key(self, node: exp.Expr) -> Key:
        """The key that an expression is."""
        columns = self.conditions.columns
        node = node.unalias().unnest()
        match node:
            case exp.Literal() if not node.is_string:
                return self._numbered(node)
            case exp.Column():
                aliased = self._aliased(node)
                return NameKey(columns.name(node)) if aliased is None else self.key(aliased)
            case exp.Case() | exp.If():
                return CaseKey(tuple(read_case(node, self.conditions)))
        subject = read_subject(node, columns)
        if subject is None:
            raise columns.error(
                node,
                f"{shown(node)} cannot be a group: expected a column, a level, CASE with bins, FLOOR(x / 10), EXTRACT "
                "or DATE_TRUNC",
            )
        if subject.steps is None and subject.part is None:
            return NameKey(subject.name)  # the hour or the day of the week, declared as attributes
        return CellKey(subject, shown(node), columns.position(node))

    def sets(self, group: exp.Group) -> list[KeySet]:
        """All sets of keys, the finest first, each once."""
        if group.args.get("all") or group.args.get("totals"):
            raise self._error(group, "GROUP BY ALL and WITH TOTALS are not read; name the columns")
        plain: list[exp.Expr] = list(group.expressions)
        # Some versions of the parser leave nested sets among the plain expressions.
        nested = [e for e in plain if isinstance(e, exp.Cube | exp.Rollup | exp.GroupingSets)]
        plain = [e for e in plain if e not in nested]
        nested += [e for name in ("rollup", "cube", "grouping_sets") for e in group.args.get(name) or ()]
        choices: list[list[KeySet]] = []
        for element in nested:
            if not element.expressions:  # WITH ROLLUP, WITH CUBE: of everything before it
                element = type(element)(expressions=[node.copy() for node in plain])
                plain = []
            choices.append(self._choices(element))
            self._check_number(choices, group)
        choices.insert(0, [tuple(self.key(node) for node in plain)])
        combined = (_joined(chosen) for chosen in product(*choices))
        return list(dict.fromkeys(combined))

    def _choices(self, element: exp.Expr) -> list[KeySet]:
        """The sets that one element of a GROUP BY chooses from."""
        if isinstance(element, exp.GroupingSets):
            return [keys for inner in element.expressions for keys in self._choices(inner)]
        if not isinstance(element, exp.Cube | exp.Rollup):
            return [self._unit(element)]
        units = [self._unit(node) for node in element.expressions]
        if isinstance(element, exp.Rollup):
            return [_joined(units[:length]) for length in range(len(units), -1, -1)]
        if 2 ** min(len(units), 40) > MAX_SETS:
            raise self._error(element, f"CUBE of {len(units)} columns is more than {MAX_SETS:,} groupings")
        lengths = range(len(units), -1, -1)
        return [_joined(chosen) for length in lengths for chosen in combinations(units, length)]

    def _unit(self, node: exp.Expr) -> KeySet:
        """One key, or several in parentheses that belong together."""
        return tuple(self.key(e) for e in (node.expressions if isinstance(node, exp.Tuple) else [node]))

    def _numbered(self, node: exp.Literal) -> Key:
        """GROUP BY 1."""
        text = str(node.this)
        number = int(text) if text.isdecimal() and len(text) < 6 else 0
        if not 1 <= number <= len(self.selected):
            raise self._error(node, f"GROUP BY {text[:20]}: there are {len(self.selected)} selected columns")
        item = self.selected[number - 1]
        if item.find(exp.AggFunc) is not None or isinstance(item.unalias(), exp.Literal):
            raise self._error(node, f"GROUP BY {number} names a column that is no group")
        return self.key(item)

    def _aliased(self, column: exp.Column) -> exp.Expr | None:
        """The selected item that a name in GROUP BY stands for; columns of the table come first, as in SQL."""
        if column.table or self.conditions.columns.knows(column.name):
            return None
        name = column.name.lower()
        named = (item for item in self.selected if isinstance(item, exp.Alias) and item.alias.lower() == name)
        found = next(named, None)
        # An alias of itself would be looked up forever.
        if found is None or (isinstance(found.this, exp.Column) and found.this.name.lower() == name):
            return None
        body: exp.Expr = found.this
        return body

    def _check_number(self, choices: list[list[KeySet]], node: exp.Expr) -> None:
        number = 1
        for choice in choices:
            number *= len(choice)
        if number > MAX_SETS:
            raise self._error(node, f"this GROUP BY stands for more than {MAX_SETS:,} groupings")

    def _error(self, node: exp.Expr, message: str) -> PredicateError:
        return self.conditions.columns.error(node, message)


def _joined(sets: Iterable[KeySet]) -> KeySet:
    """The union of some sets of keys, in order."""
    return tuple(dict.fromkeys(key for keys in sets for key in keys))
