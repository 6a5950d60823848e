"""plan_for(given=…): the least that must be bought beside earlier releases, down to nothing."""

from __future__ import annotations

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput
from rowspace.planning import MetAlready

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 16, bins=16, integer=True, outside="drop"),
    sex=rs.Categorical(["F", "M"], outside="drop"),
)
WORKLOAD = rs.workload.ranges(DOMAIN, "age") + rs.workload.marginal(DOMAIN, "age", "sex")
COUNTS = np.random.default_rng(3).integers(0, 200, DOMAIN.shape)
TARGETS = ["ranges: ±30", "age × sex: ±40 @90%"]
KINDS = {"rho": (rs.ZCDP(1.0), rs.ZCDP(0.003)), "epsilon": (rs.PureDP(1.0), rs.PureDP(0.2))}


@pytest.fixture(params=KINDS)
def case(request):
    """(the kind that is bought, an earlier release)."""
    kind, before = KINDS[request.param]
    return kind, rs.release(rs.plan(WORKLOAD, before), COUNTS)


@pytest.mark.long
def test_every_target_is_met_together_and_for_less_than_alone(case):
    kind, earlier = case
    found = rs.plan_for(WORKLOAD, TARGETS, kind, given=[earlier])
    alone = rs.plan_for(WORKLOAD, TARGETS, kind)
    assert 0 < found.epsilon < alone.epsilon
    both = rs.combine([earlier, rs.release(found.plan, COUNTS)])
    for group, within, level in (("ranges of age", 30, 0.95), ("age × sex", 40, 0.9)):
        table = both.ask(WORKLOAD, level=level)
        table = table[table["group"] == group]
        assert ((table["high"] - table["low"]) / 2).max() <= within * (1 + 1e-9)
    # And hardly for less: with a tenth less of the same strategy some target is missed.
    less = rs.planning.recalibrated(found.plan, type(kind)(0.9 * found.epsilon))
    half = [less.error_bars(t.level, part)[1].max() / t.half_width for t, part in _groups(found)]
    assert max(half) > 1


def _groups(found):
    for met in found.met:
        parts = [part for part in WORKLOAD.parts if part.group == met.group]
        yield met.target, rs.Workload(DOMAIN, parts)


def test_nothing_to_buy_is_an_answer(case):
    kind, earlier = case
    found = rs.plan_for(WORKLOAD, "±2000", kind, given=[earlier])
    assert isinstance(found, MetAlready)
    assert (found.epsilon, found.plan) == (0.0, None)
    assert all(met.ratio <= 1 for met in found.met)
    assert str(found).startswith("nothing to buy: what is known meets every target\n  ranges of age")
    assert found.to_dict()["targets"][0]["reached"] == found.met[0].half_width
    assert "nothing to buy" in repr(found)


def test_evidence_of_some_of_the_groups(case):
    kind, _ = case
    sex = rs.workload.marginal(DOMAIN, "sex") + 0.01 * rs.workload.ranges(DOMAIN, "age")
    earlier = rs.release(rs.plan(sex, type(kind)(0.001)), COUNTS)
    found = rs.plan_for(WORKLOAD, ["ranges: ±30"], kind, given=[earlier])
    assert found.epsilon <= rs.plan_for(WORKLOAD, ["ranges: ±30"], kind).epsilon * 1.003
    assert found.met[0].ratio <= 1
    assert np.isfinite(list(found.others.values())).all()


def test_in_tables_of_many_attributes():
    kind = rs.ZCDP(1.0)
    many = rs.Domain({f"a{i}": rs.Categorical(range(4), outside="drop") for i in range(8)})
    pairs = rs.workload.marginals(many, up_to=2)
    earlier = rs.release(rs.plan(pairs, rs.ZCDP(0.01)), np.zeros(many.shape, dtype=int))
    found = rs.plan_for(pairs, "±60", kind, given=[earlier], effort="fast")
    alone = rs.plan_for(pairs, "±60", kind, effort="fast")
    assert 0 < found.epsilon < alone.epsilon
    assert 0.99 < max(met.ratio for met in found.met) <= 1


def test_what_cannot_be_met_says_the_best(case):
    kind, earlier = case
    with pytest.raises(InvalidInput, match=r"meets .* the best reachable is ±"):
        rs.plan_for(WORKLOAD, "±0.6", kind, given=[earlier], cap=0.01)
    with pytest.raises(InvalidInput, match="at least one release"):
        rs.plan_for(WORKLOAD, "±30", kind, given=[])
    other = rs.Domain(age=rs.Numeric(0, 8, bins=8, integer=True, outside="drop"))
    with pytest.raises(InvalidInput, match="not measured as declared here"):
        rs.plan_for(rs.workload.ranges(other, "age"), "±30", kind, given=[earlier])
