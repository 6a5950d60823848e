"""The page "From a laptop to a server to a cluster", as it is written; at the addresses of servers of our own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import rowspace as rs
from rowspace.ledger import Ledger
from tests.engines.cluster import Cluster
from tests.engines.postgres import PostgresServer

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "engines.md"

# In a process of its own: a process with a JVM has no Spark Connect.
KEEP = """
import sys
from pyspark.sql import SparkSession
session = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
session.sql("CREATE DATABASE IF NOT EXISTS register")
session.sql(f"CREATE TABLE register.visits USING parquet LOCATION '{sys.argv[2]}'")
"""


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_same_study_in_three_places(
    server: PostgresServer, cluster: Cluster, connect: str, tmp_path: Path
) -> None:
    ages = np.random.default_rng(3).integers(0, 100, 5000)
    where = {"postgresql": server.url(), "spark": connect}  # whose catalogue outlives a driver
    server.run("DROP SCHEMA IF EXISTS register CASCADE", "CREATE SCHEMA register")
    server.fill("visits", {"age": "int"}, [(int(age),) for age in ages])
    server.run("ALTER TABLE visits SET SCHEMA register")
    folder = tmp_path / "kept"
    folder.mkdir()
    pd.DataFrame({"age": ages}).to_parquet(folder / "part-0.parquet")
    environment = os.environ | cluster.environment
    subprocess.run(
        [sys.executable, "-c", KEEP, connect, str(folder)], env=environment, check=True, timeout=600
    )
    steps = 0
    for line in next(block for block in blocks("console") if "VISITS_DATABASE" in block).splitlines():
        command = line.removeprefix("$ ").partition("  #")[0].strip()
        if command.startswith("export "):
            scheme = re.match(r"export VISITS_DATABASE='(\w+)://", command)
            assert scheme is not None
            environment["VISITS_DATABASE"] = where[scheme[1]]
            continue
        at = tmp_path / str(steps)
        at.mkdir()
        (at / "study.toml").write_text(blocks("toml")[0])
        pd.DataFrame({"age": ages}).to_parquet(at / "visits.parquet")
        Ledger(at / "budget.db").create("visits", rs.PureDP(1.0))
        words = [sys.executable, "-m", *command.replace("rowspace", "rowspace.cli", 1).split()]
        ended = subprocess.run(words, cwd=at, env=environment, capture_output=True, text=True, timeout=600)
        assert ended.returncode == 0, ended.stderr
        found = rs.Release.load(at / "visits.release").ask("age < 50").iloc[0]
        assert abs(found["answer"] - np.count_nonzero(ages < 50)) < 8 * found["std_error"]
        steps += 1
    assert steps == 3
