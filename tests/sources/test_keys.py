"""Keys that nobody declared, counted in every kind of source, beside plain Python."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from rowspace.exceptions import InvalidInput, RowspaceError, SourceError
from rowspace.formats import CSV
from rowspace.privacy import PrivacyUnit
from rowspace.sources import KeyCounts, contributions, count_keys
from tests.sources.kinds import KINDS

ROWS: dict[str, list[Any]] = {
    "town": ["Ü", "a:b", "a", None, "a", "A", "x y", "a", "Ü", 'q"; --', "a", "b"],
    "kind": ["c", "c", "b:c", "d", "b:c", "b:c", "e", None, "c", "f", "b:c", "c"],
    "code": [1, 2, 3, 4, 3, -3, 5, 6, 1, 2**40, 3, 2],
    "who": ["p", "p", "p", "q", "q", "r", "r", "s", None, "t", "p", "u"],
}


def counted(found: KeyCounts) -> dict[tuple[Any, ...], int]:
    keys = list(zip(*(column.to_pylist() for column in found.columns), strict=True))
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, found.counts.tolist(), strict=True))


def rows_of(*columns: str) -> list[tuple[Any, ...]]:
    return list(zip(*(ROWS[name] for name in columns), strict=True))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
@pytest.mark.parametrize("columns", [("town",), ("code",), ("town", "kind"), ("kind", "code")])
def test_keys_are_those_of_plain_python(kind: Any, columns: tuple[str, ...], tmp_path: Path) -> None:
    source, table = kind(ROWS, tmp_path)
    found = counted(count_keys(source, columns, table=table))
    text = isinstance(source, CSV) or ".csv" in str(source)  # a CSV file has no types
    expected = Counter(
        tuple(str(part) if text else part for part in key) for key in rows_of(*columns) if None not in key
    )
    assert found == expected


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
@pytest.mark.parametrize("most", [1, 2, 9])
def test_each_unit_counts_once_in_few_keys(kind: Any, most: int, tmp_path: Path) -> None:
    source, table = kind(ROWS, tmp_path)
    found = counted(count_keys(source, ["town", "kind"], table=table, unit=PrivacyUnit("who", most)))
    owned = defaultdict(set)
    for *key, who in rows_of("town", "kind", "who"):
        if who is not None and None not in key:
            owned[who].add(tuple(key))
    assert sum(found.values()) == sum(min(most, len(keys)) for keys in owned.values())
    if most == 9:
        assert found == Counter(key for keys in owned.values() for key in keys)


def test_one_unit_changes_few_counts_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same key of the choice, whatever the order of the table, and whoever comes or goes."""
    monkeypatch.setattr(contributions.secrets, "token_hex", lambda size: "key")
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"who": rng.integers(0, 12, 200), "town": rng.choice(list("abcdefgh"), 200)})
    for most in (1, 3):
        unit = PrivacyUnit("who", most)
        whole = counted(count_keys(frame, ["town"], unit=unit))
        assert counted(count_keys(frame.sample(frac=1, random_state=1), ["town"], unit=unit)) == whole
        for who in range(12):
            without = Counter(counted(count_keys(frame[frame.who != who], ["town"], unit=unit)))
            change = Counter(whole)
            change.subtract(without)
            assert set(change.values()) <= {0, 1}
            assert sum(change.values()) == most


def test_choices_are_fresh_and_uniform() -> None:
    """3,000 units with three keys each: 1,000 ± 6 · 26 of each, so a false alarm has a chance below 1e-8."""
    frame = pd.DataFrame({"who": np.repeat(np.arange(3000), 4), "town": ["a", "b", "c", "a"] * 3000})
    first, second = (count_keys(frame, ["town"], unit=PrivacyUnit("who", 1)) for _ in range(2))
    assert np.all(np.abs(first.counts - 1000) < 160)
    assert counted(first) != counted(second)


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_texts_are_told_apart_whatever_the_collation(engine: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{engine}"
    connect: Any = duckdb.connect if engine == "duckdb" else sqlite3.connect
    with closing(connect(str(path))) as database:
        database.execute("CREATE TABLE t (town VARCHAR COLLATE NOCASE, who VARCHAR COLLATE NOCASE)")
        rows = [("Flu", "p"), ("flu", "q"), ("flu", "Q"), ("FLU", "r"), ("flu", "P")]
        database.executemany("INSERT INTO t VALUES (?, ?)", rows)
        if engine == "sqlite":
            database.commit()
    assert counted(count_keys(path, ["town"], table="t")) == {("Flu",): 1, ("flu",): 3, ("FLU",): 1}
    # The units are the engine's: p and P are one, with two keys.
    found = counted(count_keys(path, ["town"], table="t", unit=PrivacyUnit("who", 5)))
    assert found == {("Flu",): 1, ("flu",): 2, ("FLU",): 1}


def test_a_csv_file_is_read_as_it_is_declared(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("town\n Flu\nflu \nNA\n\nFLU\nx\n")
    declared = CSV(path, strip=True, ignore_case=True, nulls=["NA"])
    assert counted(count_keys(declared, ["town"])) == {("flu",): 3, ("x",): 1}


def test_booleans_and_columns_without_values() -> None:
    assert counted(count_keys(pa.table({"old": [True, None, False, True]}), ["old"])) == {
        (True,): 2,
        (False,): 1,
    }
    assert counted(count_keys(pa.table({"town": pa.array([None, None], pa.string())}), ["town"])) == {}
    assert counted(count_keys(pa.table({"town": pa.nulls(2)}), ["town"])) == {}
    assert counted(count_keys(pa.table({"code": pa.array([], pa.int32())}), ["code"])) == {}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pa.array([1.5]), "a floating-point number"),
        (pa.array(["1.5"]).cast(pa.decimal128(5, 2)), "a decimal"),
        (pa.array([0], pa.int32()).cast(pa.date32()), "a date"),
        (pa.array([0]).cast(pa.timestamp("us")), "a timestamp"),
        (pa.array([1], pa.uint64()), "an integer"),
        (pa.array([[1]]), "a nested type"),
        (pa.array([b"x"]), "binary data"),
    ],
)
def test_other_types_are_refused(values: pa.Array, kind: str) -> None:
    with pytest.raises(SourceError, match=f"column 'x' must hold text.*got {kind}"):
        count_keys(pa.table({"x": values}), ["x"])


def test_no_error_quotes_data(tmp_path: Path) -> None:
    path = tmp_path / "rows.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t (code INTEGER)")
        database.executemany("INSERT INTO t VALUES (?)", [(1,), ("secret",)])
        database.commit()
    for wrong in (
        lambda: count_keys(path, ["code"], table="t"),
        lambda: count_keys(pa.table({"secret": ["secret"]}), ["town"]),
        lambda: count_keys(pa.table({"x": ["secret"], "who": [[1]]}), ["x"], unit=PrivacyUnit("who", 1)),
    ):
        with pytest.raises(RowspaceError) as caught:
            wrong()
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None


def test_counts_are_no_records() -> None:
    with pytest.raises(InvalidInput, match="table of records"):
        count_keys([1, 2, 3], ["town"])
    with pytest.raises(RowspaceError, match="town"):
        count_keys(pa.table({"town": ["a"]}), ["town", "town"])
