"""Intervals for counts that are shown only because their noise let them pass.

A noisy count N = c + X that is shown whenever N ≥ T is too high on average, and much so where c is below T: plain error
bars of such numbers miss the count most of the time. So the interval is that of N *given* that it passed: all counts c
with P(N ≥ n | N ≥ T) > α/2 and P(N ≤ n | N ≥ T) > α/2. Whatever c is, each of these tests errs with a chance of at most
α/2 given that N passed, so the interval covers c with probability 1 − α or more *among what is shown*. The noise is
log-concave, so both conditional tails are monotone in c and their ends are found by bisection. Where even n would be
left out (a noisy count so near T that few are that near) it is put in, which only widens the interval.

Beside another measurement M of the same count, unbiased and independent, no test is needed: `beside_another` replaces N
by N* = M + (N − M)·χ(N) − κ(H(N+1) − H(N−1)), where H rises from 0 at T to 1 at T + w, w = RAMP noise scales,
χ = H − κΔ²H, Δ²H(n) = H(n+1) − 2H(n) + H(n−1), κ = q/(1 − q)². N* is N beyond the ramp and nearly M at its foot. Proof
that E[N*; N ≥ T] = c·P(N ≥ T). P(X = j) ∝ q^|j| has the characteristic function (1 + κ(2 − 2cos t))⁻¹, so
E φ(N) − κ E Δ²φ(N) = φ(c) for every φ. With φ(n) = H(n) and φ(n) = nH(n): E χ(N) = H(c) and
E[Nχ(N) − κ(H(N+1) − H(N−1))] = cH(c), for Δ²(nH) = nΔ²H + H(n+1) − H(n−1). Both are zero where N < T, and M is
independent of N. ∎ Noise that is truncated at T − 1 differs from that by δ in all.

Guarantees
- Among shown counts at least the stated share of intervals cover, for any count, also far below the threshold
  (tests/error/test_selection.py::test_intervals_cover_among_what_is_shown, exactly, by summing probabilities).
- Beside another measurement what is shown has no bias
  (tests/error/test_selection.py::test_beside_another_measurement_nothing_is_biased, exactly).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from rowspace.privacy import Threshold, TruncatedLaplace

Integers = npt.NDArray[np.int64]
Vector = npt.NDArray[np.float64]

RAMP = 12
"""Over how many scales of noise shown counts come to be taken as they are: with fewer, N* errs more than M near T."""


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


def beside_another(
    noise: TruncatedLaplace, least: int, noisy: npt.ArrayLike, other: npt.ArrayLike
) -> tuple[Vector, npt.NDArray[np.bool_]]:
    """N*, unbiased among counts that were shown from `least` on, given another measurement; and where that is N itself.

    >>> from rowspace.privacy import ApproxDP, threshold
    >>> noise = threshold(ApproxDP(1.0, 1e-8))
    >>> values, as_shown = beside_another(noise, noise.least, [19, 200], [7.0, 190.0])
    >>> values.round(2).tolist(), as_shown.tolist()
    ([6.94, 200.0], [False, True])
    """
    n, second = np.asarray(noisy, dtype=np.float64), np.asarray(other, dtype=np.float64)
    width = _width(noise)
    q = math.exp(-1 / float(noise.scale))
    kappa = q / (1 - q) ** 2

    def ramp(value: Vector) -> Vector:
        t = np.clip((value - least) / width, 0.0, 1.0)
        return np.asarray(t**3 * (10 - 15 * t + 6 * t * t))

    before, here, after = ramp(n - 1), ramp(n), ramp(n + 1)
    share = here - kappa * (after - 2 * here + before)
    return second + (n - second) * share - kappa * (after - before), is_as_shown(noise, least, noisy)


def is_as_shown(noise: TruncatedLaplace, least: int, noisy: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Which of the counts that were shown from `least` on are above the ramp, so that N* is N itself."""
    return np.asarray(noisy) > least + _width(noise)


def _width(noise: TruncatedLaplace) -> int:
    """That of the ramp."""
    return max(2, math.ceil(RAMP * float(noise.scale)))


def _first(low: Integers, high: Integers, test: Callable[[Integers], npt.NDArray[np.bool_]]) -> Integers:
    """The first integer of each range that passes a test which all later ones pass; the last passes it."""
    low, high = low.copy(), high.copy()
    while np.any(low < high):
        middle = low + (high - low) // 2
        passes = test(middle)
        high = np.where(passes, middle, high)
        low = np.where(passes, low, np.minimum(middle + 1, high))
    return high
