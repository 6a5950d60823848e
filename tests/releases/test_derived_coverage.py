"""Intervals of derived answers hold the truth as often as they say."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
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


GAINS = {
    "atoms": np.repeat(
        [0, 7688, 15024, 99_999], [2700, 150, 110, 40]
    ),  # heavy atoms, each in the midst of its bin
    "edges": np.repeat(
        [0, 4999, 5000, 15_000], [500, 250, 250, 500]
    ),  # atoms at edges, and quantiles between them
    "skewed": np.random.default_rng(3).exponential(9_000, 1500).clip(0, 99_999).round(2),
}


METHODS = ("linear", "inverted_cdf", "hazen", "interpolated_inverted_cdf")


@pytest.mark.parametrize(
    ("name", "privacy"),
    [
        *((name, rs.PureDP(1e6)) for name in GAINS),
        ("atoms", rs.PureDP(0.5)),
        ("edges", rs.ZCDP(0.02)),
        ("skewed", rs.PureDP(0.5)),
        pytest.param("atoms", rs.ZCDP(0.02), marks=pytest.mark.long),
        pytest.param("edges", rs.PureDP(0.5), marks=pytest.mark.long),
        pytest.param("skewed", rs.ZCDP(0.02), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_quantiles_of_the_records_themselves(name, privacy):
    """Not of the bins, and by any usual definition. 120 releases; false alarms below 1e-6 by Bernstein, as above."""
    t = 0.19
    assert 120 * math.exp(-120 * t**2 / 2 / (0.0475 + t / 3)) < 1e-6
    domain = rs.Domain(gain=rs.Numeric(0, 100_000, bins=20, integer=False, outside="drop"))
    plan = rs.plan(rs.workload.prefixes(domain, "gain"), privacy, effort="fast")
    raw, wanted = GAINS[name], [0.05, 0.25, 0.5, 0.9, 0.99]
    truth = np.array([np.quantile(raw, wanted, method=method) for method in METHODS])
    counts = np.histogram(raw, domain["gain"].edges)[0]
    exact = privacy == rs.PureDP(1e6)
    held = []
    for _ in range(1 if exact else 120):
        found = rs.release(plan, counts).quantiles("gain", wanted)
        held.append((found["low"].to_numpy() <= truth) & (truth <= found["high"].to_numpy()))
    assert np.mean(held, axis=0).min() >= (1 if exact else 0.95 - t)


def test_an_end_that_holds_all_that_is_outside_is_no_edge():
    """Clipped values lie anywhere beyond the last edge: so may the quantile."""
    domain = rs.Domain(gain=rs.Numeric(0, 100, bins=10, outside="clip"))
    plan = rs.plan(rs.workload.prefixes(domain, "gain"), rs.PureDP(1e6), effort="fast")
    frame = pd.DataFrame({"gain": [-500] * 50 + [55] * 100 + [7000] * 50})
    found = rs.release(plan, frame).quantiles("gain", [0.1, 0.5, 0.9])
    assert found["low"].tolist() == [-math.inf, 50, 90]
    assert found["high"].tolist() == [10, 60, math.inf]
    assert found["note"].tolist()[1] == "interpolated within [50, 60)"
