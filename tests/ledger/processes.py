"""Processes that race for a budget, and one that releases until it is killed. Shared with the long audit."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import rowspace as rs
from rowspace.exceptions import BudgetExceeded
from rowspace.ledger import Ledger, content_digest
from tests.ledger.examples import COUNTS, plan

FORK = get_context("fork")


def warm() -> None:
    """Plan and import everything once, here, so that processes that part from this one start at once."""
    for epsilon in (0.1, 0.01):
        rs.release(plan(rs.PureDP(epsilon)), COUNTS)


def race(path: Path | str, contenders: int) -> int:
    """How many of so many processes, started together, get a release of ε = 0.1."""
    warm()
    barrier, results = FORK.Barrier(contenders), FORK.SimpleQueue()
    racers = [FORK.Process(target=_contend, args=(path, barrier, results)) for _ in range(contenders)]
    for racer in racers:
        racer.start()
    won = sum(results.get() for _ in racers)
    for racer in racers:
        racer.join()
    return won


def _contend(path: Path | str, barrier: Any, results: Any) -> None:
    barrier.wait()
    try:
        rs.release(plan(rs.PureDP(0.1)), COUNTS, ledger=path)
        results.put(1)
    except BudgetExceeded:
        results.put(0)
    except BaseException:
        results.put(-1000)  # or the race would wait for it
        raise


def kill_at_random(folder: Path, kills: int, rng: random.Random, location: str | None = None) -> None:
    """Kill a releasing process so many times, each at a random instant of its first releases.

    Its files go to the folder. location: of the ledger, unless it is budget.db in the folder. The instants are counted
    from the first release on and spread over what three take just now: on a busy machine, where all is slower, kills
    at fixed times would fall before anything is charged and show nothing.
    """
    ledger = location or folder / "budget.db"
    warm()
    within = 0.0
    for kill in range(kills):
        if kill % _KILLS_PER_MEASUREMENT == 0:
            within = _seconds_of_releases(folder, kills + kill, ledger, 3)
        child = _begun(folder, kill, ledger, 1000)
        time.sleep(rng.random() * within)
        child.kill()
        child.join()
        child.close()


_KILLS_PER_MEASUREMENT = 20


def _seconds_of_releases(folder: Path, name: int, ledger: Path | str, releases: int) -> float:
    """How long a process takes for so many releases; nobody kills it."""
    child = _begun(folder, name, ledger, releases)
    start = time.perf_counter()
    child.join()
    return time.perf_counter() - start


def _begun(folder: Path, name: int, ledger: Path | str, releases: int) -> Any:
    """A process that is about to make its first release."""
    begun, begins = FORK.Pipe(duplex=False)
    child = FORK.Process(target=_release_on_and_on, args=(folder, name, ledger, releases, begins))
    child.start()
    begun.recv()
    return child


def _release_on_and_on(folder: Path, name: int, ledger: Path | str, releases: int, begins: Any) -> None:
    begins.send(None)
    for number in range(releases):
        made = rs.release(plan(rs.PureDP(0.01)), COUNTS, ledger=ledger)
        made.save(folder / f"{name}-{number}.release")


def check_after_kills(folder: Path, location: str | None = None) -> tuple[int, int]:
    """(charges, visible files), once every file is found whole and paid for and every charge resumes."""
    ledger = Ledger(location or folder / "budget.db")
    charges = ledger.history()
    digests = [charge.digest for charge in charges]
    assert len(set(digests)) == len(digests), "one release was charged twice"
    for charge in charges:
        assert content_digest(ledger.resume(charge.id)) == charge.digest
    files = list(folder.glob("[0-9]*.release"))
    for file in files:
        content = file.read_bytes()
        assert content_digest(content) in digests, "a visible file without its charge, or a torn one"
        rs.Release.load(file)
    return len(charges), len(files)


def retry_until_done(folder: Path, requests: int, rng: random.Random, location: str | None = None) -> int:
    """Have so many releases, each under an id of its own by a process that is killed and tried again until it ends.

    Their files are 1.release, 2.release and so on. Returns the number of kills.
    """
    ledger = location or folder / "budget.db"
    warm()
    kills, within = 0, 0.0
    for number in range(1, requests + 1):
        while not (folder / f"{number}.release").exists():
            child = FORK.Process(target=_release_under, args=(ledger, number, folder))
            child.start()
            start = time.perf_counter()
            # The first is let through, to see how long it takes.
            child.join(rng.random() * within if number > 1 else None)
            if child.is_alive():
                child.kill()
                kills += 1
                within *= 1.05  # or none might ever end
            else:
                within = 1.2 * (
                    time.perf_counter() - start
                )  # as long as it takes now: the machine may be busy
            child.join()
    return kills


def _release_under(ledger: Path | str, number: int, folder: Path) -> None:
    made = rs.release(plan(rs.PureDP(0.01)), COUNTS, ledger=ledger, request=f"number {number}")
    made.save(folder / f"{number}.release")


_RELEASE = """
import sys
import rowspace as rs
from rowspace.exceptions import RowspaceError
from tests.ledger.examples import COUNTS, plan
try:
    rs.release(plan(rs.PureDP(0.01)), COUNTS, ledger=sys.argv[1], request=sys.argv[2])
    print("released")
except RowspaceError as error:
    print("transient:" if error.transient else "final:", error)
"""


def fail_a_flush(folder: Path, flush: int) -> str:
    """What a process says that releases under the id "flush N", while the kernel fails its N-th flush."""
    inject = f"inject=fsync,fdatasync:error=EIO:when={flush}"
    trace = [
        "strace",
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "trace=fsync,fdatasync",
        "-e",
        inject,
    ]
    script = [sys.executable, "-c", _RELEASE, str(folder / "budget.db"), f"flush {flush}"]
    ended = subprocess.run([*trace, *script], capture_output=True, text=True, check=False, timeout=120)
    if not ended.stdout:
        pytest.skip("strace may not trace here")
    return ended.stdout
