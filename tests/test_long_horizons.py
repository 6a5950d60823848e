"""Horizons whose triangle is not stored, some of them short so that everything can be written out."""

from __future__ import annotations

import numpy as np
import pytest

import rowspace as rs
from rowspace import operators as op
from rowspace.exceptions import FileError, IntegerOverflow, TooLarge
from rowspace.noise import InsecureSeededRandom
from rowspace.strategy.causal import with_memory

w = rs.workload
T = 21
REGION = rs.Categorical(["a", "b", "c"], outside="drop")


def periods(n):
    return rs.Numeric(0, n, bins=n, integer=True, outside="drop")


SERIES = rs.Domain(t=periods(T))
TABLE = rs.Domain(region=REGION, t=periods(T))
QUERIES = {
    "prefixes": w.prefixes(SERIES, "t"),
    "with counts of each period": w.prefixes(SERIES, "t") + w.identity(SERIES),
    "time first": w.product(rs.Domain(t=periods(T), region=REGION), t="prefixes", region="identity"),
    "by region": w.product(TABLE, t="prefixes", region="identity") + w.prefixes(TABLE, "t"),
}


@pytest.fixture
def long(monkeypatch):
    """Treat horizons of more than 10 periods as those of more than 4,096 are."""
    for module in ("rowspace.strategy.causal_search", "rowspace.planning.periods"):
        monkeypatch.setattr(f"{module}.STORED_PERIODS", 10)
    monkeypatch.setattr("rowspace.strategy.causal_search._layered", lambda *given: [])


def triangle(plan):
    return with_memory(plan.strategy, plan.domain.shape, plan.domain.position("t"))


@pytest.mark.parametrize("objective", ["total", "max"])
@pytest.mark.parametrize("name", QUERIES)
def test_errors_are_those_of_the_matrix(long, name, objective):
    plan = rs.plan(QUERIES[name], rs.ZCDP(0.5), over="t", objective=objective)
    assert triangle(plan) is not None
    A = plan.strategy.integer_matrix().astype(float)
    W = plan.counted.operator().to_dense()
    variances = np.square(W @ np.linalg.pinv(A)).sum(axis=1)
    assert plan.noise.variance == pytest.approx(np.square(A).sum(axis=0).max(), rel=1e-9)
    assert plan.query_errors() == pytest.approx(plan.noise.variance * variances, rel=1e-6)
    assert plan.max_error == pytest.approx(plan.query_errors().max(), rel=1e-6)
    best = rs.plan(QUERIES[name], rs.ZCDP(0.5))
    assert plan.lower_bound <= best.total_error * (1 + 1e-6)
    assert rs.Plan.decode(*plan.encode()).strategy == plan.strategy


@pytest.mark.parametrize("name", QUERIES)
def test_instalments_with_and_without_a_state(long, name, tmp_path):
    """The same integers from the same noise, whether all counts are given or those of the period beside a state."""
    plan = rs.plan(QUERIES[name], rs.ZCDP(1e12), over="t")
    counts = np.random.default_rng(0).integers(0, 100, plan.domain.shape)
    x, axis = counts.reshape(plan.domain.shape), plan.domain.position("t")
    source, state = [InsecureSeededRandom(3) for _ in range(2)], tmp_path / "a.state"
    before = other = earlier = None
    for t in range(T):
        before = rs.instalment(plan, x, period=str(t), before=before, random=source[0])
        later = np.where(np.arange(T).reshape([-1 if i == axis else 1 for i in range(x.ndim)]) == t, x, 0)
        other = rs.instalment(plan, later, period=str(t), before=other, state=state, random=source[1])
        if t % 7 == 3:  # as after a crash between state and instalment: the period stays as it was counted
            again = rs.instalment(plan, x * 0, period=str(t), before=earlier, state=state)
            assert again.answers()["answer"].to_numpy() == pytest.approx(
                other.answers()["answer"].to_numpy(), abs=0.01
            )
        earlier = other
    assert other.to_bytes() == before.to_bytes()
    truth = plan.counted.operator() @ counts.ravel()
    assert before.answers()["answer"].to_numpy() == pytest.approx(truth, abs=0.05)
    batch = plan.strategy @ counts.ravel()
    assert np.abs(before.noisy_answers - batch).max() <= 20 * plan.noise.variance**0.5


def test_noise_is_that_of_the_plan(long):
    """Sample variances over 200 runs: relative deviation √(2/200) = 10 %; five of those, and one of the sum."""
    plan = rs.plan(QUERIES["prefixes"], rs.ZCDP(0.5), over="t")
    source, found = InsecureSeededRandom(5), []
    strategy, queries = plan.asked
    for _ in range(200):
        noise = rs.mechanism.measure(plan.strategy, plan.noise, np.full(T, 7), source).answers
        found.append(strategy.estimate(noise.astype(float)).answers(queries))
    share = np.var(found, axis=0) / plan.query_errors()
    assert np.abs(share - 1).max() < 0.5
    assert share.mean() == pytest.approx(1.0, abs=0.1)


def test_windows_and_single_periods(long):
    plan = rs.plan(QUERIES["prefixes"], rs.ZCDP(1e12), over="t")
    x, before = np.arange(T), None
    for t in range(20):
        before = rs.instalment(plan, x, period=str(t), before=before)
    windows = before.series("window", periods=7)
    assert windows["answer"].to_numpy()[-1] == pytest.approx(sum(range(13, 20)), abs=0.05)
    A = before.plan.strategy.integer_matrix().astype(float)
    one = np.linalg.inv(A)[13:].sum(axis=0)
    assert windows["std_error"].to_numpy()[-1] == pytest.approx(
        (plan.noise.variance * one @ one) ** 0.5, rel=1e-6
    )
    assert before.ask("t = 12")["answer"][0] == pytest.approx(12, abs=0.05)


def test_what_is_refused(long, tmp_path):
    plan = rs.plan(QUERIES["prefixes"], rs.ZCDP(0.5), over="t")
    state = tmp_path / "a.state"
    first = rs.instalment(plan, [1] * T, period="0", state=state)
    second = rs.instalment(plan, [1] * T, period="1", before=first)
    with pytest.raises(FileError, match="holds 1 periods"):
        rs.instalment(plan, [1] * T, period="2", state=state, before=second)
    other = rs.plan(QUERIES["prefixes"], rs.ZCDP(0.25), over="t")
    with pytest.raises(FileError, match="another plan"):
        rs.instalment(other, [1] * T, period="0", state=state)
    with pytest.raises(IntegerOverflow, match="at most"):
        rs.instalment(plan, [2**39, 2**39, 2**39, *[0] * (T - 3)], period="2", before=second)
    with pytest.raises(TooLarge, match=r"10 periods.*Laplace"):
        rs.plan(QUERIES["prefixes"], rs.PureDP(1.0), over="t")
    unit = rs.PrivacyUnit("person", rows=1, periods=3)
    with pytest.raises(TooLarge, match=r"10 periods.*several"):
        rs.plan(QUERIES["prefixes"], rs.ZCDP(0.5, unit=unit), over="t")


def test_close_to_the_best():
    """5,000 periods: within 0.6 % of the bound of all strategies; the worst prefix within 7 %."""
    queries = w.prefixes(rs.Domain(t=periods(5000)), "t")
    assert 1.0 <= rs.plan(queries, rs.ZCDP(0.5), over="t").ratio <= 1.006
    worst = rs.plan(queries, rs.ZCDP(0.5), over="t", objective="max")
    assert isinstance(worst.strategy, op.Fading)
    assert worst.ratio <= 1.07


@pytest.mark.long
def test_hundred_thousand_periods():
    n = 10**5
    plan = rs.plan(w.prefixes(rs.Domain(t=periods(n)), "t"), rs.ZCDP(0.5), over="t")
    assert plan.ratio <= 1.008
    A, x = plan.strategy, np.random.default_rng(1).integers(0, 50, n)
    noisy = rs.mechanism.measure(A, plan.noise, x, InsecureSeededRandom(2)).answers
    found = np.asarray(A.pinv() @ noisy.astype(float))
    errors = (np.cumsum(found) - np.cumsum(x)) / np.sqrt(plan.query_errors())
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(1.0, abs=0.5)
    assert (
        np.abs(np.asarray(A.T @ (A.pinv().T @ np.eye(1, n, n - 1)[0])) - np.eye(1, n, n - 1)[0]).max() < 1e-6
    )
