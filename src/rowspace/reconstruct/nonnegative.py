"""Non-negative least squares over the cells, the total kept: the counts x ≥ 0 that best explain the noisy answers.

    minimize ½ Σ ‖A x − y‖² / variance    over    x ≥ 0, Σx = total

Answers that were clipped one by one would no longer agree, and their sums would be too large: noise is cut off on one
side only. Here the counts explain all answers at once and add up to the unbiased total. They are biased all the same:
small counts are pulled up, large ones down by as much.

Counts as whole numbers, the total kept: every cell up or down, so that sums of many cells hardly change.

Rounding each cell by itself would add up: a thousand cells of 0.3 would all vanish. Instead the running sum over the
cells is rounded, which keeps every run of neighbouring cells within one. Sums of cells that are not neighbours are then
repaired: where a workload's answers came out too high one cell gives up its one to a cell where they are too low.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from rowspace.operators import Indices, Operator, Vector

from .joint_tables import Measurement, whitened


def nearest_counts(values: Vector, total: float) -> Vector:
    """The point of {x ≥ 0, Σx = total} nearest to each row of values (…, cells): a shift, then what is below zero cut.

    By Michelot's method: shift by what makes the sum right, drop what falls below zero, and again without it. The shift
    only grows, so it ends after at most as many rounds as cells; usually ten. O(cells) each.

    >>> nearest_counts(np.array([3.0, 1.0, -2.0]), 3.0)
    array([2.5, 0.5, 0. ])
    """
    if total <= 0:
        return np.zeros_like(values)
    shift = (values.sum(axis=-1, keepdims=True) - total) / values.shape[-1]
    while True:
        above = values > shift
        count = above.sum(axis=-1, keepdims=True)
        # Rounding may leave no cell above the shift; the largest one always is.
        sums = np.where(above, values, 0.0).sum(axis=-1, keepdims=True)
        larger = np.where(count > 0, (sums - total) / np.maximum(count, 1), shift)
        if not (larger > shift).any():
            return np.asarray(np.maximum(values - shift, 0.0))
        shift = np.maximum(shift, larger)


ACCURACY = 0.05
"""Bound on the distance from the exact solution at which it stops: in the answers to the strategy, root mean square
over as many as there are cells, in standard deviations of their noise. It adds at most an eighth of a percent to the
error; the distance itself was a tenth of the bound or less wherever measured."""

ROUGH = 1.0
"""The same for a rough solution: within the noise. Sums of many cells are settled, in a twentieth of the steps."""

MOST_STEPS = 5_000
"""Steps after which it stops in any case, with the accuracy that was reached."""

MOST_WORK = 2**30
"""Most steps times cells: a thousand steps at a million cells. Answers to large sums are settled long before."""

_CHECK_EVERY = 10


@dataclass(frozen=True, eq=False)
class NonnegativeCells:
    """The counts, how far at most they are from the exact solution (unit of `ACCURACY`), and the steps it took."""

    counts: Vector
    distance: float
    steps: int


def nonnegative_cells(
    measurements: Sequence[Measurement], start: Vector, total: float, accuracy: float = ACCURACY
) -> NonnegativeCells:
    """Non-negative least squares with a given total, from a first guess such as the unbiased estimate.

    Accelerated projected gradient with restarts; a step costs two actions of the strategy. It stops by a bound, not by
    hope: at x with gradient g, the optimum is at most g·x − total·min g lower (linear functions are least at a corner),
    and by strong convexity in the answers ‖A(x − x*)‖²/variance is at most twice that.

    >>> from rowspace import operators as op
    >>> y = np.array([5.0, -2.0, 1.0])
    >>> nonnegative_cells([Measurement(op.Identity(3), 2.0, 0.0, 1.0, y)], y, 4.0).counts.round(6)
    array([4., 0., 0.])
    """
    x = nearest_counts(np.asarray(start, dtype=np.float64), total)
    if total <= 0 or len(x) == 1:
        return NonnegativeCells(x, 0.0, 0)
    # In units of the least noise, so that little noise makes no huge numbers; rounding errors bound what can be had.
    least = sqrt(min(measurement.variance for measurement in measurements))
    A, y = whitened([replace(m, variance=m.variance / least**2) for m in measurements])
    allowed = 0.5 * (accuracy * least) ** 2 * len(x) + 1e-13 * float(y @ y)
    steepness = _steepness(A, len(x))
    Ax = A._apply(x)
    point, A_point, momentum = x, Ax, 1.0
    best, best_gap = x, np.inf
    most_steps = max(1, min(MOST_STEPS, MOST_WORK // len(x)))
    for step in range(1, most_steps + 1):
        gradient = A._adjoint(A_point - y)
        while True:
            new = nearest_counts(point - gradient / steepness, total)
            A_new = A._apply(new)
            moved = new - point
            rounding = 1e-28 * float(A_new @ A_new)
            if np.sum((A_new - A_point) ** 2) <= steepness * (moved @ moved) * (1 + 1e-9) + rounding:
                break
            steepness *= 1.5
        if moved @ (new - x) < 0:
            momentum = 1.0  # past the bottom: start anew from here
        grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = (momentum - 1) / grown
        point, A_point = new + ahead * (new - x), A_new + ahead * (A_new - Ax)
        x, Ax, momentum = new, A_new, grown
        if step % _CHECK_EVERY == 1 or step == most_steps:
            slope = A._adjoint(Ax - y)
            gap = float(slope @ x - total * slope.min())
            if gap < best_gap:
                best, best_gap = x, gap
            if gap <= allowed:
                break
    return NonnegativeCells(best, sqrt(2 * max(best_gap, 0.0) / len(x)) / least, step)


def _steepness(A: Operator, cells: int) -> float:
    """The largest curvature among directions that keep the total, roughly: too small a value is found out later."""
    v = np.random.default_rng(0).standard_normal(cells)
    size = 0.0
    for _ in range(20):
        v -= v.mean()
        v /= np.linalg.norm(v)
        v = A._adjoint(A._apply(v))
        size = float(np.linalg.norm(v - v.mean()))
        if size == 0.0:
            return 1.0
    return 1.02 * size


ROUNDS = 1000
"""Rounds after which it stops in any case."""

EXACT = 1e-12
"""Relative distance of every sum from what it should be at which it stops."""

_LARGE = 1e6


def raked(counts: Vector, groups: Sequence[Indices], totals: Vector) -> Vector:
    """The counts, none negative, scaled group by group until every group of cells has its total.

    Of all counts that have these totals they are the nearest in relative entropy, among those that are zero where the
    totals leave nothing else. A group that has a total and no count shares it alike.

    >>> raked(np.array([1.0, 1.0, 2.0]), [np.array([0, 1]), np.array([0, 1, 2])], np.array([6.0, 9.0]))
    array([3., 3., 3.])
    >>> raked(np.array([1.0, 1.0, 2.0]), [np.array([0, 1]), np.array([0, 1, 2])], np.array([6.0, 6.0]))
    array([3., 3., 0.])
    """
    x = np.where(_may_hold_some(len(counts), groups, totals), counts, 0.0)
    for _ in range(ROUNDS):
        worst = 0.0
        for cells, total in zip(groups, totals.tolist(), strict=True):
            found = float(x[cells].sum())
            if found > 0:
                x[cells] *= total / found
            else:
                x[cells] = total / len(cells)
            worst = max(worst, abs(found - total) / max(total, 1.0))
        if worst <= EXACT:
            break
    return x


def _may_hold_some(cells: int, groups: Sequence[Indices], totals: Vector) -> Vector:
    """Which cells are not zero in all counts that have these totals, none of them negative.

    Scaling alone would reach a zero only in the limit. One linear program over cells that are in the same groups: as
    many of them as can be are above zero at once.
    """
    marks = np.random.default_rng(0).integers(1, 2**62, len(groups), dtype=np.uint64)
    code = np.zeros(cells, dtype=np.uint64)
    for group, mark in zip(groups, marks, strict=True):
        code[group] += mark  # wraps around: as good a mark as any
    distinct, first, kind = np.unique(code, return_index=True, return_inverse=True)
    inside: Any = scipy.sparse.csr_array(
        np.array([np.isin(first, group) for group in groups], dtype=np.float64)
    )
    n, both = len(distinct), scipy.sparse.hstack([inside, inside])
    solved = scipy.optimize.linprog(
        np.concatenate([np.zeros(n), -np.ones(n)]),
        A_eq=both,
        b_eq=_LARGE * totals / max(float(totals.max(initial=0.0)), 1.0),
        bounds=[(0, None)] * n + [(0, 1)] * n,
    )
    above = np.ones(n, dtype=bool) if solved.x is None else solved.x[n:] > 1e-7
    return np.asarray(above[kind.ravel()])


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
