"""The counts of a SELECT: COUNT(*), COUNT(*) FILTER, COUNT(CASE ...), SUM(CASE ... THEN 1 ELSE 0 END), COUNT_IF.

And of measures SUM(x), COUNT(x), and AVG(x), which is the one over the other, VAR_POP(x), VAR_SAMP(x), STDDEV_POP(x)
and STDDEV_SAMP(x); each with FILTER.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from rowspace.exceptions import PredicateError
from rowspace.workload.predicate.syntax import Missing, Value
from rowspace.workload.sql_queries.conditions import ConditionReader
from rowspace.workload.sql_queries.statements import refusal
from rowspace.workload.sql_queries.truths import Truth, all_of, keeps_missing, read_case, where_chosen


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
