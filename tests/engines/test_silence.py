"""Spark in a process of its own: a value that a cast fails on, or a JVM trace, reaches neither of its streams."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.engines.spark import _SETTINGS
from tests.sources.test_secrecy import MARK

CHILD = """
import json, logging, os, sys
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
import ibis
import rowspace as rs
from pyspark.sql import SparkSession
from rowspace.sources import count_cells
settings = json.loads(sys.argv[3])
builder = SparkSession.builder.master("local[1]")
for key, value in settings.items():
    builder = builder.config(key, value)
session = builder.getOrCreate()  # which logs, as a session of somebody else's does
mark = sys.argv[2]
session.createDataFrame([(mark,), ("1",)], "t string").createOrReplaceTempView("kept")
session.sql("CREATE OR REPLACE TEMP VIEW people AS SELECT CAST(t AS DOUBLE) AS x FROM kept")
logging.basicConfig(level=logging.INFO)

def levels():
    logs = session.sparkContext._jvm.org.apache.logging.log4j.LogManager.getContext(False)
    loggers = logs.getConfiguration().getLoggers()
    return {str(name): logger.getLevel().toString() for name, logger in loggers.items()}

before = levels()
domain = rs.Domain(x=rs.Numeric(0, 10, bins=5))
print("BEGIN", file=sys.stderr, flush=True)
try:
    if sys.argv[1] == "ibis":
        count_cells(ibis.pyspark.connect(session).table("people"), domain)
    else:
        count_cells("pyspark://", domain, table=sys.argv[1])
except rs.exceptions.SourceError:
    print("END", file=sys.stderr, flush=True)
print(levels() == before, flush=True)  # it speaks again, as before
os._exit(0)
"""


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("table", ["people", "poeple", "ibis"])
def test_a_child_process_says_nothing(table: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", CHILD, table, MARK, json.dumps(_SETTINGS)],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    said = ended.stderr.split("BEGIN\n")[1]
    assert MARK not in said
    assert said.split("END\n")[0] == ""
    assert ended.stdout.strip() == "True"
