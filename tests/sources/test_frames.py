"""Columns as pandas has them: counted, or one clear error."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rowspace.domain import Categorical, Dates, Domain, Numeric
from rowspace.exceptions import SourceError
from rowspace.sources import count_cells
from rowspace.study import check

NUMBERS = Domain(x=Numeric(0, 10, bins=2))
TEXT = Domain(x=Categorical(["a", "b"]))
INTEGERS = Domain(x=Categorical([1, 7]))
BOOLEANS = Domain(x=Categorical([True, False]))


@pytest.mark.parametrize(
    ("values", "domain"),
    [
        ([Decimal("1.5"), Decimal(7), None], NUMBERS),
        (pd.array([1, None, 7], dtype="Int64"), NUMBERS),
        (pd.array([1, None, 7], dtype="Int64"), INTEGERS),
        (pd.array([1, None, 7], dtype="Float64"), INTEGERS),
        (pd.array([1, None, 7], dtype="int64[pyarrow]"), NUMBERS),
        (np.array([1, np.nan, 7], dtype=np.float16), NUMBERS),
        (pd.array([True, None, False], dtype="boolean"), BOOLEANS),
        (pd.array(["a", None, "b"], dtype="string"), TEXT),
        (pd.array(["a", None, "b"], dtype="string[pyarrow]"), TEXT),
        (pd.Categorical(["a", None, "b"]), TEXT),
        (pd.Categorical([1, None, 7]), NUMBERS),
        (pd.Categorical([1, None, 7]), INTEGERS),
        (pd.Categorical([True, None, False]), BOOLEANS),
    ],
)
def test_columns_of_pandas(values: Any, domain: Domain) -> None:
    assert count_cells(pd.DataFrame({"x": values}), domain).tolist() == [1, 1]


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"x": pl.Series([object()], dtype=pl.Object)}),
        pa.table({"x": pa.array([b"1"], pa.binary(1))}),
        pa.table({"x": pa.array([None], pa.month_day_nano_interval())}),
        pa.table({"x": pa.array([1], pa.decimal256(60))}),
    ],
    ids=["polars objects", "fixed binary", "months", "60 digits"],
)
def test_types_of_polars_and_arrow_that_no_engine_has(frame: Any) -> None:
    """One line that names the column, and the same from check; a KeyError before."""
    with pytest.raises(SourceError, match=r"column 'x'.* convert the column first") as refusal:
        count_cells(frame, NUMBERS)
    assert [column.refusal for column in check(NUMBERS, frame).columns] == [str(refusal.value)]


def test_periods_and_sparse_columns_are_told_what_works() -> None:
    dates = Domain(x=Dates("2024-01-01", "2024-03-01", every="month"))
    periods = pd.DataFrame({"x": pd.period_range("2024-01", periods=2, freq="M")})
    with pytest.raises(SourceError, match=r"\.dt\.to_timestamp\(\)"):
        count_cells(periods, dates)
    assert count_cells(periods.assign(x=periods.x.dt.to_timestamp()), dates).tolist() == [1, 1]
    sparse = pd.DataFrame({"x": pd.arrays.SparseArray([0.0, 7.0])})
    with pytest.raises(SourceError, match=r"\.sparse\.to_dense\(\)"):
        count_cells(sparse, NUMBERS)
    assert count_cells(sparse.assign(x=sparse.x.sparse.to_dense()), NUMBERS).tolist() == [1, 1]


def test_a_multiindex_is_named() -> None:
    frame = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("x", "a"), ("x", "b")]))
    for look in (count_cells, lambda source, domain: check(domain, source)):
        with pytest.raises(SourceError, match="got a MultiIndex; name them anew"):
            look(frame, NUMBERS)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_names_of_columns_are_quoted_only_beside_a_known_one(make: Any) -> None:
    """Those of a headerless file are its first record."""
    domain = Domain(x=Numeric(0, 10, bins=2), age=Numeric(0, 10, bins=2))
    with pytest.raises(SourceError) as nothing_known:
        count_cells(make({"39": [1], "agee": [2]}), domain)
    assert "39" not in str(nothing_known.value)
    assert "agee" not in str(nothing_known.value)
    with pytest.raises(SourceError, match="did you mean 'agee'"):
        count_cells(make({"x": [1], "agee": [2]}), domain)


@pytest.mark.parametrize("domain", [NUMBERS, TEXT, INTEGERS, BOOLEANS])
@pytest.mark.parametrize(
    "values",
    [
        pd.period_range("2024-01", periods=3, freq="M"),
        pd.interval_range(0, 3),
        pd.cut([1, 5, 9], 3),
        pd.arrays.SparseArray([0.0, 1.0]),
        np.array([1j, 2]),
        np.array(["a", 1], dtype=object),
    ],
    ids=["period", "interval", "cut", "sparse", "complex", "mixture"],
)
def test_columns_that_no_engine_has(values: Any, domain: Domain) -> None:
    with pytest.raises(SourceError, match=r"column 'x'.* convert the column first"):
        count_cells(pd.DataFrame({"x": values}), domain)
