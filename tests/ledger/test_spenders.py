"""Spenders: charges in their names, within what is allowed them, whoever else charges."""

from __future__ import annotations

import threading
from fractions import Fraction
from pathlib import Path

import pytest

import rowspace as rs
from rowspace.exceptions import BudgetExceeded, InvalidInput
from rowspace.ledger import Spender

DOMAIN = rs.Domain(age=rs.Numeric(0, 4, bins=4))


def release(epsilon: float) -> rs.Release:
    return rs.release(rs.plan(rs.workload.identity(DOMAIN), rs.PureDP(epsilon)), [1, 2, 3, 4])


def test_a_race_stays_within_what_is_allowed(tmp_path: Path) -> None:
    rs.Ledger(tmp_path / "b.db").create("people", rs.PureDP(10.0))
    made = release(0.1)
    names = [Spender(name, Fraction(3, 10)) for name in ("ann", "bob")]
    refused: list[str] = []

    def charge(spender: Spender) -> None:
        ledger = rs.Ledger(tmp_path / "b.db")
        for _ in range(3):
            try:
                ledger.charge(made.plan, made.to_bytes(), spender=spender)
            except BudgetExceeded as error:
                refused.append(str(error))

    threads = [threading.Thread(target=charge, args=(names[n % 2],)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    history = rs.Ledger(tmp_path / "b.db").history()
    for spender in names:
        spent = sum(one.cost.epsilon for one in history if one.who == spender.who)
        assert spent == Fraction(3, 10)  # exactly as many as fit
        assert rs.Ledger(tmp_path / "b.db").left_for(spender) == 0
    assert len(history) == 6
    assert len(refused) == 12
    assert "0 of 0.3 epsilon left to spend" in refused[0]


def test_the_budget_limits_spenders_too(tmp_path: Path) -> None:
    ledger = rs.Ledger(tmp_path / "b.db")
    ledger.create("people", rs.PureDP(0.15))
    made, rich = release(0.1), Spender("ann", Fraction(100))
    assert ledger.left_for(rich) == Fraction(15, 100)
    ledger.check(made.plan, spender=rich)
    ledger.charge(made.plan, made.to_bytes(), spender=rich)
    with pytest.raises(BudgetExceeded, match="the budget of 'people'"):
        ledger.charge(made.plan, made.to_bytes(), spender=rich)
    assert ledger.left_for(rich) == Fraction(5, 100)
    assert ledger.left_for(Spender("bob", Fraction(1, 100))) == Fraction(1, 100)


def test_names_and_amounts_are_checked() -> None:
    for name, most in (("", None), ("a\n", None), ("x" * 101, None), ("ann", Fraction(-1))):
        with pytest.raises(InvalidInput):
            Spender(name, most)


def test_a_look_sees_every_change(tmp_path: Path) -> None:
    """The last look is kept for as long as the file is as it was: never longer, however quick the changes come."""
    reader, writer = rs.Ledger(tmp_path / "b.db"), rs.Ledger(tmp_path / "b.db")
    writer.create("people", rs.PureDP(10.0))
    made = release(0.1)
    for number in range(1, 20):
        writer.charge(made.plan, made.to_bytes())
        for _ in range(3):
            budget, charges = reader.look("people")
            assert (budget.charges, len(charges)) == (number, number)
