"""Plans over periods: causal, certified, with the error of every query when it is published."""

from __future__ import annotations

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import FileError, InvalidInput, RowspaceError, TooLarge
from rowspace.planning.periods import plan_until
from rowspace.workload.ended import ended

w = rs.workload
MONTH = rs.Dates("2024-01-01", "2025-01-01", every="month")
ONE = rs.Domain(month=MONTH)
TWO = rs.Domain(region=rs.Categorical(["a", "b", "c"]), month=MONTH)
WORKLOADS = {
    "prefixes": w.prefixes(ONE, "month"),
    "windows and last month": w.widths(ONE, "month", 3) + 3.0 * w.predicates(ONE, ["month = '2024-12'"]),
    "table to date": w.product(TWO, month="prefixes", region="identity") + w.marginal(TWO, "region"),
    "only the year": w.total(TWO) + w.marginal(TWO, "region"),
}


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("objective", ["total", "max"])
@pytest.mark.parametrize(
    "privacy", [rs.ZCDP(0.5), rs.PureDP(1.0), rs.ZCDP(0.5, "replace-one"), rs.ApproxDP(1, 1e-6)]
)
def test_errors_at_publication(name, objective, privacy):
    """Least squares from the rows of the periods so far gives every query the error that the plan states."""
    plan = rs.plan(WORKLOADS[name], privacy, over="month", objective=objective)
    stated = dict(zip(plan.workload.labels(), plan.query_errors(), strict=True))
    seen = set()
    for periods in range(1, 13):
        now = plan_until(plan, periods)
        A, W = now.strategy.to_dense(), now.counted.operator().to_dense()
        errors = plan.noise.variance * np.square(W @ np.linalg.pinv(A)).sum(axis=1)
        assert np.allclose(W @ np.linalg.pinv(A) @ A, W, atol=1e-6)
        for label, error in zip(now.workload.labels(), errors, strict=True):
            if label in stated and ended(plan.workload, "month", periods) is not None:
                assert error == pytest.approx(stated[label], rel=1e-6)
                seen.add(label)
        assert now.query_errors() == pytest.approx(errors, rel=1e-6)
    assert seen == set(stated)


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("objective", ["total", "max"])
def test_time_costs_nothing(name, objective):
    """Under Gaussian noise the plan is within 2·10⁻⁴ of the best of all strategies, also of those that wait."""
    plan = rs.plan(WORKLOADS[name], rs.ZCDP(0.5), over="month", objective=objective)
    assert plan.ratio < 1.0005
    assert plan.lower_bound <= plan.total_error


def test_records_without_a_period_are_not_counted():
    plan = rs.plan(WORKLOADS["table to date"], rs.ZCDP(0.5), over="month")
    assert "month" in plan.population
    assert "not counted" in plan.population
    assert plan.domain.shape == (4, 12)


def test_products_of_many_cells_are_causal_and_certified():
    domain = rs.Domain(month=MONTH, age=rs.Numeric(0, 400, bins=400), sex=rs.Categorical(["F", "M"]))
    plan = rs.plan(w.product(domain, month="prefixes", age="ranges"), rs.ZCDP(0.5), over="month")
    batch = rs.plan(w.product(domain, month="prefixes", age="ranges"), rs.ZCDP(0.5))
    assert plan.domain.size > 4096
    assert plan.total_error <= 1.0001 * batch.total_error
    assert plan_until(plan, 5).strategy.shape[1] == 5 * 401


def test_plan_files(tmp_path):
    plan = rs.plan(WORKLOADS["table to date"], rs.ZCDP(0.5), over="month")
    plan.save(tmp_path / "a.plan")
    again = rs.Plan.load(tmp_path / "a.plan")
    assert again.over == "month"
    assert again.strategy == plan.strategy
    body, arrays = rs.plan(WORKLOADS["prefixes"], rs.ZCDP(0.5)).encode()
    with pytest.raises(FileError, match="later periods"):
        rs.Plan.decode(body | {"over": "month"}, arrays)
    with pytest.raises(RowspaceError):
        rs.Plan.decode(body | {"over": "year"}, arrays)


def test_bad_input():
    with pytest.raises(InvalidInput, match="over="):
        rs.plan(WORKLOADS["prefixes"], rs.ZCDP(0.5), over="year")
    seconds = rs.Domain(t=rs.Numeric(0, 2**20 + 1, bins=2**20 + 1, outside="drop"))
    with pytest.raises(TooLarge, match="1,048,576 periods"):
        rs.plan(w.prefixes(seconds, "t"), rs.ZCDP(0.5), over="t")
    days = rs.Domain(t=rs.Numeric(0, 5000, bins=5000, outside="drop"))
    with pytest.raises(TooLarge, match="over 5000 periods"):
        rs.plan(w.ranges(days, "t"), rs.ZCDP(0.5), over="t")
    with pytest.raises(InvalidInput, match="periods=12"):
        rs.plan(WORKLOADS["prefixes"], rs.ZCDP(0.5, unit=rs.PrivacyUnit("person", 2)), over="month")
    with pytest.raises(InvalidInput, match="over="):
        rs.plan(WORKLOADS["prefixes"], rs.ZCDP(0.5, unit=rs.PrivacyUnit("person", 2, periods=3)))
    with pytest.raises(InvalidInput, match="strategy="):
        rs.plan(WORKLOADS["prefixes"], rs.ZCDP(0.5), over="month", strategy=np.eye(12))


def test_products_with_joint_factors_are_certified():
    """Every combination of time queries and others, which tie the other attributes: the bound is a product's."""
    domain = rs.Domain(
        month=MONTH,
        region=rs.Categorical(list("abcdefgh"), outside="drop"),
        age=rs.Numeric(0, 64, bins=64, outside="drop"),
    )
    rest = [("identity", "identity"), ("total", "ranges")]
    parts = [
        weight * w.product(domain, month=time, region=region, age=age)
        for region, age in rest
        for weight, time in ((1.0, "identity"), (2.0, "prefixes"))
    ]
    plan = rs.plan(sum(parts[1:], parts[0]), rs.ZCDP(0.5), over="month")
    (jointly,) = [candidate for candidate in plan.candidates if "jointly" in candidate.name]
    assert jointly.ratio < 1.01
    assert 1 <= plan.ratio < 1.0005
    errors = np.concatenate([plan_until(plan, 7).query_errors(), plan.query_errors()])
    stated = dict(zip(plan.workload.labels(), plan.query_errors(), strict=True))
    now = plan_until(plan, 7)
    for label, error in zip(now.workload.labels(), errors, strict=False):
        assert error == pytest.approx(stated[label], rel=1e-6)
    uneven = rs.plan(sum(parts[2:], parts[0]), rs.ZCDP(0.5), over="month")
    assert uneven.lower_bound <= uneven.total_error


@pytest.mark.parametrize("missing", [False, True])
def test_no_table_is_asked_as_another_one_would_be(missing):
    """Tables to date, ranges by month: no product is near the optimum, a triangle for each residual is."""
    outside = "missing" if missing else "drop"
    domain = rs.Domain(
        region=rs.Categorical(list("abc"), outside=outside),
        month=MONTH,
        age=rs.Numeric(0, 30, bins=30, outside=outside),
    )
    queries = (
        2.0 * w.product(domain, month="identity", region="identity", age="identity")
        + w.product(domain, month="prefixes", region="identity", age="identity")
        + w.product(domain, month="identity", age="ranges")
        + w.prefixes(domain, "month")
    )
    plan = rs.plan(queries, rs.ZCDP(0.5), over="month")
    assert "each residual" in plan.candidates[0].name
    assert plan.candidates[1].total_error > 1.03 * plan.total_error
    assert plan.ratio < (1.05 if missing else 1.0005)
    assert rs.Plan.decode(*plan.encode()).strategy == plan.strategy
    now = plan_until(plan, 5)
    stated = dict(zip(plan.workload.labels(), plan.query_errors(), strict=True))
    for label, error in zip(now.workload.labels(), now.query_errors(), strict=True):
        assert error == pytest.approx(stated[label], rel=1e-9)
    sample = now.workload.over(now.domain).operator()
    rows = np.concatenate([sample.rows_dense(k, k + 1) for k in range(0, sample.shape[0], 997)])
    inverse = np.linalg.pinv(now.strategy.to_dense())
    errors = plan.noise.variance * np.square(rows @ inverse).sum(axis=1)
    assert now.query_errors()[::997] == pytest.approx(errors, rel=1e-6)


def test_the_product_bound_is_that_of_the_dense_optimum():
    from rowspace.strategy import GaussianOptimal
    from rowspace.strategy.causal_search import _product_bound

    domain = rs.Domain(
        month=rs.Numeric(0, 6, bins=6, outside="drop"), age=rs.Numeric(0, 8, bins=8, outside="drop")
    )
    parts = [
        weight * w.product(domain, month=time, age=age)
        for age, share in (("identity", 1.0), ("ranges", 3.0))
        for weight, time in ((share, "identity"), (2 * share, "prefixes"))
    ]
    for workload, exact in ((sum(parts[1:], parts[0]), True), (sum(parts[2:], parts[0]), False)):
        optimum = GaussianOptimal().optimize(workload.weighted_operator(), rs.ZCDP(0.5)).total_error
        bound = _product_bound(workload.products(), rs.ZCDP(0.5), 0)
        assert bound <= optimum
        assert bound > 0.999 * optimum if exact else bound == 0.0


@pytest.mark.parametrize("texts", [["month <= 1"], ["month <= 1", "month >= 0"], ["month == 2"]], ids=str)
@pytest.mark.parametrize(("most", "apart"), [(3, 2), (2, 1)])
def test_periods_that_no_query_tells_apart(texts, most, apart):
    """People who come back, and few queries: the search ended in a singular matrix, or not at all."""
    domain = rs.Domain(month=rs.Numeric(0, 3, bins=3, integer=True, outside="drop"))
    unit = rs.PrivacyUnit("who", rows=1, periods=most, apart=apart)
    plan = rs.plan(
        rs.workload.predicates(domain, texts), rs.ZCDP(0.5, unit=unit), over="month", effort="fast"
    )
    assert plan.lower_bound <= plan.total_error <= 1.01 * plan.lower_bound
