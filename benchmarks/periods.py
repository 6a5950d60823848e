"""Plans over periods: what publishing period by period costs beside waiting, and beside separate releases.

    python -m benchmarks.periods                  # horizons of 128 and 1,024, twelve months of tables
    python -m benchmarks.periods --large          # and a horizon of 4,096
    python -m benchmarks.periods --long           # and of 100,000 and 1,000,000, with the cost of a step
    python -m benchmarks.periods --runs --kills   # 1,000 runs of 24 instalments; 1,000 kills between instalments

Errors are squared, at noise of unit variance and unit sensitivity (ρ = 0.5).
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time

import numpy as np

import rowspace as rs
from rowspace import operators as op
from rowspace.measure import draw
from rowspace.noise import InsecureSeededRandom, SecureRandom
from rowspace.operators.fading_memory import blocks_before, condensed
from rowspace.strategy.bounds import singular_value_bound

UNIT = rs.ZCDP(0.5)
MONTH = rs.Dates("2024-01-01", "2025-01-01", every="month")


def numbered(n: int) -> rs.Domain:
    """One count for each of n periods."""
    return rs.Domain(t=rs.Numeric(0, n, bins=n, integer=True, outside="drop"))


def horizons(sizes: tuple[int, ...]) -> None:
    """All prefixes: the total, and the largest variance, beside the best of all strategies."""
    for n in sizes:
        for objective in ("total", "max"):
            started = time.process_time()
            workload = rs.workload.prefixes(numbered(n), "t")
            plan = rs.plan(workload, UNIT, over="t", objective=objective)
            figures = plan.total_error, plan.max_error
            seconds = time.process_time() - started
            print(
                f"{n:9,} periods for {objective:5}  total {figures[0]:10.2f}, largest {figures[1]:8.4f}; "
                f"certified {plan.ratio:.5f}, {figures[0] / singular_value_bound(op.Prefix(n)):.4f} of the spectral "
                f"bound  {seconds:6.1f} CPU s"
            )


def laplace() -> None:
    """All prefixes under Laplace noise, beside waiting until the end."""
    for n in (16, 64, 128):
        workload = rs.workload.prefixes(numbered(n), "t")
        streamed, batch = (rs.plan(workload, rs.PureDP(2**0.5), over=over) for over in ("t", None))
        print(
            f"{n:6,} periods, Laplace noise  {streamed.total_error:10.2f}; waiting {batch.total_error:10.2f}"
        )


def a_step(n: int = 10**6, cells: int = 20_000, steps: int = 32) -> None:
    """What the last periods of a long horizon take for each cell: what is remembered, the exact answer, the noise."""
    C, rng, source = op.Fading(n, np.full(n, 2**27)), np.random.default_rng(0), SecureRandom()
    noise, spent = UNIT.noise_of_step(2**60), np.zeros(3)
    memory = rng.integers(0, 1000, (sum(min(2, length) for _, length in blocks_before(n - steps - 1)), cells))
    for t in range(n - steps, n):
        counts, row = rng.integers(0, 100, cells), C.until(t + 1)
        times = [time.process_time()]
        memory = condensed(np.concatenate([memory, counts[None]]), t)
        times.append(time.process_time())
        row.past(memory)
        times.append(time.process_time())
        draw(noise, cells, source)
        times.append(time.process_time())
        spent += np.diff(times) / steps / cells * 1e6
    print(
        f"a step and cell at {n:,} periods: {len(memory)} numbers; to remember {spent[0]:.3f} µs, to answer "
        f"{spent[1]:.3f} µs, noise {spent[2]:.3f} µs"
    )


def twelve_months() -> None:
    """12 months × 8 regions × 100 ages: all tables and age ranges, by month and to date."""
    rest = rs.Domain(region=rs.Categorical(list("abcdefgh")), age=rs.Numeric(0, 100, bins=100))
    domain = rs.Domain([("month", MONTH), *rest.attributes])
    parts = [
        rs.workload.product(domain, {"month": month, **own})
        for month in ("identity", "prefixes")
        for own in ({"region": "identity", "age": "identity"}, {"age": "ranges"})
    ]
    workload = sum(parts[1:], parts[0])
    started = time.process_time()
    plan = rs.plan(workload, UNIT, over="month")
    seconds = time.process_time() - started
    batch = rs.plan(workload, UNIT)
    print(f"12 months of tables: {plan.total_error:,.0f}, certified {plan.ratio:.4f}  {seconds:.1f} CPU s")
    print(f"  planned without periods: {batch.total_error:,.0f}")
    to_date = sum(group.rmse**2 * group.queries for group in plan.group_errors() if "prefixes" in group.group)
    monthly = rs.workload.identity(rest) + rs.workload.ranges(rest, "age")
    for name, privacy in (
        ("twelve releases of ρ/12", rs.ZCDP(0.5 / 12)),
        ("twelve of ρ, a record in one", UNIT),
    ):
        separate = rs.plan(monthly, privacy).total_error * sum(range(1, 13))
        print(f"  year to date, {name}: {separate:,.0f}, {separate / to_date:.2f} times {to_date:,.0f}")


def runs() -> None:
    """Sample variances of 1,000 runs of 24 instalments, over those that were predicted."""
    domain = numbered(24)
    queries = rs.workload.prefixes(domain, "t") + rs.workload.widths(domain, "t", 3)
    plan = rs.plan(queries, UNIT, over="t")
    source, found = InsecureSeededRandom(5), []
    for _ in range(1000):
        before = None
        for t in range(24):
            before = rs.instalment(plan, [10] * 24, period=str(t), before=before, random=source)
        assert before is not None
        found.append(before.answers()["answer"].to_numpy())
    share = np.var(found, axis=0) / plan.query_errors()
    print(
        f"1,000 runs: sample variance over predicted {share.mean():.4f}, {share.min():.3f} to {share.max():.3f}"
    )


def _release_all(folder: str) -> None:
    plan = rs.Plan.load(f"{folder}/a.plan")
    for period in MONTH.labels(0, 12):
        rs.instalment(plan, [100] * 12, period=period, ledger=f"{folder}/b.db")


def kills(number: int) -> None:
    """Processes that release the year are killed at any instant; nothing is lost, doubled or drawn again."""
    fork, rng = multiprocessing.get_context("fork"), random.Random(1)
    domain, done, years = rs.Domain(month=MONTH), 0, 0
    plan = rs.plan(rs.workload.prefixes(domain, "month"), UNIT, over="month")
    with tempfile.TemporaryDirectory() as folder:  # what it imports is imported before the fork
        plan.save(f"{folder}/a.plan")
        rs.Ledger(f"{folder}/b.db").create("people", UNIT)
        started = time.monotonic()
        _release_all(folder)
        whole = time.monotonic() - started
    while done < number:
        with tempfile.TemporaryDirectory() as folder:
            plan.save(f"{folder}/a.plan")
            ledger, years = rs.Ledger(f"{folder}/b.db"), years + 1
            kept: list[bytes] = []
            ledger.create("people", UNIT)
            while len(kept) < 12 and done < number:
                process = fork.Process(target=_release_all, args=(folder,))
                process.start()
                time.sleep(rng.uniform(0.0, whole))
                os.kill(process.pid or 0, signal.SIGKILL)
                process.join()
                done += 1
                now = [ledger.resume(charge.id) for charge in ledger.history()]
                assert now[: len(kept)] == kept
                assert ledger.budget().spent in (0, ledger.budget().limit)
                kept = now
            numbers = [getattr(rs.Release.from_bytes(content), "number", None) for content in kept]
            assert numbers == list(range(len(kept)))
    print(f"{done:,} kills in {years} horizons: nothing lost, doubled or drawn again")


def main() -> None:
    sizes = [128, 1024] + [4096] * ("--large" in sys.argv) + [10**5, 10**6] * ("--long" in sys.argv)
    horizons(tuple(sizes))
    laplace()
    if "--long" in sys.argv:
        a_step()
    twelve_months()
    if "--runs" in sys.argv:
        runs()
    if "--kills" in sys.argv:
        kills(1000)


if __name__ == "__main__":
    main()
