"""The distributions of privacy noise on the integers, as mathematics; drawing them is another room's work.

Every model is symmetric about 0 with independent entries. The moments and the characteristic function are
those of the *integer* distribution that is drawn, not of its continuous cousin, so that error bars are exact.

Moments and characteristic functions of Gaussians on the integers.

Two series give each quantity. *Direct*: the sum over integers k, with terms that fall like e^(−k²/(2σ²)).
*Dual*, by Poisson summation: a density g with characteristic function f has Σₖ g(k) e^(ikt) = Σₘ f(t + 2πm),
with terms that fall like e^(−2π²σ²m²). Below σ = 2 the direct sum has at most 20 terms that matter. From
σ = 2 on, the dual terms m ≠ 0 of the moments are below 10⁻²⁷ of the result, and are left out.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from rowspace.exceptions import InvalidPrivacy

from .validation import check_drawable, positive_finite, tagged_fields

Vector = npt.NDArray[np.float64]

_DUAL_FROM = 2.0
"""The σ from which the dual series is used."""

_REACH = np.arange(1.0, 41.0)
"""Positive integers of the direct sums: 20 standard deviations at σ = 2, where terms are below 1e-80."""


class NoiseMoments(NamedTuple):
    """Second and fourth moment figures of a symmetric distribution."""

    variance: float
    excess_kurtosis: float


@lru_cache(maxsize=256)
def discrete_gaussian_moments(sigma_squared: float) -> NoiseMoments:
    """Of P(k) ∝ e^(−k²/(2σ²))."""
    if sigma_squared >= _DUAL_FROM**2:
        # The dual's m = 0 term is the continuous Gaussian itself.
        return NoiseMoments(sigma_squared, 0.0)
    return _direct_moments(_discrete_gaussian_masses(sigma_squared))


@lru_cache(maxsize=256)
def rounded_gaussian_moments(sigma: float) -> NoiseMoments:
    """Of round(σG)."""
    if sigma >= _DUAL_FROM:
        # P(k) is the density at k of σG + U, U uniform on (−½, ½); the dual's m = 0 term has its cumulants:
        # variances add up to σ² + 1/12, and the fourth cumulant of U is −1/120.
        variance = sigma * sigma + 1.0 / 12.0
        return NoiseMoments(variance, -1.0 / (120.0 * variance * variance))
    return _direct_moments(_rounded_gaussian_masses(sigma))


def _discrete_gaussian_masses(sigma_squared: float) -> Vector:
    """P(1), P(2), …"""
    weights = np.exp(-_REACH * _REACH / (2.0 * sigma_squared))
    return np.asarray(weights / (1.0 + 2.0 * weights.sum()))


def _rounded_gaussian_masses(sigma: float) -> Vector:
    """P(1), P(2), …: differences of upper tails, so that small masses keep their digits."""
    return np.asarray(
        scipy.special.ndtr((0.5 - _REACH) / sigma) - scipy.special.ndtr((-0.5 - _REACH) / sigma)
    )


def _direct_moments(masses: Vector) -> NoiseMoments:
    """Moments of the symmetric distribution with the given masses at 1, 2, …"""
    square = _REACH * _REACH
    variance = 2.0 * float(np.sum(square * masses))
    if variance == 0.0:
        return NoiseMoments(0.0, math.inf)
    # E X⁴/v² without forming v², which underflows long before v does.
    return NoiseMoments(variance, 2.0 * float(np.sum(square * square * (masses / variance))) / variance - 3.0)


def _direct_characteristic(masses: Vector, t: Vector) -> Vector:
    """1 − 2 Σ P(k)(1 − cos kt), with 1 − cos = 2 sin² so that values near 1 keep their digits."""
    halves = np.sin(0.5 * np.multiply.outer(t, _REACH))
    return np.asarray(1.0 - 4.0 * (halves * halves) @ masses)


def _dual_sum(t: Vector, f: Callable[[Vector], Vector]) -> Vector:
    """Σ f(t + 2πm) over m = −1, 0, 1, after bringing t into [−π, π] (a t already there stays exact)."""
    t = t - 2.0 * np.pi * np.round(t / (2.0 * np.pi))
    return np.asarray(f(t) + f(t + 2.0 * np.pi) + f(t - 2.0 * np.pi))


class NoiseModel(ABC):
    """A symmetric distribution on the integers, added independently to every strategy answer."""

    __slots__ = ()

    kind: ClassVar[str]
    parameter: ClassVar[str]
    name: ClassVar[str]
    """What people call it, without a parameter: that is in units of the integers which are asked, not in counts."""

    @property
    @abstractmethod
    def moments(self) -> NoiseMoments:
        """The exact moments of what is drawn (to double precision)."""

    @property
    def variance(self) -> float:
        """The exact variance of what is drawn (to double precision)."""
        return self.moments.variance

    @property
    def excess_kurtosis(self) -> float:
        """Fourth cumulant over squared variance: 0 for a normal, infinite when the variance underflows."""
        return self.moments.excess_kurtosis

    @abstractmethod
    def characteristic(self, t: npt.ArrayLike) -> Vector:
        """E cos(tX) at every t: real, even, of period 2π; the same shape as `t`, float64."""

    def to_dict(self) -> dict[str, Any]:
        """A JSON table; the parameter has 53 significant bits, so the float in it is exact."""
        return {"noise": self.kind, self.parameter: float(getattr(self, self.parameter))}

    def __str__(self) -> str:
        return f"{self.name} of standard deviation {math.sqrt(self.variance):.6g}"


@dataclass(frozen=True, slots=True)
class DiscreteLaplace(NoiseModel):
    """P(k) ∝ e^(−|k|/scale) on the integers.

    >>> noise = DiscreteLaplace(Fraction(10))
    >>> print(noise)
    discrete Laplace noise of scale 10
    >>> noise.variance  # a continuous Laplace has 200
    199.83...
    """

    scale: Fraction

    kind: ClassVar[str] = "discrete laplace"
    parameter: ClassVar[str] = "scale"
    name: ClassVar[str] = "discrete Laplace noise"

    def __post_init__(self) -> None:
        check_drawable("scale", self.scale)

    @property
    def moments(self) -> NoiseMoments:
        """The variance 2q/(1 − q)² with q = e^(−1/scale), 2·scale² less about 1/6; and 3 + 1/variance."""
        # expm1 keeps every digit for large scales.
        rate = 1.0 / float(self.scale)
        variance = 2.0 * math.exp(-rate) / math.expm1(-rate) ** 2
        # −ln(1 + v(1 − cos t)) = −v t²/2 + (v + 3v²) t⁴/24 − …, so the fourth cumulant is v + 3v².
        return NoiseMoments(variance, 3.0 + 1.0 / variance if variance > 0.0 else math.inf)

    def characteristic(self, t: npt.ArrayLike) -> Vector:
        """1/(1 + 2·variance·sin²(t/2))."""
        # (1 − q)²/(1 − 2q cos t + q²) = 1/(1 + v(1 − cos t)) = 1/(1 + 2v sin²(t/2)): no cancellation near 0.
        half = np.sin(0.5 * np.asarray(t, dtype=np.float64))
        return np.asarray(1.0 / (1.0 + 2.0 * self.variance * half * half))

    def __str__(self) -> str:
        return f"{self.name} of scale {float(self.scale):.6g}"


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(NoiseModel):
    """P(k) ∝ e^(−k²/(2·sigma_squared)) on the integers.

    Its variance is at most `sigma_squared`, and equal to it to 30 digits from sigma_squared = 4 on.

    >>> print(DiscreteGaussian(Fraction(100)))
    discrete Gaussian noise of standard deviation 10
    """

    sigma_squared: Fraction

    kind: ClassVar[str] = "discrete gaussian"
    parameter: ClassVar[str] = "sigma_squared"
    name: ClassVar[str] = "discrete Gaussian noise"

    def __post_init__(self) -> None:
        check_drawable("sigma_squared", self.sigma_squared, power=2)

    @property
    def moments(self) -> NoiseMoments:
        """A variance of at most `sigma_squared`; and 0, up to terms of order e^(−2π²·sigma_squared)."""
        return discrete_gaussian_moments(float(self.sigma_squared))

    def characteristic(self, t: npt.ArrayLike) -> Vector:
        """E cos(tX), by the direct or the dual series."""
        square, at = float(self.sigma_squared), np.asarray(t, np.float64)
        if square < _DUAL_FROM**2:
            return _direct_characteristic(_discrete_gaussian_masses(square), at)
        # f(s) = e^(−σ²s²/2). On |t| ≤ π the terms |m| ≥ 2 are below e^(−σ²(3π)²/2) < 1e-77.
        return _dual_sum(at, lambda s: np.exp(-0.5 * square * s * s))


@dataclass(frozen=True, slots=True)
class RoundedGaussian(NoiseModel):
    """A continuous N(0, sigma²) rounded to the nearest integer.

    >>> RoundedGaussian(Fraction(10)).variance  # rounding adds that of a uniform number: 1/12
    100.0833...
    """

    sigma: Fraction

    kind: ClassVar[str] = "rounded gaussian"
    parameter: ClassVar[str] = "sigma"
    name: ClassVar[str] = "rounded Gaussian noise"

    def __post_init__(self) -> None:
        check_drawable("sigma", self.sigma)

    @property
    def moments(self) -> NoiseMoments:
        """A variance of sigma² + 1/12; and −1/(120·variance²), both up to terms of order e^(−2π²·sigma²)."""
        return rounded_gaussian_moments(float(self.sigma))

    def characteristic(self, t: npt.ArrayLike) -> Vector:
        """E cos(tX), by the direct or the dual series."""
        sigma, at = float(self.sigma), np.asarray(t, np.float64)
        if sigma < _DUAL_FROM:
            return _direct_characteristic(_rounded_gaussian_masses(sigma), at)
        # σG + U has f(s) = e^(−σ²s²/2)·sin(s/2)/(s/2); numpy's sinc(x) is sin(πx)/(πx).
        return _dual_sum(at, lambda s: np.exp(-0.5 * sigma * sigma * s * s) * np.sinc(s / (2.0 * np.pi)))


_MODELS: dict[str, type[DiscreteLaplace] | type[DiscreteGaussian] | type[RoundedGaussian]] = {
    model.kind: model for model in (DiscreteLaplace, DiscreteGaussian, RoundedGaussian)
}


def noise_from_dict(tree: object) -> NoiseModel:
    """The noise model a saved table describes; `InvalidPrivacy` for anything but an exact match.

    >>> noise_from_dict({"noise": "discrete laplace", "scale": 2.5})
    DiscreteLaplace(scale=Fraction(5, 2))
    """
    kinds = {kind: frozenset({model.parameter}) for kind, model in _MODELS.items()}
    kind, fields = tagged_fields(tree, "noise", kinds)
    model = _MODELS[kind]
    value = fields[model.parameter]
    if not isinstance(value, (int, float)):
        raise InvalidPrivacy(f"expected {model.parameter} to be a number, got {type(value).__name__}")
    return model(Fraction(positive_finite(model.parameter, value)))
