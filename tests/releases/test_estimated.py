"""Tables as estimated: counts that agree, statements that hold, bad input."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput, TooLarge, UnsupportedWorkload
from rowspace.noise import InsecureSeededRandom
from rowspace.releases import consistent_counts

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 12, bins=12, integer=True, outside="drop"),
    job=rs.Categorical(list("abcdef"), outside="drop"),
    place=rs.Categorical(list("uvwxyz"), outside="drop"),
    sex=rs.Categorical(["F", "M"], outside="drop"),
)
TABLES = rs.workload.marginals(DOMAIN, up_to=2)


def people(number=4000, seed=0):
    """Sparse: jobs and places go together, most pairs never occur."""
    rng = np.random.default_rng(seed)
    job = rng.choice(6, number, p=[0.5, 0.3, 0.1, 0.06, 0.03, 0.01])
    place = np.where(rng.random(number) < 0.9, job, rng.integers(0, 3, number))
    age = np.clip(rng.poisson(2 + 1.2 * job), 0, 11)
    sex = rng.random(number) < 0.5 + 0.05 * job
    return pd.DataFrame(
        {
            "age": age,
            "job": np.array(list("abcdef"))[job],
            "place": np.array(list("uvwxyz"))[place],
            "sex": np.where(sex, "F", "M"),
        }
    )


def truth(frame, *names):
    """Pandas' counts, in the order of the domain's cells."""
    labels = [DOMAIN[name].labels() for name in names]
    keys = [frame[name].astype(str) for name in names]
    counted = frame.groupby(keys).size()
    cells = pd.MultiIndex.from_product(labels) if len(names) > 1 else pd.Index(labels[0])
    return counted.reindex(cells, fill_value=0).to_numpy()


def made(rho=0.005, frame=None, workload=TABLES, **options):
    plan = rs.plan(workload, rs.ZCDP(rho), **options)
    # What estimates gain is so on average: tests see the same noise every time.
    return rs.release(plan, people() if frame is None else frame, random=InsecureSeededRandom(1))


@pytest.mark.parametrize("integral", [False, True])
def test_counts_agree(integral):
    found = made().estimate_tables(integral=integral)
    answers = found.answers()
    assert answers["answer"].min() >= 0
    assert (answers["answer"].dtype == np.int64) == integral
    pair = found.ask(rs.workload.marginal(DOMAIN, "age", "job"))["answer"].to_numpy().reshape(12, 6)
    other = found.ask(rs.workload.marginal(DOMAIN, "job", "place"))["answer"].to_numpy().reshape(6, 6)
    single = found.ask(rs.workload.marginal(DOMAIN, "job"))["answer"].to_numpy()
    np.testing.assert_allclose(pair.sum(axis=0), single, atol=1e-5)
    np.testing.assert_allclose(other.sum(axis=1), single, atol=1e-5)
    table = found.table("job", "sex")
    np.testing.assert_allclose(table["total"].to_numpy()[:-1], single, atol=1e-5)


def test_little_noise_gives_the_counts_of_pandas():
    frame = people()
    release = made(1e6, frame)
    found = release.estimate_tables()
    for names in (("age",), ("job", "place"), ("age", "sex")):
        own = found.ask(rs.workload.marginal(DOMAIN, *names))
        np.testing.assert_allclose(own["answer"], truth(frame, *names), atol=0.01)
        assert own["measured"].min() > 0.9
    assert found.ask("age < 4 and job = 'b'")["answer"][0] == pytest.approx(
        ((frame["age"] < 4) & (frame["job"] == "b")).sum(), abs=0.1
    )
    records = found.synthetic(rng=1)
    assert len(records) == len(frame)
    assert max(records.attrs["table_error"].values()) < 0.02


def test_nearer_than_the_measurement():
    """Sparse tables at much noise: Σ|error| of four releases is half the measurement's; at most 70 % is asked for."""
    frame = people()
    measured = estimated = 0.0
    for _ in range(4):
        release = made(0.0005, frame)
        for names in (("age", "job"), ("job", "place")):
            own, counts = rs.workload.marginal(DOMAIN, *names), truth(frame, *names)
            measured += float(np.abs(release.ask(own)["answer"] - counts).sum())
            estimated += float(np.abs(release.estimate_tables().ask(own)["answer"] - counts).sum())
    assert estimated < 0.7 * measured


def test_intervals_cover():
    """95 % intervals of eight releases hold 95 % of 576 counts, and of the large ones among them."""
    frame = people()
    names = ("age", "job")
    counts = truth(frame, *names)
    inside, large = [], []
    for _ in range(8):
        found = made(0.005, frame).estimate_tables().ask(rs.workload.marginal(DOMAIN, *names))
        held = (found["low"] <= counts) & (counts <= found["high"])
        inside.append(held.mean())
        large.append(held[counts >= 10].mean())
    assert np.mean(inside) > 0.92
    assert np.mean(large) > 0.9
    assert (made(0.005, frame).estimate_tables().answers(level=0.5)["low"] >= 0).all()


def test_expected_errors_are_those_that_happen():
    """Root mean square over all two-way tables and six releases: within 40 % of what is expected."""
    frame = people()
    pairs = [part.attributes for part in TABLES.parts if len(part.attributes) == 2]
    happened = expected = 0.0
    for _ in range(6):
        found = made(0.005, frame).estimate_tables()
        for names in pairs:
            own = found.ask(rs.workload.marginal(DOMAIN, *names))
            happened += float(np.sum((own["answer"] - truth(frame, *names)) ** 2))
            expected += float(np.sum(own["expected_error"] ** 2))
    assert 0.6 < np.sqrt(expected / happened) < 1.4


def test_says_what_it_did():
    found = made().estimate_tables()
    errors = found.errors()
    assert errors["table"].tolist()[:2] == ["total", "age"]
    assert len(errors) == 1 + 4 + 6
    assert (errors["error_share"] >= 0).all()
    assert (errors["error_share"] < errors["noise_share"] * 1.5 + 1e-9).all()
    assert errors["measured"].between(0, 1).all()
    assert "Tables as estimated" in found.statement
    assert found.answers().attrs["statement"] == found.statement
    assert found.answers(level=0.9).attrs["level"] == 0.9


def test_consistent_says_which_it_used(monkeypatch):
    release = made()
    assert "cells" in release.consistent().method
    monkeypatch.setattr(consistent_counts, "CELL_LIMIT", 4)
    large = made()
    assert "between a model and the measurement" in large.consistent().method
    assert "between a model and the measurement" in large.consistent(by="estimate").statement
    assert "nearest non-negative tables" in large.consistent(by="projection").statement
    monkeypatch.setattr(import_module("rowspace.releases.estimate_fit"), "SET_LIMIT", 3)
    assert "nearest non-negative tables" in made().consistent().method  # falls back, and says so
    with pytest.raises(TooLarge, match="projection"):
        made().estimate_tables()


def test_noise_alone_gives_a_uniform_model():
    plan, seen = rs.plan(TABLES, rs.ZCDP(1e-9)), set()
    for seed in range(6):
        found = rs.release(plan, people(), random=InsecureSeededRandom(seed)).estimate_tables()
        words = [w for w in ("the model is uniform", "all counts are zero") if w in found.statement]
        assert len(words) == 1
        seen.update(words)
        ages = found.ask(rs.workload.marginal(DOMAIN, "age", "job"))
        assert np.ptp(ages["answer"]) <= 1e-6 * max(1.0, ages["answer"].max())
    assert len(seen) == 2


def test_no_records_at_all():
    plan = rs.plan(TABLES, rs.ZCDP(0.1))
    release = rs.Release(plan, np.full(plan.strategy.shape[0], -(10**6), dtype=np.int64))
    found = release.estimate_tables()
    assert not found.answers()["answer"].any()
    assert "all counts are zero" in found.statement
    assert len(found.synthetic(rng=0)) == 0


def test_tables_that_share_nothing_and_one_table_only():
    frame = people()
    apart = rs.workload.marginals(DOMAIN, sets=[["age", "sex"], ["job", "place"]])
    found = made(1e5, frame, apart).estimate_tables()
    np.testing.assert_allclose(found.answers()["answer"][:24], truth(frame, "age", "sex"), atol=0.05)
    one = made(1e5, frame, rs.workload.marginal(DOMAIN, "job", "place")).estimate_tables()
    np.testing.assert_allclose(one.answers()["answer"], truth(frame, "job", "place"), atol=0.05)
    three = made(1e5, frame, rs.workload.marginal(DOMAIN, "age", "job", "sex")).estimate_tables()
    np.testing.assert_allclose(three.answers()["answer"], truth(frame, "age", "job", "sex"), atol=0.05)


def test_a_model_of_ones_own():
    """The true table as a model at much noise: it is believed."""
    frame = people()
    release = made(0.0005, frame)
    true = truth(frame, "place", "job").reshape(6, 6).astype(float)
    own = rs.workload.marginal(DOMAIN, "job", "place")
    plain, given = (
        np.abs(release.estimate_tables(**options).ask(own)["answer"] - true.T.ravel()).sum()
        for options in ({"model": "independence"}, {"model": {("place", "job"): true}})
    )
    assert given < plain
    for bad in ({("job", "place"): true[:2]}, {("job", "place"): -true}):
        with pytest.raises(InvalidInput, match="expected the model of job × place"):
            release.estimate_tables(model=bad)


@pytest.mark.parametrize("rho", [1e-7, 0.0005, 1.0])
def test_impossible_cells_are_empty_and_known_totals_hold(rho):
    """Also where the model alone is the answer, and where nothing else is known."""
    facts = {"total": 4000, "job = 'a'": 2000}
    found = made(rho, known=facts, impossible=["job = 'a' and age >= 10"]).estimate_tables()
    own = found.ask(rs.workload.marginal(DOMAIN, "age", "job"))["answer"].to_numpy().reshape(12, 6)
    assert own[10:, 0].sum() < 0.01
    assert own[:, 0].sum() == pytest.approx(2000, abs=0.1)
    assert own.sum() == pytest.approx(4000, abs=0.1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"model": "tree"}, "best, independence"),
        ({"model": 3}, "a dict of tables"),
        ({"integral": 1}, "True or False"),
    ],
)
def test_bad_arguments(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        made().estimate_tables(**arguments)
    with pytest.raises(InvalidInput, match="projection, estimate"):
        made().consistent(by="hope")


def test_queries_that_need_a_table_that_was_not_measured():
    found = made().estimate_tables()
    with pytest.raises(UnsupportedWorkload):
        found.ask(rs.workload.marginal(DOMAIN, "age", "job", "place"))


def test_ranges_and_signed_queries():
    frame = people()
    workload = rs.workload.ranges(DOMAIN, "age") + rs.workload.marginal(DOMAIN, "age")
    found = made(10.0, frame, workload).estimate_tables()
    ranges = found.answers()
    assert len(ranges) == 78 + 12
    change = np.zeros((1, 12))
    change[0, :2] = 1, -1
    own = found.ask(rs.workload.matrix(change, DOMAIN, "age"))
    assert own["low"][0] < 0  # a difference may be negative: nothing is cut
    expected = truth(frame, "age")
    assert own["low"][0] <= expected[0] - expected[1] <= own["high"][0]
