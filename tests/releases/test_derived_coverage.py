"""Intervals of derived answers hold the truth as often as they say."""

from __future__ import annotations

import math

import pytest
from benchmarks.coverage import coverage

import rowspace as rs


@pytest.mark.parametrize("privacy", [rs.PureDP(1.0), rs.ZCDP(0.1)], ids=["laplace", "gaussian"])
def test_intervals_hold_the_truth(privacy):
    """120 releases. False alarms below 1e-6: each family's share is a mean of 120 independent numbers in [0, 1] of mean
    0.95 or more, whose variance is at most 0.05·0.95, so by Bernstein P(mean < 0.95 − t) ≤ exp(−120t²/2(0.0475 + t/3)).
    """
    t = 0.17
    assert 8 * math.exp(-120 * t**2 / 2 / (0.0475 + t / 3)) < 1e-6
    shares = coverage(privacy, releases=120)
    assert set(shares) == {"range", "marginal", "quantile", "ratio"}
    assert min(shares.values()) > 0.95 - t
