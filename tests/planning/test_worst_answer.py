"""Plans made for the worst answer say so, and are certified for it."""

import dataclasses

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import FileError, InvalidInput
from rowspace.planning import recalibrated

from .test_plan_files import rewrite

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 20, bins=20), sex=rs.Categorical(["F", "M"]), region=rs.Categorical(list("abc"))
)
WORKLOADS = {
    "prefixes": rs.workload.prefixes(DOMAIN, "age"),
    "weighted": 3 * rs.workload.ranges(DOMAIN, "age") + rs.workload.marginal(DOMAIN, "sex"),
    "tables": rs.workload.marginals(DOMAIN, up_to=2),
    "products": rs.workload.product(DOMAIN, {"age": "prefixes", "sex": "identity"})
    + rs.workload.product(DOMAIN, {"age": "prefixes", "region": "identity"}),
}
PRIVACIES = [rs.PureDP(1.0), rs.ZCDP(0.5), rs.ZCDP(0.5, "replace-one")]


@pytest.mark.parametrize("name", list(WORKLOADS))
@pytest.mark.parametrize("privacy", PRIVACIES, ids=str)
def test_no_worst_answer_is_below_the_bound(name, privacy):
    """Nor that of the plan for the least total, whose noise has the same quality."""
    plan, other = (rs.plan(WORKLOADS[name], privacy, objective=o) for o in ("max", "total"))
    assert (plan.objective, other.objective, other.max_lower_bound) == ("max", "total", 0.0)
    assert 0 < plan.max_lower_bound <= plan.max_error * (1 + 1e-6)
    assert plan.max_lower_bound <= other.max_error * (1 + 1e-3)
    assert plan.ratio == pytest.approx(max(1, plan.max_error / plan.max_lower_bound))
    assert plan.max_error == pytest.approx(plan.query_errors().max())


def test_the_worst_answer_is_certified_where_the_optimum_is_known():
    for name in ("prefixes", "tables"):
        assert rs.plan(WORKLOADS[name], rs.ZCDP(0.5), objective="max").ratio < 1.001


def test_it_is_said_everywhere():
    plan = rs.plan(WORKLOADS["products"], rs.PureDP(1.0), objective="max")
    assert plan.certificate.endswith("of its worst answer")
    assert f"worst squared error           {plan.max_error:.6g}" in str(plan)
    assert str(plan).count(plan.certificate) == 1
    assert plan.certificate in plan._repr_html_()
    figures = plan.to_dict()
    assert figures["objective"] == "max"
    assert figures["ratio"] == plan.max_error / figures["max_lower_bound"]
    assert rs.plan(WORKLOADS["products"], rs.PureDP(1.0)).to_dict()["objective"] == "total"


def test_more_answers_than_can_be_looked_at():
    """Products of ranges have too many queries for a search: nothing is claimed about the worst."""
    domain = rs.Domain({f"a{i}": rs.Numeric(0, 30, bins=30) for i in range(6)})
    ranges = dict.fromkeys(domain.names[:3], "ranges")
    plan = rs.plan(rs.workload.product(domain, ranges) + rs.workload.marginals(domain, up_to=1), rs.ZCDP(0.5))
    worst = dataclasses.replace(plan, objective="max", max_lower_bound=1.0)
    assert worst.ratio == np.inf
    assert worst.certificate == "no lower bound is available for the error of its worst answer"
    assert "too many answers to look at" in str(worst)
    assert worst.to_dict()["ratio"] is None


def test_files(tmp_path):
    plan = rs.plan(WORKLOADS["prefixes"], rs.ZCDP(0.5), objective="max")
    path = tmp_path / "worst.plan"
    plan.save(path)
    again = rs.Plan.load(path)
    assert (again.objective, again.max_lower_bound) == ("max", plan.max_lower_bound)
    assert again.certificate == plan.certificate
    rewrite(path, lambda document: document["body"].update(objective="median"))
    with pytest.raises(FileError, match="damaged plan"):
        rs.Plan.load(path)

    def as_before(document):
        del document["body"]["objective"], document["body"]["max_lower_bound"]

    rewrite(path, as_before)
    assert rs.Plan.load(path).objective == "total"


def test_at_another_budget_the_certificate_stays():
    plan = rs.plan(WORKLOADS["tables"], rs.ZCDP(0.5), objective="max")
    other = recalibrated(plan, rs.ZCDP(2.0))
    assert other.objective == "max"
    assert other.ratio == pytest.approx(plan.ratio, rel=1e-3)
    assert other.max_lower_bound == pytest.approx(plan.max_lower_bound / 4, rel=1e-2)


def test_a_strategy_of_ones_own_is_certified_for_it_too():
    plan = rs.plan(WORKLOADS["weighted"], rs.ZCDP(0.5), objective="max", strategy=np.eye(40))
    assert plan.objective == "max"
    assert 0 < plan.max_lower_bound <= plan.max_error
    with pytest.raises(InvalidInput, match="objective"):
        rs.plan(WORKLOADS["weighted"], rs.ZCDP(0.5), objective="median", strategy=np.eye(40))


def test_candidates_that_lose_a_faint_query_are_left_out():
    """Beside large queries a small one may be lost among digits: that ends a candidate, not the plan."""
    W = rs.workload.matrix(np.diag([1e-6, 1.0, 1e3]) + 1e-4)
    for privacy in (rs.PureDP(1.0), rs.ZCDP(0.5)):
        assert rs.plan(W, privacy, objective="max").max_error > 0
