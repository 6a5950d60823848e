"""A plan as an OpenDP measurement promises no less and no more than the plan."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rowspace as rs
from rowspace import operators as op
from rowspace import tables
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.interop.opendp import _group, _times, counts_space, make_release, table_space
from rowspace.privacy import PrivacyUnit
from rowspace.strategy import calibrated_noise, record_limit

dp.enable_features("contrib", "honest-but-curious")

DOMAIN = rs.Domain(age=rs.Numeric(0, 4, bins=4))


def planned(privacy: rs.privacy.Privacy) -> rs.Plan:
    return rs.plan(rs.workload.ranges(DOMAIN, "age"), privacy, effort="fast")


@pytest.mark.parametrize("space", [counts_space, table_space])
def test_privacy_maps(space) -> None:
    pure, concentrated, approximate = (
        make_release(*space(plan), plan)
        for plan in map(planned, (rs.PureDP(0.1), rs.ZCDP(0.1), rs.ApproxDP(0.1, 1e-6)))
    )
    assert [pure.map(k) for k in (0, 1)] == [0.0, 0.1]
    assert [concentrated.map(k) for k in (0, 1)] == [0.0, 0.1]
    assert [approximate.map(k) for k in (0, 1)] == [(0.0, 0.0), (0.1, 1e-6)]
    assert Fraction(pure.map(3)) >= 3 * Fraction(0.1)
    assert math.isclose(pure.map(3), 0.3)
    assert Fraction(concentrated.map(3)) >= 9 * Fraction(0.1)
    assert math.isclose(concentrated.map(3), 0.9)
    epsilon, delta = approximate.map(2)
    assert math.isclose(epsilon, 0.2)
    assert math.isclose(delta, 1e-6 * (1 + math.exp(0.1)))


@given(st.floats(1e-6, 50), st.integers(0, 1000))
def test_products_are_rounded_up(parameter: float, factor: int) -> None:
    assert Fraction(_times(parameter, factor)) >= Fraction(parameter) * factor


@given(st.floats(1e-6, 5), st.floats(1e-12, 1e-3), st.integers(1, 40))
def test_groups_add_up(epsilon: float, delta: float, size: int) -> None:
    """δ at distance k is the sum of δ·e^(iε), i < k, as applying the definition k times gives it."""
    expected = math.fsum(delta * math.exp(i * epsilon) for i in range(size))
    assert _group(epsilon, delta, size)[1] >= min(1.0, expected) * (1 - 1e-15)
    assert _group(epsilon, delta, size)[1] <= min(1.0, expected) * (1 + 1e-9)


def test_the_least_deltas_are_rounded_up_too() -> None:
    """(e² − 1)/(e − 1) = 3.7 times the least float, which has no digits to round to."""
    assert Fraction(_group(1.0, 5e-324, 2)[1]) >= Fraction(5e-324) * Fraction(37, 10)
    assert Fraction(_group(0.2, 1e-323, 2)[1]) >= Fraction(1e-323) * Fraction(222, 100)


def test_overflow_is_no_promise() -> None:
    assert _times(1e300, 10**20) == math.inf
    assert _group(700.0, 1e-6, 10)[1] == 1.0


def test_counts_and_tables_release() -> None:
    plan = planned(rs.PureDP(20.0))
    made = make_release(*counts_space(plan), plan)([10, 20, 30, 40])
    assert isinstance(made, rs.Release)
    # At ε = 20 an answer is off by 30 with probability below e⁻¹⁰⁰.
    assert abs(made.ask("age >= 0")["answer"][0] - 100) < 30
    measure = make_release(*table_space(plan), plan)
    for frame in (pd.DataFrame({"age": [1, 1, 3]}), pl.DataFrame({"age": [1, 1, 3]})):
        assert abs(measure(frame).ask("age >= 0")["answer"][0] - 3) < 30


def test_in_a_context_it_spends_its_share_and_no_more() -> None:
    plan = planned(rs.PureDP(0.5))
    domain, _ = table_space(plan)
    context = dp.Context.compositor(
        data=pd.DataFrame({"age": [1, 2, 3]}),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=2,
        domain=domain,
    )
    for _ in range(2):
        assert isinstance(context.query().rowspace_release(plan=plan).release(), rs.Release)
    with pytest.raises(ValueError, match="exhausted"):
        context.query().rowspace_release(plan=plan).release()


def test_a_context_refuses_a_plan_that_costs_more_than_its_share() -> None:
    plan = planned(rs.PureDP(0.8))
    domain, metric = counts_space(plan)
    context = dp.Context.compositor(
        data=[1, 2, 3, 4],
        privacy_unit=(metric, 1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=2,
        domain=domain,
    )
    with pytest.raises(dp.OpenDPException):
        context.query().rowspace_release(plan=plan).release()


def test_other_spaces_are_refused() -> None:
    plan = planned(rs.PureDP(1.0))
    vectors, distance = counts_space(plan)
    frames, symmetric = table_space(plan)
    other = rs.plan(rs.workload.ranges(rs.Domain(age=rs.Numeric(0, 5, bins=5)), "age"), rs.PureDP(1.0))
    for space in (
        (vectors, dp.l2_distance(T="f64")),
        (vectors, symmetric),
        (frames, distance),
        table_space(other),
    ):
        with pytest.raises(InvalidInput, match="counts_space"):
            make_release(*space, plan)
    with pytest.raises(InvalidInput, match="expected a plan"):
        make_release(frames, symmetric, "plan")


@pytest.mark.parametrize(
    "privacy",
    [
        rs.PureDP(1.0, neighbours=rs.Neighbours.REPLACE_ONE),
        rs.PureDP(1.0, unit=PrivacyUnit("user_id", rows=3)),
    ],
)
def test_other_promises_are_refused(privacy: rs.privacy.Privacy) -> None:
    plan = planned(privacy)
    with pytest.raises(InvalidInput, match="expected a plan"):
        make_release(*counts_space(plan), plan)


def test_the_largest_vector_is_released() -> None:
    """Also where large entries leave the strategy fewer records than others can be asked of."""
    domain = rs.Domain(age=rs.Numeric(0, 4, bins=4, outside="drop"))
    plan = rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(1.0))
    strategy = tables.Marginals((4,), ((0,),), (1.0,), (op.Dense(2.0**30 * np.eye(4)),))
    plan = dataclasses.replace(plan, strategy=strategy, noise=calibrated_noise(strategy, plan.privacy))
    assert record_limit(strategy) == 2**32
    measure = make_release(*counts_space(plan), plan)
    assert isinstance(measure([2**30] * 4), rs.Release)
    with pytest.raises(dp.OpenDPException):
        measure([2**30 + 1] * 4)


def test_vectors_too_long_to_bound_are_refused() -> None:
    domain = rs.Domain(x=rs.Numeric(0, 2**25, bins=2**25))
    plan = rs.plan(rs.workload.total(domain), rs.PureDP(1.0))
    if plan.domain.size > 2**24:
        with pytest.raises(TooLarge):
            counts_space(plan)
