"""Targets: met by the plan that is returned, by no smaller budget, or refused with the best reachable."""

from __future__ import annotations

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput, RowspaceError
from rowspace.planning import Target, parse_target, plan_for, recalibrated, targets
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


TUTORIAL = rs.Domain(
    age=rs.Numeric(0, 12, bins=12), sex=rs.Categorical(["F", "M"]), region=rs.Categorical(list("abcdefgh"))
)
PYRAMID = (
    rs.workload.marginal(TUTORIAL, "age", "sex")
    + 4 * rs.workload.marginal(TUTORIAL, "region")
    + rs.workload.ranges(TUTORIAL, "age")
)
BOTH = ["region: ±25 @95%", "age × sex: ±40 @95%"]


@pytest.mark.parametrize("kind", [rs.PureDP(1.0), rs.ZCDP(1.0)], ids=["pure", "zcdp"])
@pytest.mark.long
def test_more_targets_cost_more(kind):
    """Two targets cost at least as much as each of them, and no more than both by themselves."""
    both = plan_for(PYRAMID, BOTH, kind, effort="fast")
    alone = [plan_for(PYRAMID, text, kind, effort="fast") for text in BOTH]
    tighter = plan_for(PYRAMID, [BOTH[0], "age × sex: ±20 @95%"], kind, effort="fast")
    assert max(found.epsilon for found in alone) <= 1.01 * both.epsilon
    assert both.epsilon <= 1.01 * tighter.epsilon
    assert both.epsilon <= 1.01 * sum(found.epsilon for found in alone)
    assert min(met.half_width / met.target.half_width for met in both.met) > 0.95  # nothing is given away
    for found in (both, *alone):
        assert set(found.others) == {"age × sex", "region", "ranges of age"} - {
            met.group for met in found.met
        }
        assert all(0 < width < float("inf") for width in found.others.values())
        assert all(group in str(found) for group in found.others)


@pytest.mark.long
def test_the_least_budget_is_certified_for_gaussian_noise():
    found = plan_for(PYRAMID, BOTH, rs.ZCDP(1.0), effort="fast")
    # Half a step of integer noise beside ±25 is 4 % of the budget, and intervals may cover a percent more.
    assert 0.94 * found.epsilon <= found.lower_bound <= found.epsilon
    assert f"below {found.lower_bound:.4g}" in str(found)
    assert found.to_dict()["least_possible"] == found.lower_bound
    marginals = plan_for(rs.workload.marginals(DOMAIN, up_to=2), "±30", rs.ZCDP(1.0))
    assert 0.95 * marginals.epsilon <= marginals.lower_bound <= marginals.epsilon
    assert plan_for(WORKLOAD, "±40", effort="fast").lower_bound == 0
    assert plan_for(WORKLOAD, "±4", rs.ZCDP(1.0), effort="fast").lower_bound == 0  # noise moves in steps


@pytest.mark.parametrize("width", [10, 13, 60])
def test_no_smaller_budget_than_the_bound_meets_the_target(width):
    """Of one count, asked as it is: its intervals move in whole steps, which normal quantiles do not know."""
    domain = rs.Domain(age=rs.Numeric(0, 2, bins=2, outside="drop"))
    w = rs.workload.total(domain)
    found = plan_for(w, f"±{width}", rs.ZCDP(1.0), effort="fast")
    assert found.lower_bound > 0.8 * found.epsilon
    for share in (0.999, 0.99, 0.97):
        less = rs.plan(w, rs.ZCDP(share * found.lower_bound), strategy=np.ones((1, 2)))
        assert less.error_bars(0.95)[1].max() > width


@pytest.mark.parametrize("kind", [rs.PureDP(1.0), rs.ZCDP(1.0)], ids=["pure", "zcdp"])
@pytest.mark.parametrize("width", [2, 10])
def test_one_count_costs_what_counting_costs(kind, width):
    """One half-width holds for a stretch of budgets: the least of them, also where a step is 1 + 2⁻⁵² in floats."""
    domain = rs.Domain(age=rs.Numeric(0, 2, bins=2))  # with a place for other ages: the total of three cells
    w = rs.workload.total(domain)
    found = plan_for(w, f"±{width}", kind, effort="fast")
    assert found.met[0].half_width == pytest.approx(width)
    counting = rs.plan(w, with_budget(kind, 0.995 * found.epsilon), strategy=np.ones((1, 3)))
    assert counting.error_bars(0.95)[1].max() > width + 0.5


def test_the_bound_knows_the_noise_of_large_budgets():
    """Sums of 400 cells to ±20: by the continuous law ρ = 1.92, where counts of cells draw less noise than that."""
    cells, kind = 800, rs.ZCDP(10.0)
    w = rs.workload.matrix(np.tile([1.0, 0.0], (1, cells // 2)), rs.Domain(a=rs.Categorical(range(cells))))
    demands = {part.group: [Target(20)] for part in w.parts}
    unit_bound = 400 * (1.96 / 20) ** 2  # of a strategy that asks cells one by one
    found = targets._least_possible(unit_bound, w, demands, kind)
    spread = np.sqrt(400 * with_budget(kind, 1.001 * found).least_variance)
    assert 20 < 1.96 * spread / (1 - 0.5 / 20) < 21.2
    assert found < 0.95 * 1.92
    assert with_budget(kind, found).is_coarse
    assert targets._least_possible(unit_bound, 3 * w, demands, kind) == pytest.approx(found, rel=1e-3)
    scaled = rs.workload.matrix(np.tile([3.0, 0.0], (1, cells // 2)), w.domain)
    assert (
        targets._least_possible(unit_bound, scaled, {p.group: [Target(20)] for p in scaled.parts}, kind) == 0
    )


def test_what_is_planned_is_what_is_seen():
    found = plan_for(WORKLOAD, "age × sex: ±15 @90%", rs.ZCDP(1.0), effort="fast")
    truth = np.arange(64)
    misses = [
        np.mean(np.abs(rs.release(found.plan, truth).answers()["answer"][-64:] - truth) > 15)
        for _ in range(50)
    ]
    assert np.mean(misses) < 0.13


@pytest.mark.parametrize(
    "targets",
    [
        ["ranges: ±50 @95%", "ranges: ±60 @95%"],
        ["±50", "±60"],
        ["±50 @95%", "+-50.5"],
    ],
)
def test_targets_that_contradict(targets):
    with pytest.raises(InvalidInput, match="contradict each other: ±50 @95% and ±"):
        plan_for(WORKLOAD, targets, effort="fast")
    for agreed in (["±60", "ranges: ±50"], ["ranges: ±50", "ranges: ±90 @99%"], ["±50", "±50"]):
        assert plan_for(WORKLOAD, agreed, rs.ZCDP(1.0), effort="fast").epsilon > 0


def test_a_group_that_counts_nothing_is_no_group():
    """It is refused where it is asked for: there is nothing to be accurate about."""
    for make in (
        lambda: rs.workload.matrix(np.zeros((2, 64))),
        lambda: rs.workload.predicates(DOMAIN, ["age >= 5 and age < 5"]),
        lambda: rs.workload.predicates(DOMAIN, []),
    ):
        with pytest.raises(RowspaceError):
            make()
