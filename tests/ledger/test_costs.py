from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowspace as rs
from rowspace.exceptions import LedgerError
from rowspace.ledger import Cost
from rowspace.ledger.composition import Filter
from rowspace.ledger.costs import proven
from rowspace.planning import DiscoveryPlan, Plan
from rowspace.privacy import (
    ApproxDPTheorem3,
    Privacy,
    PrivacyUnit,
    RoundedGaussian,
    analytic_gaussian_sigma,
    integer_norm,
)
from rowspace.privacy.filters import gaussian_limit, gaussian_rho, on_grid, pure_rho
from tests.ledger.examples import plan

amounts = st.one_of(
    st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.0, 0.55, 1e-3, 3.3]), st.floats(1e-3, 20.0, allow_nan=False)
)


def cost_of(plan: Plan, budget: Privacy, composition: str | None = None) -> Cost:
    return Filter.of(budget, composition).cost_of(plan)


def change(made: Plan) -> int:
    """The largest change between neighbours, in the norm of the noise."""
    return made.privacy.step_norm(max(1, integer_norm(made.strategy, made.privacy)))


@settings(max_examples=30, deadline=None)
@given(amounts)
def test_costs_cover_the_noise(amount: float) -> None:
    """The charge is at least the exact cost of the noise that is drawn, and what was written."""
    pure = plan(rs.PureDP(amount))
    epsilon = cost_of(pure, rs.PureDP(1.0)).epsilon
    assert change(pure) / pure.noise.scale <= epsilon == Fraction(repr(amount))
    concentrated = plan(rs.ZCDP(amount))
    rho = cost_of(concentrated, rs.ZCDP(1.0)).rho
    assert change(concentrated) / (2 * concentrated.noise.sigma_squared) <= rho == Fraction(repr(amount))
    approximate = plan(rs.ApproxDP(amount, 1e-6))
    rho = cost_of(approximate, rs.ApproxDP(1.0, 1e-3)).rho
    assert change(approximate) / (2 * approximate.noise.sigma**2) <= rho == gaussian_limit(amount, 1e-6)


def test_a_plan_that_states_too_little_pays_for_its_noise() -> None:
    """Put together by hand, with the noise of a weaker promise: that is what it costs."""
    for stated, real in (
        (rs.PureDP(0.1), rs.PureDP(2.0)),
        (rs.ZCDP(0.1), rs.ZCDP(2.0)),
        (rs.ApproxDP(0.1, 1e-6), rs.ApproxDP(2.0, 1e-6)),
    ):
        understated = replace(plan(real), privacy=stated)
        honest = plan(real)
        norm = 1 if isinstance(real, rs.PureDP) else 2
        scale = honest.noise.sigma**2 if isinstance(honest.noise, RoundedGaussian) else None
        scale = scale or getattr(honest.noise, "scale", None) or honest.noise.sigma_squared
        assert proven(understated) == on_grid(change(understated) / (norm * scale))
        assert proven(understated) > Fraction(9, 10) * proven(honest) > 5 * proven(plan(stated))
    with pytest.raises(LedgerError, match="cannot pay"):
        cost_of(understated, rs.ApproxDP(1.0, 1e-3), "basic")
    with pytest.raises(LedgerError, match="noise"):
        proven(replace(plan(rs.PureDP(1.0)), privacy=rs.ZCDP(0.1)))


def test_what_was_written_is_charged() -> None:
    for amount in (0.1, 0.2, 0.3, 0.7, 0.05):
        assert cost_of(plan(rs.PureDP(amount)), rs.PureDP(1.0)) == Cost(epsilon=Fraction(repr(amount)))


def test_conversions() -> None:
    half = Fraction(1, 2)
    assert cost_of(plan(rs.PureDP(0.5)), rs.ZCDP(1.0)) == Cost(rho=Fraction(1, 8))
    approximate = rs.ApproxDP(1.0, 1e-3)
    assert cost_of(plan(rs.PureDP(0.5)), approximate, "basic") == Cost(epsilon=half)
    assert cost_of(plan(rs.PureDP(0.5)), approximate, "concentrated") == Cost(rho=Fraction(1, 8))
    assert cost_of(plan(rs.PureDP(0.5)), approximate) == Cost(rho=pure_rho(half))
    assert cost_of(plan(rs.ZCDP(0.5)), approximate, "concentrated") == Cost(rho=half)
    assert cost_of(plan(rs.ApproxDP(0.5, 0.25)), approximate, "basic") == Cost(half, Fraction(1, 4))
    sigma = Fraction(analytic_gaussian_sigma(1.0, math.nextafter(1e-6, 0.0)))
    assert cost_of(plan(rs.ApproxDP(1.0, 1e-6)), rs.ZCDP(1.0)) == Cost(rho=gaussian_rho(sigma**2))
    paper = cost_of(plan(ApproxDPTheorem3(1.0, 1e-6)), rs.ZCDP(1.0))
    assert paper.rho < 1 / (2 * sigma**2)


@pytest.mark.parametrize("privacy", [rs.ZCDP(0.1), rs.ApproxDP(0.1, 1e-6)], ids=str)
def test_what_cannot_be_charged(privacy: rs.privacy.Privacy) -> None:
    with pytest.raises(LedgerError, match="Gaussian noise"):
        cost_of(plan(privacy), rs.PureDP(1.0))
    for budget in (rs.ZCDP(1.0, "replace-one"), rs.PureDP(1.0, "replace-one")):
        with pytest.raises(LedgerError, match="do not add up"):
            cost_of(plan(privacy), budget)


def test_units_must_agree() -> None:
    """Budgets of persons pay for promises to the same persons, of as many rows or fewer; the rows cost nothing more."""
    unit = PrivacyUnit("user_id", 3)
    bounded = plan(rs.PureDP(0.25, unit=unit))
    assert change(bounded) / bounded.noise.scale <= Fraction(1, 4)
    budget = rs.PureDP(1.0, unit=unit)
    assert cost_of(bounded, budget) == Cost(epsilon=Fraction(1, 4))
    assert cost_of(bounded, rs.ZCDP(1.0, unit=PrivacyUnit("user_id", 9))) == Cost(rho=Fraction(1, 32))
    for privacy, other in (
        (rs.PureDP(0.25), budget),
        (rs.PureDP(0.25, unit=unit), rs.PureDP(1.0)),
        (rs.PureDP(0.25, unit=PrivacyUnit("household", 3)), budget),
    ):
        with pytest.raises(LedgerError, match="do not add up"):
            cost_of(plan(privacy), other)
    with pytest.raises(LedgerError, match="at most 3 rows"):
        cost_of(plan(rs.PureDP(0.25, unit=PrivacyUnit("user_id", 4))), budget)


def test_thresholds_cost_epsilon_and_delta() -> None:
    """Only a budget that sums up both has room for what may fail with probability delta."""
    asked = DiscoveryPlan(("town",), rs.ApproxDP(0.1, 1e-9))
    basic = Filter.of(rs.ApproxDP(1.0, 1e-6), "basic")
    assert basic.cost_of(asked) == Cost(Fraction(1, 10), Fraction(1, 10**9))
    for guarantee, composition in (
        (rs.ApproxDP(1.0, 1e-6), "gaussian"),
        (rs.ApproxDP(1.0, 1e-6), "concentrated"),
        (rs.PureDP(1.0), None),
        (rs.ZCDP(1.0), None),
    ):
        with pytest.raises(LedgerError, match="basic"):
            Filter.of(guarantee, composition).cost_of(asked)
    with pytest.raises(LedgerError, match="neighbours"):
        basic.cost_of(DiscoveryPlan(("town",), rs.ApproxDP(0.1, 1e-9, "replace-one")))
