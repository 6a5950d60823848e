"""Counting many tables where the data lives: GROUP BYs in the engine, of which only counts travel.

For engines that are servers. Each query groups by the cells of several tables, joined by UNION ALL and told apart by
numbering the cells of all of them consecutively.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ibis
import numpy as np

from rowspace.sources.coding import CodedRows, cell_number, fetch, require_agreement, rows_with_codes
from rowspace.sources.marginal_tables import AttributeSet, Counts

__all__ = ["group"]

# Tables in one query: more save no time, and a query must not grow beyond what engines parse.
_BATCH = 16


def group(
    coded: CodedRows,
    shape: Sequence[int],
    tables: Mapping[AttributeSet, Counts],
    finished: Callable[[int], None],
) -> None:
    """Put the counts of the records with all codes into the tables, which are C-contiguous and zero.

    One scan of the data for each table, unless the engine is clever. `finished` is told how many tables are.

    Raises:
        SourceError: The engine failed, or its own count of the records differs.
    """
    inside = rows_with_codes(coded.rows, range(len(shape)))
    sets = sorted(tables)
    for start in range(0, len(sets), _BATCH):
        _group_batch(
            coded,
            inside,
            shape,
            {attributes: tables[attributes] for attributes in sets[start : start + _BATCH]},
        )
        finished(min(start + _BATCH, len(sets)))


def _group_batch(
    coded: CodedRows, inside: Any, shape: Sequence[int], tables: Mapping[AttributeSet, Counts]
) -> None:
    """Put the counts into the tables of one query."""
    ends = np.cumsum([table.size for table in tables.values()])
    queries = []
    for attributes, table, end in zip(tables, tables.values(), ends, strict=True):
        cells = inside.select(cell=cell_number(inside, attributes, shape) + int(end - table.size))
        queries.append(cells.group_by("cell").aggregate(records=cells.count()))
    groups = fetch(coded.backend, queries[0] if len(queries) == 1 else ibis.union(*queries))
    cell = groups["cell"].to_numpy().astype(np.int64)
    require_agreement(not np.any((cell < 0) | (cell >= ends[-1])))
    counts = np.zeros(ends[-1], dtype=np.int64)
    counts[cell] = groups["records"].to_numpy().astype(np.int64)
    for table, end in zip(tables.values(), ends, strict=True):
        table.reshape(-1)[:] = counts[end - table.size : end]
        require_agreement(table.sum() == coded.inside)
