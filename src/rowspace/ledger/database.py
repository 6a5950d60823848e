"""Where a ledger lives: durable transactions on a SQLite file or on PostgreSQL, and every failure in plain words."""

from __future__ import annotations

import hashlib
import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from rowspace.exceptions import InvalidInput, LedgerError
from rowspace.files import require_regular
from rowspace.formats import SERVER_WAITS

#: SQLite's result codes, by how their names begin, in plain words.
_SQLITE_REASONS = {
    "SQLITE_BUSY": "it is locked by another process; wait until that ends and try again",
    "SQLITE_LOCKED": "it is locked by another process; wait until that ends and try again",
    "SQLITE_READONLY": "it may not be written; check the permissions of the file and its folder",
    "SQLITE_PERM": "it may not be written; check the permissions of the file and its folder",
    "SQLITE_CANTOPEN": "it cannot be opened; check the path and the permissions of the file and its folder",
    "SQLITE_FULL": "the disk is full; make room and try again",
    "SQLITE_IOERR": "the disk is full or failing; make room, check the disk and try again",
    "SQLITE_CORRUPT": "the file is damaged; restore it from a backup",
    "SQLITE_NOTADB": "it is no ledger, or the file is damaged; restore it from a backup",
    "SQLITE_TOOBIG": "the release is too large to be kept with its charge; release a smaller part",
}

#: PostgreSQL's, by SQLSTATE.
_POSTGRES_REASONS = {
    "55P03": "it is locked by another session; wait until that ends and try again",
    "53100": "the disk is full; make room and try again",
    "25006": "it may not be written; the server is read-only",
    "42501": "it may not be written; ask for permission on its tables",
    "28P01": "the server did not accept the password",
    "08006": "the server does not answer any more; look after it, and try again",
    "57014": "the server took longer than its limit; look after it, or give statement_timeout in the address",
    "25P03": "this process was silent in a transaction for longer than the server's limit; try again",
}

#: What passes by itself: locks, deadlocks, too many clients, servers that restart (57P), cut connections (08).
_PASSING = ("SQLITE_BUSY", "SQLITE_LOCKED", "55P03", "40", "53300", "57P", "08", "57014", "25P03")


# A server set up to answer before it has written would forget charges in a power cut; stricter settings stay.
_DURABLE = (
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'"
)

# Where the address, the role or the server has no limits of its own: a ledger's statements are short, and who is silent
# for so long, holding a budget, is gone. Returns the limit of a statement in seconds.
_LIMITS = """
SELECT set_config('idle_in_transaction_session_timeout', coalesce(nullif(
           current_setting('idle_in_transaction_session_timeout'), '0'), {limit}), true),
       extract(epoch FROM set_config('statement_timeout', coalesce(nullif(
           current_setting('statement_timeout'), '0'), {limit}), true)::interval)
"""

_NOTHING_NEW = "Nothing new was released; what was charged before still is"

_WORK = 60.0
"""Seconds that a statement may take beside waiting for locks."""

_TICKS = 0.1
"""Seconds that are many ticks of the clock of any file system."""

# Seconds between two tries to begin, at most: as long as a charge takes, so that few moments are lost.
_PAUSE = 0.03

# PostgreSQL lets two sessions lay out the same tables at once, and one fails: they take turns by this lock's number.
_CREATION = 0x726F77737061636


class Database:
    """Transactions on one database. Connections are opened when needed and never kept, so forks share none."""

    def __init__(self, location: str | os.PathLike[str], patience: float) -> None:
        text = os.fspath(location) if isinstance(location, str | os.PathLike) else None
        if not isinstance(text, str) or not text:
            raise InvalidInput("expected a ledger as a path or a database URL")
        url = _url(text) if "://" in text else None
        if url is None or url.get_backend_name() == "sqlite":
            self.file: Path | None = _file(text if url is None else url.database)
            self.name = self.file.name
            engine = sa.create_engine("sqlite://", creator=self._open_file, poolclass=NullPool)
        else:
            self.file = None
            self.name = "the ledger"  # never the address, which may hold a password
            engine = _postgres(url, patience + _WORK)
        self.patience = patience
        self._engine = engine
        self._creates = False
        sa.event.listen(engine, "begin", self._begin)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that only looks."""
        self._check_file(must_exist=True)
        try:
            with self._engine.begin() as connection:
                yield connection
        except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:
            raise self._failure("read", error) from None

    @contextmanager
    def writing(
        self, *, create: bool = False, doubt: Callable[[str], LedgerError] | None = None
    ) -> Iterator[sa.Connection]:
        """A transaction that writes: alone from its first statement on (SQLite), durable when it has ended.

        doubt: says what a failed commit means, given why it failed: the transaction may have been made all the same.
        Whatever fails before the commit is undone by the engine, without a doubt.
        """
        self._check_file(must_exist=not create)
        self._check_one_name()
        self._creates = create
        commits = False
        try:
            with self._engine.connect() as plain:
                connection = plain.execution_options(writes=True, creates=create)
                with connection.begin():
                    yield connection
                    commits = True
        except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:
            if not commits or doubt is None:
                raise self._failure("written", error) from None
            raise doubt(_reason(error)) from None
        finally:
            self._creates = False

    def take_turns(self, connection: sa.Connection, source: str) -> None:
        """Until this transaction ends nobody else charges for a source of any of these names, to whichever budget.

        On a server budgets are locked one by one, so that two of them could take the same source at once. A SQLite file
        is locked as a whole already.
        """
        if self.file is not None:
            return
        digests = (hashlib.sha256(name.encode()).digest() for name in source.split())
        # In one order for everybody: no two wait for each other.
        for number in sorted({int.from_bytes(digest[:8], signed=True) for digest in digests}):
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(number)))

    def flush(self) -> None:
        """Bring what can be read onto the disk: after a failed flush a power cut could still undo it."""
        if self.file is None:
            return
        try:
            for place in (self.file, self.file.parent):
                descriptor = os.open(place, os.O_RDONLY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
        except OSError:
            raise LedgerError(f"{self.name} cannot be written: the disk is failing", transient=True) from None

    def mark(self) -> tuple[int, ...] | None:
        """What changes with every commit to a file, from its metadata alone; None where that is not certain.

        A second commit in the same tick of the clock could leave it as it was, so a file that was written just now has
        none; nor has one with a log beside it, whose commits are there. The file is not opened: closing it again would
        take away the locks that SQLite holds on it in this process.
        """
        if self.file is None:
            return None
        try:
            found = self.file.stat()
        except OSError:
            return None
        if (
            abs(time.time() - found.st_mtime) < _TICKS
            or self.file.with_name(f"{self.file.name}-wal").exists()
        ):
            return None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns

    def compact(self) -> None:
        """Give the room of what was dropped back to the disk; where that fails, it is used again all the same."""
        if self.file is not None:
            with suppress(sqlite3.Error), closing(self._open_file()) as connection:
                connection.execute("VACUUM")

    def is_foreign(self, connection: sa.Connection) -> bool:
        """Whether a file is somebody else's database, which must not be written into."""
        return self.file is not None and bool(sa.inspect(connection).get_table_names())

    def _check_file(self, *, must_exist: bool) -> None:
        """Refuse what is no file before SQLite opens it, which could only say that reading failed."""
        if self.file is None:
            return
        try:
            require_regular(self.file.stat())
        except FileNotFoundError:
            if must_exist:
                raise LedgerError(
                    f"there is no ledger {self.name}; create a budget first: rowspace budget create {self.name} "
                    "DATASET --epsilon E"
                ) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "that is no file name"
            raise LedgerError(
                f"{self.name} cannot be a ledger: {reason}; name a file. {_NOTHING_NEW}"
            ) from None

    def _check_one_name(self) -> None:
        """Refuse a file with several names: after a crash under one, its journal would not be found under another."""
        if self.file is not None and self.file.is_file() and self.file.stat().st_nlink > 1:
            raise LedgerError(
                f"{self.name} has several names (hard links), so that a crash could lose a charge; remove the others, "
                "or use a copy of it. Nothing was released"
            )

    def _open_file(self) -> sqlite3.Connection:
        """A connection that neither creates a file by accident nor calls anything written before it is on disk."""
        assert self.file is not None
        mode = "rwc" if self._creates else "rw"
        address = f"file:{quote(str(self.file.absolute()))}?mode={mode}"
        connection = sqlite3.connect(address, uri=True, timeout=self.patience, isolation_level=None)
        # EXTRA also syncs the folder after the journal is gone: without it a power cut could undo a charge that was
        # already reported as made. fullfsync is the same for the disk caches of macOS.
        for pragma in ("synchronous = EXTRA", "fullfsync = ON", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    def _begin(self, connection: sa.Connection) -> None:
        """Begin as the engine needs it: SQLite takes the write lock at once, so that nobody else's sum is stale."""
        writes = connection.get_execution_options().get("writes", False)
        if self.file is not None:
            if writes:
                self._begin_in_turn(connection)
            else:
                connection.exec_driver_sql("BEGIN")
            return
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {int(1000 * self.patience)}")
        limit = f"'{int(1000 * (self.patience + _WORK))}'"
        _, seconds = connection.exec_driver_sql(_LIMITS.format(limit=limit)).one()
        held: Any = connection.connection.dbapi_connection
        if hasattr(held, "limit"):  # no driver but ours has one
            held.limit = float(seconds)
        if writes:
            connection.exec_driver_sql(_DURABLE)
        if connection.get_execution_options().get("creates", False):
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_CREATION})")

    def _begin_in_turn(self, connection: sa.Connection) -> None:
        """Begin to write, with the same chance as everybody else who waits.

        SQLite's own waiting sleeps the longer the longer it has waited, so that whoever comes last is served first: of
        32 clients some waited 19 seconds. Here all of them ask equally often.
        """
        end = time.monotonic() + self.patience
        connection.exec_driver_sql("PRAGMA busy_timeout = 0")
        while True:
            try:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                break
            except sa.exc.OperationalError as error:
                if not str(_code(error)).startswith("SQLITE_BUSY") or time.monotonic() > end:
                    raise
            time.sleep(random.uniform(0.0, _PAUSE))
        # A commit still waits for those who read.
        connection.exec_driver_sql(f"PRAGMA busy_timeout = {int(1000 * self.patience)}")

    def _failure(self, done: str, error: BaseException) -> LedgerError:
        """The engine's failure in one `LedgerError`; its own messages could quote what was being written."""
        # Before something is written nobody has seen whether it was released by an earlier try.
        so = "Nothing was released" if done == "written" else _NOTHING_NEW
        return LedgerError(f"{self.name} cannot be {done}: {_reason(error)}. {so}", transient=_passes(error))


def _file(path: str | None) -> Path:
    """The file of a SQLite ledger."""
    if not path or path == ":memory:":
        raise InvalidInput("expected a ledger in a file: one in memory would forget its charges")
    return Path(path).absolute()  # now: whoever changes folders later means the same file


def _url(text: str) -> sa.URL:
    """A database URL; the message never repeats it, because it may hold a password."""
    try:
        url = sa.make_url(text.replace("postgres://", "postgresql://", 1))
    except sa.exc.ArgumentError:
        url = None
    if url is None or url.get_backend_name() not in ("sqlite", "postgresql"):
        raise InvalidInput("expected a ledger as a path, sqlite:///path or postgresql://user@host/database")
    return url


def _postgres(url: sa.URL, limit: float) -> sa.Engine:
    """An engine on PostgreSQL, by psycopg unless the URL names a driver.

    limit: seconds after which a server that says nothing is given up, until it has told its own limit.
    """
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    waits = {name: value for name, value in SERVER_WAITS.items() if name not in url.query}
    try:
        engine = sa.create_engine(
            url,
            poolclass=NullPool,
            isolation_level="READ COMMITTED",
            connect_args=waits if "psycopg" in url.drivername else {},
        )
        if url.get_driver_name() == "psycopg":
            _be_patient(engine, limit)
    except ImportError:
        raise LedgerError("a ledger on PostgreSQL needs a driver: pip install 'rowspace[postgres]'") from None
    return engine


def _be_patient(engine: sa.Engine, limit: float) -> None:
    """Let an engine connect in a way that gives up a server which says nothing."""
    from .waiting import PatientConnection  # an extra

    def connect(_dialect: Any, _record: Any, arguments: Any, named: Any) -> PatientConnection:
        connection = PatientConnection.connect(*arguments, **named)
        connection.limit = limit
        return connection

    sa.event.listen(engine, "do_connect", connect)


def _code(error: BaseException) -> str | None:
    """The engine's own code, where it gave one."""
    origin = getattr(error, "orig", None) or error
    return getattr(origin, "sqlite_errorname", None) or getattr(origin, "sqlstate", None)


def _reason(error: BaseException) -> str:
    """Why, in plain words, from the engine's code."""
    code = _code(error)
    if code is None:
        kind = type(getattr(error, "orig", None) or error).__name__
        return f"the database cannot be reached or used ({kind})"
    if not code.startswith("SQLITE"):
        return _POSTGRES_REASONS.get(code, f"the database reports SQLSTATE {code}")
    known = (words for start, words in _SQLITE_REASONS.items() if code.startswith(start))
    return next(known, f"SQLite reports {code}")


def _passes(error: BaseException) -> bool:
    """Whether it may be otherwise in a while; of a server that cannot be reached nothing else is known."""
    code = _code(error)
    return isinstance(error, sa.exc.OperationalError) if code is None else code.startswith(_PASSING)
