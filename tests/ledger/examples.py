"""A small plan and small ledgers to test with."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path

import rowspace as rs
from rowspace.ledger import Ledger
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
