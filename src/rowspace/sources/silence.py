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
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from rowspace.exceptions import RowspaceError, SourceError

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


_Result = TypeVar("_Result")

#: What a server's SQLSTATE, or the beginning of it or of the name of DuckDB's exception, says about why: a code holds
#: no data.
_REASONS = {
    "42501": "these credentials may not read it",
    "57P": "the server ended the connection",
    "08": "the connection was lost",
    "53": "the server has no disk, memory or connections left",
    "57014": "the server cancelled the query, perhaps after a time limit of its own",
    "OutOfMemory": "the engine had too little memory, or no room on the disk for what does not fit",
}

_PASSING = ("08", "40", "53300", "57P")

#: What says that the process is to end, and nothing about data.
_COMMANDS = (KeyboardInterrupt, SystemExit, GeneratorExit)


def attempt(action: Callable[[], _Result], failure: str) -> _Result:
    """Return what `action` returns; if it fails, raise a SourceError that says `failure` and nothing else.

    Engines quote data in their messages ("Could not convert string '…' to DOUBLE"), so neither their text
    nor the exception itself may survive: not as a message, not as `__cause__`, not as `__context__`.

    Guarantees:
        - No text of the failure is kept, whatever its type:
          `test_secrecy.py::test_attempt_keeps_nothing_of_the_failure`. A server's error code is put in our own
          words: `test_secrecy.py::test_codes_of_servers_become_words`.
        - No warning of another library is shown: `test_secrecy.py::test_attempt_silences_warnings`. Nothing is logged:
          `test_silence.py::test_nothing_is_logged_by_an_engine`; and nothing is written to the process's own streams:
          `test_silence.py::test_a_child_process_says_nothing`,
          `tests/engines/test_silence.py::test_a_child_process_says_nothing`.
    """
    try:
        with silence():
            return action()
    except (RowspaceError, *_COMMANDS):
        raise  # written by us, free of data
    except (
        BaseException
    ) as error:  # any type: every engine, driver and file format has its own, Rust's panics too
        reason, transient = _reason(error), _passes(error)
    # Raised here rather than in the handler, where Python would keep the failure as __context__.
    raise SourceError(f"{failure} ({reason})" if reason else failure, transient=transient)


def end_quietly(action: Callable[[], object]) -> None:
    """End a connection; that it may be lost already is no failure any more, and its text may quote data."""
    with suppress(SourceError):
        attempt(action, "it had ended before")


def _reason(error: BaseException) -> str | None:
    """Why, in words of our own, where a server gave a code."""
    code = getattr(error, "sqlstate", None)
    code = code if isinstance(code, str) else type(error).__name__
    return next((words for known, words in _REASONS.items() if code.startswith(known)), None)


def _passes(error: BaseException) -> bool:
    """Whether it may be otherwise in a while: by the server's code, or because there is no server that gave one."""
    code = getattr(error, "sqlstate", None)
    if isinstance(code, str):
        return code.startswith(_PASSING)
    return type(error).__name__ == "OperationalError" and type(error).__module__.startswith("psycopg")
