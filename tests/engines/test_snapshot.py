"""PostgreSQL with a writer running: every release is of one state, and gets done."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import ibis
import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import SourceError
from rowspace.sources import count_cells, count_marginals
from rowspace.sources.databases import connect
from rowspace.sources.opening import open_table
from tests.engines.postgres import PostgresServer
from tests.sources.test_snapshot import one_query_for_each

DOMAIN = rs.Domain(**{name: rs.Categorical(["x", "y"]) for name in "abcd"})
SETS = [(0,), (1,), (2,), (3,), (0, 1), (2, 3)]
FLIP = "UPDATE flipping SET (a, b, c, d) = ROW(d2, d2, d2, d2), d2 = a"
GROW = "INSERT INTO flipping SELECT * FROM flipping LIMIT 1"


@contextmanager
def writing(server: PostgresServer) -> Iterator[list[int]]:
    """Somebody flips all records, and adds one, as fast as can be; in every state all columns are equal."""
    server.run(
        "DROP TABLE IF EXISTS flipping", "CREATE TABLE flipping (a text, b text, c text, d text, d2 text)"
    )
    server.run("INSERT INTO flipping SELECT 'x', 'x', 'x', 'x', 'y' FROM generate_series(1, 2000)")
    stop, rounds = threading.Event(), [0]

    def write() -> None:
        with server.connect() as connection:
            while not stop.is_set():
                with connection.transaction():
                    connection.execute(FLIP)
                    connection.execute(GROW)
                rounds[0] += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield rounds
    finally:
        stop.set()
        writer.join()
        server.run("DROP TABLE flipping")


@pytest.mark.parametrize("by", ["address", "Ibis table"])
def test_counts_are_of_one_state(server: PostgresServer, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    """Also by a table of an Ibis connection of one's own, which is left as it was."""
    one_query_for_each(monkeypatch)
    own = ibis.connect(server.url())
    with writing(server) as rounds:
        source = server.url() if by == "address" else own.table("flipping")
        table = "flipping" if by == "address" else None
        start = rounds[0]
        for _ in range(10):
            tables = count_marginals(source, DOMAIN, SETS, table=table)
            first = tables.table((0,)).tolist()
            assert min(first) == 0, "every record was flipped, or none"
            assert all(tables.table((i,)).tolist() == first for i in range(4))
            cells = count_cells(source, DOMAIN, table=table)
            assert sorted(cells.ravel().tolist())[:-1] == [0] * 15
        assert rounds[0] > start + 5, "the writer was kept out"
    assert own.con.info.transaction_status == 0
    own.disconnect()


def test_a_transaction_of_the_owner_is_left(server: PostgresServer) -> None:
    server.run(
        "DROP TABLE IF EXISTS owned", "CREATE TABLE owned AS SELECT 'x' AS a, 'x' AS b, 'x' AS c, 'x' AS d"
    )
    own = ibis.connect(server.url())
    table = own.table("owned")
    own.con.execute("BEGIN")
    own.con.execute("INSERT INTO owned VALUES ('y', 'y', 'y', 'y')")
    assert count_cells(table, DOMAIN).sum() == 2, "the transaction sees what it has written"
    own.con.execute("ROLLBACK")
    assert count_cells(table, DOMAIN).sum() == 1
    own.disconnect()
    server.run("DROP TABLE owned")


def test_several_queries_that_see_what_others_commit_are_refused(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a transaction of the owner's, unless it sees one state."""
    one_query_for_each(monkeypatch)
    with writing(server) as rounds, closing(ibis.connect(server.url()).con) as connection:
        source = ibis.postgres.from_connection(connection).table("flipping")
        connection.execute("BEGIN")
        with pytest.raises(SourceError, match="takes several queries"):
            count_marginals(source, DOMAIN, SETS)
        connection.execute("ROLLBACK")
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        start = rounds[0]
        tables = count_marginals(source, DOMAIN, SETS)
        assert all(tables.table((i,)).tolist() == tables.table((0,)).tolist() for i in range(4))
        while rounds[0] == start:
            time.sleep(0.01)
        assert np.array_equal(count_marginals(source, DOMAIN, SETS).table((0, 1)), tables.table((0, 1)))


@pytest.mark.parametrize("by", ["address", "Ibis table"])
def test_postgresql_compiles_and_writes_nothing_while_we_read(server: PostgresServer, by: str) -> None:
    """Nor on a connection of one's own, which has its setting back afterwards."""
    server.run("DROP TABLE IF EXISTS few", "CREATE TABLE few AS SELECT 'x' AS a")
    own = ibis.connect(server.url())
    own.con.execute("SET jit = on")
    source, table = (own.table("few"), None) if by == "Ibis table" else (server.url(), "few")
    with open_table(source, rs.Domain(a=rs.Categorical(["x"])), table) as opened:
        for setting, value in (("jit", "off"), ("transaction_read_only", "on")):
            assert opened.backend.con.execute(f"SHOW {setting}").fetchone() == (value,)
    assert own.con.execute("SHOW jit").fetchone() == ("on",)
    own.disconnect()
    server.run("DROP TABLE few")


def test_a_server_that_is_gone_is_noticed(server: PostgresServer) -> None:
    """Also in the middle of a query; what the address says about waiting goes before."""
    for more, idle in (("", "10"), ("&keepalives_idle=77", "77")):
        opened = connect(server.url() + more)
        try:
            found = opened.backend.con.info.get_parameters()
        finally:
            opened.close()
        assert found["keepalives_idle"] == idle
        assert found["tcp_user_timeout"] == "30000"


def test_a_time_limit_of_the_owner_is_said(server: PostgresServer) -> None:
    server.run("DROP VIEW IF EXISTS slow", "CREATE VIEW slow AS SELECT 'x' AS a FROM pg_sleep(20)")
    limited = server.url() + "&options=-c%20statement_timeout%3D100"
    with pytest.raises(SourceError, match="cancelled the query, perhaps after a time limit"):
        count_cells(limited, rs.Domain(a=rs.Categorical(["x"])), table="slow")
    server.run("DROP VIEW slow")
