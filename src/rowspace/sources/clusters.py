"""Spark: a session on a cluster, or the one that this process runs in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ibis
from ibis.common.exceptions import TableNotFound
from sqlglot import expressions as sge

from rowspace.sources.secrecy import end_quietly
from rowspace.sources.silence import silence

__all__ = ["SPARK_SCHEMES", "connect_spark", "quiet_spark", "spark_table"]

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
    # Asking for the session that there is would only have it warn.
    session = running if running is not None and scheme == "pyspark" else builder.getOrCreate()
    backend = ibis.pyspark.connect(session)
    speak_again = quiet_spark(backend)
    return backend, (backend.disconnect if running is None else speak_again)


def quiet_spark(backend: Any) -> Callable[[], None]:
    """Let the session log nothing, since a failed task is logged with the values it failed on; and how to undo that.

    A session of Spark Connect has its logs on the server, and nothing to turn off here.
    """
    with silence():
        try:
            context = backend._session.sparkContext
        except Exception:  # whatever pyspark raises where there is no JVM of its own
            return _nothing_to_undo
        try:
            return _turn_off(context._jvm.org.apache.logging.log4j)
        except Exception:  # a JVM whose logs go another way than Spark's own
            context.setLogLevel("OFF")
            return _nothing_to_undo


def _turn_off(log4j: Any) -> Callable[[], None]:
    """Turn every logger of a JVM off; and how to give each its level back, which `setLogLevel` could not."""
    logs = log4j.LogManager.getContext(False)
    levels = [(logger, logger.getLevel()) for logger in logs.getConfiguration().getLoggers().values()]

    def turn(levels: list[tuple[Any, Any]]) -> None:
        for logger, level in levels:
            logger.setLevel(level)
        logs.updateLoggers()

    turn([(logger, log4j.Level.OFF) for logger, _ in levels])
    return lambda: end_quietly(lambda: turn(levels))


def spark_table(backend: Any, table: str, database: str | None = None) -> Any:
    """A table of a session, of any name: by `Backend.table` Ibis passes names to Spark's parser unquoted."""
    from pyspark.errors import AnalysisException

    place = sge.table_(table, db=database, quoted=True)
    try:
        return backend.sql(sge.select("*").from_(place).sql("spark"), dialect="spark")
    except AnalysisException:
        raise TableNotFound(table) from None


def _nothing_to_undo() -> None:
    """A session that logs elsewhere."""
