"""A commit that fails: the charge is looked up, and what is said of it is so."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rowspace as rs
from rowspace.exceptions import LedgerError
from rowspace.ledger import Ledger
from tests.ledger.examples import COUNTS, new_ledger, plan
from tests.ledger.processes import fail_a_flush

TENTH = plan(rs.PureDP(0.1))


def fail_commits(ledger: Ledger, after: bool, spoil: Callable[[], object] = lambda: None) -> None:
    """Let the next commit fail: before it, or after it was made."""
    engine = ledger._database._engine
    commit = engine.dialect.do_commit

    def failing(connection: Any) -> None:
        engine.dialect.do_commit = commit  # type: ignore[method-assign]
        if after:
            commit(connection)
        spoil()
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorname = "SQLITE_IOERR_DIR_FSYNC"
        raise error

    engine.dialect.do_commit = failing  # type: ignore[method-assign]


def failure(ledger: Ledger, **how: Any) -> LedgerError:
    with pytest.raises(LedgerError) as caught:
        rs.release(TENTH, COUNTS, ledger=ledger, **how)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    return caught.value


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return new_ledger(tmp_path, rs.PureDP(1.0), patience=0.3)


def fail_the_charge(
    ledger: Ledger, after: bool, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[], object] = lambda: None
) -> None:
    """As `fail_commits`, once the charge is written and about to be committed."""
    keep = ledger._tables.keep_spent

    def then_fail(*given: Any) -> None:
        keep(*given)
        fail_commits(ledger, after, spoil)

    monkeypatch.setattr(ledger._tables, "keep_spent", then_fail)


@pytest.mark.parametrize("request_id", [None, "may"])
@pytest.mark.parametrize("after", [True, False])
def test_what_is_said_is_so(
    ledger: Ledger, after: bool, request_id: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_the_charge(ledger, after, monkeypatch)
    error = failure(ledger, request=request_id)
    monkeypatch.undo()
    assert len(ledger.history()) == after
    if after:
        assert "after charge 1 was made: it is charged, and its release is kept" in str(error)
        assert f"rowspace budget resume {ledger.file} 1 -o FILE" in str(error)
        assert ("ask again with the request id 'may'" in str(error)) == (request_id is not None)
        assert error.transient == (request_id is not None), "without an id a retry would pay again"
    else:
        assert "Nothing was charged and nothing released; try again" in str(error)
        assert error.transient
    made = rs.release(TENTH, COUNTS, ledger=ledger, request=request_id)
    paid = 2 if after and request_id is None else 1
    assert len(ledger.history()) == paid
    assert made.to_bytes() == ledger.resume(paid)


@pytest.mark.parametrize("request_id", [None, "may"])
def test_what_cannot_be_known_is_not_said(
    ledger: Ledger, request_id: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger is away when it is looked at again."""
    file = ledger.file
    assert file is not None
    away = file.with_suffix(".away")
    fail_the_charge(ledger, True, monkeypatch, lambda: shutil.move(file, away))
    error = failure(ledger, request=request_id)
    monkeypatch.undo()
    assert "it is not known whether the charge was made" in str(error)
    assert f"rowspace budget history {file}" in str(error)
    assert error.transient == (request_id is not None)
    shutil.move(away, file)
    assert len(ledger.history()) == 1


def test_a_number_that_another_charge_took(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the failed commit and the look."""
    assert ledger.file is not None
    others = [Ledger(ledger.file)]
    fail_the_charge(ledger, False, monkeypatch)
    monkeypatch.setattr(
        "rowspace.ledger.doubt.time.sleep", lambda _: others and others.pop().charge(TENTH, b"another")
    )
    assert "Nothing was charged" in str(failure(ledger))
    assert [charge.id for charge in ledger.history()] == [1]


def test_a_flush_that_fails_again_proves_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_the_charge(ledger, True, monkeypatch)
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(5, "Input/output error")))
    assert "it is not known" in str(failure(ledger))


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize(("flush", "words"), [(1, "Nothing was charged"), (5, "it is charged")])
def test_every_failing_flush(tmp_path: Path, flush: int, words: str) -> None:
    """The kernel fails a flush of a charge: the journal's, or the folder's when the journal is gone.

    `make audit` fails each of them.
    """
    ledger = new_ledger(tmp_path, rs.PureDP(10.0))
    assert words in fail_a_flush(tmp_path, flush)
    assert len(ledger.history()) == (words == "it is charged")
    rs.release(plan(rs.PureDP(0.01)), COUNTS, ledger=ledger, request=f"flush {flush}")
    assert len(ledger.history()) == 1
