"""The ledger's long checks: kills, retries, failing flushes, races, an adversary, and the time a charge takes."""

from __future__ import annotations

import random
import shutil
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from tests.ledger.adversary import BUDGETS, best_of
from tests.ledger.examples import COUNTS, new_ledger, plan
from tests.ledger.processes import (
    check_after_kills,
    fail_a_flush,
    kill_at_random,
    race,
    retry_until_done,
    warm,
)

import rowspace as rs
from audits import Row, end
from rowspace.ledger import Ledger
from rowspace.ledger.composition import Filter

KILLS = 1000
ROUNDS, CONTENDERS = 100, 50
MOST_OVERHEAD = 0.020


def run(long: bool) -> list[Row]:
    """The figures that the ledger promises; when short, the same checks with fewer kills and races."""
    kills, rounds, contenders = (KILLS, ROUNDS, CONTENDERS) if long else (40, 2, 20)
    return [
        _kills(kills),
        _retries(kills // 4),
        *([_flushes()] if shutil.which("strace") else []),
        _races(rounds, contenders),
        *_adversary(2000 if long else 40),
        _overhead(),
    ]


def main() -> list[Row]:
    """The long version."""
    return run(long=True)


def _kills(kills: int) -> Row:
    """No lost charge, no double charge, no torn file."""
    with TemporaryDirectory() as name:
        new_ledger(Path(name), rs.PureDP(10_000.0))
        kill_at_random(Path(name), kills, random.Random())
        charges, files = check_after_kills(Path(name))
    whole = charges - kills <= files <= charges
    figure = f"{kills} kills, {charges} charges, {files} files"
    # Kills that come before anything is charged show nothing, however many there are.
    least = kills // 4
    limit = f"every file whole and paid for; at least {least} charges"
    return Row("killed at random", figure, limit, whole and charges >= least)


def _retries(requests: int) -> Row:
    """Killed and tried again under the same id until it ends: each paid once, each file what was paid for."""
    with TemporaryDirectory() as name:
        ledger = new_ledger(Path(name), rs.PureDP(10_000.0))
        kills = retry_until_done(Path(name), requests, random.Random())
        charges, files = check_after_kills(Path(name))
        paid = ledger.budget().charges
    figure = f"{kills} kills, {requests} requests, {paid} charges, {files} files"
    limit = "as many charges and files as requests"
    return Row("killed and tried again under an id", figure, limit, paid == charges == files == requests)


def _flushes() -> Row:
    """The kernel fails a flush, each of the five: what is said of the charge is so, and a retry pays once."""
    right, words = 0, {"Nothing was charged": 0, "it is charged": 1, "released\n": 1}
    for flush in range(1, 6):
        with TemporaryDirectory() as name:
            ledger = new_ledger(Path(name), rs.PureDP(1.0))
            said = fail_a_flush(Path(name), flush)
            so = next((number for text, number in words.items() if text in said), None)
            charges = ledger.budget().charges
            rs.release(plan(rs.PureDP(0.01)), COUNTS, ledger=ledger, request=f"flush {flush}")
            right += so == charges and ledger.budget().charges == 1
    return Row(
        "flushes that fail", f"{right} of 5 told as they are, retried, paid once", "5 of 5", right == 5
    )


def _races(rounds: int, contenders: int) -> Row:
    """Exactly as many win as fit."""
    rng = random.Random()
    right = 0
    for _ in range(rounds):
        room = rng.randrange(1, contenders)
        with TemporaryDirectory() as name:
            path = Path(name) / "budget.db"
            Ledger(path).create("people", rs.PureDP(room / 10))
            right += race(path, contenders) == room == Ledger(path).budget().charges
    figure = f"{right} of {rounds} rounds of {contenders} processes"
    return Row("race for the last units", figure, "as many win as fit", right == rounds)


def _adversary(games: int) -> list[Row]:
    """Whoever chooses every amount by the answers so far gets no more than promised, unless a charge is forgotten."""
    rows = []
    for name, (composition, budgets) in BUDGETS.items():
        filters = [Filter.of(budget, composition) for budget in budgets]
        number = f"{len(filters) * games} games"
        worst = max(best_of(filter_, games, np.random.default_rng()) for filter_ in filters)
        title = f"amounts chosen by answers, {name}"
        rows.append(Row(title, f"{worst:.6f} of what is promised, {number}", "≤ 1", worst <= 1 + 1e-9))
        few = max(40, games // 10)  # he is that much better off
        won = min(best_of(filter_, few, np.random.default_rng(), forgets=True) for filter_ in filters)
        title = f"planted: answers that suit him are not charged, {name}"
        rows.append(Row(title, f"{won:.3f} of what is promised", "caught: > 1", won > 1 + 1e-9))
    return rows


def _overhead() -> Row:
    """Median processor time that a ledger adds to a release, beside two flushes to disk."""
    warm()
    with TemporaryDirectory() as name:
        ledger = new_ledger(Path(name), rs.PureDP(1000.0))
        charged = statistics.median(_seconds(ledger) for _ in range(50))
    added = charged - statistics.median(_seconds(None) for _ in range(50))
    return Row(
        "processor time added to a release", f"{1000 * added:.1f} ms", "< 20 ms", added < MOST_OVERHEAD
    )


def _seconds(ledger: Ledger | None) -> float:
    start = time.process_time()
    rs.release(plan(rs.PureDP(0.01)), COUNTS, ledger=ledger)
    return time.process_time() - start


if __name__ == "__main__":
    end(main())
