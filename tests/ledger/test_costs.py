from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowspace as rs
from rowspace.exceptions import LedgerError
from rowspace.ledger import Cost
from rowspace.ledger.costs import achieved_epsilon, achieved_rho, cost_of
from rowspace.privacy import ApproxDPTheorem3, PrivacyUnit, analytic_gaussian_sigma
from tests.ledger.examples import plan

amounts = st.one_of(
    st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.0, 0.55, 1e-3, 3.3]), st.floats(1e-3, 20.0, allow_nan=False)
)


@settings(max_examples=30, deadline=None)
@given(amounts)
def test_costs_cover_the_noise(amount: float) -> None:
    """The charge is at least the exact cost of the noise that is drawn, and one of the float's two readings."""
    readings = (Fraction(repr(amount)), Fraction(amount))
    pure = plan(rs.PureDP(amount))
    epsilon = cost_of(pure, rs.PureDP(1.0)).epsilon
    assert achieved_epsilon(pure) <= epsilon
    assert epsilon in readings
    concentrated = plan(rs.ZCDP(amount))
    rho = cost_of(concentrated, rs.ZCDP(1.0)).rho
    assert achieved_rho(concentrated) <= rho
    assert rho in readings


def test_what_was_written_is_charged() -> None:
    for amount in (0.1, 0.2, 0.3, 0.7, 0.05):
        assert cost_of(plan(rs.PureDP(amount)), rs.PureDP(1.0)) == Cost(epsilon=Fraction(repr(amount)))


def test_conversions() -> None:
    half = Fraction(1, 2)
    assert cost_of(plan(rs.PureDP(0.5)), rs.ZCDP(1.0)) == Cost(rho=Fraction(1, 8))
    assert cost_of(plan(rs.PureDP(0.5)), rs.ApproxDP(1.0, 1e-6)) == Cost(epsilon=half)
    assert cost_of(plan(rs.ZCDP(0.5)), rs.ApproxDP(1.0, 1e-6)) == Cost(rho=half)
    assert cost_of(plan(rs.ApproxDP(0.5, 2.0**-20)), rs.ApproxDP(1.0, 1e-3)) == Cost(half, Fraction(1, 2**20))
    sigma = Fraction(analytic_gaussian_sigma(1.0, 1e-6))
    assert cost_of(plan(rs.ApproxDP(1.0, 1e-6)), rs.ZCDP(1.0)) == Cost(rho=1 / (2 * sigma**2))
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
    assert achieved_epsilon(bounded) <= Fraction(1, 4)
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
