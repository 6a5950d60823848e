"""From whatever the user holds to an Ibis table on a connection."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ibis
import ibis.expr.types as ir

from rowspace.domain import Domain
from rowspace.exceptions import InvalidInput, SourceError
from rowspace.sources.clusters import quiet_spark
from rowspace.sources.columns import require_columns
from rowspace.sources.databases import Connection, connect, connect_file, embedded_duckdb, is_url, table_of
from rowspace.sources.frames import as_arrow
from rowspace.sources.secrecy import attempt
from rowspace.sources.text import read_csv

__all__ = ["OpenTable", "open_table"]

_CSV = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
_PARQUET = (".parquet", ".pq")
_DATABASES = {".duckdb": "duckdb", ".ddb": "duckdb", ".sqlite": "sqlite", ".sqlite3": "sqlite"}


@dataclass(frozen=True)
class OpenTable:
    """A table with a column for every name asked for, the engine that computes on it, and whether all of it is
    text."""

    rows: Any
    backend: Any
    is_text: bool = False


@contextmanager
def open_table(
    source: object, domain: Domain, table: str | None, *, unit: str | None = None
) -> Iterator[OpenTable]:
    """Open a file, frame, Ibis table or database; connections made here end with the context.

    unit: one more column to read, beside those of the attributes.

    Raises:
        SourceError: It cannot be read, or has no column for some attribute or for the unit.
        InvalidInput: It is none of these, or `table` is given for something that has no tables.
    """
    names = domain.names if unit is None or unit in domain.names else (*domain.names, unit)
    with ExitStack() as connections:
        yield _open(source, names, table, connections)


def _open(source: object, names: Sequence[str], table: str | None, connections: ExitStack) -> OpenTable:
    """Open any source; connections made on the way are left to `connections`."""
    database = _connect_database(source)
    if database is not None:
        connections.callback(database.close)
        rows = table_of(database.backend, table)
        require_columns(names, rows.columns, engine_sees_all=True)
        return OpenTable(rows, database.backend)
    if table is not None:
        raise InvalidInput(
            "table= names a table of a database: leave it out for files, frames and Ibis tables"
        )
    if isinstance(source, ir.Table):
        require_columns(names, source.columns, engine_sees_all=True)
        connected = attempt(
            source.get_backend, "expected an Ibis table of one database, got one of none or several"
        )
        if connected.name == "pyspark":
            connections.callback(quiet_spark(connected))
        return OpenTable(source, connected)
    backend = embedded_duckdb()
    connections.callback(backend.disconnect)
    if isinstance(source, str | Path):
        return _open_file(backend, Path(source), names)
    arrow = as_arrow(source, names)
    if arrow is not None:
        return OpenTable(ibis.memtable(arrow), backend)
    raise InvalidInput(
        "expected a path, a database URL, a pandas or polars frame, an Arrow table, an Ibis table or an "
        f"array of counts, got {type(source).__name__}"
    )


def _connect_database(source: object) -> Connection | None:
    """A connection, if the source is a database URL or a database file by its name."""
    if isinstance(source, str) and is_url(source):
        return connect(source)
    if isinstance(source, str | Path) and (kind := _DATABASES.get(Path(source).suffix.lower())):
        return connect_file(Path(source), kind)
    return None


def _open_file(backend: Any, path: Path, names: Sequence[str]) -> OpenTable:
    """A CSV or Parquet file."""
    name = path.name.lower()
    if not name.endswith(_CSV + _PARQUET):
        known = ", ".join((*_CSV, *_PARQUET, *_DATABASES))
        raise SourceError(
            f"the name of {path} does not tell its format: expected one of {known}, or a database URL"
        )
    if not path.is_file():
        what = "a directory" if path.is_dir() else "nothing"
        raise SourceError(f"expected a file at {path}, got {what} there; check the path")
    if name.endswith(_CSV):
        return OpenTable(read_csv(backend, path, names), backend, is_text=True)
    rows = attempt(
        # Escaped, since DuckDB takes names for patterns; and a directory called year=2020 adds no column.
        lambda: backend.read_parquet(glob.escape(str(path)), hive_partitioning=False),
        f"{path} cannot be read as Parquet: it is damaged, or something else",
    )
    require_columns(names, rows.columns, engine_sees_all=True)
    return OpenTable(rows, backend)
