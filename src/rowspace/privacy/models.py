"""The distributions of privacy noise on the integers, as mathematics; drawing them is another room's work.

Every model is symmetric about 0 with independent entries. The moments and the characteristic function are
those of the *integer* distribution that is drawn, not of its continuous cousin, so that error bars are exact.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from rowspace.exceptions import InvalidPrivacy

from . import lattice
from .rounding import check_drawable
from .validation import positive_finite, tagged_fields

Vector = npt.NDArray[np.float64]


class NoiseModel(ABC):
    """A symmetric distribution on the integers, added independently to every strategy answer."""

    __slots__ = ()

    kind: ClassVar[str]
    parameter: ClassVar[str]
    name: ClassVar[str]
    """What people call it, without a parameter: that is in units of the integers which are asked, not in counts."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The exact variance of what is drawn (to double precision)."""

    @property
    @abstractmethod
    def excess_kurtosis(self) -> float:
        """Fourth cumulant over squared variance: 0 for a normal, infinite when the variance underflows."""

    @abstractmethod
    def characteristic(self, t: npt.ArrayLike) -> Vector:
        """E cos(tX) at every t: real, even, of period 2π; the same shape as `t`, float64."""

    def to_dict(self) -> dict[str, Any]:
        """A JSON table; the parameter has 53 significant bits, so the float in it is exact."""
        return {"noise": self.kind, self.parameter: float(getattr(self, self.parameter))}


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
    def variance(self) -> float:
        """2q/(1 − q)² with q = e^(−1/scale): 2·scale² less about 1/6."""
        # expm1 keeps every digit for large scales.
        rate = 1.0 / float(self.scale)
        return 2.0 * math.exp(-rate) / math.expm1(-rate) ** 2

    @property
    def excess_kurtosis(self) -> float:
        """3 + 1/variance."""
        # −ln(1 + v(1 − cos t)) = −v t²/2 + (v + 3v²) t⁴/24 − …, so the fourth cumulant is v + 3v².
        variance = self.variance
        return 3.0 + 1.0 / variance if variance > 0.0 else math.inf

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
    def variance(self) -> float:
        """At most `sigma_squared`."""
        return lattice.discrete_gaussian_moments(float(self.sigma_squared)).variance

    @property
    def excess_kurtosis(self) -> float:
        """0, up to terms of order e^(−2π²·sigma_squared)."""
        return lattice.discrete_gaussian_moments(float(self.sigma_squared)).excess_kurtosis

    def characteristic(self, t: npt.ArrayLike) -> Vector:
        """E cos(tX), by the direct or the dual series."""
        return lattice.discrete_gaussian_characteristic(float(self.sigma_squared), np.asarray(t, np.float64))

    def __str__(self) -> str:
        return f"{self.name} of standard deviation {math.sqrt(self.variance):.6g}"


@dataclass(frozen=True, slots=True)
class RoundedGaussian(NoiseModel):
    """A continuous N(0, sigma²) rounded to the nearest integer.

    >>> noise = RoundedGaussian(Fraction(10))
    >>> noise.variance  # rounding adds that of a uniform number: 1/12
    100.0833...
    """

    sigma: Fraction

    kind: ClassVar[str] = "rounded gaussian"
    parameter: ClassVar[str] = "sigma"
    name: ClassVar[str] = "rounded Gaussian noise"

    def __post_init__(self) -> None:
        check_drawable("sigma", self.sigma)

    @property
    def variance(self) -> float:
        """sigma² + 1/12, up to terms of order e^(−2π²·sigma²)."""
        return lattice.rounded_gaussian_moments(float(self.sigma)).variance

    @property
    def excess_kurtosis(self) -> float:
        """−1/(120·variance²), up to terms of order e^(−2π²·sigma²)."""
        return lattice.rounded_gaussian_moments(float(self.sigma)).excess_kurtosis

    def characteristic(self, t: npt.ArrayLike) -> Vector:
        """E cos(tX), by the direct or the dual series."""
        return lattice.rounded_gaussian_characteristic(float(self.sigma), np.asarray(t, np.float64))

    def __str__(self) -> str:
        return f"{self.name} of standard deviation {math.sqrt(self.variance):.6g}"


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
