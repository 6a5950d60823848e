"""One suite for every kind of source, against the oracle."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import duckdb
import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rowspace import sample
from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import InvalidInput, SourceError, TooLarge
from rowspace.sources import MAX_CELLS, count_cells, count_marginals
from rowspace.sources.binning import is_inline
from tests.sources import oracle
from tests.sources.kinds import KINDS, Source

NAN = float("nan")
INFINITY = float("inf")

ROWS: oracle.Rows = {
    "score": [
        0.0,
        0.3,
        0.1 + 0.2,
        1.0,
        -1e300,
        1e300,
        None,
        NAN,
        INFINITY,
        -INFINITY,
        0.7,
        0.7,
        -0.0,
        5e-324,
    ],
    "age": [0, 17, 18, 64, 65, -1, 120, None, 2**62, 30, 30, 30, 119, 18],
    "we\"ird; näme'": ["01", "1", None, "x'; --", "01", "", " 01", "ü", "01", "1", "01", "nope", "ü", "1"],
    "group": [1, 2, 3, 1, 2, None, 7, -5, 3, 3, 1, 1, 2, 99],
    "unused": [f"row {i}" for i in range(14)],
}
TEXT = Categorical(["01", "1", "ü", "x'; --"])
MANY_TEXT = Categorical([f"label {i}" for i in range(40)] + ["ü", "01"])
UNEQUAL = np.array([-3.0, 0.0, 0.1, 0.30000000000000004, 0.7, 0.9])

DOMAINS = {
    "equal bins": Domain(score=Numeric(0, 1, bins=10)),
    "equal bins clipped": Domain(score=Numeric(0, 1, bins=10, outside="clip")),
    "unequal bins": Domain(score=Numeric(edges=UNEQUAL)),
    "unequal bins clipped": Domain(score=Numeric(edges=UNEQUAL, outside="clip")),
    "integers": Domain(age=Numeric(0, 120, bins=120)),
    "integers clipped": Domain(age=Numeric(edges=[18, 30, 65], outside="clip")),
    "text": Domain({"we\"ird; näme'": TEXT}),
    "text, other": Domain({"we\"ird; näme'": Categorical(TEXT.values, other="else")}),
    "many categories": Domain({"we\"ird; näme'": MANY_TEXT}),
    "many categories, other": Domain({"we\"ird; näme'": Categorical(MANY_TEXT.values, other="else")}),
    "integer categories": Domain(group=Categorical([3, 1, -5])),
    "integer categories, other": Domain(group=Categorical([3, 1, -5], other="else")),
    "many integer categories": Domain(group=Categorical(range(-20, 20))),
    "all others": Domain(group=Categorical([1000], other="else")),
    "product": Domain(
        {
            "group": Categorical([1, 2, 3], other="else"),
            "score": Numeric(-1, 1, bins=4, outside="clip"),
            "age": Numeric(edges=[0, 18, 65, 120]),
            "we\"ird; näme'": TEXT,
        }
    ),
}


#: The four that differ in engine or typing see every domain; the others only differ in how they are opened.
EVERY_DOMAIN = ("csv", "arrow", "duckdb path", "sqlite url")
SOME_DOMAINS = ("unequal bins clipped", "many categories, other", "product")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Source]:
    return {name: kind(ROWS, tmp_path_factory.mktemp("rows")) for name, kind in KINDS.items()}


@pytest.mark.parametrize(
    ("kind", "domain"),
    [(kind, domain) for kind in KINDS for domain in (DOMAINS if kind in EVERY_DOMAIN else SOME_DOMAINS)],
)
def test_every_kind_of_source_agrees_with_the_oracle(
    sources: dict[str, Source], kind: str, domain: str
) -> None:
    data, table = sources[kind]
    counts = count_cells(data, DOMAINS[domain], table=table)
    assert counts.dtype == np.int64
    assert counts.shape == DOMAINS[domain].shape
    np.testing.assert_array_equal(counts, oracle.counts(ROWS, DOMAINS[domain]))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_no_rows_at_all(kind: Callable[[oracle.Rows, Path], Source], tmp_path: Path) -> None:
    rows = {"age": pa.array([], pa.int64()), "sex": pa.array([], pa.string())}
    data, table = kind(rows, tmp_path)
    if isinstance(data, pd.DataFrame):
        data = data.astype({"age": "float64", "sex": "str"})
    domain = Domain(age=Numeric(0, 10, bins=2), sex=Categorical(["F"], other="else"))
    assert count_cells(data, domain, table=table).tolist() == [[0, 0], [0, 0]]


def test_one_row_changes_one_cell() -> None:
    domain = DOMAINS["product"]
    everything = count_cells(pa.table(dict(ROWS)), domain)
    for left_out in range(14):
        rest = {name: [*column[:left_out], *column[left_out + 1 :]] for name, column in ROWS.items()}
        change = everything - count_cells(pa.table(rest), domain)
        assert change.min() == 0
        assert change.sum() in (0, 1)


@pytest.mark.parametrize("digits", [1, 17, 24, 30, 36])
def test_a_record_of_many_digits_moves_nobody_else(digits: int) -> None:
    """Arrow gives a frame of Python decimals the scale of the longest, by which DuckDB 1 rounds 0.4 up or down."""
    tenths = [Decimal(number) / 10 for number in range(10)]
    rows = pd.DataFrame({"x": pd.Series([*tenths, Decimal("0." + "5" * digits)], dtype=object)})
    expected = [1, 1, 1, 1, 1, 2, 1, 1, 1, 1]
    assert count_cells(rows, Domain(x=Numeric(0, 1, bins=10))).tolist() == expected


def test_null_and_nan_are_never_clipped() -> None:
    rows = pa.table({"x": [None, NAN, -INFINITY, INFINITY, 5.0, 2.0]})
    assert count_cells(rows, Domain(x=Numeric(0, 4, bins=2, outside="clip"))).tolist() == [1, 3]
    assert count_cells(rows, Domain(x=Numeric(edges=[0, 1, 4], outside="clip"))).tolist() == [1, 3]
    assert count_cells(rows, Domain(x=Numeric(edges=np.arange(400.0) ** 2, outside="clip"))).sum() == 4


def test_unknown_categories_and_null_go_to_other() -> None:
    rows = pa.table({"x": ["a", "b", None, "A"]})
    assert count_cells(rows, Domain(x=Categorical(["a"]))).tolist() == [1]
    assert count_cells(rows, Domain(x=Categorical(["a"], other="else"))).tolist() == [1, 3]


def test_a_column_of_nulls_without_a_type() -> None:
    rows = pa.table({"x": pa.nulls(3), "y": pa.nulls(3)})
    domain = Domain(x=Categorical([1], other="else"), y=Categorical(["a"], other="else"))
    assert count_cells(rows, domain).tolist() == [[0, 0], [0, 3]]
    assert count_cells(rows, Domain(x=Numeric(0, 1, bins=1))).tolist() == [0]


@pytest.mark.parametrize(
    "dtype", [pa.int8(), pa.uint8(), pa.uint64(), pa.float32(), pa.decimal128(25, 2)], ids=str
)
def test_numbers_of_every_type(dtype: pa.DataType) -> None:
    rows = pa.table({"x": pa.array([1, 2, 2, 100, None], pa.int64()).cast(dtype)})
    assert count_cells(rows, Domain(x=Numeric(0, 10, bins=10))).tolist() == [0, 1, 2, 0, 0, 0, 0, 0, 0, 0]
    assert count_cells(rows, Domain(x=Categorical([2, 1, 300], other="else"))).tolist() == [2, 1, 0, 2]
    assert count_cells(rows, Domain(x=Categorical(range(40)))).sum() == 3


EXTREMES = [-(2**63), 2**63 - 1, 4, 5, 6, 7, 7, 8, None]
FLOATS = [-INFINITY, INFINITY, NAN, 5.0, 5.5, 6.0, 7.0, 7.0, 7.0000001, 1e300, None]


@pytest.mark.parametrize("column", [EXTREMES, FLOATS], ids=["integers", "floats"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_consecutive_categories_are_told_by_a_difference(
    column: list[object], dictionary: bool, tmp_path: Path
) -> None:
    """No value is too far from them to be subtracted from, in whatever form it is stored."""
    rows = pa.table({"x": column * 1000})
    pq.write_table(rows, tmp_path / "x.parquet", use_dictionary=dictionary)
    for source in (tmp_path / "x.parquet", rows):
        counts = count_cells(source, Domain(x=Categorical([5, 6, 7], other="else")))
        assert counts.tolist() == [1000, 1000, 2000, 1000 * (len(column) - 4)]
        assert count_cells(source, Domain(x=Categorical([6, 5, 7]))).tolist() == [1000, 1000, 2000]
        assert count_cells(source, Domain(x=Categorical(range(5, 50)))).sum() == 4000 + 1000 * (8 in column)
    assert is_inline(Domain(x=Categorical(range(5, 50))))
    assert not is_inline(Domain(x=Categorical([*range(5, 50), 3])))


def test_booleans(tmp_path: Path) -> None:
    domain = Domain(x=Categorical([True, False], other="missing"))
    rows = {"x": [True, False, True, None]}
    for kind in ("csv", "pandas", "parquet", "duckdb path"):
        data, table = KINDS[kind](rows, tmp_path)
        assert count_cells(data, domain, table=table).tolist() == [2, 1, 1]


def test_large_integer_categories_are_told_apart() -> None:
    domain = Domain(x=Categorical([2**60, 2**60 + 1]))
    assert count_cells(pa.table({"x": [2**60, 2**60 + 1, 2**60 + 1, 2**60 + 2]}), domain).tolist() == [1, 2]
    with pytest.raises(SourceError, match="2\\*\\*53"):
        count_cells(pa.table({"x": [1.0]}), domain)


@pytest.mark.parametrize("kind", ["pandas", "parquet", "sqlite url", "csv"])
@pytest.mark.parametrize("start", [-(2**63), -2, 5, 2**63 - 3])
@pytest.mark.parametrize("other", [None, "other"])
def test_categories_in_a_row_at_the_ends_of_the_integers(
    tmp_path: Path, kind: str, start: int, other: str | None
) -> None:
    held = [-(2**63), -(2**63) + 1, -3, -2, 0, 5, 5, 6, 7, 8, None, 2**63 - 2, 2**63 - 1]
    if kind in ("csv", "pandas"):  # there they are compared as float64
        held, start = [-3, -2, 0, 5, 5, 6, 7, 8, None], max(min(start, 5), -2)
    data, table = KINDS[kind]({"x": held}, tmp_path)
    values = [start, start + 1, start + 2]
    for categories in (values, values[::-1], values[::2]):  # in a row, and not
        known = [held.count(value) for value in categories]
        domain = Domain(
            x=Categorical(categories, other=other, outside="drop" if other is None else "missing")
        )
        wanted = known if other is None else [*known, len(held) - sum(known)]
        assert count_cells(data, domain, table=table).tolist() == wanted
        assert count_marginals(data, domain, [(0,)], table=table).table((0,)).tolist() == wanted


@pytest.mark.parametrize("kind", ["pandas", "parquet"])
def test_fractions_are_no_categories_in_a_row(tmp_path: Path, kind: str) -> None:
    data, table = KINDS[kind]({"x": [1.0, 1.5, 2.0, 2.5, 3.0, None]}, tmp_path)
    domain = Domain(x=Categorical([1, 2, 3], outside="drop"))
    assert count_cells(data, domain, table=table).tolist() == [1, 1, 1]


def test_a_source_that_changes_between_the_scans_is_refused() -> None:
    rows = ibis.memtable(pa.table({"x": np.arange(10_000)}))
    shifting = rows.filter(ibis.random() < 0.5)  # agreeing by chance: 1 in 125
    domain = Domain(x=Numeric(0, 10_000, bins=3))

    def count_repeatedly() -> None:
        for _ in range(5):  # agreeing five times by chance: 3e-11
            count_cells(shifting, domain)

    with pytest.raises(SourceError, match="differ") as refusal:
        count_repeatedly()
    assert not any(character.isdigit() for character in str(refusal.value))


def test_schema_qualified_table(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as connection:
        connection.execute(
            "CREATE SCHEMA register; CREATE TABLE register.people AS SELECT 1 AS x FROM range(2)"
        )
    domain = Domain(x=Categorical([1]))
    assert count_cells(tmp_path / "rows.duckdb", domain, table="register.people").tolist() == [2]


def test_database_files_are_left_as_they_are(tmp_path: Path) -> None:
    path, table = KINDS["duckdb path"](ROWS, tmp_path)
    before = path.read_bytes()
    count_cells(path, DOMAINS["many categories"], table=table)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["rows.duckdb"]


def test_the_sample() -> None:
    domain = Domain(
        age=Numeric(0, 100, bins=10), sex=Categorical(sample.SEXES), region=Categorical(sample.REGIONS)
    )
    assert count_cells(sample.people_path(), domain).sum() == 50_000


def test_too_many_cells_are_refused_before_the_source_is_looked_at() -> None:
    domain = Domain(x=Numeric(0, 1, bins=MAX_CELLS // 2), y=Categorical(["a", "b", "c"]))
    with pytest.raises(TooLarge, match="100,000,000"):
        count_cells("there is no such file.csv", domain)


def test_many_unequal_bins_need_an_engine_that_can_join_them(tmp_path: Path) -> None:
    data, table = KINDS["sqlite url"]({"x": [1.0]}, tmp_path)
    with pytest.raises(TooLarge, match="equal bins"):
        count_cells(data, Domain(x=Numeric(edges=np.arange(400.0) ** 2)), table=table)


def test_table_is_for_databases_only() -> None:
    domain = Domain(x=Categorical([1]))
    for source in (pa.table({"x": [1]}), "file.csv", [1]):
        with pytest.raises(InvalidInput, match="table="):
            count_cells(source, domain, table="people")
