"""Does a ledger keep its word among faults: clients, disks, connections and servers that fail while releases are made?

Clients release under request ids and try again until they have what they asked for or are told that the budget is
spent; there are more of them than it has room for. Meanwhile they are killed, the kernel refuses to write, connections
are cut, and the server is killed, ended or read-only. When all is quiet again:

    as many charges as fit, each of another request, and no more        no double charge, no overspend
    a file for each of them, of the bytes that were charged for         no torn file, no unpaid file, no lost release
    what was said of a failure ("Nothing was charged") was so
"""

from __future__ import annotations

import os
import random
import shutil
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.engines.cutting import Way
from tests.engines.postgres import PostgresServer, postgres_server
from tests.ledger.examples import COUNTS, plan
from tests.ledger.processes import FORK, warm

import rowspace as rs
from audits import Row, end
from audits.nemesis import BadDisk, BadServer, Fault, allow_tracing, kill_one
from rowspace.exceptions import BudgetExceeded, LedgerError, RowspaceError
from rowspace.ledger import Ledger, content_digest

FAULTS = {"SQLite": 600, "PostgreSQL": 500}
SHORT = 6
REQUESTS, ROOM, CLIENTS = 24, 20, 3
"""In each game: requests, of which so many fit, by so many clients at a time."""
FEW_REQUESTS, LITTLE_ROOM = 8, 6
"""In a short one."""
FAULTS_PER_GAME = 40

_DONE, _SPENT, _FAILED = 0, 3, 4
_PATIENCE = 5.0
_PAUSES = {"SQLite": 1.0, "PostgreSQL": 0.2}
"""Seconds between two faults, at most; on SQLite those of disks come beside them."""
_LONGEST = 180.0
"""Seconds that a client may take, however busy the machine is."""
_GRAVE = 0.25
"""The share of faults that concern the server as a whole."""


def run(long: bool, engines: tuple[str, ...] = tuple(FAULTS)) -> list[Row]:
    """A row for each kind of ledger, and one for all faults."""
    games = {"SQLite": _sqlite_games, "PostgreSQL": _postgres_games}
    rows, faults = [], 0
    for engine in engines:
        wanted = FAULTS[engine] if long else SHORT
        found = Found() if long else Found(requests=FEW_REQUESTS, room=LITTLE_ROOM)
        try:
            games[engine](wanted, found)
        except (pytest.skip.Exception, pytest.fail.Exception, FileNotFoundError) as missing:
            rows.append(Row(engine, f"not run: {missing}", "run", ok=False))
            continue
        faults += found.faults.total()
        rows += _rows(engine, found, wanted)
        if long:
            rows.append(_words(engine, found))
    least = sum(FAULTS[engine] for engine in engines) if long else 1
    rows.append(Row("faults in all", f"{faults:,}", f"≥ {least:,}", faults >= least))
    return rows


@dataclass
class Found:
    """What came of some games, each of so many requests of which so many fit."""

    requests: int = REQUESTS
    room: int = ROOM
    games: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    charges: int = 0
    claims: int = 0
    wrong: list[str] = field(default_factory=list)


def _rows(engine: str, found: Found, wanted: int) -> list[Row]:
    kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(found.faults.items()))
    wrong = "; ".join(sorted(set(found.wrong)))
    figure = f"{found.games} games, {found.charges} charges; {wrong or 'all right'}"
    limit = (
        f"{found.room} of {found.requests} requests charged once, each file whole and paid, every word true"
    )
    right = found.charges == found.room * found.games and not wrong
    return [
        Row(f"{engine}: faults", kinds, f"≥ {wanted}", found.faults.total() >= wanted),
        Row(f"{engine}: what is left", figure, limit, right),
    ]


def _words(engine: str, found: Found) -> Row:
    """That there was something to be said, at all: what of it was wrong is in the row above."""
    figure = f"{found.claims} times that something was charged, or nothing"
    return Row(
        f"{engine}: words about failures", figure, "some; all true", found.claims > 0 and not found.wrong
    )


def _sqlite_games(wanted: int, found: Found) -> None:
    """Clients of one file that are killed, and for which the disk is full, fails or may not be written."""
    if shutil.which("strace") is None:
        raise FileNotFoundError("strace is missing: install strace, which lets the kernel fail calls")
    rng = random.Random()
    while found.faults.total() < wanted:
        with TemporaryDirectory() as name:
            disk = BadDisk(rng)
            killed: dict[str, Fault] = {"client killed": lambda running: kill_one(running, rng)}
            game = Game(Path(name), f"{name}/budget.db", f"{name}/budget.db", rng, killed, disk=disk)
            game.play(min(FAULTS_PER_GAME, wanted - found.faults.total()), found)


def _postgres_games(wanted: int, found: Found) -> None:
    """Clients of one server that are killed and cut off, while it is killed, ended, read-only, or cannot write."""
    rng = random.Random()
    with postgres_server(durable=True) as server:
        while found.faults.total() < wanted:
            with TemporaryDirectory() as name:
                database = f"game{found.games}"
                server.run(f"CREATE DATABASE {database}")
                _play_on(server, database, Path(name), rng, wanted - found.faults.total(), found)


def _play_on(
    server: PostgresServer, database: str, folder: Path, rng: random.Random, wanted: int, found: Found
) -> None:
    way = Way(folder, server.socket)
    try:
        url = server.url(database=database)
        bad = BadServer(server, way, database, rng)
        game = Game(folder, url, f"{url.split('?')[0]}?host={folder}", rng, bad.faults, bad.grave)
        game.play(min(FAULTS_PER_GAME, wanted), found)
    finally:
        way.close()


@dataclass
class Game:
    """Clients that release into a folder, and somebody who fails them.

    ledger: where it is. seen: where clients see it, perhaps by a way that is cut. faults, grave: how they, and the
    server, are failed. disk: gives some of them a bad one.
    """

    folder: Path
    ledger: str
    seen: str
    rng: random.Random
    faults: Mapping[str, Fault]
    grave: Mapping[str, Fault] = field(default_factory=dict)
    disk: BadDisk | None = None

    def play(self, most: int, found: Found) -> None:
        """Until every request is answered; there are no more faults after so many."""
        warm()
        Ledger(self.ledger).create("people", rs.PureDP(found.room / 100))
        waiting, running = list(range(1, found.requests + 1)), dict[int, BaseProcess]()
        said = {number: FORK.RawArray("c", 500) for number in waiting}
        began: dict[int, float] = {}
        made: Counter[str] = Counter()
        pace = _Pace(self.rng, _PAUSES["PostgreSQL" if self.disk is None else "SQLite"])
        while waiting or running:
            while waiting and len(running) < CLIENTS:
                number = waiting.pop(0)
                found.claims += self._check_words(number, said[number], found.wrong)
                bad = self.disk is not None and made.total() < most and self.rng.random() < 0.8
                running[number] = self._begin(number, said[number], bad)
                began[number] = time.monotonic()
            for number, process in running.items():
                if process.is_alive() and time.monotonic() > began[number] + _LONGEST:
                    found.wrong.append("a client that waits for ever")
                    process.kill()
            for number in [number for number, process in running.items() if not process.is_alive()]:
                process = running.pop(number)
                process.join()
                if process.exitcode not in (_DONE, _SPENT):
                    waiting.append(number)
            if made.total() < most and pace.is_time():
                of = self.grave if self.grave and self.rng.random() < _GRAVE else self.faults
                kind = self.rng.choice(list(of))
                made[kind] += of[kind](running)
            if self.disk is not None:
                self.disk.count()
                made.update({kind: number - made[kind] for kind, number in self.disk.injected.items()})
            time.sleep(0.002)
        found.games += 1
        found.faults += made
        self._judge(found)

    def _begin(self, number: int, said: Any, bad: bool) -> BaseProcess:
        """A client for one request; where its disk is bad, it waits until that is so."""
        ready, begins = FORK.Pipe(duplex=False)
        given = (self.seen, self.folder, number, said, ready if bad else None)
        child = FORK.Process(target=_client, args=given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which only pass bytes on here
            child.start()
        if bad:
            assert self.disk is not None
            assert child.pid is not None
            self.disk.attach(child.pid)
            begins.send(None)
        return child

    def _check_words(self, number: int, said: Any, wrong: list[str]) -> int:
        """Whether what the last try of a request said of its charge was so; 1 if anything was said."""
        words, said.value = said.value.decode(errors="replace"), b""
        denied, owned = "Nothing was" in words, "it is charged" in words
        if denied or owned:
            kept = _when_it_answers(
                lambda: Ledger(self.ledger, patience=_PATIENCE).request(f"number {number}")
            )
            if (kept is not None) != owned:
                wrong.append(f"said of request {number}: {words}")
        return int(denied or owned)

    def _judge(self, found: Found) -> None:
        """What is in the ledger and in the folder when all is quiet."""
        ledger = Ledger(self.ledger)
        charges = _when_it_answers(ledger.history)
        found.charges += len(charges)
        kept = {
            number: _when_it_answers(partial(ledger.request, f"number {number}"))
            for number in range(1, found.requests + 1)
        }
        paid = {request.charge: number for number, request in kept.items() if request is not None}
        if len(paid) != len(charges) or _when_it_answers(ledger.budget).remaining != 0:
            found.wrong.append(f"{len(charges)} charges for {len(paid)} requests")
        for charge in charges:
            content = _when_it_answers(partial(ledger.resume, charge.id))
            file = self.folder / f"{paid.get(charge.id)}.release"
            if not file.exists() or content_digest(file.read_bytes()) != charge.digest:
                found.wrong.append("a charge without its file")
            rs.Release.from_bytes(content)
        if len(list(self.folder.glob("[0-9]*.release"))) != len(charges):
            found.wrong.append("a file that nobody paid for")


class _Pace:
    """Faults come at random, but not so fast that nothing is ever done."""

    def __init__(self, rng: random.Random, pause: float) -> None:
        self._rng, self._pause, self._next = rng, pause, time.monotonic()

    def is_time(self) -> bool:
        if time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + self._rng.random() * self._pause
        return True


def _client(ledger: str, folder: Path, number: int, said: Any, ready: Any) -> None:
    """One try of one request. What it says goes into memory, which no disk can fail."""
    if ready is not None:
        allow_tracing()
        ready.recv()
    code = _FAILED
    try:
        keeper = Ledger(ledger, patience=_PATIENCE)
        made = rs.release(plan(rs.PureDP(0.01)), COUNTS, ledger=keeper, request=f"number {number}")
        made.save(folder / f"{number}.release")
        code = _DONE
    except BudgetExceeded:
        code = _SPENT
    except RowspaceError as error:
        said.value = str(error).encode()[:499]
    finally:
        os._exit(code)


def _when_it_answers(look: Callable[[], Any]) -> Any:
    """What a look finds, once the server is back."""
    last = time.monotonic() + 60
    while True:
        try:
            return look()
        except LedgerError:
            if time.monotonic() > last:
                raise
            time.sleep(0.1)


if __name__ == "__main__":
    end(run(long=True))
