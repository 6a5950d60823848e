"""An engine that cannot be used: one clear error, without a secret, nothing charged, nothing released."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import SourceError
from rowspace.ledger import Ledger
from rowspace.sources import count_cells
from tests.cli.running import rowspace
from tests.engines.postgres import PostgresServer
from tests.sources.test_secrecy import everything_said_by

DOMAIN = rs.Domain(x=rs.Numeric(0, 4, bins=4))
MANY = rs.Domain(x=rs.Categorical(range(100)))  # looked up in a temporary table
STUDY = """
[study]
name = "Four cells"
[privacy]
epsilon = 1.0
[domain.x]
type = "numeric"
low = 0
high = 4
bins = 4
[[workload]]
marginal = ["x"]
"""


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path / "budget.db")
    made.create("people", rs.PureDP(1.0))
    return made


@pytest.fixture(scope="module")
def people(server: PostgresServer) -> PostgresServer:
    server.fill("people", {"x": "bigint"}, [(i % 4,) for i in range(100)])
    server.run(
        # A table that takes its time, so that the connection can be ended in the middle of it.
        "CREATE VIEW slow AS SELECT x FROM people, LATERAL (SELECT pg_sleep(0.02) WHERE x >= 0) AS wait",
        "CREATE ROLE stranger LOGIN PASSWORD 'stranger-secret'",
        "REVOKE ALL ON people FROM PUBLIC",
    )
    return server


def refused(
    url: str, ledger: Ledger, *words: str, table: str | None = "people", domain: rs.Domain = DOMAIN
) -> None:
    """No release, no charge, one `SourceError` with these words and no secret."""
    plan = rs.plan(rs.workload.identity(domain), rs.PureDP(0.1))
    with pytest.raises(SourceError) as caught:
        rs.release(plan, url, ledger=ledger, table=table)
    for word in words:
        assert word in str(caught.value)
    said = everything_said_by(caught.value)
    secret = re.search(r"//[^:/]*:([^@]+)@", url)
    assert secret is None or secret[1] not in said
    assert ledger.history() == []


def test_a_password_in_the_url_opens_and_is_never_said(people: PostgresServer, ledger: Ledger) -> None:
    assert count_cells(people.url(), DOMAIN, table="people").tolist() == [25] * 4
    refused(people.url(password="wrong-secret"), ledger, "credentials")


def test_a_password_from_the_environment(people: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    url = people.url(with_password=False)
    with pytest.raises(SourceError, match="credentials"):
        count_cells(url, DOMAIN, table="people")
    monkeypatch.setenv("PGPASSWORD", people.password)
    assert count_cells(url, DOMAIN, table="people").tolist() == [25] * 4


def test_unreachable(people: PostgresServer, ledger: Ledger) -> None:
    refused("postgresql://me:some-secret@127.0.0.1:1/db", ledger, "cannot connect", "rowspace[postgres]")
    refused("postgresql://me:some-secret@no-such-host.invalid/db", ledger, "cannot connect")
    refused("postgresql://me:some-secret@/db?host=/no/such/folder", ledger, "cannot connect")


def test_no_such_table_or_column(people: PostgresServer, ledger: Ledger) -> None:
    refused(people.url(), ledger, "'nowhere'", table="nowhere")
    refused(people.url(), ledger, "table=", table=None)
    refused(people.url(), ledger, "'y'", domain=rs.Domain(y=rs.Numeric(0, 1, bins=1)))


def test_no_permission(people: PostgresServer, ledger: Ledger) -> None:
    refused(people.url(user="stranger", password="stranger-secret"), ledger, "may not read")


def end_slow_connections(server: PostgresServer, stop: threading.Event) -> None:
    """End a connection as soon as one is in the middle of the slow table."""
    find = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    with server.connect() as connection:
        while not stop.is_set() and not connection.execute(find).fetchall():
            time.sleep(0.005)


@pytest.mark.parametrize("domain", [DOMAIN, MANY], ids=["inline", "with a temporary table"])
def test_a_connection_that_is_lost_midway(people: PostgresServer, ledger: Ledger, domain: rs.Domain) -> None:
    stop = threading.Event()
    ender = threading.Thread(target=end_slow_connections, args=(people, stop))
    ender.start()
    try:
        refused(people.url(), ledger, "the server ended the connection", table="slow", domain=domain)
    finally:
        stop.set()
        ender.join()


def test_a_time_limit_of_the_server(people: PostgresServer, ledger: Ledger) -> None:
    url = people.url() + "&options=-c%20statement_timeout%3D300"
    refused(url, ledger, "cancelled", table="slow")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda server: server.url(password="wrong-secret"),
        lambda server: "postgresql://me:wrong-secret@127.0.0.1:1/db",
    ],
    ids=["wrong password", "unreachable"],
)
def test_the_command_line_says_no_secret(
    people: PostgresServer,
    spoil: Callable[[PostgresServer], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By argument and by the environment variable that the study names: an error, no traceback, no file, no secret."""
    url = spoil(people)
    study = tmp_path / "study.toml"
    study.write_text(STUDY + '[data]\ntable = "people"\nurl_env = "PEOPLE_URL"\n')
    monkeypatch.setenv("PEOPLE_URL", url)
    for data in ([url], []):
        out = tmp_path / "out.release"
        ended = rowspace("release", "--no-ledger", study, *data, "-o", out)
        assert ended.code == 75
        assert "cannot connect" in ended.err
        assert "Traceback" not in ended.err
        assert "wrong-secret" not in ended.out + ended.err
        assert not out.exists()


def test_a_study_moves_to_a_server(
    people: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same study on a file and on a server: the same counts, but for noise that ε = 10⁶ makes nothing."""
    text = (
        STUDY.replace("epsilon = 1.0", "epsilon = 1e6") + '[data]\ntable = "people"\nurl_env = "PEOPLE_URL"\n'
    )
    (tmp_path / "study.toml").write_text(text)
    (tmp_path / "people.csv").write_text("x\n" + "".join(f"{i % 4}\n" for i in range(100)))
    monkeypatch.setenv("PEOPLE_URL", people.url())
    found = []
    for data in ([tmp_path / "people.csv"], []):
        out = tmp_path / "out.release"
        ended = rowspace("release", "--no-ledger", "--force", tmp_path / "study.toml", *data, "-o", out)
        assert ended.code == 0, ended.err
        found.append(np.round(rs.Release.load(out).answers()["answer"].to_numpy()).tolist())
    assert found == [[25.0] * 4] * 2


def test_a_password_in_a_study_is_refused(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY + '[data]\nurl = "postgresql://me:wrong-secret@host/db"\n')
    ended = rowspace("release", "--no-ledger", tmp_path / "study.toml", "-o", tmp_path / "out.release")
    assert ended.code != 0
    assert "wrong-secret" not in ended.out + ended.err
    assert "url_env" in ended.err


def test_spark_that_is_not_there(session: object, ledger: Ledger) -> None:
    refused("pyspark://", ledger, "'nowhere'", table="nowhere")
