"""The ledger as it grows: milliseconds of a charge after thousands of others, and 32 clients at once.

    python -m benchmarks.ledger

A SQLite file in a temporary folder. A charge is two flushes to disk and some processor time, which is shown by itself;
charges before the measured ones are written as rows with their sum, as charging one by one would leave them.
"""

from __future__ import annotations

import json
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import rowspace as rs
from rowspace.ledger import Ledger, schema
from rowspace.ledger.composition import total
from rowspace.ledger.costs import Cost
from rowspace.privacy import Privacy

MEASURED = 20
CLIENTS = 32
WORKLOAD = rs.workload.identity(rs.Domain(age=rs.Numeric(0, 4, bins=4)))

Amount = Callable[[int], Privacy]


def distinct_epsilon(number: int) -> Privacy:
    return rs.PureDP(1 / (1_000_003 + 7 * number))


def distinct_pairs(number: int) -> Privacy:
    return rs.ApproxDP(1e-3 / (1 + number * 1e-4), 1e-9)


def fill(ledger: Ledger, amount: Amount, charges: int) -> None:
    """Charges of distinct amounts, all at once."""
    with ledger._database.writing() as connection:
        filter_, spent, rows = ledger._tables.filter(connection, "people"), Cost(), []
        for number in range(charges):
            cost = filter_.cost_of(amount(number))
            spent = total([(spent, 1), (cost, 1)])
            row = {
                "dataset": "people",
                "plan": "",
                "time": "2024-01-01T00:00:00+00:00",
                "who": "",
                "digest": "",
            }
            row |= {
                "privacy": json.dumps(amount(number).to_dict(), sort_keys=True),
                "source": f"{number:064}",
            }
            rows.append({**row, "content": bytes(20_000), **{k: str(v) for k, v in vars(cost).items()}})
        connection.execute(schema.charges.insert(), rows)
        ledger._tables.keep_spent(connection, "people", spent, charges)


def growth(name: str, budget: Privacy, amount: Amount, charges: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "budget.db")
        ledger.create("people", budget)
        fill(ledger, amount, charges)
        plans = [rs.plan(WORKLOAD, amount(charges + number)) for number in range(MEASURED + 1)]
        ledger.charge(plans.pop(), bytes(20_000), source="first")
        start, busy = time.perf_counter(), time.process_time()
        for number, plan in enumerate(plans):
            ledger.charge(plan, bytes(20_000), source=f"{10**9 + number:064}")
        seconds, processor = time.perf_counter() - start, time.process_time() - busy
    print(f"{name:<24} {charges:>8,} {1000 * seconds / MEASURED:>10.1f} {1000 * processor / MEASURED:>14.1f}")


def client(file: str, plan: rs.Plan, until: float, waits: multiprocessing.Queue[list[float]]) -> None:
    """Charge as often as it may."""
    ledger, own = Ledger(file, patience=120), []
    while time.time() < until:
        start = time.perf_counter()
        ledger.charge(plan, bytes(20_000))
        own.append(time.perf_counter() - start)
    waits.put(own)


def many_clients(seconds: float) -> None:
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "budget.db")
        Ledger(file).create("people", rs.PureDP(1e6))
        plan, waits = rs.plan(WORKLOAD, rs.PureDP(1e-3)), context.Queue()
        until = time.time() + seconds
        running = [context.Process(target=client, args=(file, plan, until, waits)) for _ in range(CLIENTS)]
        for process in running:
            process.start()
        found = [waits.get() for _ in running]
        for process in running:
            process.join()
    times = sorted(wait for own in found for wait in own)
    numbers = sorted(map(len, found))
    print(
        f"{len(times)} charges: {numbers[0]} to {numbers[-1]} by each client, median {statistics.median(numbers):g}"
    )
    print(f"seconds of a charge: median {statistics.median(times):.2f}, the slowest {times[-1]:.2f}")


def main() -> None:
    print(f"{'budget':<24} {'charges':>8} {'ms each':>10} {'processor, ms':>14}")
    for charges in (10, 1_000, 10_000):
        growth("ε, distinct", rs.PureDP(1e3), distinct_epsilon, charges)
    for charges in (10, 1_000):
        growth("(ε, δ), distinct", rs.ApproxDP(5.0, 1e-6), distinct_pairs, charges)
    print(f"\n{CLIENTS} processes, each charging as often as it can for 20 seconds")
    many_clients(20.0)


if __name__ == "__main__":
    main()
