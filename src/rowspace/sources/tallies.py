"""Counting many tables in one pass over codes that stream out of DuckDB, in this process.

The engine hands over each code as one small unsigned integer. Some ten thousand records at a time, the number of each
record's cell in a table is built up attribute by attribute, products shared by tables that begin with the same
attributes, and counted by `numpy.bincount`. Memory: the tables and one batch of codes, however many records there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import ibis
import numpy as np
import numpy.typing as npt

from rowspace.sources.coding import (
    CodedRows,
    cell_number,
    fetch,
    require_agreement,
    rows_with_codes,
    stream_duckdb,
)
from rowspace.sources.marginal_tables import AttributeSet, Counts

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

    For engines that are servers: GROUP BYs where the data lives, one scan for every `_TABLES` tables. Every record
    becomes a row for each table, with the number of its cell, the cells of all tables being numbered consecutively (a
    UNION ALL, on engines without arrays). `finished` is told how many tables are.

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


# Records counted at a time: their codes and cell numbers stay in the processor's cache.
_BATCH = 2**16


def tally(coded: CodedRows, shape: Sequence[int], tables: Mapping[AttributeSet, Counts]) -> None:
    """Add every record with all codes to the tables, which are C-contiguous and zero; one scan of the data.

    Raises:
        SourceError: The engine failed, or its own count of the records differs.
    """
    touched = sorted({i for attributes in tables for i in attributes}) or [0]
    # Codes of NULL are dropped here rather than in the engine, which would compute every code twice: once to decide
    # and once to send.
    rows = rows_with_codes(coded.rows, [i for i in range(len(shape)) if i not in touched])
    query = rows.select(**{f"code{i}": rows[f"code{i}"].cast(_smallest_type(shape[i])) for i in touched})
    tallies = _shared_products(tables)
    records = 0
    for nullable in stream_duckdb(coded.backend, query, _BATCH):
        batch = nullable.drop_null()
        columns = {i: batch.column(k).to_numpy() for k, i in enumerate(touched)}
        # A code beyond its attribute would be counted in somebody else's cell.
        require_agreement(all(column.max(initial=0) < shape[i] for i, column in columns.items()))
        _add({i: column.astype(np.intp) for i, column in columns.items()}, shape, tallies, batch.num_rows)
        records += batch.num_rows
    require_agreement(records == coded.inside)


def _smallest_type(size: int) -> str:
    """The smallest unsigned type for codes 0 … size-1."""
    return "uint8" if size <= 2**8 else "uint16" if size <= 2**16 else "uint32"


@dataclass(frozen=True)
class _Tally:
    """A table as a vector of cells, and how many leading attributes it shares with the table before it."""

    attributes: AttributeSet
    shared: int
    cells: Counts


def _shared_products(tables: Mapping[AttributeSet, Counts]) -> list[_Tally]:
    """The tables in lexicographic order, in which neighbours share the most."""
    tallies: list[_Tally] = []
    before: AttributeSet = ()
    for attributes in sorted(tables):
        shared = sum(
            1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, attributes, strict=False))
        )
        # A view: what is added to it is added to the table.
        tallies.append(_Tally(attributes, shared, tables[attributes].reshape(-1)))
        before = attributes
    return tallies


def _add(
    columns: Mapping[int, npt.NDArray[np.intp]], shape: Sequence[int], tallies: Sequence[_Tally], records: int
) -> None:
    """Add a batch of records, given by their codes, to all tables."""
    deepest = max((len(tally.attributes) for tally in tallies), default=0)
    # numbers[k] are the numbers of the cells in the table of the first k+1 attributes.
    numbers = [np.empty(records, dtype=np.intp) for _ in range(deepest)]
    for tally in tallies:
        for depth, i in enumerate(tally.attributes[tally.shared :], tally.shared):
            if depth == 0:
                numbers[0] = columns[i]
            else:
                np.multiply(numbers[depth - 1], shape[i], out=numbers[depth])
                numbers[depth] += columns[i]
        _count(
            numbers[len(tally.attributes) - 1] if tally.attributes else np.zeros(records, np.intp),
            tally.cells,
        )


def _count(numbers: npt.NDArray[np.intp], cells: Counts) -> None:
    """Add one to the cell of every number."""
    if cells.size <= 4 * numbers.size:
        cells += np.bincount(numbers, minlength=cells.size)
    else:  # as fast as a pass over all cells of a large table is slow
        np.add.at(cells, numbers, 1)
