"""Filters: fixed at creation, exact, valid whoever chooses the amounts, and never below the exact δ."""

from __future__ import annotations

import math
import sqlite3
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import BudgetExceeded, InvalidInput, LedgerError
from rowspace.ledger import COMPOSITIONS, Cost, Ledger
from rowspace.ledger.composition import Filter, total
from rowspace.ledger.costs import stated
from rowspace.privacy import Privacy
from rowspace.privacy.filters import concentrated_limit, gaussian_limit
from tests.ledger.adversary import BUDGETS as ADVERSARY
from tests.ledger.adversary import best_of
from tests.ledger.examples import new_ledger, plan
from tests.privacy.test_filters import gaussian_delta

BUDGET = rs.ApproxDP(1.0, 1e-5)


def filtered(folder: Path, composition: str, budget: Privacy = BUDGET) -> Ledger:
    ledger = Ledger(folder / "budget.db")
    ledger.create("people", budget, composition=composition)
    return ledger


def test_one_release_can_spend_a_whole_budget(tmp_path: Path) -> None:
    """Exactly: the filter for Gaussian noise loses nothing."""
    ledger = new_ledger(tmp_path, BUDGET)
    assert ledger.budget().filter.composition == "gaussian"
    ledger.charge(plan(BUDGET), b"")
    assert ledger.budget().remaining == 0
    with pytest.raises(BudgetExceeded, match=r"0 of 0\.0"):
        ledger.charge(plan(rs.ApproxDP(1e-3, 1e-9)), b"")


def test_gaussian_charges_add_up_as_gaussians_do(tmp_path: Path) -> None:
    """Four releases of half the μ fill a budget: in ε, δ by sums they would be too much."""
    mu_squared = 2 * gaussian_limit(1.0, 1e-5)
    quarter = rs.ApproxDP(0.468, 1e-5)  # a little less than a quarter
    assert Fraction(24, 100) < 2 * stated(quarter) / mu_squared < Fraction(1, 4)
    ledger = new_ledger(tmp_path, BUDGET)
    for _ in range(4):
        ledger.charge(plan(quarter), b"")
    with pytest.raises(BudgetExceeded):
        ledger.charge(plan(quarter), b"")


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_what_each_composition_pays_for(composition: str, tmp_path: Path) -> None:
    ledger = filtered(tmp_path, composition, rs.ApproxDP(1.0, 1e-3))
    pays = [rs.PureDP(0.01), rs.ApproxDP(0.01, 1e-6)] + [rs.ZCDP(1e-4)] * (composition == "concentrated")
    for privacy in pays:
        ledger.charge(plan(privacy), b"")
    assert ledger.budget().charges == len(pays)
    if composition != "concentrated":
        with pytest.raises(LedgerError, match="concentrated"):
            ledger.charge(plan(rs.ZCDP(1e-4)), b"")
    if composition == "basic":
        assert ledger.budget().used == Cost(Fraction(2, 100), Fraction(1, 10**6))
        assert str(ledger.budget()) == "0.98 of 1 epsilon left, 0.000999 of 0.001 delta"


def test_basic_counts_delta_too(tmp_path: Path) -> None:
    ledger = filtered(tmp_path, "basic")
    for _ in range(2):
        ledger.charge(plan(rs.ApproxDP(0.25, 5e-6)), b"")
    with pytest.raises(BudgetExceeded, match=r"0\.5 of 1 epsilon left, 0 of 0\.00001 delta"):
        ledger.charge(plan(rs.ApproxDP(0.25, 1e-12)), b"")
    ledger.charge(plan(rs.PureDP(0.5)), b"")


def test_concentrated_charges_are_converted_once(tmp_path: Path) -> None:
    ledger = filtered(tmp_path, "concentrated")
    assert ledger.budget().limit == concentrated_limit(1.0, 1e-5)
    ledger.charge(plan(rs.ZCDP(0.01)), b"")
    ledger.charge(plan(rs.PureDP(0.1)), b"")
    assert ledger.budget().spent == Fraction(1, 100) + Fraction(1, 200)


@pytest.mark.parametrize(
    ("budget", "name"), [(rs.PureDP(1.0), "gaussian"), (BUDGET, "sums"), (BUDGET, "pld")]
)
def test_compositions_that_there_are_not(budget: Privacy, name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="expected composition"):
        Ledger(tmp_path / "budget.db").create("people", budget, composition=name)


def test_a_composition_is_fixed_with_its_budget(tmp_path: Path) -> None:
    """There is no word that changes it; a ledger that has none, or another, is damaged."""
    ledger = filtered(tmp_path, "basic")
    ledger.charge(plan(rs.PureDP(0.1)), b"")
    assert Ledger(tmp_path / "budget.db").budget().filter == Filter(BUDGET, "basic")
    for written in (None, "least of all"):
        with sqlite3.connect(tmp_path / "budget.db") as connection:
            connection.execute("UPDATE rowspace_budget SET composition = ?", (written,))
        with pytest.raises(LedgerError, match="damaged"):
            ledger.budget()


def over(number: float) -> float:
    return math.nextafter(number, math.inf)


@pytest.mark.parametrize(
    ("budget", "composition", "fitting", "too_much"),
    [
        (rs.PureDP(0.3), None, rs.PureDP(0.1), rs.PureDP(over(0.1))),
        (rs.ZCDP(0.3), None, rs.ZCDP(0.1), rs.ZCDP(over(0.1))),
        (rs.ApproxDP(0.3, 3e-6), "basic", rs.ApproxDP(0.1, 1e-6), rs.ApproxDP(over(0.1), 1e-6)),
        (rs.ApproxDP(0.3, 3e-6), "basic", rs.ApproxDP(0.1, 1e-6), rs.ApproxDP(0.1, over(1e-6))),
    ],
    ids=str,
)
def test_one_unit_in_the_last_place_over_is_refused(
    budget: Privacy, composition: str | None, fitting: Privacy, too_much: Privacy, tmp_path: Path
) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.create("people", budget, composition=composition)
    for _ in range(2):
        ledger.charge(plan(fitting), b"")
    with pytest.raises(BudgetExceeded):
        ledger.charge(plan(too_much), b"")
    ledger.charge(plan(fitting), b"")
    assert ledger.budget().remaining == 0


@pytest.mark.parametrize("name", ADVERSARY)
def test_comparisons_are_exact(name: str) -> None:
    """Of every sum that a budget counts, by far less than a float tells apart."""
    composition, budgets = ADVERSARY[name]
    filter_ = Filter.of(budgets[0], composition)
    limit = vars(filter_.limit)
    assert filter_.fits(filter_.limit)
    for counted in (field for field, amount in limit.items() if amount):
        assert not filter_.fits(Cost(**limit | {counted: limit[counted] + Fraction(1, 10**100)}))


def test_thousands_of_charges_never_fall_below_the_exact_delta(tmp_path: Path) -> None:
    """10,000 × (0.1, 1e-6). Loss distributions on a grid of floats said 1e-12 where 1.197e-12 is true."""
    times, each = 10_000, rs.ApproxDP(0.1, 1e-6)
    spent = times * stated(each)
    low, high = 1.0, 1000.0
    while over(low) < high:
        middle = (low + high) / 2
        low, high = (low, middle) if gaussian_limit(middle, 1e-12) >= spent else (middle, high)
    budget = rs.ApproxDP(high, 1e-12)  # the least ε whose budget takes them all
    with mpmath.workdps(400):
        assert gaussian_delta(spent, high) <= 1e-12
        assert gaussian_delta(spent, high * (1 - 1e-9)) > 1e-12
    ledger = filtered(tmp_path, "gaussian", budget)
    ledger.charge(plan(each), b"")
    with sqlite3.connect(tmp_path / "budget.db") as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(rowspace_charge)")][1:]
        names = ", ".join(columns)
        copies = f"INSERT INTO rowspace_charge ({names}) SELECT {names} FROM rowspace_charge WHERE id = 1"
        for _ in range(times - 2):
            connection.execute(copies)
        sums = (str((times - 1) * stated(each)), times - 1)
        connection.execute("UPDATE rowspace_budget SET rho = ?, charges = ?", sums)
    ledger.charge(plan(each), b"")
    assert (ledger.budget().charges, ledger.budget().used) == (times, Cost(rho=spent))
    with pytest.raises(BudgetExceeded):
        ledger.charge(plan(each), b"")


def test_thousands_of_different_amounts_stay_short() -> None:
    """Costs are on one grid: their sum has no more digits than each."""
    amounts = [stated(rs.ApproxDP(0.1 + i / 7000, 1e-6)) for i in range(200)]
    spent = total((Cost(rho=amount), 1) for amount in amounts).rho
    assert 2**256 % spent.denominator == 0
    assert spent == sum(amounts)


@pytest.mark.parametrize("name", ADVERSARY)
def test_an_adversary_who_chooses_amounts_by_answers_never_wins(name: str) -> None:
    composition, budgets = ADVERSARY[name]
    for budget in budgets:
        reached = best_of(Filter.of(budget, composition), 60, np.random.default_rng(5))
        assert reached <= 1 + 1e-9
        if name != "concentrated":
            assert reached >= (0.95 if name == "basic" else 0.99), "he gets all that is promised him"


@pytest.mark.parametrize("name", ADVERSARY)
def test_the_adversary_finds_a_filter_that_forgets(name: str) -> None:
    """Answers that speak for his guess are not charged, as if they had been given before."""
    composition, budgets = ADVERSARY[name]
    for budget in budgets:
        assert best_of(Filter.of(budget, composition), 60, np.random.default_rng(5), forgets=True) > 1.01


def test_the_adversary_has_teeth(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit a hundredth too high he wins."""
    budget = rs.ApproxDP(1.0, 1e-3)
    loose = Fraction(101, 100) * gaussian_limit(1.0, 1e-3)
    monkeypatch.setattr("rowspace.ledger.composition.gaussian_limit", lambda *_: loose)
    assert best_of(Filter.of(budget), 60, np.random.default_rng(5)) > 1
