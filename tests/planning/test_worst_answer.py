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
    other = recalibrated(plan, rs.ZCDP(0.125))
    assert other.objective == "max"
    assert other.ratio == pytest.approx(plan.ratio, rel=1e-3)
    assert other.max_lower_bound == pytest.approx(plan.max_lower_bound * 4, rel=1e-2)
    # At a large budget plain counts may draw less: the bound allows for it.
    large = recalibrated(plan, rs.ZCDP(2.0))
    assert large.max_lower_bound == pytest.approx(
        plan.max_lower_bound * rs.ZCDP(2.0).noise(1).variance, rel=1e-6
    )
    assert large.max_lower_bound < plan.max_lower_bound / 4


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


@pytest.mark.parametrize("privacy", PRIVACIES[:2], ids=str)
def test_importance_weights_play_no_part(privacy):
    """They count in totals: the worst answer, its bound and the plan are those of equal weights."""
    heavy = 100 * rs.workload.ranges(DOMAIN, "age") + rs.workload.marginal(DOMAIN, "sex", "region")
    plain = rs.workload.ranges(DOMAIN, "age") + rs.workload.marginal(DOMAIN, "sex", "region")
    plan, other = (rs.plan(w, privacy, objective="max") for w in (heavy, plain))
    assert plan.max_error == pytest.approx(other.max_error)
    assert plan.max_lower_bound == pytest.approx(other.max_lower_bound)
    assert plan.candidates[0].max_error == pytest.approx(plan.max_error, rel=1e-2)
    assert plan.candidates[0].total_error == pytest.approx(plan.total_error, rel=1e-2)
    assert plan.lower_bound <= plan.total_error
    assert plan.lower_bound == pytest.approx(rs.plan(heavy, privacy).lower_bound, rel=0.5)
    if privacy.norm == 2:
        assert plan.ratio < 1.01


@pytest.mark.long
def test_the_worst_of_a_million_prefixes():
    domain = rs.Domain(age=rs.Numeric(0, 2**20, bins=2**20))
    plan = rs.plan(rs.workload.prefixes(domain, "age"), rs.ZCDP(0.5), objective="max", effort="fast")
    assert plan.max_error == pytest.approx(28.9, rel=0.01)
    assert plan.ratio < 1.1
    ranges = rs.plan(rs.workload.ranges(domain, "age"), rs.ZCDP(0.5), objective="max", effort="fast")
    assert ranges.ratio == np.inf
    assert ranges.max_lower_bound > 0


def test_released_at_tiny_noise_the_answers_are_the_true_counts():
    domain = rs.Domain(age=rs.Numeric(0, 300, bins=300))
    plan = rs.plan(rs.workload.prefixes(domain, "age"), rs.ZCDP(1e12), objective="max", effort="fast")
    counts = np.random.default_rng(0).integers(0, 50, 300)
    answers = rs.release(plan, counts).answers()["answer"]
    np.testing.assert_allclose(answers, np.cumsum(counts), atol=1e-3)
