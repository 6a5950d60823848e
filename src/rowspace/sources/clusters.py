"""Spark: a session on a cluster, or the one that this process runs in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ibis
from ibis.common.exceptions import TableNotFound
from sqlglot import expressions as sge

__all__ = ["SPARK_SCHEMES", "connect_spark", "spark_table"]

#: `spark://host:7077` is a standalone master, `sc://host:15002` a Spark Connect server, and `pyspark://` the
#: session of this process: the one there is, or one set up as spark-submit and the environment say.
SPARK_SCHEMES = ("spark", "sc", "pyspark")


def connect_spark(scheme: str, url: str) -> tuple[Any, Callable[[], None]]:
    """A backend on a Spark session, and how to end what was begun: a session of somebody else is left running."""
    from pyspark.sql import SparkSession  # an extra, and it takes a second to import

    running = SparkSession.getActiveSession()
    builder = SparkSession.builder.appName("rowspace").config("spark.ui.showConsoleProgress", "false")
    if scheme == "spark":
        builder = builder.master(url)
    elif scheme == "sc":
        builder = builder.remote(url)
    session = builder.getOrCreate()
    if running is None and scheme != "sc":
        # A failed task would be logged with the values it failed on.
        session.sparkContext.setLogLevel("OFF")
    backend = ibis.pyspark.connect(session)
    return backend, (backend.disconnect if running is None else _leave_running)


def spark_table(backend: Any, table: str, database: str | None = None) -> Any:
    """A table of a session, of any name: by `Backend.table` Ibis passes names to Spark's parser unquoted."""
    from pyspark.errors import AnalysisException

    place = sge.table_(table, db=database, quoted=True)
    try:
        return backend.sql(sge.select("*").from_(place).sql("spark"), dialect="spark")
    except AnalysisException:
        raise TableNotFound(table) from None


def _leave_running() -> None:
    """End nothing."""
