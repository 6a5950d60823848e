"""Drafts: what a look at the data finds, and the study it suggests."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rowspace import sample
from rowspace.domain import Categorical, Numeric
from rowspace.exceptions import InvalidStudy, SourceError
from rowspace.sources.drafting import ColumnSketch, sketch_columns
from rowspace.study import Study, draft_study

CSV = "age;share;sex;note;empty;born\n3;0.5;F;x y;;2020-01-01\n17;-1.25;M;;;2020-01-02\n90;0;F;z;;\n"


def sketches(path: Path, table: str | None = None) -> dict[str, ColumnSketch]:
    return {column.name: column for column in sketch_columns(path, table=table)}


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(CSV)
    found = sketches(path)
    assert (found["age"].kind, found["age"].low, found["age"].high, found["age"].whole) == (
        "numbers",
        3,
        90,
        True,
    )
    assert (found["share"].low, found["share"].high, found["share"].whole) == (-1.25, 0.5, False)
    assert found["sex"].values == ("F", "M")
    assert found["empty"].kind == "empty"
    assert found["born"].kind == "times"


def test_parquet_with_everything(tmp_path: Path) -> None:
    columns = {
        "many": pa.array([f"id {i}" for i in range(200)]),
        "flag": pa.array([True, None] * 100),
        "hole": pa.array([None, float("nan"), float("inf"), 2.5] * 50),
        "date": pa.array(pd.date_range("2020", periods=200)),
        "nulls": pa.nulls(200),
        "a\nb": pa.array(range(200)),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    found = sketches(tmp_path / "a.parquet")
    assert {name: column.kind for name, column in found.items()} == {
        "many": "many",
        "flag": "booleans",
        "hole": "numbers",
        "date": "times",
        "nulls": "other",
        "a\nb": "unnamed",
    }
    assert found["hole"].low == found["hole"].high == 2.5


def test_a_database_table(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.sqlite") as connection:
        connection.execute("create table people (age integer, sex text)")
        connection.executemany("insert into people values (?, ?)", [(1, "F"), (40, "M")])
    connection.close()
    found = sketches(tmp_path / "a.sqlite", "people")
    assert found["age"].high == 40
    assert found["sex"].values == ("F", "M")


@pytest.mark.parametrize(
    "name", ["nothing.csv", "nothing.parquet", "nothing.xyz", "nothing.duckdb", "bad.parquet"]
)
def test_sources_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "bad.parquet").write_bytes(b"no parquet")
    with pytest.raises(SourceError):
        sketch_columns(tmp_path / name)


def test_a_file_without_header_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("")
    with pytest.raises(SourceError):
        sketch_columns(tmp_path / "a.csv")


def number(low: float, high: float, whole: bool = True) -> Numeric:
    text = draft_study([ColumnSketch("x", "numbers", "int64", low, high, whole)], "x")
    attribute = Study.parse(text).domain["x"]
    assert isinstance(attribute, Numeric)
    assert attribute.low <= low
    assert high < attribute.high
    return attribute


def test_bins_are_round_and_cover_the_data() -> None:
    assert number(0, 99) == Numeric(0, 100, bins=100, integer=True)
    assert number(1, 8) == Numeric(1, 9, bins=8, integer=True)
    assert number(0, 199_999) == Numeric(0, 200_000, bins=20, integer=True)
    assert number(0, 199_999, whole=False) == Numeric(0, 200_000, bins=20)
    assert not number(1e18, 3e18).integer
    assert number(0.05, 0.95, whole=False).edges.tolist()[:3] == [0.05, 0.1, 0.15]
    for low, high in [(-1e9, 3.0), (5.0, 5.0), (0.0, 0.0), (-7.5, -7.25), (1e-9, 2e-9), (1e18, 3e18)]:
        assert number(low, high, whole=False).size <= 64


def test_numbers_beyond_measure_are_left_out() -> None:
    columns = [
        ColumnSketch("x", "numbers", "float64", -1e308, 1e308),
        ColumnSketch("sex", "text", "text", values=("F", 'quote " and \n')),
    ]
    text = draft_study(columns, "x")
    assert "Left out: 'x'" in text
    assert Study.parse(text).domain["sex"] == Categorical(["F", 'quote " and \n'])


def test_nothing_to_draft() -> None:
    with pytest.raises(InvalidStudy, match="no column can be drafted"):
        draft_study([ColumnSketch("x", "many", "text")], "x")


def test_the_draft_warns_and_asks_what_is_affordable() -> None:
    text = draft_study(sketch_columns(sample.people_path()), "people")
    assert "DRAFT, NOT FOR PUBLICATION" in text.splitlines()[0]
    assert "for the curator only" in text
    assert text.count("TODO: ") == 6
    study = Study.parse(text)
    assert study.workload.reduced().domain.size <= 20_000
    assert '# ranges = "income"' in text
