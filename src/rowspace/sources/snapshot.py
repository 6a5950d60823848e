"""One snapshot: whatever a release counts, it counts in one state of the table, whoever writes to it meanwhile.

PostgreSQL: one transaction, `REPEATABLE READ READ ONLY`, around all queries. SQLite: one transaction, too. DuckDB
counts all tables in one pass, over a file that nobody may write while it is open, a frame, or a CSV or Parquet file
that must be the same file before and after. Spark and other engines have no transaction to ask for: there every table
must add up to the same number of records, or nothing is released; a table format with versions (Delta, Iceberg) read at
one version is one snapshot.

Guarantees
- All counts of a release are of one state of a PostgreSQL table, and writers do not keep it from being released
  (tests/engines/test_snapshot.py::test_counts_are_of_one_state).
- So of a SQLite file (tests/sources/test_snapshot.py::test_sqlite_counts_are_of_one_state).
- A file that is changed while it is read is refused
  (tests/sources/test_snapshot.py::test_a_file_that_changes_is_refused).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from rowspace.exceptions import SourceError
from rowspace.formats import CSV, DATABASE_ENDINGS
from rowspace.sources.silence import attempt, end_quietly

_BEGIN = {"postgres": "BEGIN ISOLATION LEVEL REPEATABLE READ", "sqlite": "BEGIN"}
_READ_ONLY = {"postgres": " READ ONLY"}


@contextmanager
def one_snapshot(backend: Any, *, read_only: bool) -> Iterator[None]:
    """All queries until the context ends see one state, where the engine has transactions.

    A connection that is in a transaction of its owner's is left in it. read_only: let the server see to it that
    nothing is written, not even the temporary table that a join with many categories takes.
    """
    begin = _BEGIN.get(backend.name)
    if begin is None or _is_in_transaction(backend):
        yield
        return
    begin += _READ_ONLY.get(backend.name, "") if read_only else ""
    connection = backend.con
    attempt(lambda: connection.execute(begin), "the database does not begin a transaction to read in")
    if backend.name == "postgres":
        # Ibis's own transactions would be savepoints, after whose failure the driver hides the server's reason.
        connection.transaction = lambda *_, **__: nullcontext()
    try:
        yield
    finally:
        if backend.name == "postgres":
            del connection.transaction
        end_quietly(connection.rollback)  # nothing was written that is to stay


def _is_in_transaction(backend: Any) -> bool:
    if backend.name == "sqlite":
        return bool(backend.con.in_transaction)
    # 0 is psycopg's IDLE. Without autocommit Ibis's own transactions would end ours.
    return not backend.con.autocommit or backend.con.info.transaction_status != 0


@contextmanager
def unchanged(source: object) -> Iterator[None]:
    """Refuse, at the end, a file that is another one than at the start or was written to."""
    before = _state(source)
    yield
    if before is not None and _state(source) != before:
        raise SourceError(
            "the file was changed while it was read; write it elsewhere and rename it, or wait, and try again",
            transient=True,
        )


def _state(source: object) -> tuple[int, ...] | None:
    """Which file a path leads to and when it was last written; None for what is no plain file."""
    if not isinstance(source, str | Path | CSV):
        return None
    path = Path(source.path if isinstance(source, CSV) else source)
    if path.suffix.lower() in DATABASE_ENDINGS:
        return None
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
