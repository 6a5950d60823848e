"""Confidence intervals whose coverage is what they state, for normal and for Laplace noise.

The noise of an answer is S = Σ c_i·noise_i. For Gaussian noise S is normal. For Laplace noise it is not: one
Laplace variable needs 2.118 standard errors for 95 %, a sum of many 1.960. A sum of Laplace variables is
a normal variable with a random variance; we match its variance and fourth cumulant by the variance-gamma
law with characteristic function (1 + t²/2k)^(−k), k = 3 / (excess kurtosis). It is exact for one Laplace
variable (k = 1), for any number of equally weighted ones, and in the normal limit; in between the stated
level is missed by less than 0.2 percentage points (tests/error/test_intervals.py measures it by
inverting the exact characteristic function).

Integer noise with coarse coefficients moves on a lattice of spacing g. There the half-width is the least
multiple of g that covers at least the stated level.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import integrate, optimize, special, stats
from scipy.interpolate import PchipInterpolator

from rowspace.exceptions import InvalidInput
from rowspace.operators.base import Vector
from rowspace.privacy import NoiseModel

from .moments import Moments

MAX_KURTOSIS = 30.0
"""Excess kurtosis up to which quantiles are tabulated (Laplace noise of scale above 0.3 stays below)."""


def half_widths(parts: Moments, noise: NoiseModel, level: float) -> Vector:
    """Half-width of the two-sided interval around every answer that covers the truth at this level."""
    if not isinstance(level, (int, float)) or not 0.0 < level < 1.0:
        raise InvalidInput(
            f"expected a confidence level strictly between 0 and 1 such as 0.95, got {level!r}"
        )
    std = np.sqrt(parts.second * noise.variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        kurtosis = np.where(parts.second > 0, noise.excess_kurtosis * parts.fourth / parts.second**2, 0.0)
    widths = std * standard_quantile(kurtosis, level)
    g = parts.spacing
    # A lattice value k·g stands for the stretch (k ± ½)g of the continuous law, so the least k with
    # k + ½ ≥ width/g covers; on a fine lattice (many steps per standard error) this changes nothing.
    coarse = (g > 0) & (std < 1000 * g)
    steps = np.divide(widths, g, out=np.zeros_like(widths), where=coarse)
    return np.where(coarse, np.ceil(steps - 0.5) * g, widths)


def standard_quantile(kurtosis: Vector, level: float) -> Vector:
    """Half-width in standard errors for the given excess kurtosis (negative counts as normal)."""
    return np.asarray(_table(float(level))(np.clip(kurtosis, 0.0, MAX_KURTOSIS)))


@lru_cache(maxsize=32)
def _table(level: float) -> PchipInterpolator:
    knots = np.concatenate(([0.0], np.geomspace(0.05, MAX_KURTOSIS, 48)))
    normal = float(stats.norm.ppf(0.5 + level / 2))
    return PchipInterpolator(knots, [normal, *(_variance_gamma_quantile(k, level) for k in knots[1:])])


def _variance_gamma_quantile(kurtosis: float, level: float) -> float:
    """Two-sided quantile of the unit-variance variance-gamma law, from its Bessel density."""
    k = 3.0 / kurtosis
    rate = np.sqrt(2 * k)
    log_constant = (
        0.5 * np.log(2 / np.pi) - special.gammaln(k) + (k / 2 + 0.25) * np.log(2 * k) - (k - 0.5) * np.log(2)
    )

    def density(x: float) -> float:
        # kve is the Bessel function K times eˣ, so nothing under- or overflows.
        return float(
            np.exp(log_constant + (k - 0.5) * np.log(x) + np.log(special.kve(k - 0.5, rate * x)) - rate * x)
        )

    def uncovered(q: float) -> float:
        return 2 * float(integrate.quad(density, q, np.inf, epsabs=0, epsrel=1e-9)[0]) - (1 - level)

    return float(optimize.brentq(uncovered, 1e-6, 60.0, xtol=1e-10))
