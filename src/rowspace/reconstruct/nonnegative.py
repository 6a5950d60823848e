"""Non-negative least squares over the cells, the total kept: the counts x ≥ 0 that best explain the noisy answers.

    minimize ½ Σ ‖A x − y‖² / variance    over    x ≥ 0, Σx = total

Answers that were clipped one by one would no longer agree, and their sums would be too large: noise is cut off on one
side only. Here the counts explain all answers at once and add up to the unbiased total. They are biased all the same:
small counts are pulled up, large ones down by as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from rowspace.operators import Operator, Vector

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
