"""A SELECT as counting queries: its table, condition, counts and groupings, and refusal of everything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowspace.domain import Domain
from rowspace.workload.sql_queries.columns import Columns
from rowspace.workload.sql_queries.conditions import ConditionReader
from rowspace.workload.sql_queries.counts import Count, read_count
from rowspace.workload.sql_queries.grouping import KeyReader, KeySet
from rowspace.workload.sql_queries.statements import Statement
from rowspace.workload.sql_queries.tables import read_source, read_where
from rowspace.workload.sql_queries.text import SqlText
from rowspace.workload.sql_queries.truths import Truth, all_of

if TYPE_CHECKING:
    from sqlglot import exp

# What a SELECT may have beside counts, and why the rest is refused. ORDER BY changes no number, so it is ignored.
_READ = frozenset({"expressions", "from", "from_", "where", "group", "order", "kind", "with", "with_"})
_REFUSED = {
    "joins": "a join is not over the one declared table; join before counting, and declare the joined table",
    "laterals": "a lateral join is not over the one declared table",
    "having": "HAVING chooses groups by their true counts, which is not linear; filter the released answers instead",
    "limit": "LIMIT chooses rows of the result, which is not a linear query; leave it out",
    "offset": "OFFSET chooses rows of the result, which is not a linear query; leave it out",
    "fetch": "FETCH chooses rows of the result, which is not a linear query; leave it out",
    "distinct": "SELECT DISTINCT is not a count of records; leave DISTINCT out, and GROUP BY what is selected",
    "into": "INTO writes a table; a query only counts",
    "qualify": "QUALIFY chooses rows by a window function, which is not a linear query",
    "windows": "window functions are not counts of records; use GROUP BY",
    "sample": "a sample is another table; count all records",
}


@dataclass(frozen=True)
class Select:
    """One statement, read: every count for every set of keys, over the records where `where` holds."""

    statement: Statement
    table: str
    where: Truth
    counts: tuple[Count, ...]
    key_sets: tuple[KeySet, ...]


def read_select(statement: Statement, domain: Domain, text: SqlText) -> Select:
    """Read one statement against a domain, or say where and why it is no linear counting query."""
    select, start = statement.select, statement.position
    unplaced = Columns(domain, text, frozenset(), start)
    _check_clauses(select, _READ, unplaced)
    source = read_source(select, unplaced)
    columns = source.columns
    reader = ConditionReader(columns)
    truth = all_of([source.where, read_where(select, reader)])
    counts, keys = _items(select, reader)
    group = select.args.get("group")
    read_keys = KeyReader(reader, select.expressions)
    key_sets = [()] if group is None else read_keys.sets(group)
    grouped = {key for key_set in key_sets for key in key_set}
    for item in keys:
        if read_keys.key(item) not in grouped:
            raise columns.error(item, "a selected column that is no count must be in GROUP BY; add it there")
    return Select(statement, source.table, truth, counts, tuple(key_sets))


def _items(select: exp.Select, reader: ConditionReader) -> tuple[tuple[Count, ...], list[exp.Expr]]:
    """The counts of a SELECT, and its other items."""
    counts: list[Count] = []
    keys: list[exp.Expr] = []
    for item in select.expressions:
        count = read_count(item, reader)
        if count is None:
            keys.append(item)
        else:
            counts.append(count)
    if not counts:
        position = reader.columns.start if not keys else reader.columns.position(keys[0])
        raise reader.columns.text.error(
            "this SELECT counts nothing, and records are never shown; write SELECT COUNT(*)", position
        )
    return tuple(counts), keys


def _check_clauses(select: exp.Select, read: frozenset[str], columns: Columns) -> None:
    """Refuse what no counting query has, with the reason."""
    for part, value in select.args.items():
        if value and part not in read:
            reason = _REFUSED.get(part, f"{part.strip('_').upper()} is not part of a counting query")
            node = value[0] if isinstance(value, list) else value
            position = columns.position(node) if hasattr(node, "walk") else columns.start
            raise columns.text.error(reason, position)
