"""Pruning drops bytes and nothing else, and none that are still needed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import rowspace as rs
from rowspace.exceptions import BudgetExceeded, InvalidInput, Pruned
from rowspace.ledger import Ledger
from tests.cli.running import rowspace
from tests.ledger.examples import COUNTS, DOMAIN, new_ledger, plan

LATER = datetime.now(UTC) + timedelta(days=1)
TENTH = rs.PureDP(0.1)


def filled(folder: Path, sources: str) -> Ledger:
    """A ledger with a charge for every letter, the letter being its source."""
    ledger = new_ledger(folder, rs.PureDP(1.0))
    for source in sources:
        ledger.charge(plan(TENTH), source.encode() * 100_000, source=source)
    return ledger


def test_charges_sums_and_digests_stay(tmp_path: Path) -> None:
    ledger = filled(tmp_path, "abc")
    before, history = ledger.budget(), ledger.history()
    assert ledger.file is not None
    size = ledger.file.stat().st_size
    assert ledger.prune(LATER, only_look=True) == [(1, 100_000), (2, 100_000)]
    assert ledger.resume(1) == b"a" * 100_000
    assert [number for number, _ in ledger.prune(LATER)] == [1, 2]
    assert ledger.prune(LATER) == []
    assert ledger.file.stat().st_size < size - 150_000
    assert (ledger.budget(), ledger.history()) == (before, history)
    with pytest.raises(Pruned, match=f"was pruned .* whose SHA-256 is {history[0].digest}"):
        ledger.resume(1)
    assert ledger.resume(3) == b"c" * 100_000
    for _ in range(7):
        ledger.charge(plan(TENTH), b"")
    with pytest.raises(BudgetExceeded):
        ledger.charge(plan(TENTH), b"")


def test_what_is_needed_stays(tmp_path: Path) -> None:
    """The newest of a plan, the table that sessions answer about, and what is not old."""
    ledger = filled(tmp_path, "abbb")
    assert ledger.prune(datetime(2000, 1, 1, tzinfo=UTC), evidence=True) == []
    assert [number for number, _ in ledger.prune(LATER, only_look=True)] == [1]
    assert [number for number, _ in ledger.prune(LATER, evidence=True, only_look=True)] == [1, 2, 3]
    ledger.charge(plan(rs.PureDP(0.2)), b"other plan", source="c")
    assert [number for number, _ in ledger.prune(LATER)] == [1, 2, 3]
    with pytest.raises(InvalidInput, match="time zone"):
        ledger.prune(datetime(2000, 1, 1))


def test_versions_tell_tables_apart(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    for version in ("2023", "2024", "2024"):
        ledger.charge(plan(TENTH), b"release", source="a", version=version)
    assert [number for number, _ in ledger.prune(LATER)] == [1]


def test_a_session_goes_on_without_what_was_given_up(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path, rs.PureDP(100.0))
    made = [rs.release(plan(rs.PureDP(10.0)), COUNTS, ledger=ledger) for _ in range(2)]
    ledger.prune(LATER)
    assert ledger.resume(1) == made[0].to_bytes()
    ledger.prune(LATER, evidence=True)
    with pytest.raises(Pruned):
        ledger.resume(1)
    session = rs.Session(DOMAIN, COUNTS, ledger=ledger)
    answered = session.ask("age < 3", within=50)
    assert answered.charge is None
    assert answered.answer == pytest.approx(made[1].ask("age < 3").answer.iloc[0], abs=1e-6)


def test_the_command_says_what_it_drops_and_asks(tmp_path: Path) -> None:
    ledger = filled(tmp_path, "abc")
    asked = ("budget", "prune", ledger.file, "people", "--before", LATER.date() + timedelta(days=1))
    refused = rowspace(*asked)
    assert refused.code == 1
    assert (
        "drops the stored files of 2 releases, 0.2 MB, for good: say that it is meant with --yes"
        in refused.err
    )
    assert ledger.resume(1)
    done = rowspace(*asked, "--yes", "--json")
    assert (done.code, '"pruned": [' in done.out) == (0, True)
    assert "was pruned" in rowspace("budget", "resume", ledger.file, 1, "-o", tmp_path / "a.release").err
