"""Intervals for counts that are shown only because their noise let them pass.

A noisy count N = c + X that is shown whenever N ≥ T is too high on average, and much so where c is below T: plain error
bars of such numbers miss the count most of the time. So the interval is that of N *given* that it passed: all counts c
with P(N ≥ n | N ≥ T) > α/2 and P(N ≤ n | N ≥ T) > α/2. Whatever c is, each of these tests errs with a chance of at most
α/2 given that N passed, so the interval covers c with probability 1 − α or more *among what is shown*. The noise is
log-concave, so both conditional tails are monotone in c and their ends are found by bisection. Where even n would be
left out (a noisy count so near T that few are that near) it is put in, which only widens the interval.

Guarantees
- Among shown counts at least the stated share of intervals cover, for any count, also far below the threshold
  (tests/error/test_selection.py::test_intervals_cover_among_what_is_shown, exactly, by summing probabilities).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from rowspace.privacy import Threshold

Integers = npt.NDArray[np.int64]


def selected_intervals(
    noise: Threshold, least: int, noisy: npt.ArrayLike, level: float
) -> tuple[Integers, Integers]:
    """(low, high), whole counts of at least one, for noisy counts that were shown from `least` on.

    >>> from rowspace.privacy import ApproxDP, threshold
    >>> noise = threshold(ApproxDP(1.0, 1e-8))
    >>> low, high = selected_intervals(noise, noise.least, [19, 30], 0.95)
    >>> low.tolist(), high.tolist()
    ([1, 27], [21, 33])
    """
    n, back = np.unique(np.asarray(noisy, dtype=np.int64), return_inverse=True)
    tail = (1.0 - level) / 2.0

    def passed(c: Integers, value: Integers) -> npt.NDArray[np.float64]:
        """P(c + X ≥ value | c + X ≥ least)."""
        whole = noise.at_least(least - c)
        return np.divide(noise.at_least(value - c), whole, out=np.zeros(len(c)), where=whole > 0)

    low = _first(np.ones_like(n), n, lambda c: passed(c, n) > tail)
    reach = 1
    while noise.at_least(reach) > tail / 2:
        reach *= 2
    high = _first(n, n + reach, lambda c: 1.0 - passed(c, n + 1) <= tail) - 1
    return low[back], np.maximum(high, n)[back]


def _first(low: Integers, high: Integers, test: Callable[[Integers], npt.NDArray[np.bool_]]) -> Integers:
    """The first integer of each range that passes a test which all later ones pass; the last passes it."""
    low, high = low.copy(), high.copy()
    while np.any(low < high):
        middle = low + (high - low) // 2
        passes = test(middle)
        high = np.where(passes, middle, high)
        low = np.where(passes, low, np.minimum(middle + 1, high))
    return high
