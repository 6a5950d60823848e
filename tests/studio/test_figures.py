"""What the page is told: at every position what a plan made there says."""

from __future__ import annotations

import json

import pytest

import rowspace as rs
from rowspace.planning.across import Across
from rowspace.planning.balancing import judged
from rowspace.planning.whatif import budget, with_budget
from rowspace.privacy import Privacy
from rowspace.studio.figures import figures, planned, positions, solved
from rowspace.study import Study

from .conftest import STUDY


def told(plan: rs.Plan, point: dict, found: dict) -> None:
    """Whether a point says what a plan does."""
    strategy = found["strategies"][point["strategy"]]
    names = [group.group for group in plan.group_errors()]
    assert strategy["name"] == plan.candidates[0].name
    assert point["factor"] * strategy["rmse"] == pytest.approx(plan.rmse, rel=1e-6, abs=1e-12)
    for group, (queries, rmse, worst) in zip(plan.group_errors(), strategy["groups"], strict=True):
        assert queries == group.queries
        assert point["factor"] * rmse == pytest.approx(group.rmse, rel=1e-6, abs=1e-12)
        assert point["factor"] * worst == pytest.approx(group.largest_std_error, rel=1e-6, abs=1e-12)
    widths = [met.half_width for met in judged(plan, {name: [rs.Target(1.0)] for name in names})]
    assert point["widths"] == pytest.approx(widths, rel=1e-6)
    assert point["certificate"] == plan.certificate


@pytest.mark.parametrize(
    "privacy",
    [
        rs.PureDP(1.0),
        rs.ZCDP(0.1),
        rs.ApproxDP(0.5, 1e-6),
        rs.PureDP(0.05, unit=rs.PrivacyUnit("id", rows=2)),
    ],
    ids=str,
)
def test_every_point_is_the_plan_made_there(privacy: Privacy):
    study = Study.parse(STUDY)
    across = Across(study.workload, privacy, "fast")
    guarantees = [with_budget(privacy, value) for value in positions(privacy)]
    for one in guarantees:
        across.search(one)
    some = guarantees[:: len(guarantees) // 10]
    stated = Study(study.name, study.domain, study.workload, privacy)
    found = figures(stated, across, some, "fast")
    json.dumps(found, allow_nan=False)
    for point in found["points"]:
        assert point["exact"]
        made = rs.plan(study.workload, with_budget(privacy, point["budget"]), effort="fast")
        told(made, point, found)
    rough = figures(stated, across, some, "fast", rough=True)
    for about, point in zip(rough["points"], found["points"], strict=True):
        if point["budget"] < 0.5:
            assert about["widths"] == pytest.approx(point["widths"], rel=0.2)


def test_stages_end_exact():
    study = Study.parse(STUDY.replace("epsilon = 1.0", "rho = 0.1"))
    *_, last = stages = list(planned(study))
    assert [stage["effort"] for stage in stages] == ["fast", "best", "best"]
    assert not all(point["exact"] for point in stages[0]["points"])
    assert all(point["exact"] and not point["rough"] for point in last["points"])
    own = next(point for point in last["points"] if point["budget"] == last["own"])
    told(rs.plan(study.workload, study.privacy, effort="best"), own, last)


def test_what_depends_on_the_budget_is_exact_there_alone():
    study = Study.parse(STUDY.replace("epsilon = 1.0", "rho = 0.1") + "\n[known]\ntotal = 500\n")
    *_, last = planned(study)
    assert [point["budget"] for point in last["points"] if point["exact"]] == [0.1]
    own = next(point for point in last["points"] if point["exact"])
    made = rs.plan(study.workload, study.privacy, effort="best", **study.wishes)
    assert own["factor"] * last["strategies"][own["strategy"]]["rmse"] == pytest.approx(made.rmse)


def test_targets_are_those_of_plan_for():
    study = Study.parse(STUDY)
    targets = ["ranges of age: ±30 @95%", "age × sex: ±20 @95%"]
    found, expected = solved(study, targets), rs.plan_for(study.workload, targets, study.privacy)
    assert found["budget"] == expected.epsilon == budget(expected.plan.privacy)
    assert found["reached"] == {met.group: met.half_width for met in expected.met}


def test_an_unreachable_target_says_which_and_why():
    # At 95 % the noise of ε = 5 is zero.
    unmet = solved(Study.parse(STUDY), ["age × sex: ±0.0001 @99.9999%"])["unmet"]
    assert "no epsilon up to 10 meets 'age × sex' ±0.0001 @99.9999%: the best reachable is ±" in unmet
