"""Confidence intervals whose coverage is what they state, for normal and for Laplace noise.

The noise of an answer is S = Σ c_i·noise_i. For Gaussian noise S is normal. For Laplace noise it is not: one
Laplace variable needs 2.118 standard errors for 95 %, a sum of many 1.960. Its quantiles are found in
`noise_quantiles`; where the noise is fine a stated level of 80 % or more is missed by less than 0.2 percentage points,
and of levels close to one what is missing is right within a tenth
(tests/error/test_intervals.py measures both against the exact law).

Integer noise moves in steps, and an answer in steps of its coefficients. Where they are equal, its law is computed
exactly. Otherwise half a step of the largest is added, and where all move on a lattice of spacing g the half-width is a
multiple of g. Noise so small that it is mostly zero is like no continuous law: there Chebyshev's and
Chernoff's inequalities decide. All three cover at least the stated level, and more where steps are large.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from rowspace.exceptions import InvalidInput
from rowspace.operators.base import Vector
from rowspace.privacy import NoiseModel

from .coefficients import Moments
from .noise_quantiles import standard_quantile

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
