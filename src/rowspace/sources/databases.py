"""Databases: the embedded DuckDB, database files, and whatever Ibis connects to by URL."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ibis
from ibis.common.exceptions import TableNotFound

from rowspace.exceptions import SourceError
from rowspace.sources.clusters import SPARK_SCHEMES, connect_spark, spark_table
from rowspace.sources.secrecy import attempt, end_quietly
from rowspace.sources.spilling import private_folder

__all__ = ["Connection", "connect", "connect_file", "embedded_duckdb", "is_url", "table_of"]

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)

_POSTGRES_SCHEMES = ("postgres", "postgresql")

# A server that does not answer at all is given up after so many seconds, unless the URL says otherwise.
_CONNECT_TIMEOUT = 15


@dataclass(frozen=True)
class Connection:
    """An Ibis backend, and how to end what was begun for it."""

    backend: Any
    end: Callable[[], None]

    def close(self) -> None:
        """End it; a server that is gone already cannot make that fail."""
        end_quietly(self.end)


def is_url(source: str) -> bool:
    """Whether a text is a URL rather than a path."""
    return _URL.fullmatch(source) is not None


def embedded_duckdb(path: Path | None = None) -> Any:
    """DuckDB inside this process: in memory, or on a database file that it may not change.

    It neither fetches extensions nor draws a progress bar. What does not fit in memory goes into a folder that nobody
    else can read (by default it would be `.tmp` in the current one), which is removed with the connection.
    """
    folder, remove = private_folder()
    try:
        backend = ibis.duckdb.connect(
            ":memory:" if path is None else path,
            read_only=path is not None,
            autoinstall_known_extensions=False,
            temp_directory=str(folder),
        )
        # Only where it is on: in a notebook without ipywidgets DuckDB has none, and refuses even to turn it off.
        if backend.raw_sql("SELECT current_setting('enable_progress_bar')").fetchall()[0][0]:
            backend.raw_sql("SET enable_progress_bar = false")
    except BaseException:
        remove()
        raise
    disconnect = backend.disconnect

    def end() -> None:
        try:
            disconnect()
        finally:
            remove()

    backend.disconnect = end  # whoever ends the connection, the folder goes with it
    return backend


def connect(url: str) -> Connection:
    """The database at a URL. Messages name the kind of database only: the rest of a URL may hold a
    password."""
    match = _URL.fullmatch(url)
    assert match is not None, "is_url() is asked first"
    scheme, location = match.group(1).lower(), match.group(2).partition("?")[0]
    if scheme in ("duckdb", "sqlite"):
        return connect_file(Path(location), scheme)
    if scheme in SPARK_SCHEMES:
        return Connection(
            *attempt(
                lambda: connect_spark(scheme, url),
                "cannot connect to Spark: check the address, that Java is installed, and the driver "
                "(pip install 'rowspace[spark]')",
            )
        )
    extra = "rowspace[postgres]" if scheme in _POSTGRES_SCHEMES else f"ibis-framework[{scheme}]"
    backend = attempt(
        lambda: _without_jit(ibis.connect(url, **_patience(scheme, url))),
        f"cannot connect to a database of kind {scheme!r}: check the address and the credentials, and that "
        f"the driver is installed (pip install '{extra}'); files on the web must be downloaded",
    )
    return Connection(backend, backend.disconnect)


def _without_jit(backend: Any) -> Any:
    """The connection, in which PostgreSQL compiles nothing: our long expressions take it minutes to compile."""
    if backend.name == "postgres":
        with backend.con.cursor() as cursor:
            # Asked for where there is such a setting: servers that only speak PostgreSQL's language may have none.
            cursor.execute("SELECT set_config(name, 'off', false) FROM pg_settings WHERE name = 'jit'")
        backend.con.commit()
    return backend


def _patience(scheme: str, url: str) -> dict[str, int]:
    """How long to wait for a server, where the driver has a setting for it."""
    waits = scheme in _POSTGRES_SCHEMES and "connect_timeout=" not in url
    return {"connect_timeout": _CONNECT_TIMEOUT} if waits else {}


def connect_file(path: Path, kind: str) -> Connection:
    """The database in a file of kind "duckdb" or "sqlite", which must exist: engines would create it."""
    if not path.is_file():
        raise SourceError(f"expected a {kind} database file, got nothing at {path}; check the path")
    backend = attempt(
        lambda: embedded_duckdb(path) if kind == "duckdb" else ibis.sqlite.connect(path),
        f"{path} cannot be opened as a {kind} database: it is damaged, of another kind or version, or "
        "open elsewhere for writing",
    )
    return Connection(backend, backend.disconnect)


def table_of(backend: Any, table: str | None) -> Any:
    """A table or view of a database by its name, `schema.name` included."""
    if table is None:
        raise SourceError("a database holds many tables: say which one with table=")

    def find() -> Any:
        look_up = spark_table if backend.name == "pyspark" else _plain_table
        try:
            return look_up(backend, table)
        except TableNotFound:
            schema, dot, name = table.rpartition(".")
            if not dot:
                raise
            return look_up(backend, name, schema)

    return attempt(
        find,
        f"expected a table {table!r} in the database, got none of that name that may be read; a table outside "
        "the default schema is written schema.table",
    )


def _plain_table(backend: Any, table: str, database: str | None = None) -> Any:
    """A table as Ibis finds it."""
    if backend.name == "duckdb" and database is None:
        # Without a schema Ibis asks DuckDB to DESCRIBE "tables", which lists all tables instead.
        database = backend.current_database
    return backend.table(table, database=database)
