"""The sensitivity of what is asked, in Python integers from single records, and whether the noise is right for it.

Independent of the library's own arithmetic: columns are what `measure` itself computes for a table of one record,
norms are sums of Python integers over all columns or all pairs, and the noise is judged by exact fractions or, for
(ε, δ), by the formula for Gaussian noise (Balle & Wang 2018) in 60 digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import mpmath  # type: ignore[import-untyped]
import numpy as np

from rowspace.operators import Operator
from rowspace.privacy import (
    ZCDP,
    ApproxDP,
    ApproxDPTheorem3,
    DiscreteGaussian,
    DiscreteLaplace,
    Neighbours,
    NoiseModel,
    Privacy,
    PureDP,
    RoundedGaussian,
)
from rowspace.strategy import dropped_bits

_DIGITS = 60


@dataclass(frozen=True)
class Verdict:
    """What was found about one strategy and its noise."""

    private: bool
    """The noise is enough for the exact sensitivity."""
    equal: bool
    """The noise is the one calibrated to exactly that sensitivity, not to a bound above it."""
    same_matrix: bool
    """`to_dense` shows the matrix that is asked."""

    @property
    def ok(self) -> bool:
        """Whether all three hold."""
        return self.private and self.equal and self.same_matrix


def judged(strategy: Operator, noise: NoiseModel, privacy: Privacy) -> Verdict:
    """The verdict on an integer strategy and the noise that will be added to its answers."""
    columns = integer_columns(strategy)
    # Where no neighbour step changes an answer, the library keeps the noise of one unit.
    sensitivity = max(1, exact_sensitivity(columns, privacy))
    dense = strategy.to_dense()
    same = all(float(a) == dense[i, j] for j, column in enumerate(columns) for i, a in enumerate(column))
    return Verdict(is_private(noise, sensitivity, privacy), noise == privacy.noise(sensitivity), same)


def integer_columns(strategy: Operator) -> list[list[int]]:
    """The answers for tables of one record each, as `measure` computes them before it adds noise."""
    bits = dropped_bits(strategy)
    columns = []
    for unit in np.eye(strategy.shape[1], dtype=np.int64):
        high, low = strategy.divided(unit, bits)
        columns.append([int(q) * 2**bits + int(r) for q, r in zip(high, low, strict=True)])
    return columns


def exact_sensitivity(columns: list[list[int]], privacy: Privacy) -> int:
    """The largest Σ|change| (norm 1) or Σ change² (norm 2) over all neighbour steps.

    A record that is replaced may come from outside the domain or go there: then one column comes or goes.
    """
    changes = list(columns)
    if privacy.neighbours is Neighbours.REPLACE_ONE:
        changes += [[a - b for a, b in zip(x, y, strict=True)] for x, y in combinations(columns, 2)]
    return max((sum(abs(a) ** privacy.norm for a in change) for change in changes), default=0)


def is_private(noise: NoiseModel, sensitivity: int, privacy: Privacy) -> bool:
    """Whether the noise keeps the promise for answers of this sensitivity (squared under norm 2)."""
    match privacy, noise:
        case PureDP(epsilon=epsilon), DiscreteLaplace(scale=scale):
            return scale * Fraction(epsilon) >= sensitivity
        case ZCDP(rho=rho), DiscreteGaussian(sigma_squared=variance):
            return 2 * variance * Fraction(rho) >= sensitivity
        case ApproxDP(epsilon=epsilon, delta=delta), RoundedGaussian(sigma=sigma):
            return bool(gaussian_delta(sigma, sensitivity, epsilon) <= mpmath.mpf(delta))
        case ApproxDPTheorem3(epsilon=epsilon, delta=delta), RoundedGaussian(sigma=sigma):
            with mpmath.workdps(_DIGITS):
                needed = 8 * mpmath.log(2 / mpmath.mpf(delta)) / mpmath.mpf(epsilon) ** 2 * sensitivity
                return bool(_exact(sigma) ** 2 >= needed)
    return False


def gaussian_delta(sigma: Fraction, squared_sensitivity: int, epsilon: float) -> mpmath.mpf:
    """The least δ of Gaussian noise: Φ(Δ/2σ − εσ/Δ) − e^ε Φ(−Δ/2σ − εσ/Δ)."""
    with mpmath.workdps(_DIGITS):
        ratio = mpmath.sqrt(squared_sensitivity) / _exact(sigma)
        e = mpmath.mpf(epsilon)
        return mpmath.ncdf(ratio / 2 - e / ratio) - mpmath.exp(e) * mpmath.ncdf(-ratio / 2 - e / ratio)


def _exact(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator
