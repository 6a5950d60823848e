"""Counts as whole numbers, the total kept: every cell up or down, so that sums of many cells hardly change.

Rounding each cell by itself would add up: a thousand cells of 0.3 would all vanish. Instead the running sum over the
cells is rounded, which keeps every run of neighbouring cells within one. Sums of cells that are not neighbours are then
repaired: where a workload's answers came out too high one cell gives up its one to a cell where they are too low.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rowspace.operators import Operator, Vector

MOST_ROUNDS = 400
"""Rounds of repair; each costs an action of the Gram matrix."""

Counts = npt.NDArray[np.int64]


def whole_cells(counts: Vector, total: int, gram: Operator | None = None, offset: float = 0.5) -> Counts:
    """Whole numbers that sum to `total`, each the count (scaled to that total) rounded up or down.

    `gram` is WᵗW of the queries whose answers should stay the same; `offset` in [0, 1) is where the running sum is
    rounded up: drawn at random, every cell's expectation is the count itself (before repairs).

    >>> whole_cells(np.array([0.25, 0.5, 0.25, 0.0, 2.0]), 3)
    array([0, 1, 0, 0, 2])
    """
    if total <= 0 or not counts.sum() > 0:
        return np.zeros(len(counts), dtype=np.int64)
    running = np.cumsum(counts)
    # The last sum is the total itself, not its rounding error.
    marks = np.floor(running * (total / running[-1]) + offset)
    last = int(np.flatnonzero(counts)[-1])
    marks[last:] = total
    whole = np.diff(np.minimum(marks, total), prepend=0.0)
    if gram is not None:
        whole = _repaired(whole, counts * (total / counts.sum()), gram)
    return np.asarray(whole, dtype=np.int64)


def _repaired(whole: Vector, counts: Vector, gram: Operator) -> Vector:
    """Ones moved from cells rounded up to cells rounded down while ‖W(whole − counts)‖² falls.

    The cells to change are those where it falls fastest, many at a time; fewer when too many made it rise.
    """
    floor = np.floor(counts)
    error = whole - counts
    slope = gram._apply(error)
    share = 0.25
    for _ in range(MOST_ROUNDS):
        up = np.flatnonzero(whole > floor)
        down = np.flatnonzero((whole <= floor) & (counts > floor))
        number = int(np.ceil(share * min(len(up), len(down))))
        if number == 0:
            break
        giving = up[np.argsort(-slope[up], kind="stable")[:number]]
        taking = down[np.argsort(slope[down], kind="stable")[:number]]
        useful = slope[giving] > slope[taking]
        change = np.zeros_like(whole)
        change[giving[useful]] = -1.0
        change[taking[useful]] = 1.0
        turned = gram._apply(change)
        gained = float(2 * (change @ slope) + change @ turned)
        if gained < 0:
            whole, slope = whole + change, slope + turned
        elif number == 1:
            break
        else:
            share /= 2
    return whole
