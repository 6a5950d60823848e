"""A ledger's server that stops, is slow, or is held up by a client that is gone: nobody waits for ever."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

import rowspace as rs
from rowspace.exceptions import LedgerError
from rowspace.ledger import Ledger, waiting
from rowspace.ledger.database import Database
from tests.engines.postgres import PostgresServer
from tests.ledger.examples import plan

TENTH = plan(rs.PureDP(0.1))


@pytest.fixture
def location(server: PostgresServer) -> Iterator[str]:
    server.run("CREATE DATABASE waiting")
    Ledger(server.url(database="waiting")).create("people", rs.PureDP(1.0))
    yield server.url(database="waiting")
    server.run("DROP DATABASE waiting WITH (FORCE)")


def limited(location: str, **limits: int) -> str:
    words = "%20".join(f"-c%20{name}%3D{value}" for name, value in limits.items())
    return f"{location}&options={words}"


def test_a_server_that_stops_is_given_up(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its kernel still answers, so that TCP sees nothing: at the insertion, and at the commit itself."""
    monkeypatch.setattr(waiting, "GRACE", 0.5)
    for instant in ("INSERT INTO rowspace_charge", "COMMIT"):
        ledger = Ledger(limited(location, statement_timeout=500))
        stopped: list[int] = []

        def stop(connection: Any, stopped: list[int] = stopped) -> None:
            if not stopped:
                stopped.append(connection.connection.dbapi_connection.info.backend_pid)
                os.kill(stopped[0], signal.SIGSTOP)

        def at_statement(connection: Any, _cursor: Any, text: str, *_: Any, stop: Any = stop) -> None:
            if text.startswith("INSERT INTO rowspace_charge"):
                stop(connection)

        engine = ledger._database._engine
        if instant == "COMMIT":
            sa.event.listen(engine, "commit", stop)
        else:
            sa.event.listen(engine, "before_cursor_execute", at_statement)
        # What became of it can be looked up once the backend has gone on and found nobody.
        going_on = threading.Timer(4.0, lambda pids=stopped: os.kill(pids[0], signal.SIGCONT))
        going_on.start()
        try:
            with pytest.raises(LedgerError, match="the server does not answer any more") as caught:
                ledger.charge(TENTH, b"x")
        finally:
            going_on.join()
        assert stopped
        charged = len(Ledger(location).history())
        assert ("Nothing was" in str(caught.value) or "Nothing new was" in str(caught.value)) == (
            charged == 0
        )
        assert charged == 0 or "it is charged" in str(caught.value) or "it is not known" in str(caught.value)


def settings(database: Database) -> list[str]:
    names = ("statement_timeout", "idle_in_transaction_session_timeout", "lock_timeout")
    with database.reading() as connection:
        return [str(connection.exec_driver_sql(f"SHOW {name}").scalar_one()) for name in names]


def test_limits_that_somebody_has_set_go_before(location: str) -> None:
    assert settings(Database(location, 30.0)) == ["90s", "90s", "30s"]
    own = limited(location, statement_timeout=600_000, idle_in_transaction_session_timeout=5_000)
    database = Database(own, 30.0)
    assert settings(database) == ["10min", "5s", "30s"]
    with database.reading() as connection:
        held = connection.connection.dbapi_connection
        assert isinstance(held, waiting.PatientConnection)
        assert held.limit == 600.0
        found = held.info.get_parameters()
    assert (found["keepalives_idle"], found["tcp_user_timeout"]) == ("10", "30000"), "one that is gone"


def test_a_client_that_is_silent_holds_nobody_up(location: str) -> None:
    """It was stopped with the budget in its hands, say; nothing that it does afterwards is charged."""
    silent = Ledger(limited(location, idle_in_transaction_session_timeout=200))

    def hold_and_go_on() -> None:
        with silent._database.writing() as connection:
            silent._tables.filter(connection, "people", lock=True)
            Ledger(location, patience=10.0).charge(TENTH, b"x")  # waits for the lock, and has it
            connection.exec_driver_sql("UPDATE rowspace_budget SET dataset = 'others'")

    with pytest.raises(LedgerError, match="silent in a transaction") as caught:
        hold_and_go_on()
    assert caught.value.transient
    assert [budget.dataset for budget in Ledger(location).budgets()] == ["people"]


def test_a_statement_that_takes_too_long_is_ended(location: str) -> None:
    database = Database(limited(location, statement_timeout=100), 30.0)
    with (
        pytest.raises(LedgerError, match="longer than its limit") as caught,
        database.reading() as connection,
    ):
        connection.exec_driver_sql("SELECT pg_sleep(20)")
    assert caught.value.transient
