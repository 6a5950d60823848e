"""A small plan and small ledgers to test with."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import rowspace as rs
from rowspace.exceptions import LedgerError
from rowspace.ledger import Ledger
from rowspace.ledger.tables import Tables
from rowspace.planning import Plan
from rowspace.privacy import Privacy

DOMAIN = rs.Domain(age=rs.Numeric(0, 6, bins=6))
COUNTS = [3, 1, 4, 1, 5, 9]


@cache
def plan(privacy: Privacy) -> Plan:
    """All ranges of six cells under some promise."""
    return rs.plan(rs.workload.ranges(DOMAIN, "age"), privacy)


def new_ledger(folder: Path, budget: Privacy, patience: float = 30.0) -> Ledger:
    """A ledger with one budget, for 'people'."""
    ledger = Ledger(folder / "budget.db", patience=patience)
    ledger.create("people", budget)
    return ledger


def total(ledger: Ledger, name: str) -> Fraction:
    """The sum of one component of all costs."""
    return sum((getattr(charge.cost, name) for charge in ledger.history()), Fraction(0))


def charge_one_source_twice(location: str | Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Charge sources that share a name to two budgets at once, neither going on from its check without the other.

    Returns what became of each: "charged", or the error.
    """
    ledger = Ledger(location)
    for name in ("people", "census"):
        ledger.create(name, rs.PureDP(1.0))
    both = threading.Barrier(2)
    check = Tables.require_one_budget

    def check_and_wait(self: Tables, *given: Any) -> None:
        check(self, *given)
        with contextlib.suppress(threading.BrokenBarrierError):  # the other is kept waiting, as it should be
            both.wait(timeout=2)

    def charge(name: str) -> str:
        try:
            Ledger(location).charge(plan(rs.PureDP(0.1)), b"", name, source=f"shared {name}")
        except LedgerError as error:
            return str(error)
        return "charged"

    with monkeypatch.context() as patch, ThreadPoolExecutor() as pool:
        patch.setattr(Tables, "require_one_budget", check_and_wait)
        return sorted(pool.map(charge, ("people", "census")))
