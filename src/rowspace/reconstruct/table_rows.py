"""Records that follow given tables, attribute by attribute: each drawn given those before it that it depends on most.

The order is greedy, as in a maximum spanning tree: the next attribute is the one that some table ties most closely to
attributes already there (most mutual information). Given these it is drawn from the table, independently of all others.
So tables along this tree are preserved up to rounding, and other tables as far as they follow from them.

Records brought closer to all tables at once: where a table has too many of a cell, some become a cell it lacks.

A tree of tables (`table_rows`) knows nothing of the others. Here all tables have their say in turn, a part of the
difference at a time, less in every round, so that later tables do not undo what earlier ones gained (the gradually
updating method of Zhang et al., PrivSyn, 2021). No table is matched exactly; the largest differences shrink most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rowspace.operators import Vector
from rowspace.tables import ComponentTables

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class DrawingStep:
    """One attribute, and the earlier ones that it is drawn given."""

    attribute: int
    given: tuple[int, ...]


def drawn_rows(
    tables: ComponentTables,
    sets: Sequence[tuple[int, ...]],
    sizes: Sequence[int],
    rows: int,
    rng: np.random.Generator,
) -> Codes:
    """Cell numbers (attributes, rows) that follow the tables over `sets`; attributes of no table are all zero.

    Within every group of records that are alike in what an attribute is drawn given, its values are dealt out in
    proportion to the table, each within one of its share: no more randomness than rounding needs.
    """
    codes = np.zeros((len(sizes), rows), dtype=np.int64)
    for step in chosen_order(tables, sets):
        own = (*step.given, step.attribute)
        ascending = tuple(sorted(own))
        table = np.maximum(tables.table(ascending), 0.0).transpose([ascending.index(i) for i in own])
        table = table.reshape(-1, sizes[step.attribute])
        group = np.zeros(rows, dtype=np.int64)
        for i in step.given:
            group = group * sizes[i] + codes[i]
        codes[step.attribute] = _dealt(table, group, rng)
    return codes


def chosen_order(tables: ComponentTables, sets: Sequence[tuple[int, ...]]) -> Iterator[DrawingStep]:
    """All attributes of the sets, each with the earlier ones that a table ties it to most closely."""
    left = sorted({i for own in sets for i in own})
    there: set[int] = set()
    known: dict[tuple[int, tuple[int, ...]], float] = {}
    while left:
        best: tuple[float, int, tuple[int, ...]] | None = None
        for own in sets:
            given = tuple(i for i in own if i in there)
            for attribute in own:
                if attribute in there:
                    continue
                key = (attribute, given)
                if key not in known:
                    known[key] = _information(tables, attribute, given)
                # The first attribute has nothing to be tied to: the lowest of equals, so that the order is fixed.
                if best is None or known[key] > best[0] + 1e-12:
                    best = (known[key], attribute, given)
        assert best is not None
        yield DrawingStep(best[1], best[2])
        there.add(best[1])
        left.remove(best[1])


def _information(tables: ComponentTables, attribute: int, given: tuple[int, ...]) -> float:
    """Mutual information of an attribute and some others together, in nats, from their table."""
    if not given:
        return 0.0
    own = tuple(sorted((attribute, *given)))
    table = np.maximum(tables.table(own), 0.0)
    total = table.sum()
    if total <= 0:
        return 0.0
    joint = np.moveaxis(table, own.index(attribute), 0).reshape(table.shape[own.index(attribute)], -1) / total
    apart = np.multiply.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0
    return float(np.sum(joint[seen] * np.log(joint[seen] / apart[seen])))


def _dealt(table: Vector, group: Codes, rng: np.random.Generator) -> Codes:
    """A value for every record, in proportion to its group's row of the table, dealt out in random order."""
    groups, values = table.shape
    shares = table.sum(axis=1, keepdims=True)
    # Groups that the table says are empty follow the attribute's own distribution.
    overall = table.sum(axis=0) if table.sum() > 0 else np.ones(values)
    table = np.where(shares > 0, table, overall)
    cumulative = np.cumsum(table, axis=1)
    cumulative /= cumulative[:, -1:]
    order = rng.permutation(len(group))
    order = order[np.argsort(group[order], kind="stable")]
    sizes = np.bincount(group, minlength=groups)
    rank = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    mine = group[order]
    starts: Vector = rng.random(size=(groups,))
    place = (rank + starts[mine]) / sizes[mine]
    marks = (cumulative + np.arange(groups)[:, None]).ravel()
    found = np.searchsorted(marks, mine + place, side="right") - mine * values
    dealt = np.empty_like(group)
    dealt[order] = np.clip(found, 0, values - 1)
    return dealt


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
