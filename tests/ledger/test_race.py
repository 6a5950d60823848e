from __future__ import annotations

from pathlib import Path

import rowspace as rs
from rowspace.ledger import Ledger
from tests.ledger.processes import race

CONTENDERS = 20


def test_exactly_as_many_win_as_fit(tmp_path: Path) -> None:
    """20 processes race for the last 1, 3 and 7 tenths; `make audit` runs 50 processes, 100 rounds."""
    for room in (1, 3, 7):
        path = tmp_path / f"{room}.db"
        Ledger(path).create("people", rs.PureDP(room / 10))
        assert race(path, CONTENDERS) == room
        budget = Ledger(path).budget()
        assert (budget.remaining, budget.charges) == (0, room)
