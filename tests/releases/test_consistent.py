"""Consistency on request: counts that are counts, labelled as what they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput, InvalidWorkload, TooLarge, UnsupportedWorkload
from rowspace.releases import consistent_counts, consistent_fits
from rowspace.releases.consistent_counts import CellCounts, TableCounts

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 8, bins=8, outside="drop"),
    sex=rs.Categorical(["F", "M"], outside="drop"),
    place=rs.Categorical(["a", "b", "c"], outside="drop"),
)
COUNTS = np.random.default_rng(0).poisson(np.random.default_rng(1).gamma(0.3, 10, 48))
TABLES = rs.workload.marginals(DOMAIN, up_to=2)
PLANS = {
    "marginals, Laplace": (TABLES, rs.PureDP(0.5)),
    "marginals, Gaussian": (TABLES, rs.ZCDP(0.05)),
    "ranges": (rs.workload.ranges(DOMAIN, "age") + TABLES, rs.PureDP(0.5)),
    "cells": (rs.workload.identity(DOMAIN), rs.ApproxDP(0.5, 1e-6)),
    "products": (
        rs.workload.product(DOMAIN, age="prefixes", sex="identity", place="identity"),
        rs.PureDP(0.5),
    ),
}


def made(name):
    workload, privacy = PLANS[name]
    return rs.release(rs.plan(workload, privacy, effort="fast"), COUNTS)


@pytest.fixture(params=["cells", "tables"])
def form(request, monkeypatch):
    """Small enough for cells, or as if it were not."""
    if request.param == "tables":
        monkeypatch.setattr(consistent_counts, "CELL_LIMIT", 4)
    return {"cells": CellCounts, "tables": TableCounts}[request.param]


@pytest.mark.parametrize("integral", [False, True])
@pytest.mark.parametrize("name", PLANS)
def test_counts_are_counts(name, integral, form):
    release = made(name)
    found = release.consistent(integral=integral)
    if form is TableCounts and rs.strategy.Strategy.of(release.plan.strategy).tables is None:
        with pytest.raises(TooLarge, match="plan marginals"):
            found.answers()
        return
    table = found.answers()
    assert type(found._counts) is form
    assert table["answer"].min() >= -1e-9
    assert (table["answer"].dtype == np.int64) == integral
    assert "std_error" not in table
    total = float(found.ask(rs.workload.total(DOMAIN))["answer"].iloc[0])
    expected = max(0.0, float(release.ask(rs.workload.total(DOMAIN))["answer"].iloc[0]))
    assert total == (round(expected) if integral else pytest.approx(expected))
    # Sums of answers are answers to sums, across tables.
    pair, single = rs.workload.marginal(DOMAIN, "age", "place"), rs.workload.marginal(DOMAIN, "place")
    by_place = found.ask(pair)["answer"].to_numpy().reshape(8, 3).sum(axis=0)
    np.testing.assert_allclose(by_place, found.ask(single)["answer"], atol=0 if integral else 1e-6)
    other = (
        found.ask(rs.workload.marginal(DOMAIN, "sex", "place"))["answer"].to_numpy().reshape(2, 3).sum(axis=0)
    )
    np.testing.assert_allclose(other, by_place, atol=0 if integral else 1e-6)


def test_says_what_it_did(form):
    release = made("marginals, Laplace")
    plain, whole = release.consistent(), release.consistent(integral=True)
    for found in (plain, whole):
        assert found.statement.startswith("Biased post-processing")
        assert "0.5-differential privacy" in found.statement
        assert found.answers().attrs["statement"] == found.statement
        change = found.answers()["answer"] - release.answers()["answer"]
        assert found.effect.change == pytest.approx(np.sqrt(np.mean(change**2)))
        errors = release.answers()["std_error"]
        assert found.effect.std_error == pytest.approx(np.sqrt(np.mean(errors**2)))
        assert found.effect.negative == (release.answers()["answer"] < 0).sum()
        assert "moved the answers by" in str(found)
    assert plain.effect.rounding == pytest.approx(0)
    assert whole.effect.rounding > 0
    moved = whole.answers()["answer"] - plain.answers()["answer"]
    assert whole.effect.rounding == pytest.approx(np.sqrt(np.mean(moved**2)), rel=1e-6)
    assert whole.effect.rounding_adds == pytest.approx(
        np.hypot(whole.effect.rounding, whole.effect.std_error) / whole.effect.std_error - 1
    )


def test_effect_of_more_answers_than_fit(monkeypatch):
    release = made("ranges")
    expected = release.consistent(integral=True).effect
    monkeypatch.setattr(consistent_counts, "TABLE_LIMIT", 10)
    found = release.consistent(integral=True).effect
    assert found.change == pytest.approx(expected.change)
    assert found.rounding == pytest.approx(expected.rounding)
    assert found.std_error == pytest.approx(expected.std_error)
    assert found.negative is None


def test_answers_do_not_change(form):
    """The same release gives the same counts every time, whole ones too."""
    release = made("marginals, Gaussian")
    for integral in (False, True):
        one, two = (release.consistent(integral=integral).answers()["answer"] for _ in range(2))
        np.testing.assert_array_equal(one, two)


def test_brings_sparse_counts_closer():
    """On mostly empty cells with much noise the error falls; false alarms below 10⁻⁶: it falls by half."""
    domain = rs.Domain(a=rs.Numeric(0, 256, bins=256, outside="drop"))
    counts = np.zeros(256, dtype=np.int64)
    counts[::16] = 40
    release = rs.release(rs.plan(rs.workload.identity(domain), rs.PureDP(0.2)), counts)
    before = np.sum((release.answers()["answer"] - counts) ** 2)
    assert np.sum((release.consistent().answers()["answer"] - counts) ** 2) < 0.7 * before


def test_little_noise_changes_little():
    release = rs.release(rs.plan(TABLES, rs.PureDP(50.0)), COUNTS)
    assert release.consistent().effect.change < 1
    np.testing.assert_allclose(
        release.consistent(integral=True).answers()["answer"],
        TABLES.operator() @ COUNTS,
        atol=4,
    )


def test_no_records_at_all():
    plan = rs.plan(TABLES, rs.PureDP(1.0))
    release = rs.Release(plan, np.full(plan.strategy.shape[0], -10, dtype=np.int64))
    for integral in (False, True):
        assert not release.consistent(integral=integral).answers()["answer"].any()
    assert len(release.synthetic(rng=0)) == 0


def test_combined_releases():
    both = rs.combine([made("marginals, Laplace"), made("cells")])
    found = both.consistent(integral=True)
    assert found.answers()["answer"].min() >= 0
    assert "together with" in found.statement
    assert both.synthetic(20, rng=1).shape == (20, 3)


def test_refuses_a_total_that_was_not_measured():
    domain = rs.Domain(
        a=rs.Numeric(0, 4, bins=4, outside="drop"), b=rs.Categorical(["x", "y"], outside="drop")
    )
    queries = rs.workload.predicates(domain, ["a < 2", "a < 1 and b = 'x'"])
    strategy = queries.operator()
    from rowspace.planning import Plan
    from rowspace.strategy import calibrated_noise

    plan = Plan(queries, rs.PureDP(1.0), strategy, calibrated_noise(strategy, rs.PureDP(1.0)), 0.0, ())
    release = rs.Release(plan, np.array([5, 2]))
    with pytest.raises(UnsupportedWorkload):
        release.consistent().answers()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"nonnegative": False}, "signed counts"),
        ({"nonnegative": 1}, "nonnegative to be True or False"),
        ({"integral": "yes"}, "integral to be True or False"),
    ],
)
def test_bad_arguments(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        made("cells").consistent(**arguments)


def test_bad_queries():
    found = made("cells").consistent()
    for bad in (3, [None], {"age": 1}):
        with pytest.raises(InvalidWorkload):
            found.ask(bad)
    with pytest.raises(InvalidWorkload):
        found.ask(rs.workload.identity(rs.Domain(height=rs.Numeric(0, 2, bins=2, outside="drop"))))


def test_tables_too_large(monkeypatch):
    monkeypatch.setattr(consistent_counts, "CELL_LIMIT", 4)
    monkeypatch.setattr(consistent_fits, "TABLE_CELL_LIMIT", 4)
    with pytest.raises(TooLarge, match="plan smaller marginals"):
        made("marginals, Laplace").consistent().answers()


def test_answers_of_more_rows_than_a_table_has(monkeypatch):
    from rowspace.releases import consistent

    monkeypatch.setattr(consistent, "TABLE_LIMIT", 10)
    with pytest.raises(TooLarge, match="part of the workload"):
        made("cells").consistent().answers()


def test_a_domain_of_any_size():
    """2-way tables of 30 attributes: 4³⁰ cells."""
    rng = np.random.default_rng(0)
    domain = rs.Domain({f"a{i}": rs.Categorical(list("abcd"), outside="drop") for i in range(30)})
    frame = pd.DataFrame(
        {name: rng.choice(list("abcd"), 300, p=[0.7, 0.2, 0.1, 0.0]) for name in domain.names}
    )
    release = rs.release(rs.plan(rs.workload.marginals(domain, up_to=2), rs.ZCDP(0.2)), frame)
    found = release.consistent()
    answers = found.answers()["answer"]
    assert answers.min() >= -1e-9
    assert found.effect.negative > 0
    # Cells of a value that nobody has are closer to the truth than before: by two thirds on the mean of sixty of them,
    # by more than half in each of fifty releases.
    pairs = [rs.workload.marginal(domain, f"a{i}", f"a{i + 1}") for i in range(0, 30, 2)]
    before, after = (
        np.mean([np.abs(r.ask(pair)["answer"].to_numpy().reshape(4, 4)[3]) for pair in pairs])
        for r in (release, found)
    )
    assert after < 0.75 * before


def test_a_precise_small_table_stays_precise():
    """Most cells of the large table are empty and noisy, the ages are known well: they are not given up for it."""
    domain = rs.Domain(
        age=rs.Numeric(0, 50, bins=50, outside="drop"),
        place=rs.Categorical(range(40), outside="drop"),
        code=rs.Categorical(range(1000), outside="drop"),
    )
    ages, places, codes = (
        rs.workload.marginal(domain, *own) for own in (["age"], ["age", "place"], ["code"])
    )
    plan = rs.plan(1000 * ages + places + codes, rs.PureDP(0.5), effort="fast")
    people = pd.DataFrame({"age": np.arange(20_000) % 10 + 10, "place": 3, "code": 0})
    release = rs.release(plan, people)
    unbiased = release.ask(ages)
    moved = release.consistent().ask(ages)["answer"] - unbiased["answer"]
    # With the large tables alone every age moved by about 40 standard errors; the nearest tables move them by 0.7.
    assert np.sqrt(np.mean(moved**2)) < 3 * unbiased["std_error"].mean()


def test_tables_with_totals(form):
    whole = made("marginals, Laplace").consistent(integral=True)
    table = whole.table("place", "sex")
    assert list(table.index) == ["a", "b", "c", "total"]
    assert list(table.columns) == ["F", "M", "total"]
    assert (table.drop(columns="total").sum(axis=1) == table["total"]).all()
    assert (table.drop(index="total").sum() == table.loc["total"]).all()
    assert whole.table("sex")["count"].tolist() == table.loc["total"].tolist()
    assert (table == whole.table("sex", "place").T).all(axis=None)
