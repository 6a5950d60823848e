"""Intervals cover the truth as often as they say, for every kind of noise and of query."""

import numpy as np
import pytest

import rowspace as rs
from rowspace.noise import InsecureSeededRandom
from rowspace.releases.answer_columns import interval_ends

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 16, bins=16, outside="drop"), sex=rs.Categorical(["F", "M"], outside="drop")
)
X = np.random.default_rng(1).integers(0, 300, (16, 2))
WORKLOADS = {
    "ranges": rs.workload.ranges(DOMAIN, "age"),
    "marginals": rs.workload.marginals(DOMAIN, up_to=2),
    "cells": rs.workload.identity(DOMAIN),
}


@pytest.mark.parametrize(
    ("name", "privacy"),
    [
        ("ranges", rs.ApproxDP(1.0, 1e-6)),
        ("marginals", rs.PureDP(0.2)),
        ("cells", rs.ZCDP(0.5)),
        pytest.param("ranges", rs.PureDP(1.0), marks=pytest.mark.long),
        pytest.param("marginals", rs.ZCDP(0.5), marks=pytest.mark.long),
        pytest.param("cells", rs.PureDP(1.0), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_coverage(name, privacy):
    """2,000 releases, at two levels. Each query's count of hits is at least the stated binomial minus six standard
    deviations, and for noise on a fine grid at most plus six (false-alarm rate below 1e-6 over all queries).
    """
    plan = rs.plan(WORKLOADS[name], privacy)
    random = InsecureSeededRandom(21)
    W = plan.workload.operator().to_dense()
    levels = np.array([[0.8], [0.95]])
    half_widths = np.array([plan.error_bars(float(level))[1] for level in levels[:, 0]])
    truth = (
        W
        @ X.reshape(plan.domain.shape if plan.domain == DOMAIN else (16, 2))
        .sum(axis=() if plan.domain == DOMAIN else 1)
        .ravel()
    )
    runs = 2000
    hits = np.zeros(half_widths.shape)
    for _ in range(runs):
        x = X if plan.domain == DOMAIN else X.sum(axis=1)
        answers = W @ rs.release(plan, x, random=random).estimate
        hits += np.abs(answers - truth) <= half_widths + 1e-6
    slack = 6 * np.sqrt(runs * levels * (1 - levels)) + 0.002 * runs
    assert (hits >= runs * levels - slack).all()
    if plan.noise.variance > 1000:
        assert (hits <= runs * levels + slack).all()


def test_an_interval_does_not_depend_on_what_else_is_asked():
    answer, half = np.array([1 / 3, 1e9 / 7, -0.1, 0.0]), np.array([0.7, 3.3, 0.1, 0.0])
    low, high = interval_ends(answer, half, 50.0)
    for one in range(4):
        alone = interval_ends(answer[one : one + 1], half[one : one + 1], 50.0)
        assert (alone[0][0], alone[1][0]) == (low[one], high[one])
    assert (low <= answer - half).all()
    assert (high >= answer + half).all()
    assert low[3] == high[3] == 0
    assert not np.signbit([low[3], high[2], high[3]]).any()


@pytest.mark.parametrize(
    "privacy",
    [rs.PureDP(1.0), rs.PureDP(5.0), rs.PureDP(50.0), rs.ZCDP(3.0), rs.ApproxDP(30.0, 1e-6)],
    ids=str,
)
def test_intervals_as_printed_cover_where_noise_is_coarse(privacy):
    """The truth is then often at the very end of an interval, and rounding errors must not put it outside.

    150 releases of 70 queries; each query's hits are at least the stated binomial minus six standard deviations
    (false-alarm rate below 1e-6 over all queries).
    """
    domain = rs.Domain(
        age=rs.Numeric(0, 6, bins=6, outside="drop"),
        one=rs.Categorical(["a"], outside="drop"),
        sex=rs.Categorical(["F", "M"], outside="drop"),
        r=rs.Categorical(list("abc"), outside="drop"),
    )
    x = np.random.default_rng(2).integers(0, 40, (6, 1, 2, 3))
    workload = rs.workload.ranges(domain, "age") + 3 * rs.workload.marginals(domain, up_to=2)
    plan = rs.plan(workload, privacy, effort="fast")
    counts = x if plan.domain == domain else x.sum(axis=1)
    truth = plan.workload.operator() @ counts.ravel()
    random, runs, level = InsecureSeededRandom(3), 150, 0.95
    _, half = plan.error_bars(level)
    hits = np.zeros(len(truth))
    for number in range(runs):
        release = rs.release(plan, counts, random=random)
        low, high = interval_ends(release._answer(plan.workload), half, release.largest_count)
        if number == 0:
            answers = release.answers(level)
            assert (answers["low"] == low).all()
            assert (answers["high"] == high).all()
        hits += (low <= truth) & (truth <= high)
    assert hits.min() >= runs * (level - 0.002) - 6 * np.sqrt(runs * level * (1 - level))
