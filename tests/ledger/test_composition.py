"""(ε, δ) budgets: sums, and the accountant where it is installed."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy

import rowspace as rs
from rowspace.exceptions import BudgetExceeded
from rowspace.ledger import accountant
from rowspace.ledger.composition import Entry, fits, spent
from rowspace.ledger.costs import cost_of
from rowspace.privacy import Privacy, zcdp_to_approx
from rowspace.privacy.calibration import analytic_gaussian_sigma, gaussian_delta
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


with_accountant = pytest.mark.skipif(
    not accountant.is_installed(), reason="needs the extra rowspace[accounting]"
)


@with_accountant
def test_the_accountant_allows_more_than_sums() -> None:
    many = [entry(rs.PureDP(0.05), 5), entry(rs.ApproxDP(0.1, 1e-6), 10)]
    total = spent(BUDGET, many)
    assert total is not None
    assert total < Fraction(5, 4)
    one = spent(BUDGET, [entry(rs.ApproxDP(0.5, 1e-5), 1)])
    assert one is not None
    # One mechanism at its own δ costs its own ε, up to the grid of the accountant, and never less.
    assert 0.5 - 1e-9 <= one <= 0.5 + 1e-3


@with_accountant
@pytest.mark.parametrize("times", [1, 4, 50])
def test_gaussian_charges_compose_to_one_gaussian(times: int) -> None:
    """k Gaussians of deviation σ are one of deviation σ/√k: never less than its exact ε, and hardly more."""
    each = rs.ApproxDP(0.05, 1e-7)
    total = spent(BUDGET, [entry(each, times)])
    assert total is not None
    sigma = analytic_gaussian_sigma(each.epsilon, each.delta) / times**0.5
    assert gaussian_delta(sigma, float(total)) <= BUDGET.delta
    assert gaussian_delta(sigma, 0.99 * float(total)) > BUDGET.delta


@with_accountant
def test_pure_charges_compose_as_randomized_response() -> None:
    """k times the worst ε-DP mechanism: its exact δ from the binomial law, never exceeded."""
    times, each = 40, 0.02
    total = spent(BUDGET, [entry(rs.PureDP(each), times)])
    assert total is not None
    k = np.arange(times + 1)
    p = scipy.stats.binom.pmf(k, times, 1 / (1 + np.exp(-each)))
    loss = each * (2 * k - times)
    assert np.sum(p * np.maximum(0, 1 - np.exp(float(total) - loss))) <= BUDGET.delta
    assert float(total) < times * each, "less than the sum"
    assert np.sum(p * np.maximum(0, 1 - np.exp(0.99 * float(total) - loss))) > BUDGET.delta


@with_accountant
def test_a_budget_with_both_kinds_of_noise_refuses_in_time(tmp_path: Path) -> None:
    """Charges go on past the sum of ε, and end before the accountant's ε passes the budget."""
    ledger = new_ledger(tmp_path, BUDGET)
    kinds = (rs.PureDP(0.15), rs.ApproxDP(0.15, 1e-7))
    most = next(
        count
        for count in itertools.count(1)
        if not fits(BUDGET, [entry(kinds[i % 2], 1) for i in range(count + 1)])
    )
    assert most * 0.15 > BUDGET.epsilon
    for i in range(most):
        ledger.charge(plan(kinds[i % 2]), b"")
    with pytest.raises(BudgetExceeded):
        ledger.charge(plan(kinds[most % 2]), b"")
    total = spent(BUDGET, [entry(privacy, most // 2) for privacy in kinds])
    assert total is not None
    assert total <= BUDGET.epsilon
