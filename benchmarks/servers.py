"""Counting on PostgreSQL and Spark next to the bare GROUP BYs: processor seconds of server and client, and their ratio.

    python -m benchmarks.servers                       # both, 10 million and 20 million records
    python -m benchmarks.servers postgres --records 1_000_000

Needs what `make test-engines` needs. Processor seconds, so that neighbours of the machine count for nothing: those of
the server's processes, and of a client of its own, whose largest memory is shown, too.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.engines.postgres import PostgresServer, postgres_server
from tests.engines.spark import spark_session

from rowspace.domain import Categorical, Domain
from rowspace.sources import count_marginals

RECORDS = {"postgres": 10_000_000, "spark": 20_000_000}
SIZE = 10
_TICKS = os.sysconf("SC_CLK_TCK")

Sets = Sequence[tuple[int, ...]]


def domain(attributes: int) -> Domain:
    return Domain({f"a{i}": Categorical(range(SIZE), outside="drop") for i in range(attributes)})


def pairs(attributes: int) -> list[tuple[int, ...]]:
    return list(combinations(range(attributes), 2))


def columns(attributes: int, number: str) -> str:
    """Random categories, in SQL."""
    return ", ".join(f"CAST(floor({number} * {SIZE}) AS bigint) AS a{i}" for i in range(attributes))


def group_bys(sets: Sets, table: str) -> Iterator[str]:
    for chosen in sets:
        names = ", ".join(f"a{i}" for i in chosen)
        yield f"SELECT {names}, count(*) FROM {table} GROUP BY {names}"


def processor_seconds(pid: int) -> float:
    """Of a process and of those that it started and that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


def _in_a_client(work: Callable[..., object], given: tuple[Any, ...], told: Any) -> None:
    work(*given)
    used = resource.getrusage(resource.RUSAGE_SELF)
    told.put((used.ru_utime + used.ru_stime, used.ru_maxrss / 1024))


def client(work: Callable[..., object], *given: Any) -> tuple[float, float]:
    """Processor seconds and megabytes of a process that does nothing but this."""
    context = multiprocessing.get_context("spawn")
    told = context.Queue()
    process = context.Process(target=_in_a_client, args=(work, given, told))
    process.start()
    found: tuple[float, float] = told.get()
    process.join()
    return found


def nothing(url: str, attributes: int, sets: Sets) -> None:
    """What starting a client and making a connection cost."""
    import psycopg

    psycopg.connect(url).close()


def ask(url: str, attributes: int, sets: Sets) -> None:
    import psycopg

    with psycopg.connect(url) as connection:
        for query in group_bys(sets, f"t{attributes}"):
            connection.execute(query).fetchall()


def count(url: str, attributes: int, sets: Sets) -> None:
    count_marginals(url, domain(attributes), sets, table=f"t{attributes}")


def on_server(server: PostgresServer, work: Callable[..., object], *given: Any) -> tuple[float, float]:
    """Processor seconds of server and client together, beyond those of starting them; megabytes of the client."""
    start = processor_seconds(server.pid)
    used, megabytes = client(work, server.url(), *given)
    time.sleep(0.5)  # until the server has buried the process of the connection
    floor, _ = client(nothing, server.url(), *given)
    return processor_seconds(server.pid) - start + used - floor, megabytes


def postgres(records: int) -> None:
    print(f"{'PostgreSQL':<42} {'GROUP BYs':>10} {'ours':>8} {'ratio':>6} {'client, MB':>11}")
    with postgres_server() as server:
        for attributes, rows, sets in (
            (5, records, pairs(5)),
            (100, records // 100, [*((i,) for i in range(100)), *pairwise(range(100))]),
            (200, records // 100, [*((i,) for i in range(200)), *pairwise(range(200))]),
        ):
            source = f"SELECT {columns(attributes, 'random()')} FROM generate_series(1, {rows})"
            server.run(f"CREATE TABLE t{attributes} AS {source}", f"VACUUM ANALYZE t{attributes}")
            plain, _ = on_server(server, ask, attributes, sets)
            ours, megabytes = on_server(server, count, attributes, sets)
            what = f"{rows:,} records, {len(sets)} tables of {attributes} attributes"
            print(
                f"{what:<42} {plain:>10.1f} {ours:>8.1f} {ours / plain:>6.2f} {megabytes:>11.0f}", flush=True
            )


def spark(records: int) -> None:
    print(f"{'Spark':<42} {'GROUP BYs':>10} {'ours':>8} {'ratio':>6} {'jobs':>5}")
    with spark_session() as session, TemporaryDirectory() as folder:
        for attributes, rows in ((5, records), (15, records // 10)):
            on_spark(session, f"{folder}/{attributes}", attributes, rows)


def on_spark(session: Any, path: str, attributes: int, rows: int) -> None:
    sets, context = pairs(attributes), session.sparkContext
    queries = list(group_bys(sets, f"parquet.`{path}`"))
    made = (f"CAST(floor(rand({i}) * {SIZE}) AS bigint) AS a{i}" for i in range(attributes))
    session.range(rows).selectExpr(*made).write.parquet(path)
    session.sql(queries[0]).collect()  # so that its classes are loaded

    def used(work: Callable[[], object]) -> tuple[float, int]:
        """Processor seconds of the virtual machine and of ours, and how many jobs."""
        machine = int(context._jvm.java.lang.ProcessHandle.current().pid())
        jobs = len(context.statusTracker().getJobIdsForGroup())
        start = processor_seconds(machine) + time.process_time()
        work()
        seconds = processor_seconds(machine) + time.process_time() - start
        return seconds, len(context.statusTracker().getJobIdsForGroup()) - jobs

    plain, _ = used(lambda: [session.sql(query).collect() for query in queries])
    own = domain(attributes)
    ours, jobs = used(lambda: count_marginals("pyspark://", own, sets, table=f"parquet.{path}"))
    what = f"{rows:,} records, {len(sets)} tables of {attributes} attributes"
    print(f"{what:<42} {plain:>10.1f} {ours:>8.1f} {ours / plain:>6.2f} {jobs:>5}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.servers")
    parser.add_argument("engines", nargs="*", choices=[*RECORDS, []], help="both unless one is named")
    parser.add_argument("--records", type=int)
    asked = parser.parse_args()
    for name in asked.engines or RECORDS:
        {"postgres": postgres, "spark": spark}[name](asked.records or RECORDS[name])


if __name__ == "__main__":
    main()
