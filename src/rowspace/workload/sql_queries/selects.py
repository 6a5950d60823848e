"""A SELECT as counting queries: its table, condition, counts and groupings, and refusal of everything else.

Several statements are put together as one workload.
"""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlglot import exp

from rowspace.domain import Domain
from rowspace.exceptions import InvalidWorkload, PredicateError
from rowspace.files import open_regular
from rowspace.workload.part import Part
from rowspace.workload.predicate.syntax import with_quoting_advice
from rowspace.workload.sql_queries.conditions import ConditionReader
from rowspace.workload.sql_queries.counts import Count, KeyReader, KeySet, read_count
from rowspace.workload.sql_queries.parts import PartBuilder
from rowspace.workload.sql_queries.statements import MAX_LENGTH, SqlStatement, SqlText, read_statements
from rowspace.workload.sql_queries.subjects import Columns
from rowspace.workload.sql_queries.truths import Truth, all_of
from rowspace.workload.sums import MeasureSum, Valued, mean_parts, measured
from rowspace.workload.union import Workload

_FILTERS = "a subquery may only filter the declared table, as in SELECT * FROM people WHERE age >= 18"
_FILTER_CLAUSES = frozenset({"expressions", "from", "from_", "where", "order", "kind", "with", "with_"})


@dataclass(frozen=True)
class FromClause:
    """What a SELECT is from: the declared table, where its records are filtered, and the names of its columns."""

    table: str
    where: Truth
    columns: Columns


def read_where(select: exp.Select, reader: ConditionReader) -> Truth:
    """The condition of a SELECT by itself."""
    where = select.args.get("where")
    return True if where is None else reader.read(where.this)


def read_source(
    select: exp.Select, columns: Columns, outer: Mapping[str, FromClause] | None = None
) -> FromClause:
    """The table of a SELECT; `outer` are the filtered tables that WITH clauses around it have named."""
    known = dict(outer or {})
    with_clause = select.args.get("with_") or select.args.get("with")
    if with_clause is not None:
        if with_clause.args.get("recursive"):
            raise columns.error(with_clause, f"WITH RECURSIVE is not read: {_FILTERS}")
        for cte in with_clause.expressions:
            # Each sees those before it, so that one may be called like the table it filters.
            known[cte.alias.lower()] = _read_filter(cte.this, cte.args.get("alias"), columns, known)
    source = select.args.get("from_") or select.args.get("from")
    if source is None:
        raise columns.text.error("a query needs FROM and the name of the table", columns.start)
    table = source.this
    if isinstance(table, exp.Subquery):
        return _read_filter(table.this, table.args.get("alias"), columns, known)
    return _read_table(table, columns, known)


def _read_table(table: exp.Expr, columns: Columns, known: Mapping[str, FromClause]) -> FromClause:
    """A table by its name: the declared one, or one that a WITH clause has named."""
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise columns.error(table, "expected FROM and the table's name, or a subquery that filters it")
    for part, value in table.args.items():
        if value and part not in ("this", "alias", "db", "catalog"):
            raise columns.error(
                table, _REFUSED.get(part, f"{part} of a table is not part of a counting query")
            )
    alias = table.args.get("alias")
    names = _names(alias, columns) or frozenset({table.name.lower()})
    names |= {table.name.lower()}
    filtered = known.get(table.name.lower()) if not table.db else None
    if filtered is not None:
        return replace(filtered, columns=replace(filtered.columns, tables=names))
    full = ".".join(part.name for part in table.parts)
    return FromClause(full, True, replace(columns, tables=names, selected=None))


def _read_filter(
    query: exp.Expr, alias: exp.Expr | None, columns: Columns, known: Mapping[str, FromClause]
) -> FromClause:
    """A subquery that hands on some records of the declared table, with all or some of its columns."""
    if not isinstance(query, exp.Select):
        raise columns.error(query, _FILTERS)
    for part, value in query.args.items():
        if value and part not in _FILTER_CLAUSES:
            raise columns.error(query, f"{part.strip('_').upper()} in a subquery is not read: {_FILTERS}")
    source = read_source(query, columns, known)
    where = all_of([source.where, read_where(query, ConditionReader(source.columns))])
    selected = _selected(query, source.columns)
    return FromClause(
        source.table, where, replace(source.columns, tables=_names(alias, columns), selected=selected)
    )


def _selected(query: exp.Select, columns: Columns) -> frozenset[str] | None:
    """The columns that a subquery hands on, under their own names; None for all that it has."""
    found: set[str] = set()
    for item in query.expressions:
        if item.is_star and isinstance(item, exp.Star | exp.Column):
            return columns.selected
        if not isinstance(item, exp.Column):
            raise columns.error(
                item, f"a computed or renamed column in a subquery is not read; write it outside. {_FILTERS}"
            )
        columns.name(item)
        found.add(item.name.lower())
    return frozenset(found)


def _names(alias: exp.Expr | None, columns: Columns) -> frozenset[str]:
    """The name that FROM or WITH gives to a table."""
    if alias is None:
        return frozenset()
    if alias.args.get("columns"):
        raise columns.error(alias, "columns cannot be renamed; use the declared names")
    return frozenset({str(alias.name).lower()})


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
class SelectQuery:
    """One statement, read: every count for every set of keys, over the records where `where` holds."""

    statement: SqlStatement
    table: str
    where: Truth
    counts: tuple[Count, ...]
    key_sets: tuple[KeySet, ...]


def read_select(statement: SqlStatement, domain: Domain, text: SqlText) -> SelectQuery:
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
    return SelectQuery(statement, source.table, truth, counts, tuple(key_sets))


def reader_of(select: SelectQuery, domain: Domain, text: SqlText) -> ConditionReader:
    """What reads the columns of a statement that was read before."""
    unplaced = Columns(domain, text, frozenset(), select.statement.position)
    return ConditionReader(read_source(select.statement.select, unplaced).columns)


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


def read_sql(domain: Domain, text: object) -> Workload:
    """What `sql` gives."""
    if not isinstance(domain, Domain):
        raise InvalidWorkload(f"a workload needs a Domain first, got {type(domain).__name__}")
    source = SqlText(_content(text))
    try:
        return workload_of(domain, _selects(domain, source), source)
    except PredicateError as error:
        raise with_quoting_advice(error, source.text, domain.names) from None


def _selects(domain: Domain, source: SqlText) -> list[SelectQuery]:
    """The statements of a text."""
    selects = [read_select(statement, domain, source) for statement in read_statements(source)]
    if not selects:
        raise InvalidWorkload("expected at least one statement such as SELECT COUNT(*) FROM people, got none")
    _check_one_table(selects, source)
    return selects


def workload_of(domain: Domain, selects: Sequence[SelectQuery], source: SqlText) -> Workload:
    """Statements as one workload: count after count, each for every set of keys."""
    builder = PartBuilder(domain, source)
    parts: list[Part] = []
    for select, names in zip(selects, _group_names(selects), strict=True):
        for count, name in zip(select.counts, names, strict=True):
            truth = all_of([select.where, count.condition])
            for keys in select.key_sets:
                plain = Part(builder.factors(truth, keys, count.position), name=name)
                parts.extend(_asked(plain, count, domain))
    return Workload(domain, parts)


def _asked(plain: Part, count: Count, domain: Domain) -> list[Part]:
    """A count as it is, or what is asked of a measure instead of it."""
    if count.measure is None:
        return [replace(plain, people=count.people)]
    own = domain.subset([count.measure])
    if count.of not in (MeasureSum.word, Valued.word):
        return mean_parts(plain, own, count.of)
    return [measured(plain, MeasureSum(own) if count.of == MeasureSum.word else Valued(own))]


def _content(text: object) -> str:
    """The SQL itself."""
    if isinstance(text, str):
        return text
    if not isinstance(text, os.PathLike):
        raise InvalidWorkload(f"SQL must be text, or a path of a file, got {type(text).__name__}")
    path = Path(text)
    try:
        with io.TextIOWrapper(open_regular(path), encoding="utf-8") as file:
            return file.read(MAX_LENGTH + 1)
    except OSError as error:
        raise InvalidWorkload(f"cannot read SQL from {path.name!r}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidWorkload(f"expected SQL in UTF-8 in {path.name!r}") from None


def _check_one_table(selects: list[SelectQuery], source: SqlText) -> None:
    """A workload is over one table, whatever it is called."""
    first = selects[0].table.lower()
    for select in selects:
        if select.table.lower() != first:
            raise source.error(
                f"this statement is about table {select.table[:60]!r}, the first one about {selects[0].table[:60]!r}; "
                "read the statements of each table by themselves",
                select.statement.position,
            )


def _group_names(selects: Sequence[SelectQuery]) -> list[list[str]]:
    """For every statement, the group of each of its counts."""
    # An alias such as n that many statements use says nothing about them.
    used = Counter(count.alias for select in selects for count in select.counts)
    names = []
    for select in selects:
        given = select.statement.name
        own = given or f"query {select.statement.number}"
        found = []
        for number, count in enumerate(select.counts, start=1):
            if len(select.counts) == 1:
                unique = count.alias if count.alias and used[count.alias] == 1 else None
                found.append(given or _printable(unique) or own)
            else:
                found.append(f"{own}: {_printable(count.alias) or f'count {number}'}")
        names.append(found)
    return names


def _printable(alias: str | None) -> str | None:
    """An alias that can stand in a table."""
    return alias if alias and alias.isprintable() and len(alias) <= 200 else None
