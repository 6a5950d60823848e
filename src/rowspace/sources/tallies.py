"""Counting many tables in one pass over codes that stream out of DuckDB, in this process.

The engine hands over each code as one small unsigned integer. Some ten thousand records at a time, the number of each
record's cell in a table is built up attribute by attribute, products shared by tables that begin with the same
attributes, and counted by `numpy.bincount`. Memory: the tables and one batch of codes, however many records there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import reduce
from itertools import takewhile
from typing import Any

import ibis
import numpy as np
import numpy.typing as npt

from rowspace.domain import Domain
from rowspace.exceptions import SourceError
from rowspace.operators import Vector
from rowspace.sources.coding import (
    CodedRows,
    cell_number,
    require_agreement,
    rows_with_codes,
    stream_duckdb,
)
from rowspace.sources.counting import grouped
from rowspace.sources.marginal_tables import AttributeSet, Counts
from rowspace.sources.parts import PartSums, Tail, Tails, code_sizes, measured, parts_column, tails_of
from rowspace.sources.snapshot import read_once

# Other engines have arrays, but the tests run on these.
_ENGINES_WITH_ARRAYS = frozenset({"duckdb", "postgres", "pyspark"})

# Most tables in one query, which must not grow beyond what engines parse, and about as many cells in its answer.
# Spark makes one method of a query, and the more tables the slower: it is cheaper to ask it several times.
_TABLES = 256
_TABLES_ON_SPARK = 14
_CELLS = 2**22


def group(
    coded: CodedRows,
    domain: Domain,
    tables: Mapping[AttributeSet, Counts],
    finished: Callable[[int], None],
) -> None:
    """Put the counts of the records with all codes into the tables, which are C-contiguous and zero.

    For engines that are servers: GROUP BYs where the data lives, one scan for every `_TABLES` tables (fewer on Spark).
    Every record becomes a row for each table, with the number of its cell, the cells of all tables being numbered
    consecutively (a UNION ALL, on engines without arrays). Tables of the same measures are counted together. `finished`
    is told how many tables are.

    Raises:
        SourceError: The engine failed, or its own count of the records differs.
    """
    inside = rows_with_codes(coded.rows, range(len(domain)))
    summed = {attributes: PartSums(attributes, domain) for attributes in sorted(tables)}
    most = min(_TABLES, _TABLES_ON_SPARK) if coded.backend.name == "pyspark" else _TABLES
    batches = list(_batches(summed, most))
    several = len(batches) > 1 and not coded.is_still

    def count() -> None:
        done = 0
        with read_once(coded.backend, inside) if several else nullcontext(inside) as rows:
            for batch in batches:
                _group_batch(coded, rows, domain, {own: (summed[own], tables[own]) for own in batch})
                done += len(batch)
                finished(done)

    if several:
        # What an executor kept may be lost with it: then all tables are counted anew, of another read.
        with suppress(SourceError):
            return count()
    count()


def _batches(summed: Mapping[AttributeSet, PartSums], most: int) -> Iterator[list[AttributeSet]]:
    """The tables of each query; those of a query have the same measures."""
    batch: list[AttributeSet] = []
    cells = 0
    for attributes in sorted(summed, key=lambda own: (summed[own].measures, own)):
        own = summed[attributes]
        other = batch and summed[batch[0]].measures != own.measures
        if batch and (other or len(batch) == most or cells + own.groups > _CELLS):
            yield batch
            batch, cells = [], 0
        batch.append(attributes)
        cells += own.groups
    if batch:
        yield batch


def _group_batch(
    coded: CodedRows, inside: Any, domain: Domain, tables: Mapping[AttributeSet, tuple[PartSums, Counts]]
) -> None:
    """Put the counts into the tables of one query."""
    ends = np.cumsum([own.groups for own, _ in tables.values()])
    starts = [int(end) - own.groups for end, (own, _) in zip(ends, tables.values(), strict=True)]
    numbers = [
        cell_number(inside, attributes, code_sizes(domain)) + start
        for attributes, start in zip(tables, starts, strict=True)
    ]
    first = next(iter(tables.values()))[0]
    sums = first.columns(inside)
    if coded.backend.name in _ENGINES_WITH_ARRAYS:
        cells = inside.select(cell=ibis.array(numbers).unnest(), **sums)
    else:
        parts = [inside.select(cell=number, **sums) for number in numbers]
        cells = parts[0] if len(parts) == 1 else ibis.union(*parts)
    records, totals = grouped(coded.backend, cells, int(ends[-1]), first.sums)
    for (own, table), start, end in zip(tables.values(), starts, ends, strict=True):
        require_agreement(records[start:end].sum() == coded.inside)
        table[...] = own.table(
            records[start:end], {tails: total[start:end] for tails, total in totals.items()}
        )


# Records counted at a time: their codes and cell numbers stay in the processor's cache.
_BATCH = 2**16


def tally(coded: CodedRows, domain: Domain, tables: Mapping[AttributeSet, Counts]) -> None:
    """Add every record with all codes to the tables, which are C-contiguous and zero; one scan of the data.

    Raises:
        SourceError: The engine failed, or its own count of the records differs.
    """
    shape = code_sizes(domain)
    touched = sorted({i for attributes in tables for i in attributes}) or [0]
    summed = {attributes: PartSums(attributes, domain) for attributes in tables}
    tails = [tail for i in measured(domain) if i in touched for tail in tails_of(domain, i)]
    # Codes of NULL are dropped here rather than in the engine, which would compute every code twice: once to decide
    # and once to send.
    rows = rows_with_codes(coded.rows, [i for i in range(len(shape)) if i not in touched])
    codes = {f"code{i}": rows[f"code{i}"].cast(_smallest_type(shape[i])) for i in touched}
    query = rows.select(**codes, **{name: rows[name] for name in map(parts_column, tails)})
    tallies = _shared_products(tables, summed)
    records = 0
    for nullable in stream_duckdb(coded.backend, query, _BATCH):
        batch = nullable.drop_null()
        columns = {i: batch.column(k).to_numpy() for k, i in enumerate(touched)}
        parts = {tail: batch.column(len(touched) + k).to_numpy() for k, tail in enumerate(tails)}
        # A code beyond its attribute would be counted in somebody else's cell.
        require_agreement(all(column.max(initial=0) < shape[i] for i, column in columns.items()))
        _add(columns, shape, tallies, batch.num_rows, _weights(tallies, parts))
        records += batch.num_rows
    require_agreement(records == coded.inside)
    if domain.measures:
        for own in tallies:
            tables[own.attributes][...] = summed[own.attributes].table(own.cells, own.sums)


def _smallest_type(size: int) -> str:
    """The smallest unsigned type for codes 0 … size-1."""
    return "uint8" if size <= 2**8 else "uint16" if size <= 2**16 else "uint32"


@dataclass(frozen=True)
class _Tally:
    """A table as a vector of cells, and how many leading attributes it shares with the table before it.

    Where a domain has measures, cells are groups of codes, and the parts in each are summed by choices of tails.
    """

    attributes: AttributeSet
    shared: int
    cells: Counts
    sums: Mapping[Tails, Counts]


def _shared_products(
    tables: Mapping[AttributeSet, Counts], summed: Mapping[AttributeSet, PartSums]
) -> list[_Tally]:
    """The tables in lexicographic order, in which neighbours share the most."""
    tallies: list[_Tally] = []
    before: AttributeSet = ()
    for attributes in sorted(tables):
        shared = sum(
            1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, attributes, strict=False))
        )
        own = summed[attributes]
        if own.in_parts:
            cells, sums = (
                np.zeros(own.groups, np.int64),
                {s: np.zeros(own.groups, np.int64) for s in own.sums},
            )
        else:  # a view: what is added to it is added to the table
            cells, sums = tables[attributes].reshape(-1), {}
        tallies.append(_Tally(attributes, shared, cells, sums))
        before = attributes
    return tallies


# Numbers of cells: tables have at most 2²⁸. Half the memory traffic of `numpy.intp`.
_Numbers = npt.NDArray[np.uint32]


def _weights(tallies: Sequence[_Tally], parts: Mapping[Tail, Counts]) -> dict[Tails, Vector]:
    """The parts of each record of a batch that are in all of some tails, for every choice that some table needs."""
    needed = {tails for tally in tallies for tails in tally.sums}
    return {tails: reduce(np.minimum, [parts[tail] for tail in tails]).astype(np.float64) for tails in needed}


def _add(
    columns: Mapping[int, npt.NDArray[np.unsignedinteger]],
    shape: Sequence[int],
    tallies: Sequence[_Tally],
    records: int,
    weights: Mapping[Tails, Vector],
) -> None:
    """Add a batch of records, given by their codes, to all tables."""
    deepest = max((len(tally.attributes) for tally in tallies), default=0)
    # numbers[k] are the numbers of the cells in the table of the first k+1 attributes.
    numbers = [np.empty(records, dtype=np.uint32) for _ in range(deepest)]
    for tally in tallies:
        for depth, i in enumerate(tally.attributes[tally.shared :], tally.shared):
            if depth == 0:
                numbers[0][...] = columns[i]
            else:
                np.multiply(numbers[depth - 1], np.uint32(shape[i]), out=numbers[depth])
                numbers[depth] += columns[i]
        own = numbers[len(tally.attributes) - 1] if tally.attributes else np.zeros(records, np.uint32)
        _count(own, tally.cells)
        for tails, cells in tally.sums.items():
            # Exact: a batch has 2¹⁶ records of at most 2²² parts each.
            cells += np.bincount(own, weights=weights[tails], minlength=cells.size).astype(np.int64)


def _count(numbers: _Numbers, cells: Counts) -> None:
    """Add one to the cell of every number."""
    if cells.size <= 4 * numbers.size:
        cells += np.bincount(numbers, minlength=cells.size)
    else:  # as fast as a pass over all cells of a large table is slow
        np.add.at(cells, numbers, 1)
