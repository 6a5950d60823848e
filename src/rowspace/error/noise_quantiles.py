"""Quantiles of sums of continuous Laplace-like noise, from the characteristic function, right far into the tails.

The largest coefficient is kept exactly and the others are gathered into one variable of the same variance and fourth
cumulant: a variance-gamma law, (1 + σ²t²/2k)^(−k), which is what a sum of equally weighted Laplace variables is. So
one, two, or any number of equal coefficients are exact, and the normal limit is.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy

from rowspace.operators.base import Vector

from .coefficients import Moments

_STEPS = 1200

_Complex = npt.NDArray[np.complex128]


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
    # Powers of coefficients below 10⁻⁷⁷ vanish, and 0/0 is no number: then the heaviest tail.
    where = np.nan_to_num(np.column_stack((share, relative)), nan=1.0)
    return np.where(zero, 0.0, table(where))


def _normal_quantile(level: float) -> float:
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
    q = np.full(len(share), _normal_quantile(level))
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
