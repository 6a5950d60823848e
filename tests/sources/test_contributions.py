"""Contribution bounds: at most so many rows of each unit, chosen freshly, by the unit's own rows alone."""

from __future__ import annotations

import datetime
import decimal
import sqlite3
import warnings
from collections import Counter
from contextlib import closing
from pathlib import Path

import duckdb
import ibis
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import InvalidInput, SourceError
from rowspace.privacy import PrivacyUnit
from rowspace.sources import contributions, count_cells
from rowspace.sources.databases import embedded_duckdb
from tests.sources.kinds import KINDS

DOMAIN = Domain(age=Numeric(0, 4, bins=4), sex=Categorical(["F", "M"]))
ROWS = {
    "age": [0, 0, 1, 2, 3, 3, 9, 1, 1, None, 2, 2, 0],
    "sex": ["F", "F", "M", "F", "M", "M", "F", "F", "x", "F", "M", "F", "M"],
    "who": ["a", "a", "a", "a", "b", "b", "b", "c", "c", "d", None, None, 'e"; --'],
}


def owned(rows: dict[str, list[object]]) -> Counter[object]:
    """How many rows inside the domain each unit has, in plain Python."""
    return Counter(
        who
        for age, sex, who in zip(rows["age"], rows["sex"], rows["who"], strict=True)
        if who is not None and age is not None and 0 <= age < 4 and sex in ("F", "M")  # type: ignore[operator]
    )


@pytest.mark.parametrize(
    ("kind", "most"), [*((kind, 2) for kind in KINDS), *((next(iter(KINDS)), most) for most in (1, 100))]
)
def test_no_unit_has_more_rows_than_allowed(kind: str, most: int, tmp_path: Path) -> None:
    """In every kind of source: with the unit as an attribute, its own counts are at most the bound, and reach it."""
    source, table = KINDS[kind](ROWS, tmp_path)
    domain = Domain(
        age=Numeric(0, 4, bins=4),
        sex=Categorical(["F", "M"]),
        who=Categorical(["a", "b", "c", "d", 'e"; --']),
    )
    counts = count_cells(source, domain, table=table, unit=PrivacyUnit("who", most)).sum(axis=(0, 1))
    wanted = owned(ROWS)
    assert counts.tolist() == [min(most, wanted[who]) for who in domain["who"].values]
    unseen = count_cells(source, DOMAIN, table=table, unit=PrivacyUnit("who", most))
    assert unseen.sum() == counts.sum()
    if most == 100:
        without = {
            n: [v for v, w in zip(c, ROWS["who"], strict=True) if w is not None] for n, c in ROWS.items()
        }
        np.testing.assert_array_equal(unseen, count_cells(pa.table(without), DOMAIN))


units = st.lists(
    st.tuples(st.integers(-1, 4), st.sampled_from(["F", "M", "x"]), st.integers(0, 4)), max_size=25
)


@settings(max_examples=25, deadline=None)
@given(units, st.integers(1, 3), st.integers(0, 4))
def test_one_unit_changes_at_most_its_rows(
    records: list[tuple[int, str, int]], most: int, removed: int
) -> None:
    """With the same key, removing a unit removes at most so many counts and adds none."""
    key = contributions.secrets
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key, "token_hex", lambda size: "the same key")
        unit = PrivacyUnit("who", most)
        before = count_cells(table_of(records), DOMAIN, unit=unit)
        after = count_cells(table_of([r for r in records if r[2] != removed]), DOMAIN, unit=unit)
    assert (before - after).min() >= 0
    assert (before - after).sum() <= most


def table_of(records: list[tuple[int, str, int]]) -> pa.Table:
    types = {"age": pa.int64(), "sex": pa.string(), "who": pa.int64()}
    return pa.table({n: pa.array([r[i] for r in records], t) for i, (n, t) in enumerate(types.items())})


def test_a_choice_depends_on_the_unit_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same key, the same unit: the same choice, in whatever order and company its rows come."""
    monkeypatch.setattr(contributions.secrets, "token_hex", lambda size: "the same key")
    rng = np.random.default_rng(1)
    own = [(int(age), "F", 1) for age in [0, 0, 1, 2, 2, 2, 3]]
    alone = count_cells(table_of(own), DOMAIN, unit=PrivacyUnit("who", 3))
    for _ in range(4):
        others = [(int(a), "M", 2 + int(w)) for a, w in rng.integers(0, 4, (30, 2))]
        shuffled = [[*own, *others][i] for i in rng.permutation(len(own) + len(others))]
        both = count_cells(table_of(shuffled), DOMAIN, unit=PrivacyUnit("who", 3))
        np.testing.assert_array_equal(both[:, 0], alone[:, 0])


def test_choices_are_fresh_and_uniform() -> None:
    """One row of a unit with three in one cell and one in another: the cells are chosen as 3 to 1.

    1,200 units of four rows in one call, and 12 calls for freshness. False alarm: the number of first cells is
    binomial with deviation 15; 6 deviations are passed with probability 2e-9. That 12 choices of 4 agree: 2e-7.
    """
    many = [(age, "F", who) for who in range(1200) for age in (0, 0, 0, 1)]
    counts = count_cells(table_of(many), DOMAIN, unit=PrivacyUnit("who", 1))
    assert counts.sum() == 1200
    assert abs(int(counts[0, 0]) - 900) < 6 * 15
    four = table_of([(age, "F", 1) for age in range(4)])
    choices = {count_cells(four, DOMAIN, unit=PrivacyUnit("who", 1)).tobytes() for _ in range(12)}
    assert len(choices) > 1


def test_every_query_about_the_same_rows_sees_the_same_choice() -> None:
    backend = embedded_duckdb()
    rows = ibis.memtable(pa.table({"unit": ["a"] * 50, "code0": list(range(50))}))
    kept = contributions.bounded(rows, PrivacyUnit("unit", 5), backend)
    found = [sorted(backend.to_pyarrow(kept)["code0"].to_pylist()) for _ in range(3)]
    backend.disconnect()
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 5


def test_rows_without_a_unit_are_dropped_without_a_word() -> None:
    rows = pa.table({"age": [0, 1], "sex": ["F", "M"], "who": pa.nulls(2, pa.string())})
    assert count_cells(rows, DOMAIN, unit=PrivacyUnit("who", 1)).sum() == 0
    assert count_cells(rows.set_column(2, "who", pa.nulls(2)), DOMAIN, unit=PrivacyUnit("who", 1)).sum() == 0


def test_units_of_every_type() -> None:
    for first, second in (
        (1, 2),
        (1.0, 2.0),
        (True, False),
        (datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)),
        (decimal.Decimal("1.5"), decimal.Decimal("2.5")),
    ):
        rows = pa.table({"age": [0, 0, 0], "sex": ["F"] * 3, "who": [first, first, second]})
        assert count_cells(rows, DOMAIN, unit=PrivacyUnit("who", 1)).sum() == 2


@pytest.mark.parametrize(
    ("declared", "one", "other"),
    [
        ("REAL", 0.1234567890123456, 0.1234567890123457),  # the same text in SQLite, which writes 15 digits
        ("", 1, "1"),
        ("TEXT", "a", "A"),
    ],
)
def test_units_are_told_apart_by_value_not_by_text(
    declared: str, one: object, other: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were two units bounded together, one's leaving would let in rows of the other: a change of twice the bound."""
    rows = [(age, one) for age in (0, 1, 0)] + [(age, other) for age in (2, 3, 2)]
    for key in "abcdef":
        monkeypatch.setattr(contributions.secrets, "token_hex", lambda size, key=key: key)
        both, alone = (
            sqlite_counts(tmp_path / f"{key}{len(part)}.sqlite", declared, part) for part in (rows, rows[3:])
        )
        assert both.tolist()[2:] == alone.tolist()[2:]
        assert (both - alone).sum() == 2


@pytest.mark.parametrize(
    ("declared", "one", "other"), [("TEXT COLLATE NOCASE", "a", "A"), ("REAL", 0.0, -0.0)]
)
def test_one_unit_of_several_texts(declared: str, one: object, other: object, tmp_path: Path) -> None:
    """What is equal in the column is one unit."""
    rows = [(0, one)] * 3 + [(1, other)] * 3
    assert sqlite_counts(tmp_path / "people.sqlite", declared, rows).sum() == 2


@pytest.mark.parametrize(
    ("units", "other"),
    [
        (list(range(30)), 2.5),
        ([decimal.Decimal(number) / 2 for number in range(30)], decimal.Decimal("2.25")),
        ([decimal.Decimal(2**60 + number) for number in range(30)], decimal.Decimal("0." + "3" * 18)),
    ],
)
def test_a_unit_that_changes_the_type_of_the_column_changes_no_choice(
    units: list[object], other: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python objects in a pandas frame are integers until one is a float: Arrow takes the type that fits them all."""
    monkeypatch.setattr(contributions.secrets, "token_hex", lambda size: "the same key")
    ages = [number % 4 for number in range(120)]
    domain, unit = Domain(age=Numeric(0, 4, bins=4)), PrivacyUnit("who", 1)
    rows = pd.DataFrame({"age": ages, "who": pd.Series(units * 4, dtype=object)})
    more = pd.DataFrame({"age": [*ages, 0], "who": pd.Series([*units * 4, other], dtype=object)})
    assert (count_cells(more, domain, unit=unit) - count_cells(rows, domain, unit=unit)).tolist() == [
        1,
        0,
        0,
        0,
    ]


def test_large_numbers_in_a_column_of_floats_are_chosen_from_as_integers_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One record without a unit turns a pandas column of integers into floats: nobody's choice may change."""
    monkeypatch.setattr(contributions.secrets, "token_hex", lambda size: "the same key")
    ages, units = [number % 4 for number in range(120)], [2**60 + 4096 * number for number in range(30)] * 4
    domain, unit = Domain(age=Numeric(0, 4, bins=4)), PrivacyUnit("who", 1)
    rows = pd.DataFrame({"age": ages, "who": units})
    more = pd.DataFrame({"age": [*ages, 0], "who": [*units, None]})
    assert (rows.who.dtype, more.who.dtype) == (np.int64, np.float64)
    assert np.array_equal(count_cells(more, domain, unit=unit), count_cells(rows, domain, unit=unit))


def test_zeros_of_both_signs_are_one_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the choice among its rows does not depend on their order."""
    monkeypatch.setattr(contributions.secrets, "token_hex", lambda size: "the same key")
    ages, who = np.array([0, 0, 0, 1, 1, 2, 2, 3]), np.array([0.0, -0.0, 0.0, -0.0, 0.0, 0.0, -0.0, -0.0])
    found = set()
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(len(ages))
        rows = pa.table({"age": ages[order], "sex": ["F"] * len(ages), "who": who[order]})
        counts = count_cells(rows, DOMAIN, unit=PrivacyUnit("who", 3))
        assert counts.sum() == 3
        found.add(counts.tobytes())
    assert len(found) == 1


@pytest.mark.parametrize("most", [1, 3])
def test_a_collation_leaves_no_choice_to_the_order_of_the_table(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """u and U are one unit here: were they equal rows as well, a sort of the whole table would decide among them."""
    monkeypatch.setattr(contributions.secrets, "token_hex", lambda size: "the same key")
    records = [
        (age, who)
        for u in "abcdef"
        for age, who in zip((0, 0, 0, 1, 1, 2, 3), 3 * (u + u.upper()) + u, strict=True)
    ]
    found = set()
    for seed in range(5):
        path = tmp_path / f"{seed}.duckdb"
        with duckdb.connect(path) as connection:
            connection.execute("CREATE TABLE people (age INTEGER, who VARCHAR COLLATE NOCASE)")
            order = np.random.default_rng(seed).permutation(len(records)).tolist()
            connection.executemany("INSERT INTO people VALUES (?, ?)", [records[i] for i in order])
        counts = count_cells(
            path, Domain(age=Numeric(0, 4, bins=4)), table="people", unit=PrivacyUnit("who", most)
        )
        assert counts.sum() == 6 * most
        found.add(counts.tobytes())
    assert len(found) == 1


def sqlite_counts(path: Path, declared: str, rows: list[tuple[int, object]]) -> npt.NDArray[np.int64]:
    """Counts by age with at most two rows of each unit."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE people (age INTEGER, who {declared})")
        connection.executemany("INSERT INTO people VALUES (?, ?)", rows)
        connection.commit()
    domain = Domain(age=Numeric(0, 4, bins=4))
    return count_cells(path, domain, table="people", unit=PrivacyUnit("who", 2))


def test_what_cannot_be_a_unit() -> None:
    rows = pa.table({"age": [0], "sex": ["F"], "who": [{"SECRET": 1}], "raw": [b"x"]})
    rows = rows.append_column("span", pa.array([datetime.timedelta(seconds=1)]))
    with pytest.raises(SourceError, match="'nobody'"):
        count_cells(rows, DOMAIN, unit=PrivacyUnit("nobody", 1))
    for column in ("who", "raw", "span"):
        with pytest.raises(SourceError, match=f"{column!r} is the privacy unit") as caught:
            count_cells(rows, DOMAIN, unit=PrivacyUnit(column, 1))
        assert "SECRET" not in str(caught.value)
    with pytest.raises(InvalidInput, match="array of counts"):
        count_cells(np.zeros(8, np.int64), DOMAIN, unit=PrivacyUnit("who", 1))


def test_a_source_that_changes_is_refused_with_a_unit_too() -> None:
    rows = ibis.memtable(pa.table({"age": np.arange(4000) % 4, "sex": ["F"] * 4000, "who": np.arange(4000)}))
    shifting = rows.filter(ibis.random() < 0.5)

    def count_repeatedly() -> None:
        for _ in range(6):  # agreeing by chance 1 in 79 each: 4e-12
            count_cells(shifting, DOMAIN, unit=PrivacyUnit("who", 1))

    with pytest.raises(SourceError, match="differ"):
        count_repeatedly()


@pytest.mark.parametrize(("memory", "fits"), [("15MB", False), ("30MB", True)])
def test_more_than_fits_in_memory(tmp_path: Path, memory: str, fits: bool) -> None:
    """What DuckDB need not hold goes to the disk; where it may hold too little, that is said."""
    units = np.random.default_rng(0).permutation(400_000) // 2
    pq.write_table(pa.table({"x": np.arange(400_000) % 3, "who": units}), tmp_path / "rows.parquet")
    connection = ibis.duckdb.connect(memory_limit=memory, temp_directory=str(tmp_path / "spilled"), threads=1)
    with warnings.catch_warnings():
        # Ibis 12 calls a method that DuckDB 2 deprecates; here as the user, outside rowspace.
        warnings.simplefilter("ignore", DeprecationWarning)
        rows = connection.read_parquet(tmp_path / "rows.parquet")
    domain = Domain(x=Categorical([0, 1, 2]))
    if fits:
        assert count_cells(rows, domain, unit=PrivacyUnit("who", 1)).sum() == 200_000
        return
    with pytest.raises(SourceError, match="too little memory"):
        count_cells(rows, domain, unit=PrivacyUnit("who", 1))
