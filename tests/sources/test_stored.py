"""SQLite: every value has a type of its own, and is found out where it is not what the column is declared to hold."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rowspace.domain import Attribute, Categorical, Dates, Domain, HourOfDay, Numeric
from rowspace.exceptions import SourceError
from rowspace.sources import count_cells
from rowspace.sources.drafting import sketch_columns
from rowspace.study import check

NUMBERS, INTEGERS = Numeric(0, 50, bins=5), Categorical([0, 42])
TEXT, BOOLEANS = Categorical(["a", "42"]), Categorical([True, False])
DAYS = Dates("2024-01-01", "2024-04-01", every="month")


def database(folder: Path, declared: str, *values: Any) -> Path:
    path = folder / "rows.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE people (x {declared})")
        connection.executemany("INSERT INTO people VALUES (?)", [(value,) for value in values])
    return path


@pytest.mark.parametrize(
    ("declared", "attribute", "good", "bad", "shown"),
    [
        ("INTEGER", NUMBERS, 42, "42abc", "42abc"),
        ("INTEGER", NUMBERS, 42, "abc", "abc"),
        ("INTEGER", NUMBERS, 42, b"7", "binary data"),
        ("REAL", NUMBERS, 4.2, "4.2x", "4.2x"),
        ("REAL", NUMBERS, 4.2, b"\xff", "binary data"),
        ("NUMERIC", NUMBERS, 4.2, "NA", "NA"),
        ("DECIMAL(10, 2)", NUMBERS, 4.2, "4,2", "4,2"),
        ("INTEGER", INTEGERS, 42, "42abc", "42abc"),
        ("REAL", INTEGERS, 42.0, "", ""),
        ("BOOLEAN", BOOLEANS, True, "yes", "yes"),
        ("TEXT", TEXT, "a", b"a", "binary data"),
        ("DATE", DAYS, "2024-02-03", "2024-02-30", "2024-02-30"),
        ("DATE", DAYS, "2024-02-03", 1_704_067_200, "1704067200"),
        ("TIMESTAMP", HourOfDay(), "2024-02-03 10:30:00.123456", "soon", "soon"),
        ("TIMESTAMP", HourOfDay(), "2024-02-03T10:30:00", b"\xff", "binary data"),
        ("TEXT", DAYS, "2024-02-03", b"2024-02-03", "binary data"),
    ],
)
def test_a_value_of_another_type_is_found_and_refused(
    declared: str, attribute: Attribute, good: Any, bad: Any, shown: str, tmp_path: Path
) -> None:
    """SQLite counted text as its numeric prefix, else as 0, and February 30 as March 1."""
    domain = Domain(x=attribute)
    source = database(tmp_path, declared, good, None, bad, good, bad)
    with pytest.raises(SourceError, match=r"got values that cannot be read so; clean the column in a view"):
        count_cells(source, domain, table="people")
    found = check(domain, source, table="people")
    assert not found.accepted
    [column] = found.columns
    assert (column.known, column.missing, column.unreadable) == (2, 1, 2)
    assert column.values == ((shown, 2),)
    with closing(sqlite3.connect(source)) as connection, connection:
        connection.execute("UPDATE people SET x = NULL WHERE typeof(x) != typeof(?) OR x = ?", (good, bad))
    assert count_cells(source, domain, table="people").sum() == 2
    assert check(domain, source, table="people").accepted


@pytest.mark.parametrize("declared", ["", "STRING", "VARCHAR(5)", "TEXT"])
def test_numbers_in_a_column_of_text_are_their_text(declared: str, tmp_path: Path) -> None:
    source = database(tmp_path, declared, "a", 42, "42", None)
    assert count_cells(source, Domain(x=TEXT), table="people").tolist() == [1, 2]


def test_a_sketch_is_of_what_can_be_read(tmp_path: Path) -> None:
    [sketch] = sketch_columns(database(tmp_path, "INTEGER", 17, 42, "abc", "99x"), table="people")
    assert (sketch.kind, sketch.low, sketch.high) == ("numbers", 17, 42)
