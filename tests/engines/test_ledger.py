"""The ledger on PostgreSQL: everything it promises on SQLite, on a real server."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import rowspace as rs
from rowspace.exceptions import BudgetExceeded, LedgerError
from rowspace.ledger import Ledger, content_digest
from rowspace.ledger.costs import stated
from rowspace.ledger.database import Database
from rowspace.ledger.doubt import Doubt
from tests.cli.running import rowspace
from tests.engines.cutting import cut_at_commit
from tests.engines.postgres import PostgresServer
from tests.ledger.examples import COUNTS, charge_one_source_twice, plan, total
from tests.ledger.processes import FORK, check_after_kills, kill_at_random, race, retry_until_done

NUMBERS = itertools.count()
TENTH = plan(rs.PureDP(0.1))


@pytest.fixture
def database(server: PostgresServer) -> Iterator[str]:
    """The name of a new, empty database."""
    name = f"ledger{next(NUMBERS)}"
    server.run(f"CREATE DATABASE {name}")
    yield name
    server.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def location(server: PostgresServer, database: str) -> str:
    return server.url(database=database)


def refused(location: str, *words: str, patience: float = 30.0) -> None:
    """No release: one `LedgerError` with these words, and no secret."""
    with pytest.raises(LedgerError) as caught:
        rs.release(TENTH, COUNTS, ledger=Ledger(location, patience=patience))
    for word in words:
        assert word in str(caught.value)
    assert location.split(":")[2].split("@")[0] not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_charge_refuse_resume(location: str) -> None:
    ledger = Ledger(location)
    assert str(ledger.create("people", rs.PureDP(1.0))) == "1 of 1 epsilon left"
    made = rs.release(plan(rs.PureDP(0.7)), COUNTS, ledger=location)
    assert ledger.resume(1) == made.to_bytes()
    with pytest.raises(BudgetExceeded, match=r"0\.3 of 1 epsilon left"):
        rs.release(plan(rs.PureDP(0.5)), COUNTS, ledger=ledger)
    (charge,) = ledger.history()
    assert charge.digest == content_digest(made.to_bytes())
    assert total(ledger, "epsilon") == Fraction(7, 10)
    with pytest.raises(LedgerError, match="no charge 2"):
        ledger.resume(2)
    with pytest.raises(LedgerError, match="already"):
        ledger.create("people", rs.PureDP(2.0))


def test_two_charges_at_once_do_not_pass_each_other(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each locked the row of its own budget, and neither saw the other."""
    charged, refused = charge_one_source_twice(location, monkeypatch)
    assert charged == "charged"
    assert "a second budget for the same people" in refused


def test_sums_are_exact_and_names_never_code(location: str) -> None:
    name = "x'); DROP TABLE rowspace_charge; --\"ü %s :x"
    ledger = Ledger(location)
    ledger.create(name, rs.PureDP(1.0))
    for _ in range(10):
        ledger.charge(TENTH, b"\x00\xff", name)
    assert ledger.budget(name).remaining == 0
    with pytest.raises(BudgetExceeded):
        ledger.charge(plan(rs.PureDP(1e-3)), b"", name)
    assert ledger.resume(10) == b"\x00\xff"


def test_exactly_as_many_win_as_fit(location: str) -> None:
    for room in (1, 4):
        name = f"{location}&options=-c%20search_path%3Droom{room}"
        with_schema(location, f"room{room}")
        Ledger(name).create("people", rs.PureDP(room / 10))
        assert race(name, 12) == room
        budget = Ledger(name).budget()
        assert (budget.remaining, budget.charges) == (0, room)


def with_schema(location: str, schema: str) -> None:
    import psycopg

    with psycopg.connect(location, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")


def test_killed_at_any_instant(location: str, tmp_path: Path) -> None:
    """Whatever instant a releasing process is killed at: no file without its charge, no torn file, all resumable."""
    kills = 25
    Ledger(location).create("people", rs.PureDP(1000.0))
    kill_at_random(tmp_path, kills, random.Random(5), location)
    time.sleep(0.5)  # the server may still be committing for a process that is gone
    charges, files = check_after_kills(tmp_path, location)
    assert charges - kills <= files <= charges
    assert charges > 0


def _create(location: str, barrier: object, results: object) -> None:
    barrier.wait()  # type: ignore[attr-defined]
    try:
        Ledger(location).create("people", rs.PureDP(1.0))
        results.put("created")  # type: ignore[attr-defined]
    except LedgerError as error:
        results.put(str(error))  # type: ignore[attr-defined]


def test_many_create_the_same_budget_at_once(location: str) -> None:
    """One creates the tables and the budget; the others are told that it is there."""
    barrier, results = FORK.Barrier(8), FORK.SimpleQueue()
    creators = [FORK.Process(target=_create, args=(location, barrier, results)) for _ in range(8)]
    for creator in creators:
        creator.start()
    said = sorted(results.get() for _ in creators)
    for creator in creators:
        creator.join()
    assert said.count("created") == 1
    assert all("already" in words for words in said if words != "created"), said


def test_locked_by_another_session(server: PostgresServer, database: str, location: str) -> None:
    Ledger(location).create("people", rs.PureDP(1.0))
    with server.connect(database) as other, other.transaction():
        other.execute("SELECT * FROM rowspace_budget FOR UPDATE")
        refused(location, "locked by another session", "Nothing was released", patience=0.1)
    assert Ledger(location).history() == []


def test_charges_are_durable_on_a_server_that_is_not(location: str) -> None:
    """`synchronous_commit = off` is not for charges; a stricter setting than ours stays."""
    for setting, wanted in (("off", "on"), ("remote_apply", "remote_apply")):
        database = Database(f"{location}&options=-c%20synchronous_commit%3D{setting}", 1.0)
        with database.writing() as connection:
            assert connection.exec_driver_sql("SHOW synchronous_commit").scalar_one() == wanted


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda url: url, "no ledger"),
        (lambda url: url + "&options=-c%20default_transaction_read_only%3Don", "read-only"),
        (lambda url: url.replace("@", "wrong@"), "cannot be reached"),
        (lambda url: url.split("host=")[0] + "host=/no/such/folder", "cannot be reached"),
    ],
    ids=["empty", "read-only", "wrong password", "unreachable"],
)
def test_unusable(location: str, spoil: Callable[[str], str], words: str) -> None:
    if "read-only" in words or "reached" in words:
        Ledger(location).create("people", rs.PureDP(1.0))
    refused(spoil(location), words)


def test_no_permission(server: PostgresServer, database: str, location: str) -> None:
    Ledger(location).create("people", rs.PureDP(1.0))
    server.run("DROP ROLE IF EXISTS auditor", "CREATE ROLE auditor LOGIN PASSWORD 'auditor-secret'")
    auditor = server.url(user="auditor", password="auditor-secret", database=database)
    refused(auditor, "permission")
    server.run("GRANT SELECT ON ALL TABLES IN SCHEMA public TO auditor", database=database)
    assert Ledger(auditor).budget().charges == 0
    refused(auditor, "permission")
    server.run("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM auditor", database=database)


def test_a_connection_that_is_lost(server: PostgresServer, database: str, location: str) -> None:
    """The server ends the session that waits for its turn to charge: nothing is charged."""
    Ledger(location).create("people", rs.PureDP(1.0))
    find = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        f"WHERE datname = '{database}' AND wait_event_type = 'Lock'"
    )
    stop = threading.Event()

    def end_who_waits() -> None:
        with server.connect() as connection:
            while not stop.is_set() and not connection.execute(find).fetchall():
                time.sleep(0.01)

    ender = threading.Thread(target=end_who_waits)
    with server.connect(database) as other, other.transaction():
        other.execute("SELECT * FROM rowspace_budget FOR UPDATE")
        ender.start()
        try:
            refused(location, "Nothing was released")
        finally:
            stop.set()
            ender.join()
    assert Ledger(location).history() == []


def test_the_command_line(location: str, tmp_path: Path) -> None:
    assert rowspace("budget", "create", location, "people", "--epsilon", "1").code == 0
    shown = rowspace("budget", "show", location)
    assert "people" in shown.out
    secret = location.split(":")[2].split("@")[0]
    broken = rowspace("budget", "show", location.replace("host=", "port=1&host="))
    assert broken.code == 75
    assert secret not in shown.out + shown.err + broken.out + broken.err


def test_a_ledger_of_version_1_is_brought_up_to_date(
    server: PostgresServer, database: str, location: str
) -> None:
    """By many at once, too."""
    approximate = rs.ApproxDP(0.1, 1e-6)
    Ledger(location).create("people", rs.ApproxDP(1.0, 1e-5))
    Ledger(location).charge(plan(approximate), b"kept")
    server.run(
        "ALTER TABLE rowspace_budget DROP COLUMN composition",
        "ALTER TABLE rowspace_charge DROP COLUMN source",  # and its index
        *(
            f"ALTER TABLE rowspace_budget DROP COLUMN {name}"
            for name in ("epsilon", "delta", "rho", "charges")
        ),
        "ALTER TABLE rowspace_charge DROP COLUMN version",
        "DROP TABLE rowspace_request",
        "UPDATE rowspace_charge SET epsilon = '1/10', delta = '1/1000000', rho = '0'",
        "UPDATE rowspace_ledger SET version = 1",
        database=database,
    )
    found: list[Fraction] = []
    threads = [
        threading.Thread(target=lambda: found.append(Ledger(location).budget().spent)) for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [stated(approximate)] * 5
    Ledger(location).charge(plan(approximate), b"", source="somewhere")
    assert Ledger(location).budget().spent == 2 * stated(approximate)
    assert Ledger(location).resume(1) == b"kept"


@pytest.mark.parametrize("request_id", [None, "may"])
@pytest.mark.parametrize("after", [True, False])
def test_the_connection_is_cut_at_the_commit(
    server: PostgresServer, location: str, after: bool, request_id: str | None
) -> None:
    """Whether the server heard of it is looked up on another connection, and a retry under an id pays once."""
    ledger = Ledger(location)
    ledger.create("people", rs.PureDP(1.0))
    with TemporaryDirectory() as name, cut_at_commit(Path(name), server.socket, after=after) as way:
        through = f"{location.split('?')[0]}?host={name}"
        with pytest.raises(LedgerError) as caught:
            rs.release(TENTH, COUNTS, ledger=through, request=request_id)
        assert way.cuts == 1
    assert len(ledger.history()) == after
    words = "after charge 1 was made: it is charged" if after else "Nothing was charged and nothing released"
    assert words in str(caught.value)
    assert caught.value.transient == (request_id is not None or not after)
    made = rs.release(TENTH, COUNTS, ledger=ledger, request="may" if request_id else None)
    if request_id:
        assert len(ledger.history()) == 1
        assert made.to_bytes() == ledger.resume(1 if after else ledger.history()[0].id)


def test_a_commit_that_is_still_under_way_is_waited_for(
    server: PostgresServer, database: str, location: str
) -> None:
    """Nobody is told that nothing was charged while another session may still commit the charge."""
    ledger = Ledger(location, patience=10.0)
    ledger.create("people", rs.PureDP(1.0))
    row = {"id": 1, "dataset": "people", "digest": content_digest(b"x")}
    other = server.connect(database)
    other.execute("BEGIN")
    other.execute("SELECT * FROM rowspace_budget FOR UPDATE")
    other.execute(
        "INSERT INTO rowspace_charge (id, dataset, plan, privacy, epsilon, delta, rho, time, who, digest, content) "
        "VALUES (1, 'people', '', '{}', '0', '0', '0', '', '', %s, '')",
        [row["digest"]],
    )
    said: list[str] = []
    doubt = Doubt(ledger._database, ledger._tables, row, None)
    looking = threading.Thread(target=lambda: said.append(str(doubt("the connection was cut"))))
    looking.start()
    time.sleep(0.5)
    assert said == []
    other.execute("COMMIT")
    looking.join(20)
    other.close()
    assert "after charge 1 was made" in said[0]


def test_killed_and_tried_again(location: str, tmp_path: Path) -> None:
    """Under ids every release is had in the end, and paid once."""
    ledger = Ledger(location)
    ledger.create("people", rs.PureDP(1000.0))
    assert retry_until_done(tmp_path, 15, random.Random(7), location) >= 3
    assert sorted(path.name for path in tmp_path.glob("[!.]*")) == sorted(
        f"{i}.release" for i in range(1, 16)
    )
    assert ledger.budget().charges == 15
