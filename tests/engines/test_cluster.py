"""A standalone cluster of two workers: the counts of pandas, by `spark://`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.engines.cluster import Cluster, spark_cluster

RECORDS = 200_000

COUNT = """
import json, sys
import rowspace as rs
from rowspace.sources import count_marginals
domain = rs.Domain({f"a{i}": rs.Categorical(range(10)) for i in range(6)})
sets = [(i, j) for j in range(6) for i in range(j)]
tables = count_marginals(sys.argv[1], domain, sets, table=sys.argv[2])
print(json.dumps([tables.table(one).tolist() for one in sets]))
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with spark_cluster() as running:
        yield running


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pd.DataFrame]:
    random = np.random.default_rng(5)
    frame = pd.DataFrame({f"a{i}": random.integers(0, 10, RECORDS) for i in range(6)})
    folder = tmp_path_factory.mktemp("cluster") / "visits"
    folder.mkdir()
    for k, part in enumerate(np.array_split(np.arange(RECORDS), 8)):
        frame.iloc[part].to_parquet(folder / f"part-{k}.parquet")
    return folder, frame


def counting(cluster: Cluster, folder: Path) -> subprocess.Popen[str]:
    """A driver in a process of its own, as rowspace is run."""
    command = [sys.executable, "-c", COUNT, cluster.url, f"parquet.{folder}"]
    return subprocess.Popen(
        command,
        env=os.environ | cluster.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def require_pandas_counts(printed: str, frame: pd.DataFrame) -> None:
    found = json.loads(printed)
    pairs = [(i, j) for j in range(6) for i in range(j)]
    for (i, j), table in zip(pairs, found, strict=True):
        assert np.array_equal(table, pd.crosstab(frame[f"a{i}"], frame[f"a{j}"]).to_numpy())


def test_two_workers_count_what_pandas_counts(cluster: Cluster, records: tuple[Path, pd.DataFrame]) -> None:
    driver = counting(cluster, records[0])
    printed, said = driver.communicate(timeout=300)
    assert driver.returncode == 0, said
    require_pandas_counts(printed, records[1])
