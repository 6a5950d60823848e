"""A short game of each: the ledger keeps its word among faults; and a charge that is forgotten is noticed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from audits import faults

from rowspace.ledger import Ledger
from tests.engines.availability import unavailable


def test_a_file() -> None:
    rows = faults.run(long=False, engines=("SQLite",))
    if rows[0].figure.startswith("not run: strace"):
        pytest.skip(rows[0].figure)
    assert all(row.ok for row in rows), rows


def test_a_server() -> None:
    rows = faults.run(long=False, engines=("PostgreSQL",))
    if rows[0].figure.startswith("not run"):
        unavailable("postgres", rows[0].figure)
    assert all(row.ok for row in rows), rows


@pytest.mark.parametrize(
    ("number", "wrong"), [(3, {"a file that nobody paid for"}), (None, set())], ids=["forgotten", "healthy"]
)
def test_a_forgotten_charge_is_noticed(
    number: int | None, wrong: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No faults but this one: a request that is never charged."""
    charge = Ledger.charge

    def forgetful(self: Ledger, *given: Any, **more: Any) -> Any:
        return None if more["request"].key == f"number {number}" else charge(self, *given, **more)

    monkeypatch.setattr(Ledger, "charge", forgetful)
    found = faults.Found(requests=4, room=2 if number is None else 3)
    ledger = str(tmp_path / "budget.db")
    faults.Game(tmp_path, ledger, ledger, random.Random(1), {}).play(0, found)
    assert set(found.wrong) == wrong
