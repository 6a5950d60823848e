"""Plans say where their figures need words: a loose bound, or hardly any noise."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rowspace as rs
from rowspace.report.html.planned import method
from rowspace.report.plans import plan_view

DOMAIN = rs.Domain(age=rs.Numeric(0, 64, bins=64, outside="drop"))
RANGES = rs.workload.ranges(DOMAIN, "age")


def test_a_loose_bound_says_so_and_names_what_gaussian_noise_reaches():
    plan = rs.plan(RANGES, rs.PureDP(1.0))
    loose, compared = plan.remarks
    assert "part of the factor is the bound's" in loose
    other = rs.plan(RANGES, rs.ZCDP(0.5))
    assert "ρ = ε²/2 = 0.5" in compared
    assert f"{other.rmse:.4g} (here {plan.rmse:.4g})" in compared
    for shown in (
        str(plan),
        plan._repr_html_().replace("&#39;", "'"),
        " ".join(json.dumps(plan.to_dict(), ensure_ascii=False).split()),
    ):
        assert loose in shown
        assert compared in shown
    assert method(plan).explained.endswith(f"{loose} {compared}")
    assert plan.to_dict()["remarks"] == [loose, compared]
    assert plan_view(plan, plan.group_errors())


def test_the_worst_answer_is_compared_with_the_worst():
    plan = rs.plan(RANGES, rs.PureDP(1.0), objective="max")
    assert "standard error of the worst answer" in plan.remarks[1]
    assert f"(here {plan.max_error**0.5:.4g})" in plan.remarks[1]


def test_units_and_neighbours_are_those_of_the_plan():
    privacy = rs.PureDP(0.8, "replace-one", rs.PrivacyUnit("person", 3))
    plan = rs.plan(RANGES, privacy)
    other = rs.plan(RANGES, rs.ZCDP(0.8**2 / 2, "replace-one", rs.PrivacyUnit("person", 3)))
    assert f" {other.rmse:.4g} (here" in plan.remarks[1]


@pytest.mark.parametrize("privacy", [rs.ZCDP(0.5), rs.ApproxDP(1.0, 1e-6)], ids=str)
def test_most_plans_need_no_words(privacy):
    assert rs.plan(RANGES, privacy).remarks == ()
    assert rs.plan(rs.workload.total(DOMAIN), rs.PureDP(1.0)).remarks == ()


def test_many_cells_are_not_planned_twice():
    domain = rs.Domain(age=rs.Numeric(0, 600, bins=600, outside="drop"))
    assert len(rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(0.1), effort="fast").remarks) == 1


def test_many_cells_of_small_attributes_are_compared_with_residuals():
    """As in the sample study, which has 2,727 with those of missing values, and attributes of 101 at most."""
    domain = rs.Domain({name: rs.Numeric(0, 24, bins=24, outside="drop") for name in "ab"})
    asked = [rs.workload.ranges(domain, name) for name in "ab"]
    w = asked[0] + asked[1] + rs.workload.predicates(domain, ["a < 10 and b < 10"])
    plan = rs.plan(w, rs.PureDP(1.0), effort="fast")
    assert plan.ratio > 2
    reached = float(plan.remarks[1].split("standard error of an answer of ")[1].split(" ")[0])
    best = rs.plan(w, rs.ZCDP(0.5), effort="fast").rmse
    assert 0.999 * best <= reached <= 1.1 * best


def test_hardly_any_noise_says_so():
    """At ε = 50 the chance that an answer has any noise is that of two in e⁵⁰."""
    plan = rs.plan(RANGES, rs.PureDP(50.0))
    assert "nearly always 0" in plan.remarks[-1]
    assert "one in 2.6e+21" in plan.remarks[-1]
    assert "nearly always 0" in str(plan)
    assert 0 < plan.lower_bound <= plan.total_error
    counts = np.arange(64)
    answers = rs.release(plan, counts).answers()["answer"].to_numpy()
    assert np.array_equal(answers, RANGES.operator() @ counts)
    assert "practically none" in rs.plan(RANGES, rs.PureDP(5000.0)).remarks[-1]
    assert not any("nearly always" in remark for remark in rs.plan(RANGES, rs.PureDP(3.0)).remarks)


def test_a_large_budget_is_named_as_the_reason_under_gaussian_noise():
    (said, _) = rs.plan(RANGES, rs.ZCDP(10.0)).remarks
    assert "nothing has less noise than a plain count" in said
