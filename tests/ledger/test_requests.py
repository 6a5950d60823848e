"""A release under a request's id: charged and drawn once, however often it is tried, by however many at once."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pandas as pd
import pytest

import rowspace as rs
from rowspace import retries
from rowspace.exceptions import BudgetExceeded, InvalidInput, LedgerError, RowspaceError
from rowspace.ledger import Request, content_digest
from tests.ledger.examples import COUNTS, new_ledger, plan
from tests.ledger.processes import FORK, retry_until_done, warm

TENTH = plan(rs.PureDP(0.1))


def test_a_retry_never_pays_twice(tmp_path: Path) -> None:
    """Also when nothing is left of the budget, and by a plan read from its file."""
    ledger = new_ledger(tmp_path, rs.PureDP(0.2))
    first = rs.release(TENTH, COUNTS, ledger=ledger, request="may")
    TENTH.save(tmp_path / "a.plan")
    again = rs.release(
        rs.Plan.load(tmp_path / "a.plan"), COUNTS, ledger=tmp_path / "budget.db", request="may"
    )
    assert again.to_bytes() == first.to_bytes() == ledger.resume(1)
    assert rs.release(TENTH, COUNTS, ledger=ledger, request="june").to_bytes() != first.to_bytes()
    assert rs.release(TENTH, COUNTS, ledger=ledger, request="may").to_bytes() == first.to_bytes()
    with pytest.raises(BudgetExceeded):
        rs.release(TENTH, COUNTS, ledger=ledger, request="july")
    assert ledger.budget().charges == 2
    assert ledger.budget().remaining == 0


def test_nobody_denies_what_cannot_be_looked_up(tmp_path: Path) -> None:
    """Killed after the commit, and tried again while nobody may read: an earlier try was charged, and is not denied."""
    ledger = new_ledger(tmp_path, rs.PureDP(1.0), patience=0.05)
    rs.release(TENTH, COUNTS, ledger=ledger, request="monday")
    other = sqlite3.connect(tmp_path / "budget.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerError, match=r"cannot be read: .* what was charged before still is") as caught:
        rs.release(TENTH, COUNTS, ledger=ledger, request="monday")
    other.close()
    assert "Nothing was" not in str(caught.value)


def test_an_id_stands_for_one_plan_and_one_source(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("age\n1\n2\n")
    first = rs.release(TENTH, tmp_path / "a.csv", ledger=ledger, request="may")
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    again = rs.release(TENTH, tmp_path / "link.csv", ledger=ledger, request="may")
    assert again.to_bytes() == first.to_bytes()
    for source in (tmp_path / "b.csv", pd.DataFrame({"age": [1]})):
        with pytest.raises(InvalidInput, match=r"'may' was used for another source \(charge 1\).* Nothing"):
            rs.release(TENTH, source, ledger=ledger, request="may")
    with pytest.raises(InvalidInput, match="'may' was used for another plan"):
        rs.release(plan(rs.PureDP(0.2)), tmp_path / "a.csv", ledger=ledger, request="may")
    ledger.keep_request(Request("question", "a digest"))
    with pytest.raises(InvalidInput, match="'question' was used for another kind of request"):
        rs.release(TENTH, COUNTS, ledger=ledger, request="question")
    assert ledger.budget().charges == 1


def test_the_data_need_not_be_there_any_more(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    source = tmp_path / "a.csv"
    source.write_text("age\n1\n2\n")
    first = rs.release(TENTH, source, ledger=ledger, request="may")
    source.unlink()
    assert rs.release(TENTH, source, ledger=ledger, request="may").to_bytes() == first.to_bytes()


@pytest.mark.parametrize("request_id", ["", "a\nb", 3, "x" * 1000])
def test_what_is_no_id(tmp_path: Path, request_id: object) -> None:
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    with pytest.raises(InvalidInput, match="expected a request's key"):
        rs.release(TENTH, COUNTS, ledger=ledger, request=request_id)  # type: ignore[arg-type]
    assert ledger.history() == []


def test_who_could_not_remember_it(tmp_path: Path) -> None:
    class Keeper:
        def charge(self, *_: object) -> None:
            raise AssertionError

    for keeper in (None, Keeper()):
        with pytest.raises(InvalidInput, match="beside request="):
            rs.release(TENTH, COUNTS, ledger=keeper, request="may")


def test_many_at_once_get_the_same_release(tmp_path: Path) -> None:
    """All of 12 processes have it, where the budget has room for one."""
    ledger = new_ledger(tmp_path, rs.PureDP(0.1))
    warm()
    barrier, digests = FORK.Barrier(12), FORK.SimpleQueue()

    def contend() -> None:
        barrier.wait()
        try:
            made = rs.release(TENTH, COUNTS, ledger=tmp_path / "budget.db", request="may")
        except RowspaceError as error:
            digests.put(str(error))
        else:
            digests.put(content_digest(made.to_bytes()))

    racers = [FORK.Process(target=contend) for _ in range(12)]
    for racer in racers:
        racer.start()
    found = {digests.get() for _ in racers}
    for racer in racers:
        racer.join()
    (charge,) = ledger.history()
    assert found == {charge.digest}


def test_an_id_that_is_taken_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look and the charge, where the budget has room for both."""
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    first = rs.release(TENTH, COUNTS, ledger=ledger, request="may")
    look, seen = retries._kept, [None]
    monkeypatch.setattr(retries, "_kept", lambda *asked: seen.pop() if seen else look(*asked))
    assert rs.release(TENTH, COUNTS, ledger=ledger, request="may").to_bytes() == first.to_bytes()
    assert ledger.budget().charges == 1


def test_killed_at_any_instant(tmp_path: Path) -> None:
    """Whoever is killed and tries again under the same id, until it ends, has paid once and has that one release."""
    ledger = new_ledger(tmp_path, rs.PureDP(1000.0))
    kills = retry_until_done(tmp_path, 20, random.Random(6))
    assert kills >= 5, "the kills came too late to show anything"
    assert ledger.budget().charges == 20
    for charge in ledger.history():
        assert content_digest(ledger.resume(charge.id)) == charge.digest
        assert content_digest((tmp_path / f"{charge.id}.release").read_bytes()) == charge.digest
