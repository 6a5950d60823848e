"""Confidence intervals whose coverage is what they state, for normal and for Laplace noise.

The noise of an answer is S = Σ c_i·noise_i. For Gaussian noise S is normal. For Laplace noise it is not: one
Laplace variable needs 2.118 standard errors for 95 %, a sum of many 1.960. Its quantiles are
found below; where the noise is fine a stated level of 80 % or more is missed by less than 0.2 percentage points,
and of levels close to one what is missing is right within a tenth
(tests/error/test_intervals.py measures both against the exact law).

Integer noise moves in steps, and an answer in steps of its coefficients. Where they are equal, its law is computed
exactly. Otherwise half a step of the largest is added, and where all move on a lattice of spacing g the half-width is a
multiple of g. Noise so small that it is mostly zero is like no continuous law: there Chebyshev's and
Chernoff's inequalities decide. All three cover at least the stated level, and more where steps are large.

Quantiles of sums of continuous Laplace-like noise, from the characteristic function, right far into the tails.

The largest coefficient is kept exactly and the others are gathered into one variable of the same variance and fourth
cumulant: a variance-gamma law, (1 + σ²t²/2k)^(−k), which is what a sum of equally weighted Laplace variables is. So
one, two, or any number of equal coefficients are exact, and the normal limit is.

Intervals for counts that are shown only because their noise let them pass.

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
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt
import scipy

from rowspace.exceptions import InvalidInput
from rowspace.operators import Vector
from rowspace.privacy import NoiseModel, Threshold, TruncatedLaplace

from .moments import Moments

_STEPS = 1200

_Complex = npt.NDArray[np.complex128]


def standard_quantile(parts: Moments, noise_kurtosis: float, level: float) -> Vector:
    """Half-width in standard errors of every query's noise, given the excess kurtosis of one noise variable."""
    if noise_kurtosis < 1e-3:
        return np.full_like(parts.second, normal_quantile(level))
    zero = parts.second <= 0
    second = np.where(zero, 1.0, parts.second)
    share = np.clip(parts.largest**2 / second, 0.0, 1.0)
    rest = np.maximum(second - parts.largest**2, 1e-9 * second)
    rest_fourth = np.clip((parts.fourth - parts.largest**4) / rest**2, 0.0, None)
    # No other coefficient is larger than the largest, so the rest has at most this fourth moment.
    most = np.minimum(1.0, share / np.maximum(1.0 - share, 1e-12))
    relative = np.clip(rest_fourth / np.maximum(most, 1e-12), 0.0, 1.0)
    table = _table(level, round(min(noise_kurtosis, 50.0), 6))
    # Powers of coefficients below 10⁻⁷⁷ vanish, and 0/0 is no number: then the heaviest tail.
    where = np.nan_to_num(np.column_stack((share, relative)), nan=1.0)
    return np.where(zero, 0.0, table(where))


def normal_quantile(level: float) -> float:
    """Half-width in standard errors of normal noise."""
    return -float(scipy.special.ndtri((1 - level) / 2))


@lru_cache(maxsize=32)
def _table(level: float, noise_kurtosis: float) -> scipy.interpolate.RegularGridInterpolator:
    """Quantiles over (share of the largest coefficient, relative fourth moment of the rest)."""
    shares = np.linspace(0.0, 1.0, 41)
    relatives = np.linspace(0.0, 1.0, 9)
    share, relative = np.meshgrid(shares, relatives, indexing="ij")
    most = np.minimum(1.0, np.divide(share, 1.0 - share, out=np.ones_like(share), where=share < 1))
    quantiles = _quantiles(share.ravel(), (relative * most).ravel(), noise_kurtosis, level)
    return scipy.interpolate.RegularGridInterpolator((shares, relatives), quantiles.reshape(share.shape))


def _quantiles(share: Vector, rest_fourth: Vector, noise_kurtosis: float, level: float) -> Vector:
    """Two-sided quantiles of the unit-variance sum, by Newton's method on the logarithm of the inverted tail.

    P(S > q) = (1/π) ∫ Re M(s) e^(−sq)/s dt over s = θ + it, t > 0, for every θ > 0 up to where M(s) = E e^(sS) ends;
    the density is the same without 1/s. All has the size e^(−θq) of the tail, so that small probabilities are found
    with many digits: levels close to one are asked for where many intervals must hold at once. The trapezoid rule of
    period T adds P(S > q ± T) e^(±θT), which is below e^(−30) of the whole.
    """
    # No law here has a heavier tail than a single variable, whose M ends at √(6/kurtosis).
    theta = min(1.0, 0.6 * np.sqrt(6 / noise_kurtosis))
    spacing = 2 * np.pi * theta / 45
    s: _Complex = theta + 1j * spacing * np.arange(_STEPS + 1)
    M = _variance_gamma(s, share, noise_kurtosis) * _variance_gamma(
        s, 1 - share, noise_kurtosis * rest_fourth
    )
    M[:, 0] /= 2
    wanted = (1 - level) / 2
    q = np.full(len(share), normal_quantile(level))
    for _ in range(60):
        density = spacing / np.pi * M * np.exp(-np.multiply.outer(q, s))
        tail = np.maximum((density / s).real.sum(axis=1), 1e-3 * wanted)
        slope = np.maximum(density.real.sum(axis=1), 1e-3 * tail)
        step = np.clip(np.log(tail / wanted) * tail / slope, -0.5 * q, 2.0)
        q += step
        if np.abs(step).max() < 1e-7:
            break
    return q


def _variance_gamma(s: _Complex, variance: Vector, kurtosis: Vector | float) -> _Complex:
    """E e^(sS) = (1 − σ²s²/2k)^(−k), k = 3/kurtosis, one row per law; normal where kurtosis is 0."""
    half = np.multiply.outer(variance, s**2) / 2
    inverse_k = np.broadcast_to(np.asarray(kurtosis, dtype=float), variance.shape)[:, None] / 3
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.where(inverse_k > 1e-9, np.log(1 - half * inverse_k) / inverse_k, -half)
    return np.asarray(np.exp(-exponent))


RARE = 1 / 20
"""Variance, in steps of the noise, below which it is mostly zero."""

FEW_TERMS = 64
"""Most equal coefficients whose sum's law is computed exactly: more are close to normal."""

COARSE = 100.0
"""Variance of noise up to which that is done: finer noise is close to its continuous law."""

_POINTS = 2**13  # more than 80 standard deviations of the sum of FEW_TERMS, so that nothing wraps around


class NoiseShape(Protocol):
    """What intervals need to know of the noise on each answer: a noise model, or an average of several."""

    @property
    def variance(self) -> float:
        """Its variance."""

    @property
    def excess_kurtosis(self) -> float:
        """Its fourth cumulant over squared variance."""


def half_widths(parts: Moments, noise: NoiseShape, level: float, step: float = 1.0) -> Vector:
    """Half-width of the two-sided interval around every answer that covers the truth at this level.

    `step`: what the noise is a multiple of, or, where it is a sum of several, the largest of theirs.
    """
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0.0 < level < 1.0:
        raise InvalidInput(
            f"expected a confidence level strictly between 0 and 1 such as 0.95, got {level!r}"
        )
    if not (np.isfinite(parts.second).all() and np.isfinite(parts.fourth).all()):
        raise InvalidInput(
            "the queries' coefficients are too large for error bars in floating point; scale their matrix down"
        )
    missing = 1 - float(level)
    std = np.sqrt(parts.second * noise.variance)
    g = parts.spacing
    coarse = (g > 0) & (std < 1000 * g)
    if noise.variance < RARE * step**2:
        widths = _surely_within(parts, noise.variance, step, missing)
        steps = np.divide(widths, g, out=np.ones_like(widths), where=coarse)
        found = np.where(coarse, (np.ceil(steps) - 1) * g, widths)
    else:
        widths = std * standard_quantile(parts, noise.excess_kurtosis, float(level))
        widths += np.maximum(parts.largest * step - g, 0.0) / 2
        # A lattice value k·g stands for the stretch (k ± ½)g of the continuous law, so the least k with
        # k + ½ ≥ width/g covers; on a fine lattice (many steps per standard error) this changes nothing.
        steps = np.divide(widths, g, out=np.zeros_like(widths), where=coarse)
        found = np.where(coarse, np.ceil(steps - 0.5) * g, widths)
    if isinstance(noise, NoiseModel) and noise.variance < COARSE and missing > 1e-12:
        terms = _equal_terms(parts)
        for number in np.unique(terms[terms > 0]):
            found[terms == number] = _steps(noise, int(number), missing) * g[terms == number]
    return np.maximum(found, 0.0)


def _surely_within(parts: Moments, variance: float, step: float, missing: float) -> Vector:
    """An x for which P(|S| ≥ x) is proved to be small enough: by the second moment, or by the exponential one.

    E e^(λX) ≤ 1/(1 − v(cosh λ − 1)) for integer noise of variance v, with equality for Laplace noise; for c·X with
    c ≤ L it is at most that of L·X to the power (c/L)², by convexity in c². So P(|S| ≥ x) ≤ 2e^(−λx)/(1 − u)^(Σc²/L²)
    with u = v(cosh λL − 1), for every u between 0 and 1.
    """
    if variance == 0.0:
        return np.zeros_like(parts.second)
    by_variance = np.sqrt(variance * parts.second / missing)
    largest = np.where(parts.largest > 0, parts.largest, 1.0) * step
    terms = parts.second * step**2 / largest**2
    u = np.linspace(0.05, 0.95, 19)
    needed = np.log(2 / missing) - np.multiply.outer(terms, np.log1p(-u))
    with np.errstate(over="ignore"):  # noise that is never drawn but as zero: no width at all
        by_exponential = largest * (needed / np.arccosh(1 + u * step**2 / variance)).min(axis=-1)
    return np.asarray(np.minimum(by_variance, by_exponential))


def _equal_terms(parts: Moments) -> Vector:
    """How many coefficients a query has, where all are equal to the spacing and few; else zero."""
    g = np.where(parts.spacing > 0, parts.spacing, 1.0)
    terms = np.rint(parts.second / g**2)
    equal = (np.abs(parts.largest - g) <= 1e-9 * g) & (np.abs(parts.fourth - terms * g**4) <= 1e-6 * g**4)
    return np.where((parts.spacing > 0) & equal & (terms <= FEW_TERMS), terms, 0.0)


def _steps(noise: NoiseModel, terms: int, missing: float) -> int:
    """The least k with P(|sum of so many noises| > k) ≤ missing, exactly."""
    t = 2 * np.pi * np.arange(_POINTS) / _POINTS
    mass = 2 * np.fft.rfft(noise.characteristic(t) ** terms).real / _POINTS
    beyond = np.cumsum(mass[:0:-1])[::-1]  # at k: P(|sum| > k)
    return int(np.argmax(beyond <= missing))


Integers = npt.NDArray[np.int64]

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
