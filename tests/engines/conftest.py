"""Servers and sessions, started when the first test wants them and shared by all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.engines.cluster import Cluster, spark_cluster
from tests.engines.engines import DuckDB, Engine, Postgres, Spark
from tests.engines.postgres import PostgresServer, postgres_server
from tests.engines.spark import spark_session


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    with postgres_server() as running:
        yield running


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    with spark_session() as running:
        yield running


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with spark_cluster() as running:
        yield running


@pytest.fixture(scope="session")
def connect(cluster: Cluster) -> str:
    return cluster.connect_server()


@pytest.fixture(scope="session", params=["duckdb", "postgres", "spark"])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    if request.param == "postgres":
        return Postgres(request.getfixturevalue("server"))
    if request.param == "spark":
        return Spark(request.getfixturevalue("session"))
    return DuckDB(tmp_path_factory.mktemp("duckdb") / "rows.duckdb")
