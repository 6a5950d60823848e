"""From whatever the user holds to an Ibis table on a connection."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import ibis
import ibis.expr.types as ir
import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from rowspace.domain import Domain
from rowspace.exceptions import InvalidInput, SourceError
from rowspace.formats import CSV, CSV_ENDINGS, DATABASE_ENDINGS, PARQUET_ENDINGS
from rowspace.sources import text
from rowspace.sources.binning import is_inline
from rowspace.sources.columns import require_columns
from rowspace.sources.databases import (
    Connection,
    connect,
    connect_file,
    embedded_duckdb,
    is_url,
    quiet_spark,
    table_of,
    with_zones,
)
from rowspace.sources.frames import as_arrow, frame_columns
from rowspace.sources.silence import attempt
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
"""A path of a file (CSV, Parquet, DuckDB, SQLite) or a database URL; a pandas or polars frame, an Arrow or Ibis table;
or counts that were made elsewhere, one for each cell."""


@dataclass(frozen=True)
class OpenTable:
    """A table with a column for every name asked for, the engine that computes on it, and the text file it is of."""

    rows: Any
    backend: Any
    text: text.TextTable | None = None

    @property
    def is_text(self) -> bool:
        """Whether all of it is text, which has no types of its own."""
        return self.text is not None


@contextmanager
def open_table(
    source: object, domain: Domain, table: str | None, *, unit: str | None = None
) -> Iterator[OpenTable]:
    """Open a file, frame, Ibis table or database; connections made here end with the context.

    unit: one more column to read, beside those of the attributes.

    Raises:
        SourceError: It cannot be read, or has no column for some attribute or for the unit. Of a text file that
            is not as declared this may show only inside the context.
        InvalidInput: It is none of these, or `table` is given for something that has no tables.
    """
    wanted = [*map(domain.column, domain.names), *([] if unit is None else [unit])]
    names = tuple(dict.fromkeys(wanted))
    with unchanged(source), ExitStack() as connections:
        opened = _open(source, domain, names, table, connections)
        connections.enter_context(one_snapshot(opened.backend, read_only=is_inline(domain)))
        try:
            yield opened
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
    if isinstance(source, ir.Table):
        return list(source.columns)
    if not isinstance(source, str | Path | CSV):
        found = frame_columns(source)
        if found is None:
            raise _unknown_source(source)
        return found
    file = _known_file(source)
    if isinstance(file, CSV):
        return text.column_names(file, wanted)
    return list(attempt(lambda: pq.read_schema(file).names, _damaged(file)))


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
        return _open_file(backend, _known_file(source), domain, names)
    arrow = as_arrow(source, names)
    if arrow is not None:
        rows = attempt(
            lambda: ibis.memtable(arrow), "some column of the frame has a type that engines do not have"
        )
        return OpenTable(rows, backend)
    raise _unknown_source(source)


def _connect_database(source: object) -> Connection | None:
    """A connection, if the source is a database URL or a database file by its name."""
    if isinstance(source, str) and is_url(source):
        return connect(source)
    if isinstance(source, str | Path) and (kind := DATABASE_ENDINGS.get(Path(source).suffix.lower())):
        return connect_file(Path(source), kind)
    return None


def _unknown_source(source: object) -> InvalidInput:
    return InvalidInput(
        "expected a path, a database URL, a pandas or polars frame, an Arrow table, an Ibis table or an "
        f"array of counts, got {type(source).__name__}"
    )


def _refuse_table(table: str | None) -> None:
    """Raise if a table is named where there is only one."""
    if table is not None:
        raise InvalidInput(
            "table= names a table of a database: leave it out for files, frames and Ibis tables"
        )


def _known_file(source: str | Path | CSV) -> Path | CSV:
    """A file that is there, as CSV or else Parquet."""
    path = Path(source.path if isinstance(source, CSV) else source)
    name = path.name.lower()
    if not isinstance(source, CSV) and not name.endswith((*CSV_ENDINGS, *PARQUET_ENDINGS)):
        known = ", ".join((*CSV_ENDINGS, *PARQUET_ENDINGS, *DATABASE_ENDINGS))
        raise SourceError(
            f"the name of {path} does not tell its format: expected one of {known}, or a database URL; a CSV file of "
            "any name is declared as one by [data] of the study, by an option of init such as --names age,sex (for a "
            'file without a header line) or --delimiter ",", or by rs.CSV(…)'
        )
    if not path.is_file():
        what = "a directory" if path.is_dir() else "nothing"
        raise SourceError(f"expected a file at {path}, got {what} there; check the path")
    if isinstance(source, CSV):
        return source
    return CSV(path) if name.endswith(CSV_ENDINGS) else path


def _open_file(backend: Any, file: Path | CSV, domain: Domain, names: Sequence[str]) -> OpenTable:
    """A CSV or Parquet file."""
    if isinstance(file, CSV):
        table = text.text_table(file, domain, names)
        return OpenTable(text.register(backend, table), backend, table)
    rows = attempt(
        # Escaped, since DuckDB takes names for patterns; and a directory called year=2020 adds no column.
        lambda: backend.read_parquet(glob.escape(str(file)), hive_partitioning=False),
        _damaged(file),
    )
    # The file's own names: where two differ in case only, DuckDB gives one of them another.
    require_columns(names, attempt(lambda: pq.read_schema(file).names, _damaged(file)))
    return OpenTable(rows, backend)


def _damaged(file: Path) -> str:
    return f"{file} cannot be read as Parquet: it is damaged, or something else"
