"""Where a ledger lives: durable transactions on a SQLite file or on PostgreSQL, and every failure in plain words."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from rowspace.exceptions import InvalidInput, LedgerError
from rowspace.files import require_regular

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
}


# A server set up to answer before it has written would forget charges in a power cut; stricter settings stay.
_DURABLE = (
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'"
)

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
            engine = _postgres(url)
        self._patience = patience
        self._engine = engine
        self._creates = False
        sa.event.listen(engine, "begin", self._begin)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that only looks."""
        self._check_file(must_exist=True)
        with self._explained("read"), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self, *, create: bool = False) -> Iterator[sa.Connection]:
        """A transaction that writes: alone from its first statement on (SQLite), durable when it has ended."""
        self._check_file(must_exist=not create)
        self._check_one_name()
        self._creates = create
        try:
            with self._explained("written"), self._engine.connect() as plain:
                connection = plain.execution_options(writes=True, creates=create)
                with connection.begin():
                    yield connection
        finally:
            self._creates = False

    def take_turns(self, connection: sa.Connection, source: str) -> None:
        """Until this transaction ends nobody else charges for the source, to whichever budget.

        On a server budgets are locked one by one, so that two of them could take the same source at once. A SQLite file
        is locked as a whole already.
        """
        if self.file is None:
            number = int.from_bytes(hashlib.sha256(source.encode()).digest()[:8], signed=True)
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(number)))

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
                f"{self.name} cannot be a ledger: {reason}; name a file. Nothing was released"
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
        connection = sqlite3.connect(address, uri=True, timeout=self._patience, isolation_level=None)
        # EXTRA also syncs the folder after the journal is gone: without it a power cut could undo a charge that was
        # already reported as made. fullfsync is the same for the disk caches of macOS.
        for pragma in ("synchronous = EXTRA", "fullfsync = ON", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    def _begin(self, connection: sa.Connection) -> None:
        """Begin as the engine needs it: SQLite takes the write lock at once, so that nobody else's sum is stale."""
        writes = connection.get_execution_options().get("writes", False)
        if self.file is not None:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
            return
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {int(1000 * self._patience)}")
        if writes:
            connection.exec_driver_sql(_DURABLE)
        if connection.get_execution_options().get("creates", False):
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_CREATION})")

    @contextmanager
    def _explained(self, done: str) -> Iterator[None]:
        """Turn the engine's failures into one `LedgerError`; its own messages could quote what was being written."""
        try:
            yield
        except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:
            reason = _reason(getattr(error, "orig", None) or error)
            raise LedgerError(f"{self.name} cannot be {done}: {reason}. Nothing was released") from None


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


def _postgres(url: sa.URL) -> sa.Engine:
    """An engine on PostgreSQL, by psycopg unless the URL names a driver."""
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    try:
        return sa.create_engine(url, poolclass=NullPool, isolation_level="READ COMMITTED")
    except ImportError:
        raise LedgerError("a ledger on PostgreSQL needs a driver: pip install 'rowspace[postgres]'") from None


def _reason(error: BaseException) -> str:
    """Why, in plain words, from the engine's code."""
    name = getattr(error, "sqlite_errorname", None)
    if name is not None:
        known = (words for code, words in _SQLITE_REASONS.items() if name.startswith(code))
        return next(known, f"SQLite reports {name}")
    state = getattr(error, "sqlstate", None)
    if state is not None:
        return _POSTGRES_REASONS.get(state, f"the database reports SQLSTATE {state}")
    return f"the database cannot be reached or used ({type(error).__name__})"
