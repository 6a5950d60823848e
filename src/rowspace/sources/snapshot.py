"""One snapshot: whatever a release counts, it counts in one state of the table, whoever writes to it meanwhile.

PostgreSQL: one transaction, `REPEATABLE READ READ ONLY`, around all queries. SQLite: one transaction, too. DuckDB
counts all tables in one pass, over a file that nobody may write while it is open, a frame, or CSV or Parquet files that
must be the same files before and after: none written, none more, none fewer. Spark has no transaction to ask for: where
it reads files that it can name, these must be the same before and after, too, and all tables are counted from one read:
where one query does not count them, Spark keeps the records for the others. Other engines, and a transaction of the
owner's that sees what others commit, are refused where one query does not do.

Guarantees
- All counts of a release are of one state of a PostgreSQL table, and writers do not keep it from being released
  (tests/engines/test_snapshot.py::test_counts_are_of_one_state).
- So of a SQLite file (tests/sources/test_snapshot.py::test_sqlite_counts_are_of_one_state).
- PostgreSQL compiles and writes nothing while we read
  (tests/engines/test_snapshot.py::test_postgresql_compiles_and_writes_nothing_while_we_read).
- A file that is changed while it is read is refused
  (tests/sources/test_snapshot.py::test_a_file_that_changes_is_refused); so are files of which one is changed, appears
  or vanishes (tests/sources/test_files.py::test_files_that_change_are_refused).
- So are files that Spark reads (tests/engines/test_spark_files.py::test_files_that_change_are_refused).
- All tables of Spark are of the same records, even if every query finds others
  (tests/engines/test_spark_files.py::test_tables_are_of_the_same_records).
- Where several queries could see several states, they are not asked
  (tests/sources/test_snapshot.py::test_several_queries_without_a_snapshot_are_refused,
  tests/engines/test_snapshot.py::test_several_queries_that_see_what_others_commit_are_refused).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from rowspace.exceptions import SourceError
from rowspace.sources.silence import attempt, end_quietly

_BEGIN = {"postgres": "BEGIN ISOLATION LEVEL REPEATABLE READ", "sqlite": "BEGIN"}
_READ_ONLY = {"postgres": " READ ONLY"}

# Our long expressions take PostgreSQL minutes to compile, and to be interrupted. Asked for where there is such a
# setting: servers that only speak PostgreSQL's language may have none.
_NO_JIT = "SELECT set_config(name, 'off', true) FROM pg_settings WHERE name = 'jit'"


@contextmanager
def one_snapshot(backend: Any, *, read_only: bool) -> Iterator[bool]:
    """All queries until the context ends see one state, where the engine has transactions; whether they do.

    A connection that is in a transaction of its owner's is left in it. read_only: let the server see to it that
    nothing is written, not even the temporary table that a join with many categories takes.
    """
    begin = _BEGIN.get(backend.name)
    if begin is None or _is_in_transaction(backend):
        yield begin is not None and _is_isolated(backend)
        return
    begin += _READ_ONLY.get(backend.name, "") if read_only else ""
    connection = backend.con
    attempt(lambda: connection.execute(begin), "the database does not begin a transaction to read in")
    if backend.name == "postgres":
        attempt(lambda: connection.execute(_NO_JIT), "the database does not take a setting of its own")
        # Ibis's own transactions would be savepoints, after whose failure the driver hides the server's reason.
        connection.transaction = lambda *_, **__: nullcontext()
    try:
        yield True
    finally:
        if backend.name == "postgres":
            del connection.transaction
        end_quietly(connection.rollback)  # nothing was written that is to stay


def _is_in_transaction(backend: Any) -> bool:
    if backend.name == "sqlite":
        return bool(backend.con.in_transaction)
    # 0 is psycopg's IDLE. Without autocommit Ibis's own transactions would end ours.
    return not backend.con.autocommit or backend.con.info.transaction_status != 0


def _is_isolated(backend: Any) -> bool:
    """Whether the transaction that a connection is in sees one state, whatever others commit."""
    if backend.name == "sqlite":
        return True
    found = attempt(
        lambda: backend.con.execute("SHOW transaction_isolation").fetchone(), "the database has no answer"
    )
    return found in (("repeatable read",), ("serializable",))


@contextmanager
def read_once(backend: Any, rows: Any) -> Iterator[Any]:
    """The rows of a query, for several queries that must see the same ones, of an engine that sees to no such thing.

    Spark computes them once and keeps them with its executors until the context ends; where an executor is lost, what
    it kept is not computed anew (it could be other rows), and queries fail: read again. Other engines are refused.
    """
    if backend.name != "pyspark":
        raise SourceError(
            "counting all tables takes several queries, and nothing shows that others write nothing between them; "
            "give a copy that is not written to, or for PostgreSQL a connection without a transaction of your own, or "
            "one in REPEATABLE READ"
        )
    view = f"rowspace_{secrets.token_hex(8)}"

    def keep() -> Any:
        frame = backend._session.sql(backend.compile(rows)).localCheckpoint()
        frame.createTempView(view)
        return backend.table(view)

    try:
        yield attempt(
            keep,
            "Spark does not keep the records, as counting all tables takes; ask for fewer tables, or one sum at a time",
        )
    finally:
        end_quietly(lambda: backend._session.catalog.dropTempView(view))


@contextmanager
def unchanged(files: object, look: Callable[[], object], shown: str) -> Iterator[None]:
    """Refuse, at the end, files that are others than at the start, were written to, or are more or fewer.

    What fails meanwhile fails for that reason, if it is so. shown: what errors call them.
    """
    failed = False
    try:
        yield
    except SourceError:
        failed = True
        if _are(files, look):
            raise
    if failed or not _are(files, look):
        # Raised here rather than in the handler, so that nothing of the failure is kept.
        raise SourceError(
            f"{shown} was changed while it was read; write elsewhere and rename, or wait, and try again",
            transient=True,
        )


def _are(files: object, look: Callable[[], object]) -> bool:
    """Whether the files are what they were."""
    try:
        return look() == files
    except SourceError:
        return False
