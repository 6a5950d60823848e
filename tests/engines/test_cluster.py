"""Spark as it is run: a standalone cluster of two workers, and Spark Connect. Everywhere the counts of pandas."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.engines.cluster import Cluster, spark_cluster

RECORDS = 200_000
PAIRS = [(i, j) for j in range(4) for i in range(j)]

#: Counts tables by an address, or "SELECT …" as a DataFrame, of the session that is begun for what is to be prepared.
COUNT = """
import json, sys
import rowspace as rs
from rowspace.sources import count_marginals
address, tables, *prepared = sys.argv[1:]
domain = rs.Domain({f"a{i}": rs.Categorical(range(10)) for i in range(4)})
sets = [(i, j) for j in range(4) for i in range(j)]
session = None
if prepared:
    from pyspark.sql import SparkSession
    begun = SparkSession.builder
    session = (begun.remote(address) if address.startswith("sc:") else begun.master(address)).getOrCreate()
    for statement in prepared:
        session.sql(statement)
    address = address if address.startswith("sc:") else "pyspark://"
for table in json.loads(tables):
    if table.startswith("SELECT"):
        views = len(session.catalog.listTables())
        counts = count_marginals(session.sql(table), domain, sets)
        assert len(session.catalog.listTables()) == views, "a view was left"
    else:
        counts = count_marginals(address, domain, sets, table=table)
    print(json.dumps([counts.table(one).tolist() for one in sets]))
if session is not None:
    session.sql("SELECT 1").collect()  # it runs on
"""


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pd.DataFrame]:
    random = np.random.default_rng(5)
    frame = pd.DataFrame({f"a{i}": random.integers(0, 10, RECORDS) for i in range(4)})
    folder = tmp_path_factory.mktemp("cluster") / "visits.2024"
    folder.mkdir()
    for k, part in enumerate(np.array_split(np.arange(RECORDS), 8)):
        frame.iloc[part].to_parquet(folder / f"part-{k}.parquet")
    return folder, frame


def counting(cluster: Cluster, address: str, tables: list[str], *prepared: str) -> subprocess.Popen[str]:
    """A driver in a process of its own, as rowspace is run."""
    return subprocess.Popen(
        [sys.executable, "-c", COUNT, address, json.dumps(tables), *prepared],
        env=os.environ | cluster.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def require_pandas_counts(driver: subprocess.Popen[str], frame: pd.DataFrame, tables: int = 1) -> None:
    printed, said = driver.communicate(timeout=900)
    assert driver.returncode == 0, said
    expected = [pd.crosstab(frame[f"a{i}"], frame[f"a{j}"]).to_numpy().tolist() for i, j in PAIRS]
    assert [json.loads(line) for line in printed.splitlines()] == [expected] * tables


def test_two_workers_count_what_pandas_counts(cluster: Cluster, records: tuple[Path, pd.DataFrame]) -> None:
    """By the path of a folder, with a dot in its name."""
    require_pandas_counts(counting(cluster, cluster.url, [f"parquet.{records[0]}"]), records[1])
    assert all("Running task" in cluster.log(worker) for worker in (0, 1))


def test_catalogues_and_frames(cluster: Cluster, records: tuple[Path, pd.DataFrame]) -> None:
    folder, frame = records
    tables = ["register.visits", "spark_catalog.register.visits", "visits", "SELECT * FROM visits"]
    prepared = (
        "CREATE DATABASE register",
        f"CREATE TABLE register.visits USING parquet LOCATION '{folder}'",
        f"CREATE TEMP VIEW visits AS SELECT * FROM parquet.`{folder}`",
    )
    require_pandas_counts(counting(cluster, cluster.url, tables, *prepared), frame, len(tables))


def test_spark_connect(cluster: Cluster, connect: str, records: tuple[Path, pd.DataFrame]) -> None:
    """A driver elsewhere: this process has no JVM, only an address."""
    folder, frame = records
    require_pandas_counts(counting(cluster, connect, [f"parquet.{folder}"]), frame)
    tables = ["spark_catalog.default.kept", "kept", f"SELECT * FROM parquet.`{folder}`"]
    prepared = f"CREATE TABLE kept USING parquet LOCATION '{folder}'"
    require_pandas_counts(counting(cluster, connect, tables, prepared), frame, len(tables))


def test_a_worker_that_is_killed_midway(records: tuple[Path, pd.DataFrame]) -> None:
    """Its tasks are done again by the other: no record is lost or counted twice."""
    with spark_cluster() as cluster:
        driver = counting(cluster, cluster.url, [f"parquet.{records[0]}"])
        end = time.monotonic() + 600
        while "Running task" not in cluster.log(1) and driver.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        assert driver.poll() is None, "it was over before anybody could be killed"
        cluster.kill(1)
        require_pandas_counts(driver, records[1])
