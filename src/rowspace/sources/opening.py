"""From whatever the user holds to an Ibis table on a connection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import ibis
import ibis.expr.types as ir
import numpy as np
import numpy.typing as npt

from rowspace.domain import Domain
from rowspace.exceptions import InvalidInput, SourceError
from rowspace.formats import CSV, DATABASE_ENDINGS, is_remote
from rowspace.sources import text
from rowspace.sources.binning import is_inline
from rowspace.sources.columns import require_columns
from rowspace.sources.databases import (
    OpenBackend,
    connect,
    connect_file,
    embedded_duckdb,
    is_spark_frame,
    is_url,
    quiet_spark,
    spark_files,
    spark_frame,
    table_of,
    with_zones,
)
from rowspace.sources.files import FileSet, local_files
from rowspace.sources.frames import as_arrow, frame_columns
from rowspace.sources.parquet import parquet_columns, read_parquet
from rowspace.sources.remote import fetched, remote_files
from rowspace.sources.silence import attempt, end_quietly
from rowspace.sources.snapshot import one_snapshot, unchanged

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


Source: TypeAlias = Union[
    str,
    Path,
    "pd.DataFrame",
    "pl.DataFrame",
    "pl.LazyFrame",
    "pa.Table",
    "ir.Table",
    npt.NDArray[np.integer],
    list[int],
    tuple[int, ...],
]
"""A path of a file (CSV, Parquet, DuckDB, SQLite), of a folder or a pattern of CSV or Parquet files, or an address of
them (`s3://`, `gs://`, `https://`); a database URL; a pandas, polars or Spark frame, an Arrow or Ibis table; or counts
that were made elsewhere, one for each cell."""


@dataclass(frozen=True)
class OpenTable:
    """A table with a column for every name asked for, the engine that computes on it, the text files it is of, the
    columns that are names of folders, and whether several queries are sure to see the same records."""

    rows: Any
    backend: Any
    text: text.TextTable | None = None
    partitions: frozenset[str] = frozenset()
    is_still: bool = False

    @property
    def is_text(self) -> bool:
        """Whether all of it is text, which has no types of its own."""
        return self.text is not None

    def is_text_in(self, column: str) -> bool:
        """Whether a column is such text."""
        return self.is_text or column in self.partitions


@contextmanager
def open_table(
    source: object, domain: Domain, table: str | None, *, unit: str | None = None, reads: bool = True
) -> Iterator[OpenTable]:
    """Open a file, frame, Ibis table or database; connections made here end with the context.

    unit: one more column to read, beside those of the attributes.
    reads: whether records are read, so that the files which Spark reads must stay as they are.

    Raises:
        SourceError: It cannot be read, or has no column for some attribute or for the unit. Of a text file that
            is not as declared this may show only inside the context.
        InvalidInput: It is none of these, or `table` is given for something that has no tables.
    """
    wanted = [*map(domain.column, domain.names), *([] if unit is None else [unit])]
    names = tuple(dict.fromkeys(wanted))
    with ExitStack() as connections:
        opened = _open(source, domain, names, table, connections)
        is_still = connections.enter_context(one_snapshot(opened.backend, read_only=is_inline(domain)))
        if reads and opened.backend.name == "pyspark":
            connections.enter_context(_spark_files_unchanged(opened))
        try:
            yield replace(opened, is_still=is_still)
        except SourceError as error:
            if opened.text is not None and opened.text.failure is not None:
                # The engine knows only that it could not read on.
                error.args = (opened.text.failure,)
            raise


def column_names(source: object, table: str | None = None, wanted: Sequence[str] = ()) -> list[str]:
    """The names of all columns of a source, in order; a text file or a frame may have one twice, or empty.

    wanted: names that decide what separates the cells of a text file, as they do when it is opened.

    Raises:
        SourceError: It cannot be read.
        InvalidInput: It is no source of records, or `table` is given for something that has no tables.
    """
    database = _connect_database(source)
    if database is not None:
        try:
            return list(table_of(database.backend, table).columns)
        finally:
            database.close()
    _refuse_table(table)
    if isinstance(source, ir.Table) or is_spark_frame(source):
        return list(source.columns)  # type: ignore[attr-defined]
    if not isinstance(source, str | Path | CSV):
        found = frame_columns(source)
        if found is None:
            raise _unknown_source(source)
        return found
    backend = embedded_duckdb()
    try:
        files = _files(source, backend)
        if files.form is None:
            return parquet_columns(backend, files)
        return text.column_names(_at_hand(files, backend), wanted)
    finally:
        end_quietly(backend.disconnect)


def _open(
    source: object, domain: Domain, names: Sequence[str], table: str | None, connections: ExitStack
) -> OpenTable:
    """Open any source; connections made on the way are left to `connections`."""
    database = _connect_database(source)
    if database is not None:
        connections.callback(database.close)
        rows = table_of(database.backend, table)
        require_columns(names, rows.columns)
        return OpenTable(rows, database.backend)
    _refuse_table(table)
    if is_spark_frame(source):
        rows, session = attempt(
            lambda: spark_frame(source), "the Spark session of the DataFrame does not answer"
        )
        connections.callback(session.close)
        require_columns(names, rows.columns)
        return OpenTable(rows, session.backend)
    if isinstance(source, ir.Table):
        require_columns(names, source.columns)
        connected = attempt(
            source.get_backend, "expected an Ibis table of one database, got one of none or several"
        )
        if connected.name == "pyspark":
            connections.callback(quiet_spark(connected))
            source = with_zones(source, connected)
        return OpenTable(source, connected)
    backend = embedded_duckdb()
    connections.callback(backend.disconnect)
    if isinstance(source, str | Path | CSV):
        files = _files(source, backend)
        connections.enter_context(unchanged(files, lambda: _files(source, backend), files.shown))
        return _open_files(backend, files, domain, names)
    arrow = as_arrow(source, names)
    if arrow is not None:
        rows = attempt(
            lambda: ibis.memtable(arrow), "some column of the frame has a type that engines do not have"
        )
        return OpenTable(rows, backend)
    raise _unknown_source(source)


def _spark_files_unchanged(opened: OpenTable) -> AbstractContextManager[None]:
    """Refuse, at the end, files of a Spark table that changed, where Spark can name them."""

    def look() -> object:
        return attempt(lambda: spark_files(opened.backend, opened.rows), "Spark cannot name its files")

    try:
        files = look()
    except SourceError:
        return nullcontext()
    return unchanged(files, look, "a file of the table") if files else nullcontext()


def _connect_database(source: object) -> OpenBackend | None:
    """A connection, if the source is a database URL or a database file by its name."""
    if isinstance(source, str) and is_url(source):
        return None if is_remote(source) else connect(source)
    if isinstance(source, str | Path) and (kind := DATABASE_ENDINGS.get(Path(source).suffix.lower())):
        return connect_file(Path(source), kind)
    return None


def _unknown_source(source: object) -> InvalidInput:
    return InvalidInput(
        "expected a path, a database URL, a pandas, polars or Spark frame, an Arrow table, an Ibis table or an "
        f"array of counts, got {type(source).__name__}"
    )


def _refuse_table(table: str | None) -> None:
    """Raise if a table is named where there is only one."""
    if table is not None:
        raise InvalidInput(
            "table= names a table of a database: leave it out for files, frames and Ibis tables"
        )


def _files(source: str | Path | CSV, backend: Any) -> FileSet:
    """The files that a source is, here or elsewhere."""
    if is_remote(source):
        return remote_files(source if isinstance(source, CSV) else str(source), backend)
    return local_files(source)


def _at_hand(files: FileSet, backend: Any) -> FileSet:
    """CSV files on this machine's disk."""
    folder = Path(backend.raw_sql("SELECT current_setting('temp_directory')").fetchall()[0][0])
    return fetched(files, backend, folder) if is_remote(files.files[0].path) else files


def _open_files(backend: Any, files: FileSet, domain: Domain, names: Sequence[str]) -> OpenTable:
    """CSV or Parquet files."""
    if files.form is not None:
        table = text.text_table(_at_hand(files, backend), domain, names)
        return OpenTable(text.register(backend, table), backend, table)
    rows = read_parquet(backend, files, names)
    return OpenTable(rows, backend, partitions=frozenset(files.partitions) & frozenset(names))
