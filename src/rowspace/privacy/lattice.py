"""Moments and characteristic functions of Gaussians on the integers.

Two series give each quantity. *Direct*: the sum over integers k, with terms that fall like e^(−k²/(2σ²)).
*Dual*, by Poisson summation: a density g with characteristic function f has Σₖ g(k) e^(ikt) = Σₘ f(t + 2πm),
with terms that fall like e^(−2π²σ²m²). Below σ = 2 the direct sum has at most 20 terms that matter. From
σ = 2 on, the dual terms m ≠ 0 of the moments are below 10⁻²⁷ of the result, and are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

Vector = npt.NDArray[np.float64]

_DUAL_FROM = 2.0
"""The σ from which the dual series is used."""

_REACH = np.arange(1.0, 41.0)
"""Positive integers of the direct sums: 20 standard deviations at σ = 2, where terms are below 1e-80."""


class Moments(NamedTuple):
    """Second and fourth moment figures of a symmetric distribution."""

    variance: float
    excess_kurtosis: float


@lru_cache(maxsize=256)
def discrete_gaussian_moments(sigma_squared: float) -> Moments:
    """Of P(k) ∝ e^(−k²/(2σ²))."""
    if sigma_squared >= _DUAL_FROM**2:
        # The dual's m = 0 term is the continuous Gaussian itself.
        return Moments(sigma_squared, 0.0)
    return _direct_moments(_discrete_gaussian_masses(sigma_squared))


@lru_cache(maxsize=256)
def rounded_gaussian_moments(sigma: float) -> Moments:
    """Of round(σG)."""
    if sigma >= _DUAL_FROM:
        # P(k) is the density at k of σG + U, U uniform on (−½, ½); the dual's m = 0 term has its cumulants:
        # variances add up to σ² + 1/12, and the fourth cumulant of U is −1/120.
        variance = sigma * sigma + 1.0 / 12.0
        return Moments(variance, -1.0 / (120.0 * variance * variance))
    return _direct_moments(_rounded_gaussian_masses(sigma))


def discrete_gaussian_characteristic(sigma_squared: float, t: Vector) -> Vector:
    """E cos(tX) for P(k) ∝ e^(−k²/(2σ²))."""
    if sigma_squared < _DUAL_FROM**2:
        return _direct_characteristic(_discrete_gaussian_masses(sigma_squared), t)
    # f(s) = e^(−σ²s²/2). On |t| ≤ π the terms |m| ≥ 2 are below e^(−σ²(3π)²/2) < 1e-77.
    return _dual_sum(t, lambda s: np.exp(-0.5 * sigma_squared * s * s))


def rounded_gaussian_characteristic(sigma: float, t: Vector) -> Vector:
    """E cos(tX) for X = round(σG)."""
    if sigma < _DUAL_FROM:
        return _direct_characteristic(_rounded_gaussian_masses(sigma), t)
    # σG + U has f(s) = e^(−σ²s²/2)·sin(s/2)/(s/2); numpy's sinc(x) is sin(πx)/(πx).
    return _dual_sum(t, lambda s: np.exp(-0.5 * sigma * sigma * s * s) * np.sinc(s / (2.0 * np.pi)))


def _discrete_gaussian_masses(sigma_squared: float) -> Vector:
    """P(1), P(2), …"""
    weights = np.exp(-_REACH * _REACH / (2.0 * sigma_squared))
    return np.asarray(weights / (1.0 + 2.0 * weights.sum()))


def _rounded_gaussian_masses(sigma: float) -> Vector:
    """P(1), P(2), …: differences of upper tails, so that small masses keep their digits."""
    return np.asarray(
        scipy.special.ndtr((0.5 - _REACH) / sigma) - scipy.special.ndtr((-0.5 - _REACH) / sigma)
    )


def _direct_moments(masses: Vector) -> Moments:
    """Moments of the symmetric distribution with the given masses at 1, 2, …"""
    square = _REACH * _REACH
    variance = 2.0 * float(np.sum(square * masses))
    if variance == 0.0:
        return Moments(0.0, math.inf)
    # E X⁴/v² without forming v², which underflows long before v does.
    return Moments(variance, 2.0 * float(np.sum(square * square * (masses / variance))) / variance - 3.0)


def _direct_characteristic(masses: Vector, t: Vector) -> Vector:
    """1 − 2 Σ P(k)(1 − cos kt), with 1 − cos = 2 sin² so that values near 1 keep their digits."""
    halves = np.sin(0.5 * np.multiply.outer(t, _REACH))
    return np.asarray(1.0 - 4.0 * (halves * halves) @ masses)


def _dual_sum(t: Vector, f: Callable[[Vector], Vector]) -> Vector:
    """Σ f(t + 2πm) over m = −1, 0, 1, after bringing t into [−π, π] (a t already there stays exact)."""
    t = t - 2.0 * np.pi * np.round(t / (2.0 * np.pi))
    return np.asarray(f(t) + f(t + 2.0 * np.pi) + f(t - 2.0 * np.pi))
