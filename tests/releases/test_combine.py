"""Releases put together: the best estimate there is, its error bars, and refusal of what is no new evidence."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput, InvalidWorkload, UnsupportedWorkload
from rowspace.measure import draw
from rowspace.noise import SecureRandom
from rowspace.releases import combined_answers
from rowspace.releases.combined import Combined, Guarantees, combine
from rowspace.releases.combined_answers import ByCells, ByQuery, ByStrategy, ByTables

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 8, bins=8, outside="drop"), sex=rs.Categorical(["F", "M"], outside="drop")
)
COUNTS = np.arange(16) * 3
RANGES = rs.workload.ranges(DOMAIN, "age") + rs.workload.marginal(DOMAIN, "sex")
TABLES = rs.workload.marginals(DOMAIN, up_to=2)


def made(workload, privacy, counts=COUNTS):
    return rs.release(rs.plan(workload, privacy, effort="fast"), counts)


def dense(releases, workload):
    """(answers, variances) by generalized least squares on dense matrices."""
    scales = [1 / np.sqrt(release.plan.noise.variance) for release in releases]
    A = np.vstack([c * r.plan.strategy.to_dense() for c, r in zip(scales, releases, strict=True)])
    y = np.concatenate([c * r.noisy_answers for c, r in zip(scales, releases, strict=True)])
    coefficients = workload.operator().to_dense() @ np.linalg.pinv(A)
    return coefficients @ y, (coefficients**2).sum(axis=1)


@pytest.mark.parametrize(
    ("privacies", "workloads", "few_cells", "way"),
    [
        ((rs.PureDP(1.0), rs.PureDP(0.5)), (RANGES, RANGES), 1024, ByStrategy),
        ((rs.ZCDP(1.0), rs.ZCDP(0.1)), (TABLES, TABLES), 1024, ByStrategy),
        ((rs.PureDP(1.0), rs.PureDP(0.5)), (RANGES, TABLES), 1024, ByCells),
        ((rs.ZCDP(1.0), rs.PureDP(0.5), rs.PureDP(0.1)), (TABLES, TABLES, RANGES), 1024, ByCells),
        ((rs.ZCDP(1.0), rs.PureDP(0.5)), (TABLES, TABLES), 0, ByTables),
    ],
)
def test_is_generalized_least_squares(privacies, workloads, few_cells, way, monkeypatch):
    monkeypatch.setattr(combined_answers, "FEW_CELLS", few_cells)
    releases = [made(w, p) for w, p in zip(workloads, privacies, strict=True)]
    both = rs.combine(releases)
    assert type(both._answers) is way
    answer, variance = dense(releases, both.plan.workload)
    table = both.answers()
    np.testing.assert_allclose(table["answer"], answer, atol=1e-6)
    np.testing.assert_allclose(table["std_error"] ** 2, variance, rtol=1e-6, atol=1e-9)
    own = both.ask("age < 3")
    answer, variance = dense(releases, rs.workload.predicates(DOMAIN, ["age < 3"]))
    assert own["answer"][0] == pytest.approx(answer[0], abs=1e-6)
    assert own["std_error"][0] ** 2 == pytest.approx(variance[0])
    for release in releases:
        assert (both.ask(RANGES)["std_error"] <= release.ask(RANGES)["std_error"] + 1e-9).all()


def test_query_by_query(monkeypatch):
    """Where nothing else fits: weights 1/variance, better than each, and what only one supports."""
    monkeypatch.setattr(combined_answers, "DECOMPOSITION_LIMIT", 4)
    monkeypatch.setattr(combined_answers, "FEW_CELLS", 10**6)
    one, two = made(RANGES, rs.PureDP(1.0)), made(rs.workload.marginal(DOMAIN, "age", "sex"), rs.ZCDP(0.5))
    both = one.combine(two)
    assert type(both._answers) is ByQuery
    a, b, c = (r.ask("age < 3") for r in (one, two, both))
    weights = np.array([1 / a["std_error"][0] ** 2, 1 / b["std_error"][0] ** 2])
    mean = (weights @ [a["answer"][0], b["answer"][0]]) / weights.sum()
    assert c["answer"][0] == pytest.approx(mean)
    assert c["std_error"][0] == pytest.approx(weights.sum() ** -0.5)
    assert "sums of answers may differ" in both.statement


def test_query_by_query_needs_one_that_supports(monkeypatch):
    monkeypatch.setattr(combined_answers, "DECOMPOSITION_LIMIT", 4)
    monkeypatch.setattr(combined_answers, "FEW_CELLS", 10**6)
    one = made(rs.workload.marginals(DOMAIN, up_to=1), rs.PureDP(1.0))
    two = made(rs.workload.marginals(DOMAIN, up_to=1), rs.PureDP(0.5))
    query = rs.workload.marginal(DOMAIN, "age", "sex")
    with pytest.raises(UnsupportedWorkload):
        one.combine(two).ask(query)
    singles = ByQuery(one.combine(two).evidence.measurements)
    with pytest.raises(UnsupportedWorkload):
        singles.table(query, 0.95)
    joint = made(query, rs.PureDP(0.5))
    either = ByQuery(
        (
            *one.combine(two).evidence.measurements,
            *joint.combine(made(query, rs.PureDP(1.0))).evidence.measurements,
        )
    )
    assert either.table(query, 0.95)[0].shape == (16,)


@pytest.mark.long
def test_domains_too_large_for_cells():
    domain = rs.Domain({f"a{i}": rs.Categorical(list("abcd"), outside="drop") for i in range(20)})
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(list("abcd"), 200) for name in domain.names})
    one = rs.release(rs.plan(rs.workload.marginals(domain, up_to=2), rs.ZCDP(0.5)), frame)
    two = rs.release(rs.plan(rs.workload.marginals(domain, up_to=2), rs.PureDP(5.0)), frame)
    both = rs.combine([one, two])
    assert type(both._answers) is ByTables
    query = rs.workload.marginal(domain, "a3", "a7")
    errors = [r.ask(query)["std_error"].to_numpy() for r in (one, two)]
    better = both.ask(query)
    # Each component is averaged by its own precision: at least as good as one weight for all.
    assert (better["std_error"] <= (errors[0] ** -2 + errors[1] ** -2) ** -0.5 + 1e-9).all()
    truth = pd.crosstab(frame["a3"], frame["a7"]).to_numpy().ravel()
    assert (np.abs(better["answer"] - truth) < 8 * better["std_error"]).all()


WAYS = ["same plan", "cells", "tables", "by query", "coarse noise"]


@pytest.mark.parametrize("way", WAYS)
def test_coverage(way, monkeypatch):
    """Intervals hold the truth at least as often as stated; errors have the stated mean and variance.

    Answers are linear in the noisy answers, so the map is found once and 20,000 draws of noise are sent through it.
    The share that a query's interval holds has a deviation of √(p(1−p)/20,000) < 0.36 %, the mean of errors of 1/141
    standard errors, the variance of at most 3 % (kurtosis of Laplace noise). With bounds of 6 deviations on 23 queries
    and five ways, false alarms are below 10⁻⁶; 0.3 percentage points are what intervals of sums are off by.
    """
    monkeypatch.setattr(combined_answers, "FEW_CELLS", 0 if way == "tables" else 1024)
    if way == "by query":
        monkeypatch.setattr(combined_answers, "DECOMPOSITION_LIMIT", 4)
        monkeypatch.setattr(combined_answers, "FEW_CELLS", 10**6)
    domain = rs.Domain(
        a=rs.Categorical(list("abc"), outside="drop"), b=rs.Categorical(list("xy"), outside="drop")
    )
    tables, cells = rs.workload.marginals(domain, up_to=2), rs.workload.identity(domain)
    first = rs.plan(tables, rs.PureDP(8.0 if way == "coarse noise" else 0.5), effort="fast")
    privacy = rs.PureDP(4.0) if way == "coarse noise" else rs.ZCDP(0.1)
    second = first if way == "same plan" else rs.plan(cells, privacy, effort="fast")
    queries, draws = tables + cells, 20_000
    plans = (first, second)
    rows = [plan.strategy.shape[0] for plan in plans]
    units = np.eye(sum(rows), dtype=np.int64)

    def answered(y, level=0.95):
        # Both are moved along by multiples of counts, which moves the answers by theirs: no two are the same.
        releases = [rs.Release(plan, part) for plan, part in zip(plans, np.split(y, rows[:1]), strict=True)]
        return releases[0].combine(releases[1]).ask(queries, level)

    zero = np.concatenate([plan.strategy @ (k * np.arange(6)) for k, plan in enumerate(plans, start=1)])
    base = answered(zero)["answer"].to_numpy()
    linear = np.array([answered(zero + unit)["answer"] - base for unit in units])
    noise = np.concatenate(
        [
            draw(plan.noise, draws * n, SecureRandom()).reshape(draws, n)
            for plan, n in zip(plans, rows, strict=True)
        ],
        axis=1,
    )
    errors = noise @ linear
    for level in (0.5, 0.8, 0.95, 0.99):
        table = answered(zero, level)
        half = (table["high"] - table["low"]).to_numpy() / 2
        held = (np.abs(errors) <= half + 1e-9).mean(axis=0)
        assert (held >= level - 6 * np.sqrt(level * (1 - level) / draws) - 0.003).all()
    std_error = table["std_error"].to_numpy()
    assert (np.abs(errors.mean(axis=0)) < 6 * std_error / np.sqrt(draws)).all()
    if way != "coarse noise":
        np.testing.assert_allclose(errors.var(axis=0), std_error**2, rtol=0.18)


def test_what_was_spent():
    one, two, three = made(RANGES, rs.PureDP(0.1)), made(TABLES, rs.PureDP(0.2)), made(TABLES, rs.ZCDP(0.5))
    assert rs.combine([one, two]).spent == (rs.PureDP(0.3),)
    mixed = rs.combine([one, three, two])
    assert mixed.spent == (rs.PureDP(0.3), rs.ZCDP(0.5))
    assert "0.3-differential privacy" in mixed.statement
    assert "0.5-zero-concentrated" in mixed.statement
    approximate = [made(TABLES, rs.ApproxDP(1.0, 1e-6)), made(TABLES, rs.privacy.ApproxDPTheorem3(0.5, 1e-6))]
    assert rs.combine(approximate).spent == (rs.ApproxDP(1.5, 2e-6),)
    assert "cost no privacy" in str(mixed)


def test_a_sum_that_no_float_names_is_stated_no_smaller():
    parts = [Fraction("0.1234567890123456"), Fraction("1000.1"), Fraction("0.3333333333333333")]
    for kind, name in ((rs.PureDP, "epsilon"), (rs.ZCDP, "rho")):
        for size in (2, 3):
            (stated,) = Guarantees(tuple(kind(float(part)) for part in parts[:size])).sums
            assert (
                sum(parts[:size])
                <= Fraction(repr(getattr(stated, name)))
                <= sum(parts[:size]) + Fraction(1, 10**12)
            )


def test_combining_what_was_combined():
    releases = [made(RANGES, rs.PureDP(0.5)) for _ in range(3)]
    nested = releases[0].combine(releases[1]).combine(releases[2])
    flat = rs.combine(releases)
    assert isinstance(nested, Combined)
    assert len(nested.releases) == 3
    np.testing.assert_allclose(nested.answers()["answer"], flat.answers()["answer"])
    np.testing.assert_allclose(
        flat.answers()["std_error"] * np.sqrt(3), releases[0].answers()["std_error"], rtol=1e-9
    )


def test_derived_answers():
    both = rs.combine([made(RANGES, rs.PureDP(2.0)), made(TABLES, rs.ZCDP(1.0))])
    assert both.median("age").value == pytest.approx(5.5, abs=0.5)
    assert both.share("sex = 'F'").low < COUNTS[::2].sum() / COUNTS.sum() < both.share("sex = 'F'").high + 0.1
    assert both.table("age", "sex").answer.shape == (9, 3)


def test_refuses_the_same_release_twice(tmp_path):
    one = made(RANGES, rs.PureDP(0.5))
    path = tmp_path / "a.rowspace"
    one.save(path)
    for twin in (one, rs.Release.load(path)):
        with pytest.raises(InvalidInput, match="with itself"):
            one.combine(twin)
    two = made(RANGES, rs.PureDP(0.5))
    with pytest.raises(InvalidInput, match="with itself"):
        one.combine(two).combine(one)


def test_refuses_different_domains():
    one = made(RANGES, rs.PureDP(0.5))
    coarser = rs.Domain(
        age=rs.Numeric(0, 8, bins=4, outside="drop"), sex=rs.Categorical(["F", "M"], outside="drop")
    )
    other = made(rs.workload.marginals(coarser, up_to=2), rs.PureDP(0.5), np.arange(8))
    with pytest.raises(InvalidInput, match="different domains: they declare 'age' differently"):
        one.combine(other)
    fewer = made(rs.workload.ranges(DOMAIN, "age"), rs.PureDP(0.5), COUNTS.reshape(8, 2).sum(axis=1))
    with pytest.raises(InvalidInput, match="different domains: only some are about 'sex'"):
        rs.combine([one, fewer])
    turned = rs.Domain(
        sex=rs.Categorical(["F", "M"], outside="drop"), age=rs.Numeric(0, 8, bins=8, outside="drop")
    )
    with pytest.raises(InvalidInput, match="another order"):
        one.combine(made(rs.workload.marginals(turned, up_to=2), rs.PureDP(0.5)))


@pytest.mark.parametrize("bad", [3, "release", None, object()])
def test_refuses_what_is_no_release(bad):
    one = made(RANGES, rs.PureDP(0.5))
    with pytest.raises(InvalidInput, match="expected releases"):
        one.combine(bad)
    with pytest.raises(InvalidInput, match=r"expected (a list of )?releases"):
        rs.combine(bad)
    with pytest.raises(InvalidInput, match="expected releases"):
        Combined((one, bad))


def test_refuses_too_few():
    one = made(RANGES, rs.PureDP(0.5))
    for few in ([], [one]):
        with pytest.raises(InvalidInput, match="two or more"):
            combine(few)
    with pytest.raises(InvalidInput, match="expected a list"):
        combine(one)


def test_refuses_foreign_queries():
    both = rs.combine([made(RANGES, rs.PureDP(0.5)), made(TABLES, rs.PureDP(0.5))])
    other = rs.Domain(height=rs.Numeric(0, 2, bins=2, outside="drop"))
    with pytest.raises(InvalidWorkload, match="not measured as declared"):
        both.ask(rs.workload.identity(other))
    for bad in (3, [3], None):
        with pytest.raises(InvalidWorkload, match="expected a workload or predicates"):
            both.ask(bad)
    with pytest.raises(InvalidInput, match="confidence level"):
        both.answers(level=2)


@pytest.mark.parametrize("rho", [10.0, 100.0, 1e4, 1e8])
def test_hardly_any_noise_beside_much_of_it(rho):
    """Precisions that no floats can solve for together are bounded: the counts are right, the errors not too small."""
    domain = rs.Domain(age=rs.Numeric(0, 32, bins=32, integer=True, outside="drop"))
    counts = np.arange(32) * 7
    noisy = rs.release(rs.plan(rs.workload.ranges(domain, "age"), rs.ZCDP(0.01)), counts)
    precise = rs.release(rs.plan(rs.workload.prefixes(domain, "age"), rs.ZCDP(rho)), counts)
    one = rs.release(rs.plan(rs.workload.total(domain), rs.ZCDP(rho)), counts)
    both = rs.combine([noisy, precise, one])
    table = both.ask(rs.workload.prefixes(domain, "age"))
    assert np.allclose(table["answer"], np.cumsum(counts), atol=6 * max(1e-3, table["std_error"].max()))
    alone = precise.ask(rs.workload.prefixes(domain, "age"))
    assert (table["std_error"] <= alone["std_error"] + 1e-3).all()
    covered = (table["low"] - 1e-6 <= np.cumsum(counts)) & (np.cumsum(counts) <= table["high"] + 1e-6)
    assert covered.mean() >= 0.8
