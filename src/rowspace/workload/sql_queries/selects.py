"""A SELECT as counting queries: its table, condition, counts and groupings, and refusal of everything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowspace.domain import Domain
from rowspace.workload.sql_queries.columns import Columns
from rowspace.workload.sql_queries.conditions import ConditionReader, Truth
from rowspace.workload.sql_queries.counts import Count, read_count
from rowspace.workload.sql_queries.grouping import KeyReader, KeySet
from rowspace.workload.sql_queries.statements import Statement
from rowspace.workload.sql_queries.text import SqlText

if TYPE_CHECKING:
    from sqlglot import exp

# What a SELECT may have beside counts, and why the rest is refused. ORDER BY changes no number, so it is ignored.
_READ = frozenset({"expressions", "from", "from_", "where", "group", "order", "kind"})
_REFUSED = {
    "joins": "a join is not over the one declared table; join before counting, and declare the joined table",
    "laterals": "a lateral join is not over the one declared table",
    "having": "HAVING chooses groups by their true counts, which is not a linear query; filter the released answers",
    "limit": "LIMIT chooses rows of the result, which is not a linear query; leave it out",
    "offset": "OFFSET chooses rows of the result, which is not a linear query; leave it out",
    "fetch": "FETCH chooses rows of the result, which is not a linear query; leave it out",
    "distinct": "SELECT DISTINCT is not a count of records; leave DISTINCT out",
    "with": "a WITH clause is a subquery; write one SELECT over the declared table",
    "with_": "a WITH clause is a subquery; write one SELECT over the declared table",
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
    for part, value in select.args.items():
        if value and part not in _READ:
            reason = _REFUSED.get(part, f"{part.strip('_').upper()} is not part of a counting query")
            node = value[0] if isinstance(value, list) else value
            raise text.error(reason, unplaced.position(node) if hasattr(node, "walk") else start)
    table, names = _table(select, unplaced)
    columns = Columns(domain, text, names, start)
    reader = ConditionReader(columns)
    where = select.args.get("where")
    truth = True if where is None else reader.read(where.this)
    counts, keys = _items(select, reader)
    group = select.args.get("group")
    read_keys = KeyReader(reader, select.expressions)
    key_sets = [()] if group is None else read_keys.sets(group)
    grouped = {key for key_set in key_sets for key in key_set}
    for item in keys:
        if read_keys.key(item) not in grouped:
            raise columns.error(item, "a selected column that is no count must be in GROUP BY; add it there")
    return Select(statement, table, truth, counts, tuple(key_sets))


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


def _table(select: exp.Select, columns: Columns) -> tuple[str, frozenset[str]]:
    """The one table of a statement, and the names its columns may be qualified with."""
    from sqlglot import exp

    source = select.args.get("from_") or select.args.get("from")
    if source is None:
        raise columns.text.error("a query needs FROM and the name of the table", columns.start)
    table = source.this
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise columns.error(table, "a subquery is not the declared table; write FROM and the table's name")
    for part, value in table.args.items():
        if value and part not in ("this", "alias", "db", "catalog"):
            reason = _REFUSED.get(part, f"{part} of a table is not part of a counting query")
            raise columns.error(table, reason)
    alias = table.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        raise columns.error(table, "columns cannot be renamed in FROM; use the declared names")
    own = {table.name.lower()} if alias is None else {table.name.lower(), str(alias.name).lower()}
    return ".".join(part.name for part in table.parts), frozenset(own)
