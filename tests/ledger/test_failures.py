"""A ledger that cannot be used: one clear error, nothing charged, nothing released."""

from __future__ import annotations

import os
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import sqlalchemy as sa

import rowspace as rs
from rowspace.exceptions import LedgerError
from rowspace.ledger import Ledger
from rowspace.ledger.database import Database
from tests.ledger.examples import COUNTS, new_ledger, plan

PLAN = plan(rs.PureDP(0.1))


def refused(ledger: Ledger, *words: str) -> None:
    with pytest.raises(LedgerError) as caught:
        rs.release(PLAN, COUNTS, ledger=ledger)
    for word in words:
        assert word in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_locked(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path, rs.PureDP(1.0), patience=0.05)
    other = sqlite3.connect(tmp_path / "budget.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    refused(ledger, "budget.db", "locked by another process", "Nothing new was released")
    other.execute("ROLLBACK")
    other.execute("BEGIN IMMEDIATE")  # others may read, and are refused when they come to charge
    refused(ledger, "locked by another process")
    other.close()
    assert ledger.history() == []


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda content: b"no database at all" * 100, "no ledger"),
        (lambda content: content[:5000], "damaged"),
        (lambda content: content[:100] + b"\xff" * (len(content) - 100), "damaged"),
        (lambda content: content.replace(b'"privacy": "pure"', b'"privacy": "none"'), "damaged"),
        (lambda content: b"", "is no ledger"),
    ],
)
def test_damaged(tmp_path: Path, damage: Callable[[bytes], bytes], words: str) -> None:
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    path = tmp_path / "budget.db"
    path.write_bytes(damage(path.read_bytes()))
    refused(ledger, words)


def test_a_damaged_release_is_not_given_out(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    ledger.charge(PLAN, b"the release itself")
    path = tmp_path / "budget.db"
    path.write_bytes(path.read_bytes().replace(b"the release itself", b"the release itselg"))
    with pytest.raises(LedgerError, match="damaged"):
        ledger.resume(1)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE rowspace_ledger SET version = 99", "another version of rowspace"),
        ("UPDATE rowspace_budget SET epsilon = 'lots'", "damaged"),
        ("UPDATE rowspace_budget SET epsilon = '-1'", "damaged"),
        ("UPDATE rowspace_budget SET charges = 0", "damaged"),
        ("DELETE FROM rowspace_charge", "damaged"),
        ("UPDATE rowspace_budget SET guarantee = '{}'", "damaged"),
        ("DELETE FROM rowspace_budget", "expected a dataset"),
        ("DROP TABLE rowspace_ledger", "is no ledger"),
        ("DROP TABLE rowspace_charge", "cannot be read"),
    ],
)
def test_strange_content(tmp_path: Path, statement: str, words: str) -> None:
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    ledger.charge(PLAN, b"")
    with sqlite3.connect(tmp_path / "budget.db") as connection:
        connection.execute(statement)
    connection.close()
    refused(ledger, words)


@pytest.mark.parametrize("amount", ["lots", "-1"])
def test_a_strange_charge_is_not_shown(tmp_path: Path, amount: str) -> None:
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    ledger.charge(PLAN, b"")
    with sqlite3.connect(tmp_path / "budget.db") as connection:
        connection.execute("UPDATE rowspace_charge SET epsilon = ?", (amount,))
    connection.close()
    with pytest.raises(LedgerError, match="damaged"):
        ledger.history()


def test_nothing_there(tmp_path: Path) -> None:
    refused(Ledger(tmp_path / "budget.db"), "no ledger budget.db", "rowspace budget create")
    refused(Ledger(tmp_path / "no" / "folder.db"), "no ledger folder.db")
    assert not list(tmp_path.iterdir()), "looking for a ledger creates none"


def test_somebody_elses_database(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "people.db") as connection:
        connection.execute("CREATE TABLE people (age)")
    connection.close()
    before = (tmp_path / "people.db").read_bytes()
    with pytest.raises(LedgerError, match="another database"):
        Ledger(tmp_path / "people.db").create("people", rs.PureDP(1.0))
    refused(Ledger(tmp_path / "people.db"), "is no ledger")
    assert (tmp_path / "people.db").read_bytes() == before


def in_a_process(attempt: Callable[[], str]) -> str:
    """What an attempt says, in a process of its own whose rights and limits it may give up."""
    context = get_context("fork")
    answers = context.SimpleQueue()
    rs.release(PLAN, COUNTS)  # import everything while the files can be read
    child = context.Process(target=lambda: answers.put(attempt()))
    child.start()
    child.join(30)
    assert not answers.empty(), "the attempt did not end in an answer"
    return str(answers.get())


def message_of_a_release(path: Path) -> str:
    try:
        rs.release(PLAN, [10] * 6, ledger=path)
    except LedgerError as error:
        return str(error)
    return "released"


def test_a_full_disk(tmp_path: Path) -> None:
    """A limit on the size of files fails the writes of the transaction, as a full disk does."""
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))

    def attempt() -> str:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
        return message_of_a_release(tmp_path / "budget.db")

    assert "the disk is full" in in_a_process(attempt)
    assert ledger.history() == []
    rs.release(PLAN, COUNTS, ledger=ledger)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_read_only(what: str) -> None:
    with TemporaryDirectory() as name:  # not tmp_path, whose parents let nobody but their owner pass
        folder = Path(name)
        ledger = new_ledger(folder, rs.PureDP(1.0))
        path = folder / "budget.db"
        path.chmod(0o444 if what == "file" else 0o666)
        folder.chmod(0o555)

        def attempt() -> str:
            if os.geteuid() == 0:  # may write anything
                os.setgid(65534)
                os.setuid(65534)
            return message_of_a_release(path)

        message = in_a_process(attempt)
        folder.chmod(0o755)
        assert "may not be written; check the permissions" in message or "cannot be opened" in message
        assert "cannot be written" in message
        assert ledger.history() == []


def test_a_charge_is_on_disk_before_it_is_called_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the very connection that charges: full synchronization, of the folder too, and a journal that is a file."""
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    found = []
    insert = Database.writing

    @contextmanager
    def watched(self: Database, **named: bool) -> Iterator[sa.Connection]:
        with insert(self, **named) as connection:
            yield connection
            found.append(
                {
                    pragma: connection.exec_driver_sql(f"PRAGMA {pragma}").scalar()
                    for pragma in ("synchronous", "fullfsync", "journal_mode", "foreign_keys")
                }
            )

    monkeypatch.setattr(Database, "writing", watched)
    ledger.charge(plan(rs.PureDP(0.1)), b"")
    ledger.create("places", rs.PureDP(1.0))
    extra, on = 3, 1
    expected = {"synchronous": extra, "fullfsync": on, "journal_mode": "delete", "foreign_keys": on}
    assert found == [expected, expected]
