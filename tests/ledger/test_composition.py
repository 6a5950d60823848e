"""(ε, δ) budgets: sums, and the accountant where it is installed."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import rowspace as rs
from rowspace.exceptions import BudgetExceeded
from rowspace.ledger import accountant
from rowspace.ledger.composition import Entry, fits, spent
from rowspace.ledger.costs import cost_of
from rowspace.privacy import Privacy, zcdp_to_approx
from tests.ledger.examples import new_ledger, plan

BUDGET = rs.ApproxDP(1.0, 1e-5)


def entry(privacy: Privacy, times: int) -> Entry:
    return Entry(privacy, cost_of(plan(privacy), BUDGET), times)


@pytest.fixture
def sums_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accountant, "is_installed", lambda: False)


@pytest.mark.usefixtures("sums_only")
def test_sums() -> None:
    mixed = [entry(rs.PureDP(0.25), 2), entry(rs.ApproxDP(0.25, 2.0**-18), 2)]
    assert spent(BUDGET, mixed) == 1
    assert fits(BUDGET, mixed)
    assert not fits(BUDGET, [*mixed, entry(rs.PureDP(1e-3), 1)])
    assert spent(BUDGET, [entry(rs.ApproxDP(0.25, 2.0**-18), 3)]) is None, "too much delta"


@pytest.mark.usefixtures("sums_only")
def test_concentrated_charges_are_summed_before_they_are_converted() -> None:
    charges = [entry(rs.ZCDP(0.002), 5)]
    assert spent(BUDGET, charges) == Fraction(zcdp_to_approx(0.01, 0.5e-5))
    assert fits(BUDGET, charges)
    assert not fits(BUDGET, [entry(rs.ZCDP(0.002), 20)])


@pytest.mark.usefixtures("sums_only")
def test_a_ledger_of_this_kind(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path, BUDGET)
    ledger.charge(plan(rs.PureDP(0.5)), b"")
    assert str(ledger.budget()) == "0.5 of 1 epsilon at delta 1e-05 left"
    with pytest.raises(BudgetExceeded, match=r"0\.5 of 1 epsilon"):
        ledger.charge(plan(rs.PureDP(0.75)), b"")


@pytest.mark.skipif(not accountant.is_installed(), reason="needs the extra rowspace[accounting]")
def test_the_accountant_allows_more_than_sums() -> None:
    many = [entry(rs.PureDP(0.05), 5), entry(rs.ApproxDP(0.1, 1e-6), 10)]
    total = spent(BUDGET, many)
    assert total is not None
    assert total < Fraction(5, 4)
    one = spent(BUDGET, [entry(rs.ApproxDP(0.5, 1e-5), 1)])
    assert one is not None
    # One mechanism at its own δ costs its own ε, up to the grid of the accountant, and never less.
    assert 0.5 - 1e-9 <= one <= 0.5 + 1e-3
