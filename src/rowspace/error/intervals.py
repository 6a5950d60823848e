"""Confidence intervals whose coverage is what they state, for normal and for Laplace noise.

The noise of an answer is S = Σ c_i·noise_i. For Gaussian noise S is normal. For Laplace noise it is not: one
Laplace variable needs 2.118 standard errors for 95 %, a sum of many 1.960. Quantiles of S come from its
characteristic function, with the largest coefficient kept exactly and the others gathered into one variable of
the same variance and fourth cumulant: a variance-gamma law, (1 + σ²t²/2k)^(−k), which is what a sum of equally
weighted Laplace variables is. So one, two, or any number of equal coefficients are exact, the normal limit is
exact, and in between a stated level of 80 % or more is missed by less than 0.2 percentage points
(tests/error/test_intervals.py measures it against the exact characteristic function).

Integer noise with coarse coefficients moves on a lattice of spacing g. There the half-width is a multiple of g
that covers at least the stated level.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

import numpy as np
import scipy

from rowspace.exceptions import InvalidInput
from rowspace.operators.base import Vector

from .coefficients import Moments


class NoiseShape(Protocol):
    """What intervals need to know of the noise on each answer: a noise model, or an average of several."""

    @property
    def variance(self) -> float:
        """Its variance."""

    @property
    def excess_kurtosis(self) -> float:
        """Its fourth cumulant over squared variance."""


def half_widths(parts: Moments, noise: NoiseShape, level: float) -> Vector:
    """Half-width of the two-sided interval around every answer that covers the truth at this level."""
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0.0 < level < 1.0:
        raise InvalidInput(
            f"expected a confidence level strictly between 0 and 1 such as 0.95, got {level!r}"
        )
    if not (np.isfinite(parts.second).all() and np.isfinite(parts.fourth).all()):
        raise InvalidInput(
            "the queries' coefficients are too large for error bars in floating point; scale their matrix down"
        )
    std = np.sqrt(parts.second * noise.variance)
    widths = std * standard_quantile(parts, noise.excess_kurtosis, float(level))
    g = parts.spacing
    # A lattice value k·g stands for the stretch (k ± ½)g of the continuous law, so the least k with
    # k + ½ ≥ width/g covers; on a fine lattice (many steps per standard error) this changes nothing.
    coarse = (g > 0) & (std < 1000 * g)
    steps = np.divide(widths, g, out=np.zeros_like(widths), where=coarse)
    return np.where(coarse, np.ceil(steps - 0.5) * g, widths)


def standard_quantile(parts: Moments, noise_kurtosis: float, level: float) -> Vector:
    """Half-width in standard errors of every query's noise, given the excess kurtosis of one noise variable."""
    if noise_kurtosis < 1e-3:
        return np.full_like(parts.second, _normal_quantile(level))
    zero = parts.second <= 0
    second = np.where(zero, 1.0, parts.second)
    share = np.clip(parts.largest**2 / second, 0.0, 1.0)
    rest = np.maximum(second - parts.largest**2, 1e-9 * second)
    rest_fourth = np.clip((parts.fourth - parts.largest**4) / rest**2, 0.0, None)
    # No other coefficient is larger than the largest, so the rest has at most this fourth moment.
    most = np.minimum(1.0, share / np.maximum(1.0 - share, 1e-12))
    relative = np.clip(rest_fourth / np.maximum(most, 1e-12), 0.0, 1.0)
    table = _table(level, round(min(noise_kurtosis, 50.0), 6))
    return np.where(zero, 0.0, table(np.column_stack((share, relative))))


def _normal_quantile(level: float) -> float:
    return float(scipy.special.ndtri(0.5 + level / 2))


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
    """Two-sided quantiles of the unit-variance sum, by Newton's method on the inverted characteristic function.

    P(|S| ≤ q) = 2q/T + (4/T) Σ_j sin(q t_j)/t_j φ(t_j), t_j = 2πj/T: the trapezoid rule, exact but for the mass beyond
    T/2 = 25 standard errors. The density at q, which is the derivative, is the same sum with cosines.
    """
    period, steps = 50.0, 1600
    t: Vector = 2 * np.pi * np.arange(1, steps + 1, dtype=np.float64) / period
    phi = _variance_gamma(t, share, noise_kurtosis) * _variance_gamma(
        t, 1 - share, noise_kurtosis * rest_fourth
    )
    q = np.full(len(share), _normal_quantile(level))
    for _ in range(40):
        angle = np.multiply.outer(q, t)
        covered = 2 * q / period + 4 / period * np.einsum("ij,ij->i", np.sin(angle), phi / t)
        density = 2 / period + 4 / period * np.einsum("ij,ij->i", np.cos(angle), phi)
        step = np.clip((level - covered) / np.maximum(density, 1e-9), -0.5 * q, 0.5)
        q += step
        if np.abs(step).max() < 1e-9:
            break
    return q


def _variance_gamma(t: Vector, variance: Vector, kurtosis: Vector | float) -> Vector:
    """Characteristic functions (1 + σ²t²/2k)^(−k), k = 3/kurtosis, one row per law; normal where kurtosis is 0."""
    half = np.multiply.outer(variance, t**2) / 2
    inverse_k = np.broadcast_to(np.asarray(kurtosis, dtype=float), variance.shape)[:, None] / 3
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.where(inverse_k > 1e-9, np.log1p(half * inverse_k) / inverse_k, half)
    return np.asarray(np.exp(-exponent))
