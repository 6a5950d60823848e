"""Ledgers of version 1: brought up to date in place, by whoever opens one first."""

from __future__ import annotations

import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

import rowspace as rs
from rowspace.exceptions import BudgetExceeded, LedgerError
from rowspace.ledger import Cost, Ledger, content_digest
from rowspace.ledger.costs import stated
from rowspace.ledger.ledger import _json
from rowspace.privacy import Privacy
from tests.ledger.examples import plan

VERSION_1 = """
CREATE TABLE rowspace_ledger (version INTEGER NOT NULL);
INSERT INTO rowspace_ledger VALUES (1);
CREATE TABLE rowspace_budget (
    dataset TEXT NOT NULL PRIMARY KEY, guarantee TEXT NOT NULL, created TEXT NOT NULL, who TEXT NOT NULL);
CREATE TABLE rowspace_charge (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL, "plan" TEXT NOT NULL, privacy TEXT NOT NULL,
    epsilon TEXT NOT NULL, delta TEXT NOT NULL, rho TEXT NOT NULL, time TEXT NOT NULL, who TEXT NOT NULL,
    digest TEXT NOT NULL, content BLOB NOT NULL, FOREIGN KEY(dataset) REFERENCES rowspace_budget (dataset));
CREATE INDEX rowspace_charge_sums ON rowspace_charge (dataset, privacy, epsilon, delta, rho);
"""

NOW = "2024-01-01T00:00:00+00:00"


def older(folder: Path, budget: Privacy, *charges: tuple[Privacy, Cost]) -> Ledger:
    """A ledger as version 1 left it."""
    with sqlite3.connect(folder / "budget.db") as connection:
        connection.executescript(VERSION_1)
        connection.execute(
            "INSERT INTO rowspace_budget VALUES (?, ?, ?, ?)", ("people", _json(budget), NOW, "eve")
        )
        for privacy, cost in charges:
            amounts = [str(amount) for amount in vars(cost).values()]
            row = ("people", "0" * 64, _json(privacy), *amounts, NOW, "eve", content_digest(b"kept"), b"kept")
            connection.execute(f"INSERT INTO rowspace_charge VALUES (NULL, {', '.join('?' * len(row))})", row)
    connection.close()
    return Ledger(folder / "budget.db")


APPROXIMATE = rs.ApproxDP(1.0, 1e-5)
SMALL = rs.ApproxDP(0.1, 1e-6)


def test_sums_go_on_as_they_were(tmp_path: Path) -> None:
    ledger = older(tmp_path, rs.PureDP(1.0), (rs.PureDP(0.3), Cost(epsilon=Fraction(3, 10))))
    assert str(ledger.budget()) == "0.7 of 1 epsilon left"
    assert [(charge.id, charge.who) for charge in ledger.history()] == [(1, "eve")]
    assert ledger.resume(1) == b"kept"
    ledger.charge(plan(rs.PureDP(0.7)), b"")
    assert Ledger(tmp_path / "budget.db").budget().remaining == 0


@pytest.mark.parametrize(
    ("charges", "composition", "spent"),
    [
        ((), "gaussian", Cost()),
        (((SMALL, Cost(Fraction(1, 10), Fraction(1, 10**6))),) * 2, "gaussian", Cost(rho=2 * stated(SMALL))),
        (((rs.PureDP(0.5), Cost(epsilon=Fraction(1, 2))),), "basic", Cost(epsilon=Fraction(1, 2))),
        (((rs.ZCDP(0.01), Cost(rho=Fraction(1, 100))),), "concentrated", Cost(rho=Fraction(1, 100))),
    ],
)
def test_budgets_in_epsilon_and_delta_get_the_filter_that_has_room(
    charges: tuple[tuple[Privacy, Cost], ...], composition: str, spent: Cost, tmp_path: Path
) -> None:
    ledger = older(tmp_path, APPROXIMATE, *charges)
    budget = ledger.budget()
    assert (budget.filter.composition, budget.used, budget.charges) == (composition, spent, len(charges))
    # It stays, whatever is charged next.
    if composition == "gaussian":
        ledger.charge(plan(rs.ApproxDP(0.2, 1e-6)), b"")
    again = Ledger(tmp_path / "budget.db").budget()
    assert again.filter == budget.filter
    assert len(ledger.history()) == again.charges


def test_a_budget_that_no_filter_has_room_for_takes_nothing_more(tmp_path: Path) -> None:
    ledger = older(tmp_path, APPROXIMATE, (rs.ZCDP(1.0), Cost(rho=Fraction(1))))
    assert ledger.budget().remaining == 0
    with pytest.raises(BudgetExceeded):
        ledger.charge(plan(rs.PureDP(1e-6)), b"")


def test_a_new_budget_beside_older_ones(tmp_path: Path) -> None:
    ledger = older(tmp_path, rs.ZCDP(1.0))
    ledger.create("places", APPROXIMATE, composition="basic")
    assert [budget.filter.composition for budget in ledger.budgets()] == ["sums", "basic"]


def test_sums_are_made_for_a_ledger_of_version_2(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.create("people", rs.PureDP(1.0))
    for epsilon in (0.1, 0.2):
        ledger.charge(plan(rs.PureDP(epsilon)), b"kept")
    with sqlite3.connect(tmp_path / "budget.db") as connection:
        for name in ("epsilon", "delta", "rho", "charges"):
            connection.execute(f"ALTER TABLE rowspace_budget DROP COLUMN {name}")
        connection.execute("ALTER TABLE rowspace_charge DROP COLUMN version")
        connection.execute("DROP TABLE rowspace_request")
        connection.execute("UPDATE rowspace_ledger SET version = 2")
    connection.close()
    again = Ledger(tmp_path / "budget.db")
    assert (str(again.budget()), again.budget().charges) == ("0.7 of 1 epsilon left", 2)
    again.charge(plan(rs.PureDP(0.7)), b"kept")
    assert again.budget().remaining == 0
    with pytest.raises(BudgetExceeded):
        again.charge(plan(rs.PureDP(1e-9)), b"")


def test_a_newer_ledger_is_left_alone(tmp_path: Path) -> None:
    ledger = older(tmp_path, rs.ZCDP(1.0))
    with sqlite3.connect(tmp_path / "budget.db") as connection:
        connection.execute("UPDATE rowspace_ledger SET version = 99")
    before = (tmp_path / "budget.db").read_bytes()
    for attempt in (ledger.budget, lambda: ledger.create("places", rs.PureDP(1.0))):
        with pytest.raises(LedgerError, match="version"):
            attempt()
    assert (tmp_path / "budget.db").read_bytes() == before
