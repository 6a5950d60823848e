"""A text of counting queries as one workload."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rowspace.domain import Domain
from rowspace.exceptions import InvalidWorkload, PredicateError
from rowspace.files import open_regular
from rowspace.workload.part import Part
from rowspace.workload.predicate.tokens import with_quoting_advice
from rowspace.workload.sql_queries.counts import Count
from rowspace.workload.sql_queries.parts import PartBuilder
from rowspace.workload.sql_queries.selects import SelectQuery, read_select
from rowspace.workload.sql_queries.statements import MAX_LENGTH, SqlText, read_statements
from rowspace.workload.sql_queries.truths import all_of
from rowspace.workload.sums import MeasureSum, Valued, mean_parts, measured
from rowspace.workload.union import Workload


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
