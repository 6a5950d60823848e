"""Counting many tables where the data lives: GROUP BYs in the engine, of which only counts travel.

For engines that are servers. A query counts many tables in one scan: every record becomes one row for each table, with
the number of its cell, the cells of all tables being numbered consecutively. (A UNION ALL, on engines without arrays.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import ibis
import numpy as np

from rowspace.sources.coding import CodedRows, cell_number, fetch, require_agreement, rows_with_codes
from rowspace.sources.marginal_tables import AttributeSet, Counts

__all__ = ["group"]

# Other engines have arrays, but the tests run on these.
_ENGINES_WITH_ARRAYS = frozenset({"duckdb", "postgres", "pyspark"})

# Most tables in one query, which must not grow beyond what engines parse, and about as many cells in its answer.
_TABLES = 256
_CELLS = 2**22


def group(
    coded: CodedRows,
    shape: Sequence[int],
    tables: Mapping[AttributeSet, Counts],
    finished: Callable[[int], None],
) -> None:
    """Put the counts of the records with all codes into the tables, which are C-contiguous and zero.

    One scan of the data for every `_TABLES` tables. `finished` is told how many tables are.

    Raises:
        SourceError: The engine failed, or its own count of the records differs.
    """
    inside = rows_with_codes(coded.rows, range(len(shape)))
    done = 0
    for batch in _batches(tables):
        _group_batch(coded, inside, shape, batch)
        done += len(batch)
        finished(done)


def _batches(tables: Mapping[AttributeSet, Counts]) -> Iterator[dict[AttributeSet, Counts]]:
    """The tables of each query."""
    batch: dict[AttributeSet, Counts] = {}
    cells = 0
    for attributes, table in sorted(tables.items(), key=lambda item: item[0]):
        if batch and (len(batch) == _TABLES or cells + table.size > _CELLS):
            yield batch
            batch, cells = {}, 0
        batch[attributes] = table
        cells += table.size
    if batch:
        yield batch


def _group_batch(
    coded: CodedRows, inside: Any, shape: Sequence[int], tables: Mapping[AttributeSet, Counts]
) -> None:
    """Put the counts into the tables of one query."""
    ends = np.cumsum([table.size for table in tables.values()])
    starts = [int(end) - table.size for end, table in zip(ends, tables.values(), strict=True)]
    numbers = [
        cell_number(inside, attributes, shape) + start
        for attributes, start in zip(tables, starts, strict=True)
    ]
    if coded.backend.name in _ENGINES_WITH_ARRAYS:
        cells = inside.select(cell=ibis.array(numbers).unnest())
    else:
        parts = [inside.select(cell=number) for number in numbers]
        cells = parts[0] if len(parts) == 1 else ibis.union(*parts)
    groups = fetch(coded.backend, cells.group_by("cell").aggregate(records=cells.count()))
    cell = groups["cell"].to_numpy().astype(np.int64)
    require_agreement(not np.any((cell < 0) | (cell >= ends[-1])))
    counts = np.zeros(ends[-1], dtype=np.int64)
    counts[cell] = groups["records"].to_numpy().astype(np.int64)
    for table, end in zip(tables.values(), ends, strict=True):
        table.reshape(-1)[:] = counts[end - table.size : end]
        require_agreement(table.sum() == coded.inside)
