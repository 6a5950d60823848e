"""Counting marginal tables: 10 million records next to the GROUP BYs they need, and 19,900 tables of 200 attributes.

    python -m benchmarks.counting
    python -m benchmarks.counting --records 100_000_000   # instead: a folder of so many, in Hive partitions
    python -m benchmarks.counting --records 5_000_000 --memory 200MB   # instead: people of 3 records, 2 of which count

Generated records in a temporary folder. Times of the large files are processor seconds, the least of three, with
DuckDB's own threads on both sides. "codes" has integer categories 0 … 9 in all columns; "people" has bins to be
computed and text.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import duckdb
import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.privacy import PrivacyUnit
from rowspace.sources import count_marginals

from .harness import best

RECORDS = 10_000_000
REPEATS = 3
PATIENCE = 60.0
REGIONS = [f"region {i}" for i in range(10)]

CODES = Domain({f"a{i}": Categorical(range(10), outside="drop") for i in range(5)})
PEOPLE = Domain(
    age=Numeric(0, 100, bins=20, outside="drop"),
    income=Numeric(0, 200_000, bins=20, outside="clip"),
    sex=Categorical(["F", "M"], outside="drop"),
    region=Categorical(REGIONS, outside="drop"),
    team=Categorical(range(8), outside="drop"),
)
# What an analyst would write for the bins.
PEOPLE_SQL = {"age": "floor(age / 5)", "income": "floor(least(income, 199999) / 10000)"}


def up_to(attributes: int, order: int) -> list[tuple[int, ...]]:
    return [chosen for k in range(order + 1) for chosen in combinations(range(attributes), k)]


def write_codes(path: Path) -> None:
    random = np.random.default_rng(1)
    pq.write_table(pa.table({name: random.integers(0, 10, RECORDS) for name in CODES.names}), path)


def write_people(path: Path) -> None:
    random = np.random.default_rng(2)

    def labels(values: list[str]) -> pa.Array:
        codes = pa.array(random.integers(0, len(values), RECORDS, dtype=np.int8))
        return pa.DictionaryArray.from_arrays(codes, pa.array(values)).cast("string")

    people = {
        "age": random.integers(0, 100, RECORDS),
        "income": random.gamma(2, 20_000, RECORDS),
        "sex": labels(["F", "M"]),
        "region": labels(REGIONS),
        "team": random.integers(0, 8, RECORDS),
    }
    pq.write_table(pa.table(people), path)


def group_bys(path: Path, names: tuple[str, ...], columns: dict[str, str]) -> None:
    """The ten two-way tables in plain SQL; smaller ones are sums of them."""
    with duckdb.connect() as connection:
        for one, other in combinations([columns.get(name, name) for name in names], 2):
            connection.execute(f"SELECT {one}, {other}, count(*) FROM '{path}' GROUP BY ALL").fetchall()


def large_file(name: str, domain: Domain, write: Callable[[Path], None], columns: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.parquet"
        write(path)
        plain = best(lambda: group_bys(path, domain.names, columns), REPEATS, PATIENCE).cpu
        ours = best(lambda: count_marginals(path, domain, up_to(5, 2)), REPEATS, PATIENCE).cpu
        print(f"{name:<8} {plain:>10.2f} {ours:>10.2f} {ours / plain:>8.2f}x")


def many_attributes(attributes: int, size: int, order: int, records: int) -> None:
    random = np.random.default_rng(3)
    domain = Domain({f"a{i}": Categorical(range(size), outside="drop") for i in range(attributes)})
    rows = pa.table({name: random.integers(0, size, records) for name in domain.names})
    sets = up_to(attributes, order)
    start = time.perf_counter()
    tables = count_marginals(rows, domain, sets)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{attributes:>10} {size:>6} {order:>6} {len(tables):>8,} {seconds:>8.1f} {peak:>9.2f}")


def partitioned_folder(records: int) -> None:
    """A folder of 50 partitions and 5 attributes, one of which is in the names of folders."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "visits"
        with duckdb.connect() as connection:
            columns = ", ".join(f"floor(random() * 10)::BIGINT AS a{i}" for i in range(1, 5))
            source = (
                f"SELECT i % 10 AS a0, i // {records // 5 + 1} AS part, {columns} FROM range({records}) t(i)"
            )
            connection.execute(f"COPY ({source}) TO '{root}' (FORMAT parquet, PARTITION_BY (part, a0))")
        files = f"read_parquet('{root}/**/*.parquet', hive_partitioning = true)"
        pairs = list(combinations(CODES.names, 2))

        def bare() -> None:
            with duckdb.connect() as connection:
                for one, other in pairs:
                    connection.execute(
                        f"SELECT {one}, {other}, count(*) FROM {files} GROUP BY ALL"
                    ).fetchall()

        plain = best(bare, REPEATS, PATIENCE).cpu
        ours = best(lambda: count_marginals(root, CODES, up_to(5, 2)), REPEATS, PATIENCE).cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        size = sum(file.stat().st_size for file in root.rglob("*.parquet")) / 1e9
    print(f"{records:>12,} {size:>8.2f} {plain:>10.2f} {ours:>10.2f} {ours / plain:>8.2f}x {peak:>9.2f}")


def larger_than_memory(records: int, memory: str) -> None:
    """Records of people, each of whom DuckDB must see whole, by a connection that may hold less than they are."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "records.parquet"
        columns = ", ".join(f"floor(random() * 10)::BIGINT AS a{i}" for i in range(5))
        source = f"SELECT {columns}, floor(random() * {records} / 3)::BIGINT AS who FROM range({records})"
        connection = ibis.duckdb.connect(memory_limit=memory, temp_directory=f"{place}/spilled")
        connection.raw_sql(f"COPY ({source}) TO '{path}' (FORMAT parquet)")
        start = time.process_time()
        count_marginals(connection.read_parquet(path), CODES, up_to(5, 2), unit=PrivacyUnit("who", 2))
        seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{records:>12,} {memory:>8} {seconds:>10.2f} {peak:>9.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.counting")
    parser.add_argument("--records", type=int, help="only a folder of Hive partitions with so many records")
    parser.add_argument(
        "--memory", help="what DuckDB may hold, such as 200MB, while it bounds the records of people"
    )
    asked = parser.parse_args()
    if asked.memory is not None:
        print(f"{'records':>12} {'memory':>8} {'seconds':>10} {'peak, GB':>9}")
        larger_than_memory(asked.records or RECORDS, asked.memory)
        return
    if asked.records is not None:
        print(f"{'records':>12} {'GB':>8} {'GROUP BYs':>10} {'ours':>10} {'ratio':>9} {'peak, GB':>9}")
        partitioned_folder(asked.records)
        return
    print("10 million records in Parquet, 5 attributes, all tables up to 2-way: processor seconds")
    print(f"{'file':<8} {'GROUP BYs':>10} {'ours':>10} {'ratio':>9}")
    large_file("codes", CODES, write_codes, {})
    large_file("people", PEOPLE, write_people, PEOPLE_SQL)
    print("\n100,000 records in memory; the peak is that of the process so far")
    print(f"{'attributes':>10} {'values':>6} {'order':>6} {'tables':>8} {'seconds':>8} {'peak, GB':>9}")
    many_attributes(40, 10, 3, 100_000)
    many_attributes(200, 2, 2, 100_000)
    many_attributes(200, 10, 2, 100_000)


if __name__ == "__main__":
    main()
