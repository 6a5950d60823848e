"""Every kind of source, built from the same rows: `KINDS` is the catalogue that the common suite walks."""

from __future__ import annotations

import csv
import gzip
import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from tests.sources.oracle import Rows

#: The name of the table in every database: it must be quoted to be right.
TABLE = 'people"; DROP TABLE x; -- ü'

Source = tuple[Any, str | None]


def arrow(rows: Rows) -> pa.Table:
    return pa.table({name: pa.array(values) for name, values in rows.items()})


def write_csv(rows: Rows, path: Path, delimiter: str = ",") -> Path:
    opener: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(rows)
        writer.writerows(
            ["" if cell is None else cell for cell in row] for row in zip(*rows.values(), strict=True)
        )
    return path


def from_csv(rows: Rows, folder: Path) -> Source:
    return str(write_csv(rows, folder / "rows.csv")), None


def from_gzipped_csv(rows: Rows, folder: Path) -> Source:
    return write_csv(rows, folder / "rows.csv.gz", delimiter=";"), None


def from_parquet(rows: Rows, folder: Path) -> Source:
    pq.write_table(arrow(rows), folder / "rows[1]*.parquet")
    return folder / "rows[1]*.parquet", None


def from_pandas(rows: Rows, folder: Path) -> Source:
    return pd.DataFrame(dict(rows)), None


def from_polars(rows: Rows, folder: Path) -> Source:
    return pl.from_arrow(arrow(rows)), None


def from_lazy_polars(rows: Rows, folder: Path) -> Source:
    return pl.LazyFrame(pl.from_arrow(arrow(rows))), None


def from_arrow(rows: Rows, folder: Path) -> Source:
    return arrow(rows), None


def from_dictionary_arrow(rows: Rows, folder: Path) -> Source:
    table = arrow(rows)
    encoded = [c.dictionary_encode() if pa.types.is_string(c.type) else c for c in table.columns]
    return pa.table(dict(zip(table.column_names, encoded, strict=True))), None


def from_ibis_memtable(rows: Rows, folder: Path) -> Source:
    return ibis.memtable(arrow(rows)), None


def from_ibis_query(rows: Rows, folder: Path) -> Source:
    connection = ibis.duckdb.connect(write_duckdb(rows, folder / "query.duckdb"))
    with warnings.catch_warnings():
        # Ibis 12 calls a method that DuckDB 2 deprecates; here as the user, outside rowspace.
        warnings.simplefilter("ignore", DeprecationWarning)
        return connection.table(TABLE).filter(ibis.literal(True)), None


def write_duckdb(rows: Rows, path: Path) -> Path:
    with duckdb.connect(str(path)) as connection:
        connection.register("incoming", arrow(rows))
        quoted = TABLE.replace('"', '""')
        connection.execute(f'CREATE TABLE "{quoted}" AS SELECT * FROM incoming')
    return path


def from_duckdb_path(rows: Rows, folder: Path) -> Source:
    return write_duckdb(rows, folder / "rows.duckdb"), TABLE


def from_duckdb_url(rows: Rows, folder: Path) -> Source:
    return f"duckdb://{write_duckdb(rows, folder / 'rows.db')}", TABLE


def from_sqlite_url(rows: Rows, folder: Path) -> Source:
    def quote(name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def sql_type(column: pa.ChunkedArray) -> str:
        return (
            "TEXT"
            if pa.types.is_string(column.type)
            else "INTEGER"
            if pa.types.is_integer(column.type)
            else "REAL"
        )

    table = arrow(rows)
    columns = ", ".join(f"{quote(name)} {sql_type(table[name])}" for name in table.column_names)
    connection = sqlite3.connect(folder / "rows.sqlite")
    connection.execute(f"CREATE TABLE {quote(TABLE)} ({columns})")
    marks = ", ".join("?" * len(rows))
    connection.executemany(f"INSERT INTO {quote(TABLE)} VALUES ({marks})", zip(*rows.values(), strict=True))
    connection.commit()
    connection.close()
    return f"sqlite://{folder / 'rows.sqlite'}", TABLE


KINDS: dict[str, Callable[[Rows, Path], Source]] = {
    "csv": from_csv,
    "csv.gz": from_gzipped_csv,
    "parquet": from_parquet,
    "pandas": from_pandas,
    "polars": from_polars,
    "polars lazy": from_lazy_polars,
    "arrow": from_arrow,
    "arrow dictionary": from_dictionary_arrow,
    "ibis memtable": from_ibis_memtable,
    "ibis query": from_ibis_query,
    "duckdb path": from_duckdb_path,
    "duckdb url": from_duckdb_url,
    "sqlite url": from_sqlite_url,
}
