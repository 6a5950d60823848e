"""Records brought closer to all tables at once: where a table has too many of a cell, some become a cell it lacks.

A tree of tables (`table_rows`) knows nothing of the others. Here all tables have their say in turn, a part of the
difference at a time, less in every round, so that later tables do not undo what earlier ones gained (the gradually
updating method of Zhang et al., PrivSyn, 2021). No table is matched exactly; the largest differences shrink most.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rowspace.operators.base import Vector
from rowspace.tables import ComponentTables

from .table_rows import Codes

ROUNDS = 40
"""Rounds over all tables."""

SHRINKING = 0.9
"""From round to round a smaller part of each difference is repaired."""


COPIED = 0.5
"""Share of the repairs that copy a whole record."""


def repaired_rows(
    codes: Codes,
    tables: ComponentTables,
    sets: Sequence[tuple[int, ...]],
    sizes: Sequence[int],
    rng: np.random.Generator,
) -> Codes:
    """The records (attributes, rows) after all rounds: the best state seen. O(rounds · tables · rows · log rows)."""
    rows = codes.shape[1]
    wanted = [_wanted(tables, own, rows) for own in sets]
    codes = codes.copy()
    best, least = codes.copy(), _misfit(codes, wanted, sets, sizes)
    part = 1.0
    for _ in range(ROUNDS):
        for number in rng.permutation(len(sets)).tolist():
            _repair(codes, wanted[number], sets[number], sizes, part, rng)
        misfit = _misfit(codes, wanted, sets, sizes)
        if misfit < least:
            best, least = codes.copy(), misfit
        part *= SHRINKING
    return best


def _wanted(tables: ComponentTables, own: tuple[int, ...], rows: int) -> Vector:
    table = np.maximum(tables.table(own).ravel(), 0.0)
    return np.asarray(table * (rows / table.sum())) if table.sum() > 0 else np.zeros_like(table)


def cell_numbers(codes: Codes, own: Sequence[int], sizes: Sequence[int]) -> Codes:
    """The cell of every record in the table over some attributes."""
    cell = np.zeros(codes.shape[1], dtype=np.int64)
    for i in own:
        cell = cell * sizes[i] + codes[i]
    return cell


def _misfit(
    codes: Codes, wanted: Sequence[Vector], sets: Sequence[tuple[int, ...]], sizes: Sequence[int]
) -> float:
    counted = (
        np.bincount(cell_numbers(codes, own, sizes), minlength=len(w))
        for own, w in zip(sets, wanted, strict=True)
    )
    return float(sum(np.sum((c - w) ** 2) for c, w in zip(counted, wanted, strict=True)))


def _repair(
    codes: Codes,
    wanted: Vector,
    own: tuple[int, ...],
    sizes: Sequence[int],
    part: float,
    rng: np.random.Generator,
) -> None:
    """Turn some records of cells with too many into cells with too few, in place."""
    if not wanted.any():
        return
    cell = cell_numbers(codes, own, sizes)
    counts = np.bincount(cell, minlength=len(wanted))
    excess = _whole(part * np.maximum(counts - wanted, 0.0), rng)
    lack = _whole(part * np.maximum(wanted - counts, 0.0), rng)
    number = int(min(excess.sum(), lack.sum()))
    if number == 0:
        return
    # Records in random order, those of one cell together: the first ones of each cell with too many can go.
    order = rng.permutation(len(cell))
    order = order[np.argsort(cell[order], kind="stable")]
    rank = np.arange(len(cell)) - np.repeat(np.cumsum(counts) - counts, counts)
    leaving = order[rank < excess[cell[order]]]
    leaving = rng.permutation(leaving)[:number]
    coming = rng.permutation(np.repeat(np.arange(len(wanted)), lack))[:number]
    # Where there is a record of that cell already, the whole of it is copied, so that other tables keep their ties;
    # else only the attributes of this table change.
    first = np.cumsum(counts) - counts
    copied = (counts[coming] > 0) & (rng.random(number) < COPIED)
    pattern = order[first[coming[copied]] + rng.integers(0, counts[coming[copied]])]
    codes[:, leaving[copied]] = codes[:, pattern]
    for i, values in zip(own, np.unravel_index(coming[~copied], [sizes[i] for i in own]), strict=True):
        codes[i, leaving[~copied]] = values


def _whole(amounts: Vector, rng: np.random.Generator) -> Codes:
    """Whole numbers whose expectations are the amounts."""
    down = np.floor(amounts)
    return (down + (rng.random(len(amounts)) < amounts - down)).astype(np.int64)
