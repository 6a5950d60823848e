"""Databases: the embedded DuckDB, database files, and whatever Ibis connects to by URL."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import ibis
import ibis.expr.datatypes as dt
from ibis.common.exceptions import TableNotFound
from sqlglot import expressions as sge

from rowspace.exceptions import SourceError
from rowspace.formats import SERVER_WAITS
from rowspace.sources.silence import attempt, end_quietly, silence

_PREFIX = "rowspace-spill-"


def private_folder() -> tuple[Path, Callable[[], None]]:
    """A new folder of mode 0700 below the system's (or TMPDIR), and how to remove it.

    What an engine spills there holds records as they are. A lock is held as long as the process lives, so that what a
    killed one left is known, and removed by the next that starts.
    """
    _sweep(Path(tempfile.gettempdir()))
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        held = _lock(folder)
        # Between the two somebody else's sweep could have found it without a lock.
        if held is not None and folder.is_dir():
            break

    def remove() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)

    return folder, remove


def _sweep(parent: Path) -> None:
    """Remove the folders of this user that nobody holds."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            held = _lock(folder)
            if held is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(held)


def _lock(folder: Path) -> int | None:
    """A descriptor that holds the folder; None if somebody else does, or it is gone."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


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


def with_zones(rows: Any, backend: Any) -> Any:
    """Rows whose times with a zone are of a type that says so: Ibis gives Spark's times with and without as one."""
    types = dict(backend._session.sql(backend.compile(rows)).dtypes)
    zoned = [name for name, kind in types.items() if kind == "timestamp"]
    return rows.mutate(**{name: rows[name].cast(dt.Timestamp(timezone="UTC")) for name in zoned})


def spark_table(backend: Any, table: str, schema: str | None = None, catalogue: str | None = None) -> Any:
    """A table of a session, of any name: by `Backend.table` Ibis passes names to Spark's parser unquoted.

    schema: also the kind of files, where the table is a path.
    """
    from pyspark.errors import AnalysisException

    place = sge.table_(table, db=schema, catalog=catalogue, quoted=True)
    try:
        rows = backend.sql(sge.select("*").from_(place).sql("spark"), dialect="spark")
        return with_zones(rows, backend)
    except AnalysisException:
        raise TableNotFound(table) from None


def spark_files(backend: Any, rows: Any) -> list[tuple[Any, ...]]:
    """The files that Spark reads for rows, as they are now: path, length and time of change; none where it names none.

    Asked of Spark itself, as the list of a source of its own, so that it is right on every file system, and over
    Spark Connect; no file is opened.
    """
    session = backend._session
    named = session.sql(backend.compile(rows)).inputFiles()
    # Addresses, with odd characters as %20; the other way round they are taken as patterns.
    plain = [_PATTERN.sub(r"\\\1", unquote(name)) for name in named]
    if not plain:
        return []
    # By folder, `part=7` would be taken for one more column.
    listed = session.read.format("binaryFile").option("recursiveFileLookup", "true").load(plain)
    return sorted(map(tuple, listed.select("path", "length", "modificationTime").collect()))


def is_spark_frame(source: object) -> bool:
    """Whether a source is a DataFrame of PySpark, of a session here or of Spark Connect."""
    kind = type(source)
    return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.")


def spark_frame(frame: Any) -> tuple[Any, OpenBackend]:
    """The rows of a PySpark DataFrame, by a view that is gone when the connection ends; its session runs on."""
    session, view = frame.sparkSession, f"rowspace_{secrets.token_hex(8)}"
    backend = ibis.pyspark.connect(session)
    speak_again = quiet_spark(backend)

    def end() -> None:
        session.catalog.dropTempView(view)
        speak_again()

    frame.createTempView(view)
    return spark_table(backend, view), OpenBackend(backend, end)


def _nothing_to_undo() -> None:
    """A session that logs elsewhere."""


_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)

_PATTERN = re.compile(r"([\\\[\]{}*?,])")

POSTGRES_SCHEMES = ("postgres", "postgresql")


@dataclass(frozen=True)
class OpenBackend:
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
            **(
                {"threads": int(number)}
                if (number := os.environ.get("ROWSPACE_THREADS", "")).isdigit()
                else {}
            ),
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


def connect(url: str) -> OpenBackend:
    """The database at a URL. Messages name the kind of database only: the rest of a URL may hold a
    password."""
    match = _URL.fullmatch(url)
    assert match is not None, "is_url() is asked first"
    scheme, location = match.group(1).lower(), match.group(2).partition("?")[0]
    if scheme in ("duckdb", "sqlite"):
        return connect_file(Path(location), scheme)
    if scheme in SPARK_SCHEMES:
        return OpenBackend(
            *attempt(
                lambda: connect_spark(scheme, url),
                "cannot connect to Spark: check the address, that Java is installed, and the driver "
                "(pip install 'rowspace[spark]')",
            )
        )
    extra = "rowspace[postgres]" if scheme in POSTGRES_SCHEMES else f"ibis-framework[{scheme}]"
    backend = attempt(
        lambda: ibis.connect(url, **_patience(scheme, url)),
        f"cannot connect to a database of kind {scheme!r}: check the address and the credentials, and that "
        f"the driver is installed (pip install '{extra}')",
    )
    return OpenBackend(backend, backend.disconnect)


def _patience(scheme: str, url: str) -> dict[str, int]:
    """How long to wait for a server, where the driver has settings for it and the URL has none."""
    waits = SERVER_WAITS if scheme in POSTGRES_SCHEMES else {}
    return {name: value for name, value in waits.items() if f"{name}=" not in url}


def connect_file(path: Path, kind: str) -> OpenBackend:
    """The database in a file of kind "duckdb" or "sqlite", which must exist: engines would create it."""
    if not path.is_file():
        raise SourceError(f"expected a {kind} database file, got nothing at {path}; check the path")
    backend = attempt(
        lambda: embedded_duckdb(path) if kind == "duckdb" else ibis.sqlite.connect(path),
        f"{path} cannot be opened as a {kind} database: it is damaged, of another kind or version, or "
        "open elsewhere for writing",
    )
    return OpenBackend(backend, backend.disconnect)


def table_of(backend: Any, table: str | None) -> Any:
    """A table or view of a database by its name, `schema.name` included."""
    if table is None:
        raise SourceError("a database holds many tables: say which one with table=")

    def find() -> Any:
        look_up = spark_table if backend.name == "pyspark" else _plain_table
        *others, last = _places(table, backend.name)
        for place in others:
            try:
                return look_up(backend, *place)
            except TableNotFound:
                continue
        return look_up(backend, *last)

    return attempt(
        find,
        f"expected a table {table!r} in the database, got none of that name that may be read; a table outside "
        "the default schema is written schema.table",
    )


def _places(table: str, engine: str) -> list[tuple[str, ...]]:
    """What a name may mean, likelier first: a table, and of which schema, catalogue or kind of files it is one."""
    schema, dot, name = table.rpartition(".")
    places: list[tuple[str, ...]] = [(table,), *([(name, schema)] if dot else [])]
    if engine == "pyspark":
        form, _, path = table.partition(".")
        catalogue, inner, own = schema.partition(".")
        places += [(path, form)] if "/" in path else [(name, own, catalogue)] if inner else []
    return places


def _plain_table(backend: Any, table: str, database: str | None = None) -> Any:
    """A table as Ibis finds it."""
    if backend.name == "duckdb" and database is None:
        # Without a schema Ibis asks DuckDB to DESCRIBE "tables", which lists all tables instead.
        database = backend.current_database
    return backend.table(table, database=database)
