"""Bytes that are no messages: refused in one sentence, closed, in bounded memory; the next client is served."""

from __future__ import annotations

import random
import socket
import struct
from collections.abc import Iterator

import duckdb
import pytest
from starlette.testclient import TestClient

import rowspace as rs
from rowspace.serve.wire import connection as wire
from rowspace.serve.wire import messages
from rowspace.serve.wire.catalogue import Catalogue, is_catalogue, parsed
from rowspace.serve.wire.statements import statements

from .conftest import Place, laid_out, running, wait


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return laid_out(tmp_path_factory.mktemp("hostile"))  # nothing is ever charged here


@pytest.fixture(scope="module")
def client(place: Place) -> Iterator[TestClient]:
    with running(place.settings(psql_port=0)) as found:
        yield wait(found)


class Raw:
    """A client that sends what it likes."""

    def __init__(self, client: TestClient) -> None:
        self.socket = socket.create_connection(("127.0.0.1", client.app.state.door.port), timeout=20)  # type: ignore[attr-defined]

    def __del__(self) -> None:
        self.socket.close()

    def send(self, kind: bytes, content: bytes = b"") -> None:
        self.socket.sendall(kind + struct.pack("!i", 4 + len(content)) + content)

    def greet(self, token: str, version: int = messages.VERSION_3) -> bytes:
        self.send(b"", struct.pack("!i", version) + b"user\0x\0\0")
        self.until(b"R")
        self.send(b"p", token.encode() + b"\0")
        return self.until(b"Z")

    def until(self, kind: bytes) -> bytes:
        """All messages up to one of a kind, or to the end: their kinds."""
        kinds = b""
        while kind not in kinds:
            found = self._take(1)
            if not found:
                return kinds
            kinds += found
            self.last = self._take(struct.unpack("!i", self._take(4))[0] - 4)
        return kinds

    def rest(self) -> bytes:
        """All that is sent until the end."""
        found = b""
        try:
            while more := self.socket.recv(4096):
                found += more
        except ConnectionResetError:
            pass
        return found

    def _take(self, number: int) -> bytes:
        found = b""
        while len(found) < number and (more := self.socket.recv(number - len(found))):
            found += more
        return found


def test_a_client_of_bytes_is_served(place: Place, client: TestClient) -> None:
    raw = Raw(client)
    raw.send(b"", struct.pack("!i", messages.SSL))
    assert raw._take(1) == b"N"
    assert raw.greet(place.ann)[-1:] == b"Z"
    raw.send(b"Q", b"SELECT 1; ; SELECT 2\0")
    assert raw.until(b"Z") == b"TDCTDCZ"
    raw.send(b"Q", b" -- nothing\0")
    assert raw.until(b"Z") == b"IZ"
    raw.send(b"Q", b"BEGIN\0")
    raw.until(b"Z")
    assert raw.last == b"T"
    raw.send(b"P", b"s\0SELECT 1\0\0\0")
    raw.send(b"D", b"Ss\0")
    raw.send(b"B", b"p\0s\0\0\0\0\0\0\1\0\1")
    raw.send(b"E", b"p\0\0\0\0\0")
    raw.send(b"C", b"Ss\0")
    raw.send(b"H")
    raw.send(b"S")
    assert raw.until(b"Z") == b"1tT2DC3Z"
    # After an error all is skipped up to Sync.
    raw.send(b"B", b"\0missing\0\0\0\0\0\0\0")
    raw.send(b"E", b"\0\0\0\0\0")
    raw.send(b"S")
    assert raw.until(b"Z") == b"EZ"
    assert raw.last == b"E"
    raw.send(b"X")
    assert raw.rest() == b""


def test_a_newer_client_is_told_the_version(place: Place, client: TestClient) -> None:
    raw = Raw(client)
    raw.send(b"", struct.pack("!i", messages.VERSION_3 + 2) + b"user\0x\0_pq_.new\0on\0\0")
    assert raw.until(b"R") == b"vR"


@pytest.mark.parametrize(
    ("greeting", "state"),
    [
        (struct.pack("!ii", 8, 2 << 16), b"08P01"),
        (struct.pack("!ii", 2**31 - 1, 3 << 16), b"08P01"),
        (struct.pack("!ii", -5, 3 << 16), b"08P01"),
        (struct.pack("!ii", 12, 3 << 16) + b"user", b"08P01"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"08P01"),
        (struct.pack("!iiii", 16, messages.CANCEL, 1, 2), b""),
        (struct.pack("!ii", 17, 3 << 16) + b"us\xff\xfer\0x\0\0", b"08P01"),
    ],
)
def test_greetings_that_are_none(client: TestClient, greeting: bytes, state: bytes) -> None:
    raw = Raw(client)
    raw.socket.sendall(greeting)
    raw.socket.shutdown(socket.SHUT_WR)
    assert state in raw.rest()


@pytest.mark.parametrize(
    "sent",
    [
        b"Q" + struct.pack("!i", 2**31 - 1),
        b"Q" + struct.pack("!i", 3),
        b"Q\0\0\0\5x",
        b"?\0\0\0\4",
        b"B\0\0\0\6\0\0",
        b"B" + struct.pack("!i", 12) + b"\0\0" + struct.pack("!hhh", 0, 1, 0)[:6],
        b"P" + struct.pack("!i", 9) + b"\0\0\xff\xff\xff",
        b"Q\0\0\0\7\xff\xfe\0",
    ],
)
def test_messages_that_are_none(place: Place, client: TestClient, sent: bytes) -> None:
    raw = Raw(client)
    raw.greet(place.ann)
    raw.socket.sendall(sent)
    raw.socket.shutdown(socket.SHUT_WR)
    kinds = raw.until(b"none")
    assert set(kinds.decode()) <= set("E123tTnDCIZ")
    assert Raw(client).greet(place.ann)[-1:] == b"Z"
    assert place.ledger.budget().charges == 0


def test_random_messages_never_fail_the_program(
    place: Place, client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    rng = random.Random(11)
    words = [
        b"SELECT ",
        b"count(*) ",
        b"FROM t ",
        b"$1 ",
        b"'",
        b'"',
        b"/* ",
        b"*/",
        b"; ",
        b"\0",
        b"SET x = ",
        b"WHERE ",
        b"age < ",
    ]
    for _ in range(40):
        raw = Raw(client)
        raw.greet(place.ann)
        try:
            for _ in range(10):
                text = b"".join(rng.choice(words) for _ in range(rng.randrange(12)))
                noise = rng.randbytes(rng.randrange(30))
                raw.send(
                    rng.choice(b"QPBDEC").to_bytes(1),
                    rng.choice([text + b"\0", noise, b"\0" + text + b"\0\0\0"]),
                )
            raw.send(b"S")
            raw.socket.shutdown(socket.SHUT_WR)
        except OSError:  # it was closed meanwhile
            continue
        raw.rest()
    assert not [one for one in caplog.records if one.exc_info]
    assert place.ledger.budget().charges == 0


def test_slow_clients_are_left(place: Place, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "SECONDS_TO_GREET", 0.2)
    silent = Raw(client)
    assert b"57P05" in silent.rest()
    monkeypatch.setattr(messages, "SECONDS_PER_MESSAGE", 0.2)
    monkeypatch.setattr(wire, "SECONDS_TO_GREET", 10.0)
    slow = Raw(client)
    slow.greet(place.ann)
    slow.socket.sendall(b"Q\0\0")
    assert b"57P05" in slow.rest()


def test_what_is_kept_is_bounded(place: Place, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "_LARGEST_KEPT", 100_000)
    raw = Raw(client)
    raw.greet(place.ann)
    text = b"SELECT 1 /*" + b"x" * 9_000 + b"*/"
    for number in range(50):
        raw.send(b"P", b"s%d\0" % number + text + b"\0\0\0")
        raw.send(b"S")
        if raw.until(b"Z") == b"EZ":
            break
    assert 5 < number < 49


def test_a_negative_parameter_begins_no_comment() -> None:
    (statement,) = statements("SELECT count(*) FROM small WHERE age > -$1\nAND sex = $2")
    assert "--" not in statement.bound(["-5", "'F'"]).text


def test_the_catalogue_is_read_and_never_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    # All clients share it: who changes it changes what the others see. What is refused never reaches the engine.
    own = Catalogue(rs.Domain(age=rs.Numeric(0, 4, bins=4)), "small")

    def found(sql: str) -> list[tuple[object, ...]]:
        tree = parsed(sql)
        assert tree is not None
        assert is_catalogue(tree)
        return own.answer(tree, {})[1]

    for sql in (
        "WITH x AS (SELECT 1) DELETE FROM pg_class",
        "WITH x AS (SELECT 1) UPDATE pg_attribute SET attname = 'other'",
        "WITH x AS (SELECT 1) INSERT INTO pg_class (oid, relname) VALUES (1, 'other')",
        "WITH x AS (DELETE FROM pg_class RETURNING oid) SELECT * FROM x",
        "DELETE FROM pg_class",
        "SELECT * FROM duckdb_settings()",
        "SELECT * FROM query('SELECT 42')",
        "SELECT * FROM pg_class, duckdb_functions()",
        "SELECT format('{:>100000000}', 1)",
        "SELECT printf('%100000000d', 1)",
        "SELECT list_resize([1], 100000000)",
        "SELECT sleep_ms(100)",
        "SELECT lpad('x', 100000000)",
        "SELECT replace('xx', 'x', relname) FROM pg_class",
        "SELECT range(100000000)",
        "SELECT getenv('HOME')",
        "SELECT pg_sleep(1), nobody_knows(1)",
        "SELECT pg_catalog.array_fill(1, 100000000)",
        "SELECT * FROM pg_class TABLESAMPLE SYSTEM (50)",
        "COPY pg_class TO '/tmp/x'",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT (WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n)",
    ):
        with monkeypatch.context() as patched:
            patched.setattr(own, "_run", lambda sql: pytest.fail(sql))
            assert found(sql) == [], sql
    assert found("SELECT relname FROM pg_class") == [("small",)]
    assert found("SELECT attname FROM pg_attribute") == [("age",)]
    with pytest.raises(duckdb.Error, match="read-only"):
        own._run("DELETE FROM pg.pg_class")
