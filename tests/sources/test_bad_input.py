"""Each mistake gets one clear error, and leaves nothing behind."""

from __future__ import annotations

import datetime
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import InvalidInput, SourceError
from rowspace.sources import count_cells
from rowspace.study import check
from tests.sources.kinds import KINDS

NUMBER = Domain(x=Numeric(0, 10, bins=5))
TEXT = Domain(x=Categorical(["a"]))
INTEGER = Domain(x=Categorical([1]))
BOOLEAN = Domain(x=Categorical([True]))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("missing.csv", "got nothing there"),
        ("missing.parquet", "got nothing there"),
        ("missing.duckdb", "got nothing at"),
        ("missing.sqlite", "got nothing at"),
        ("duckdb://missing.db", "got nothing at"),
        ("sqlite://missing.db", "got nothing at"),
        ("folder.csv", "expected files at folder.csv, got none"),
        ("people.xlsx", "does not tell its format"),
        ("people", "does not tell its format"),
        ("damaged.parquet", "cannot be read as Parquet"),
        ("damaged.duckdb", "cannot be opened as a duckdb database"),
        ("nosuchengine://host/db", "cannot connect to a database of kind 'nosuchengine'"),
    ],
)
def test_paths_and_urls(source: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder.csv").mkdir()
    for name in ("damaged.parquet", "damaged.duckdb"):
        (tmp_path / name).write_bytes(b"neither this nor that" * 1000)
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(SourceError, match=message):
        count_cells(source, NUMBER, table="people" if "://" in source or "db" in source else None)
    assert sorted(tmp_path.iterdir()) == before


def test_parquet_cut_short(tmp_path: Path) -> None:
    whole = tmp_path / "whole.parquet"
    pd.DataFrame({"x": np.arange(1000)}).to_parquet(whole)
    (tmp_path / "cut.parquet").write_bytes(whole.read_bytes()[:-100])
    with pytest.raises(SourceError, match="cannot be read as Parquet"):
        count_cells(tmp_path / "cut.parquet", NUMBER)


def test_parquet_damaged_inside(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pd.DataFrame({"x": np.random.default_rng(1).random(1000)}).to_parquet(path)
    content = bytearray(path.read_bytes())
    content[4:200] = b"\xff" * 196
    path.write_bytes(content)
    with pytest.raises(SourceError, match="could not be counted"):
        count_cells(path, NUMBER)


@pytest.mark.parametrize("kind", ["arrow", "pandas", "ibis memtable", "csv"])
def test_missing_column_names_close_ones(kind: str, tmp_path: Path) -> None:
    source, _ = KINDS[kind]({"X": [1], "y": ["a"]}, tmp_path)
    with pytest.raises(SourceError, match=r"expected a column 'x'.*did you mean 'X'"):
        count_cells(source, Domain(x=Numeric(0, 10, bins=5), y=Categorical(["a"])))


def test_column_given_twice() -> None:
    frame = pd.DataFrame([[1, 2]], columns=["x", "x"])
    with pytest.raises(SourceError, match="expected one column 'x', got 2"):
        count_cells(frame, NUMBER)


@pytest.mark.parametrize(
    ("domain", "values", "message"),
    [
        (NUMBER, ["1"], "column 'x' must hold numbers.*got text"),
        (NUMBER, [True], "must hold numbers.*boolean"),
        (NUMBER, [datetime.date(2020, 1, 1)], "must hold numbers.*date"),
        (NUMBER, [[1]], "must hold numbers.*nested type"),
        (TEXT, [1], "must hold text.*got an integer"),
        (TEXT, [b"a"], "must hold text.*binary"),
        (INTEGER, ["1"], "must hold integers.*got text"),
        (INTEGER, [True], "must hold integers.*boolean"),
        (BOOLEAN, [1], "must hold booleans.*got an integer"),
        (BOOLEAN, ["true"], "must hold booleans.*got text"),
    ],
)
def test_column_of_the_wrong_type(domain: Domain, values: list[Any], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        count_cells(pa.table({"x": values}), domain)


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_tables_of_a_database(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{kind}"
    connection: Any = duckdb.connect(str(path)) if kind == "duckdb" else sqlite3.connect(path)
    connection.execute("CREATE TABLE people (x INTEGER)")
    connection.close()
    assert count_cells(path, INTEGER, table="people").tolist() == [0]
    with pytest.raises(SourceError, match="table="):
        count_cells(path, INTEGER)
    for name in ("persons", "nowhere.people", "people; DROP TABLE people", ""):
        # SQLite knows the columns of a table whatever its schema is called, and fails only when it counts.
        with pytest.raises(SourceError, match=r"expected a table|could not be counted"):
            count_cells(path, INTEGER, table=name)
    assert count_cells(path, INTEGER, table="people").tolist() == [0]


@pytest.mark.parametrize(
    "source", [None, 3, {"x": [1]}, object(), b"people.csv"], ids=lambda s: type(s).__name__
)
def test_something_else(source: object) -> None:
    with pytest.raises(InvalidInput, match="expected a path"):
        count_cells(source, NUMBER)


def test_an_ibis_table_without_a_database() -> None:
    with pytest.raises(SourceError):
        count_cells(ibis.table({"x": "int64"}, name="people"), NUMBER)


def test_something_else_for_a_domain() -> None:
    with pytest.raises(InvalidInput, match="expected a Domain, got dict"):
        count_cells([1], {"x": 1})  # type: ignore[arg-type]


# Tables of DuckDB and SQLite have no such columns.
FOLDING = ("ibis query", "duckdb path", "duckdb url", "sqlite url")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in FOLDING])
@pytest.mark.parametrize("names", [("age", "AGE"), ("AGE", "age")])
def test_columns_that_differ_in_case_only_are_refused(
    kind: str, names: tuple[str, str], tmp_path: Path
) -> None:
    """DuckDB reads one for the other, and gives one of a Parquet file a new name."""
    source, _ = KINDS[kind]({names[0]: [1], names[1]: [2], "sex": ["F"]}, tmp_path)
    age = Domain(age=Numeric(0, 4, bins=4))
    with pytest.raises(SourceError, match="differs in case only"):
        count_cells(source, age)
    assert not check(age, source).accepted
    assert count_cells(source, Domain(sex=Categorical(["F"]))).tolist() == [1]
