"""The bound on odds holds for the noise that is drawn, and is not loose by much."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy

from rowspace.privacy import ZCDP, ApproxDP, PureDP, odds_bound


@pytest.mark.parametrize("rho", [1e-4, 0.01, 0.1, 0.5, 3.0])
def test_a_gaussian_exceeds_it_no_more_often_than_stated(rho: float) -> None:
    """Normal noise at this ρ: the log-odds move by a normal variable of mean ρ and variance 2ρ."""
    bound = odds_bound(ZCDP(rho))
    assert bound is not None
    deviation = math.sqrt(2 * rho)
    exceeded = scipy.stats.norm.sf((bound.epsilon - rho) / deviation)
    exceeded += scipy.stats.norm.cdf((-bound.epsilon - rho) / deviation)
    assert exceeded <= bound.chance
    # Honest, and no more: a tenth less would be exceeded more often than a normal variable says.
    assert bound.epsilon < 1.2 * (rho + deviation * scipy.stats.norm.isf(bound.chance / 2))


@pytest.mark.parametrize("rho", [0.05, 0.5])
def test_the_noise_that_is_drawn_exceeds_it_no_more_often_than_stated(rho: float) -> None:
    bound = odds_bound(ZCDP(rho))
    assert bound is not None
    noise = ZCDP(rho).noise(integer_norm=1)
    spread = float(Fraction(noise.sigma_squared))  # type: ignore[attr-defined]
    k = np.arange(-400, 401)
    law = np.exp(-(k**2) / (2 * spread))
    law /= law.sum()
    # One more record moves the answer by one: the log-odds of an outcome k move by ((k − 1)² − k²)/(2σ²).
    moved = np.abs((k - 1) ** 2 - k**2) / (2 * spread)
    assert law[moved > bound.epsilon].sum() <= bound.chance


def test_pure_privacy_is_its_own_bound_and_approximate_has_none() -> None:
    pure = odds_bound(PureDP(0.7))
    assert pure is not None
    assert (pure.epsilon, pure.chance) == (0.7, 0.0)
    assert odds_bound(ApproxDP(0.7, 1e-6)) is None
