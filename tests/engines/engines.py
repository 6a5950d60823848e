"""The engines side by side: each takes rows and gives a source, the same for all that is asked of it."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import pyarrow as pa

from tests.engines.postgres import PostgresServer

#: What is stored: by the names that the declarations below use.
Types = Mapping[str, str]
Rows = Sequence[tuple[Any, ...]]


class Engine(ABC):
    """A place for tables. Types are "integer", "number", "text", "boolean", "date", "time" and "zoned time"."""

    name: str
    longest_name: int

    @abstractmethod
    def fill(self, table: str, types: Types, rows: Rows) -> None:
        """Make a table."""

    @property
    @abstractmethod
    def source(self) -> str:
        """The address that rowspace is given."""


@dataclass
class DuckDB(Engine):
    path: Path
    name = "duckdb"
    longest_name = 1000
    _sql: ClassVar = {"integer": "BIGINT", "number": "DOUBLE", "text": "VARCHAR", "boolean": "BOOLEAN"} | {
        "date": "DATE",
        "time": "TIMESTAMP",
        "zoned time": "TIMESTAMPTZ",
    }

    def fill(self, table: str, types: Types, rows: Rows) -> None:
        def quote(name: str) -> str:
            return '"' + name.replace('"', '""') + '"'

        columns = ", ".join(f"{quote(name)} {self._sql[kind]}" for name, kind in types.items())
        with duckdb.connect(str(self.path)) as connection:
            connection.execute(f"CREATE TABLE {quote(table)} ({columns})")
            if rows:
                arrays = [pa.array(values) for values in zip(*rows, strict=True)]
                connection.register("incoming", pa.table(arrays, names=[f"c{i}" for i in range(len(types))]))
                connection.execute(f"INSERT INTO {quote(table)} SELECT * FROM incoming")

    @property
    def source(self) -> str:
        return f"duckdb://{self.path}"


@dataclass
class Postgres(Engine):
    server: PostgresServer
    name = "postgres"
    longest_name = 63
    _sql: ClassVar = {
        "integer": "bigint",
        "number": "double precision",
        "text": "text",
        "boolean": "boolean",
    } | {
        "date": "date",
        "time": "timestamp",
        "zoned time": "timestamptz",
    }

    def fill(self, table: str, types: Types, rows: Rows) -> None:
        self.server.fill(table, {name: self._sql[kind] for name, kind in types.items()}, list(rows))

    @property
    def source(self) -> str:
        return self.server.url()


@dataclass
class Spark(Engine):
    session: Any
    name = "spark"
    longest_name = 255

    def fill(self, table: str, types: Types, rows: Rows) -> None:
        # Rows through Python, not pandas, which would turn NULL into NaN.
        from pyspark.sql import types as spark

        kinds = {
            "integer": spark.LongType(),
            "number": spark.DoubleType(),
            "text": spark.StringType(),
            "boolean": spark.BooleanType(),
            "date": spark.DateType(),
            "time": spark.TimestampNTZType(),
            "zoned time": spark.TimestampType(),
        }
        schema = spark.StructType([spark.StructField(name, kinds[kind]) for name, kind in types.items()])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            quoted = "`" + table.replace("`", "``") + "`"
            self.session.createDataFrame(list(rows), schema).createOrReplaceTempView(quoted)

    @property
    def source(self) -> str:
        return "pyspark://"
