"""What fails a ledger's clients, its disk and its server, one fault at a time: each says how many it did just now."""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tests.engines.cutting import Way
from tests.engines.postgres import PostgresServer

Fault = Callable[[Mapping[int, BaseProcess]], int]

_CALLS = {"writes": "write,pwrite64", "flushes": "fsync,fdatasync", "files": "openat,unlink,rename,ftruncate"}
"""What the kernel may refuse."""
_OFTEN = {"writes": 40, "flushes": 7, "files": 16}
"""How often a release asks for it, about."""

#: What it says then, by what had happened to the disk.
ERRORS = {"full disk": "ENOSPC", "failing disk": "EIO", "read-only disk": "EROFS"}

_ANY_TRACER = (0x59616D61, -1)  # PR_SET_PTRACER


def kill_one(running: Mapping[int, BaseProcess], rng: random.Random) -> int:
    """SIGKILL, at whatever it is about."""
    alive = [process for process in running.values() if process.is_alive()]
    if not alive:
        return 0
    rng.choice(alive).kill()
    return 1


class BadDisk:
    """Processes for which the kernel fails calls: one of them, or that one and all that come after it."""

    def __init__(self, rng: random.Random) -> None:
        self._rng, self._traces = rng, []  # type: ignore[var-annotated]
        self.injected = dict.fromkeys(ERRORS, 0)

    def attach(self, pid: int) -> None:
        """Let a process that waits have a bad disk from now on; it must allow that by `allow_tracing`."""
        kind, calls = self._rng.choice(list(ERRORS)), self._rng.choice(list(_CALLS))
        first, on = self._rng.randint(1, _OFTEN[calls]), self._rng.choice(["", "+"])
        record = tempfile.NamedTemporaryFile("r", prefix="rowspace-trace-")  # noqa: SIM115
        how = f"inject={_CALLS[calls]}:error={ERRORS[kind]}:when={first}{on}"
        command = ["strace", "-qq", "-f", "-p", str(pid), "-o", record.name, "-e", f"trace={_CALLS[calls]}"]
        trace = subprocess.Popen([*command, "-e", how], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._traces.append((kind, trace, record))
        while trace.poll() is None and not _is_traced(pid):
            time.sleep(0.001)

    def count(self) -> None:
        """Add up the processes that have ended and had something refused."""
        for entry in list(self._traces):
            kind, trace, record = entry
            if trace.poll() is not None:
                self.injected[kind] += record.read().count("(INJECTED)") > 0
                record.close()
                self._traces.remove(entry)


def allow_tracing() -> None:
    """Let a process that is no ancestor trace this one, where the kernel asks for that."""
    ctypes.CDLL(None).prctl(*_ANY_TRACER, 0, 0, 0)


def _is_traced(pid: int) -> bool:
    try:
        return "TracerPid:\t0\n" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True  # it has ended


class BadServer:
    """A PostgreSQL server that fails in every way that a server does, and a way to it that is cut."""

    def __init__(self, server: PostgresServer, way: Way, database: str, rng: random.Random) -> None:
        self._server, self._way, self._database, self._rng = server, way, database, rng
        self.faults: dict[str, Fault] = {
            "client killed": lambda running: kill_one(running, rng),
            "connections cut": lambda _: way.cut(),
            "sessions ended by the server": lambda _: self._end_sessions(),
        }
        # After each of these it takes the server a second to be well again.
        self.grave: dict[str, Fault] = {
            "server process killed": lambda _: self._kill_session(),
            "server killed": lambda _: self._kill_server(),
            "server's disk": lambda _: self._fail_disk(),
            "server read-only": lambda _: self._close_for_writing(),
        }

    def _ask(self, statement: str) -> list[tuple[Any, ...]]:
        """One statement; nothing where the server is just recovering."""
        import psycopg

        try:
            with self._server.connect() as connection:
                found = connection.execute(statement)
                return found.fetchall() if found.description else []
        except psycopg.Error:
            return []

    def _sessions(self, what: str) -> list[Any]:
        where = f"WHERE datname = '{self._database}'"
        return [row[0] for row in self._ask(f"SELECT {what} FROM pg_stat_activity {where}")]

    def _end_sessions(self) -> int:
        return sum(self._sessions("pg_terminate_backend(pid)"))

    def _kill_session(self) -> int:
        """One process of the server dies, which makes it end all others and recover."""
        found = self._sessions("pid")
        if found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._rng.choice(found), 9)
        return min(len(found), 1)

    def _kill_server(self) -> int:
        self._server.kill()
        time.sleep(self._rng.random() * 0.1)  # nobody is there
        self._server.start()
        return 1

    def _fail_disk(self) -> int:
        """For a moment the kernel refuses what the server writes: it gives up, ends everybody and recovers."""
        calls, error = (
            self._rng.choice(["fdatasync,fsync", "pwrite64,pwritev"]),
            self._rng.choice(["EIO", "ENOSPC"]),
        )
        with tempfile.NamedTemporaryFile("r") as record:
            inject = f"inject={calls}:error={error}:when={self._rng.randint(1, 2)}"
            command = ["strace", "-qq", "-f", "-o", record.name, "-e", f"trace={calls}", "-e", inject]
            found = [word for pid in self._sessions("pid") for word in ("-p", str(pid))]
            trace = subprocess.Popen(
                [*command, "-p", str(self._server.pid), *found],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            last = time.monotonic() + 1.5
            while "(INJECTED)" not in Path(record.name).read_text() and time.monotonic() < last:
                time.sleep(0.01)
            trace.terminate()
            trace.wait()
            return int("(INJECTED)" in Path(record.name).read_text())

    def _close_for_writing(self) -> int:
        setting = f"ALTER DATABASE {self._database} SET default_transaction_read_only = {{}}"
        self._ask(setting.format("on"))
        time.sleep(0.1)
        while not self._is_open():  # it may just be recovering
            self._ask(setting.format("off"))
        return 1

    def _is_open(self) -> bool:
        import psycopg

        try:
            with self._server.connect(self._database) as connection:
                return bool(connection.execute("SHOW default_transaction_read_only").fetchone() == ("off",))
        except psycopg.Error:
            return False
