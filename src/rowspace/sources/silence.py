"""Silence around calls of engines: their loggers quote data, such as the value that a cast failed on.

Python's loggers come and go (Spark 4 makes some of its own in the middle of a failure, with handlers that write to
stderr), so it is not loggers that are silenced but records: while a call is under way, what this thread logs through
any logger, and what any thread logs through an engine's, is given a level below every handler's. Other threads' own
logs are let through.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["silence"]

#: The first parts of the names of engines' loggers, in small letters.
_ENGINES = frozenset(
    {
        "adbc_driver_manager",
        "databricks",
        "dataframequerycontextlogger",
        "duckdb",
        "google",
        "grpc",
        "ibis",
        "polars",
        "psycopg",
        "py4j",
        "pyarrow",
        "pyspark",
        "pysparklogger",
        "snowflake",
        "sqlalchemy",
        "sqlglot",
        "sqlquerycontextlogger",
        "trino",
    }
)

_NOBODY_LISTENS = -1

_lock = threading.Lock()
_calls: list[int] = []
"""The threads of the calls that are under way, one entry for each."""


@contextmanager
def silence() -> Iterator[None]:
    """No warning and no log of an engine, in this thread or another, until the context ends."""
    thread = threading.get_ident()
    with _lock:
        _calls.append(thread)
        _listen_first()
    try:
        with warnings.catch_warnings():
            # Warnings may quote data too. (DuckDB 2 also deprecates a method that Ibis 12 still calls.)
            warnings.simplefilter("ignore")
            yield
    finally:
        with _lock:
            _calls.remove(thread)
            _listen_last()


class _Quieting:
    """A factory of log records that gives those of engines a level which no handler takes."""

    def __init__(self, factory: Callable[..., logging.LogRecord]) -> None:
        self.factory = factory

    def __call__(self, *arguments: Any, **named: Any) -> logging.LogRecord:
        record = self.factory(*arguments, **named)
        if _calls and (threading.get_ident() in _calls or record.name.partition(".")[0].lower() in _ENGINES):
            record.levelno = _NOBODY_LISTENS
        return record


def _listen_first() -> None:
    """Put ourselves before whatever makes records now."""
    current = logging.getLogRecordFactory()
    if not isinstance(current, _Quieting):
        logging.setLogRecordFactory(_Quieting(current))


def _listen_last() -> None:
    """With the last call, leave what was there; a factory that somebody set meanwhile stays."""
    current = logging.getLogRecordFactory()
    if not _calls and isinstance(current, _Quieting):
        logging.setLogRecordFactory(current.factory)
