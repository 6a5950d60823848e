"""A Spark session of our own, on this machine."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from tests.engines.availability import unavailable

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    # Two cores and small tables: the default of 200 tasks for every GROUP BY would only take time.
    "spark.sql.shuffle.partitions": "2",
    # Names of any kind; and NTZ and ANSI as a cluster would have them by default.
    "spark.sql.caseSensitive": "false",
}


@contextmanager
def spark_session() -> Iterator[Any]:
    """Start a local session with an in-memory catalogue, and stop it. Skips where there is no Spark or Java."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        unavailable("spark", "no Java: install a Java runtime, 17 or newer (Debian: openjdk-17-jre-headless)")
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        unavailable("spark", "no pyspark: pip install 'rowspace[spark]'")
    folder = tempfile.mkdtemp(prefix="spark-")
    # SPARK_LOCAL_IP spares a warning about the name of the machine.
    with warnings.catch_warnings(), mock.patch.dict(os.environ, {"SPARK_LOCAL_IP": "127.0.0.1"}):
        warnings.simplefilter("ignore")  # pyspark warns of its own imports
        builder = SparkSession.builder.master("local[2]").appName("rowspace tests")
        for key, value in (_SETTINGS | {"spark.sql.warehouse.dir": folder}).items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()
        shutil.rmtree(folder, ignore_errors=True)
