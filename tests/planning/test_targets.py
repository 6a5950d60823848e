"""Targets: met by the plan that is returned, by no smaller budget, or refused with the best reachable."""

from __future__ import annotations

import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput, RowspaceError
from rowspace.planning import Target, parse_target, plan_for, recalibrated
from rowspace.planning.whatif import budget, with_budget

DOMAIN = rs.Domain(age=rs.Numeric(0, 32, bins=32), sex=rs.Categorical(["F", "M"]))
WORKLOAD = rs.workload.ranges(DOMAIN, "age") + rs.workload.marginal(DOMAIN, "age", "sex")
TEXTS = ["ranges: ±60 @95%", "age × sex: ±15 @90%"]


@pytest.mark.parametrize(
    "kind", [rs.PureDP(1.0), rs.ZCDP(1.0), rs.ApproxDP(1.0, 1e-6)], ids=["pure", "zcdp", "approx"]
)
def test_targets_are_met_and_no_smaller_budget_would_do(kind):
    found = plan_for(WORKLOAD, TEXTS, kind, effort="fast")
    for name, target in (("ranges of age", Target(60)), ("age × sex", Target(15, 0.9))):
        parts = [part for part in found.plan.workload.parts if part.group == name]
        half_widths = found.plan.error_bars(target.level, rs.Workload(found.plan.domain, parts))[1]
        assert half_widths.max() <= target.half_width
    less = recalibrated(found.plan, with_budget(kind, 0.98 * found.epsilon))
    parts = {met.group: [p for p in less.workload.parts if p.group == met.group] for met in found.met}
    widths = [
        less.error_bars(met.target.level, rs.Workload(less.domain, parts[met.group]))[1].max()
        / met.target.half_width
        for met in found.met
    ]
    assert max(widths) > 1
    assert type(found.plan.privacy) is type(kind)


def test_weights_get_there():
    """Balancing needs less than planning with equal weights and scaling."""
    found = plan_for(WORKLOAD, TEXTS, rs.ZCDP(1.0), effort="fast")
    plain = plan_for(WORKLOAD, TEXTS, rs.ZCDP(1.0), effort="fast", rounds=1)
    assert found.epsilon <= 1.001 * plain.epsilon
    lopsided = plan_for(WORKLOAD, ["ranges: ±60", "age × sex: ±500"], rs.ZCDP(1.0), effort="fast")
    assert lopsided.weights["age × sex"] < lopsided.weights["ranges of age"]
    assert lopsided.epsilon <= found.epsilon


def test_one_target_for_all_groups():
    found = plan_for(WORKLOAD, "±40 @95%", effort="fast")
    assert [met.group for met in found.met] == ["ranges of age", "age × sex"]
    assert "meets every target" in str(found)
    assert found.to_dict()["epsilon"] == found.epsilon == budget(found.plan.privacy)


def test_groups_without_a_target_are_answered_all_the_same():
    found = plan_for(WORKLOAD, {"age × sex": Target(20)}, effort="fast")
    answers = rs.release(found.plan, [10] * 64).answers()
    assert len(answers) == WORKLOAD.size


def test_unreachable_targets_say_what_is():
    with pytest.raises(
        InvalidInput, match=r"no epsilon up to 0\.5 meets 'ranges of age' ±1 @95%: the best reachable is ±\d"
    ):
        plan_for(WORKLOAD, "ranges: ±1", cap=0.5, effort="fast")


@pytest.mark.parametrize(
    ("text", "group", "target"),
    [
        ("ranges: ±50 @95%", "ranges", Target(50)),
        ("±50@99%", None, Target(50, 0.99)),
        ("a: b: +-2.5 @0.9", "a: b", Target(2.5, 0.9)),
        ("+/- 1,000", None, Target(1000)),
        ("Capital: people: ±5", "Capital: people", Target(5)),
    ],
)
def test_texts(text, group, target):
    assert parse_target(text) == (group, target)


@pytest.mark.parametrize(
    "targets",
    [
        "", "ranges", "ranges: ±0", "ranges: ±5 @100%", "ranges: ±5 @0%", "ranges: -5", "height: ±5", [], {}, 5, None,
        {"ranges of age": 5}, {3: Target(5)}, [Target(3)], "x" * 1000, "ranges: ±1e999",
    ],
)  # fmt: skip
def test_bad_targets(targets):
    with pytest.raises(RowspaceError):
        plan_for(WORKLOAD, targets, effort="fast")


@pytest.mark.parametrize("width", [0, -1, float("inf"), float("nan"), "5", True])
def test_bad_widths(width):
    with pytest.raises(InvalidInput):
        Target(width)


@pytest.mark.parametrize("cap", [0, -1, float("nan")])
def test_bad_caps_and_kinds(cap):
    with pytest.raises(RowspaceError):
        plan_for(WORKLOAD, "±50", cap=cap, effort="fast")
    with pytest.raises(RowspaceError):
        plan_for(WORKLOAD, "±50", kind="pure")
    with pytest.raises(RowspaceError):
        plan_for("ranges", "±50")
