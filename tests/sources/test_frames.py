"""Columns as pandas has them: counted, or one clear error."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import SourceError
from rowspace.sources import count_cells

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
