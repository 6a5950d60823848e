"""Counts made elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import SourceError
from rowspace.sources import count_cells

DOMAIN = Domain(x=Numeric(0, 3, bins=3), y=Categorical(["a", "b"]))
FLAT = [3, 0, 1, 4, 1, 5]
CUBE = [[3, 0], [1, 4], [1, 5]]


@pytest.mark.parametrize(
    "source",
    [
        FLAT,
        CUBE,
        tuple(FLAT),
        np.array(FLAT),
        np.array(CUBE, dtype=np.uint8),
        np.array(FLAT, dtype=np.float64),
        np.asfortranarray(CUBE),
        pd.Series(FLAT),
        pl.Series(FLAT),
        pa.array(FLAT),
    ],
    ids=lambda source: type(source).__name__,
)
def test_counts_are_taken_as_they_are(source: Any) -> None:
    counts = count_cells(source, DOMAIN)
    assert counts.dtype == np.int64
    assert counts.tolist() == CUBE


def test_the_result_is_a_copy() -> None:
    source = np.array(CUBE)
    count_cells(source, DOMAIN)[0, 0] = 99
    assert source[0, 0] == 3


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([1, 2, 3], r"shape \(6,\) or \(3, 2\).*got shape \(3,\)"),
        (np.zeros((2, 3), int), r"got shape \(2, 3\)"),
        ([[1], [2, 3]], "numpy cannot turn"),
        ([], "got shape"),
        ([1, 2, 3, 4, 5, -6], "non-negative"),
        ([1, 2, 3, 4, 5, 6.5], "non-negative integers"),
        ([1, 2, 3, 4, 5, float("nan")], "non-negative integers"),
        ([1, 2, 3, 4, 5, float("inf")], "non-negative integers"),
        ([1, 2, 3, 4, 5, 1e17], "non-negative integers"),
        ([1, 2, 3, 4, 5, 2**63], "non-negative integers"),
        ([2**61] * 6, "62 bits"),
        (["1", "2", "3", "4", "5", "6"], "integer counts"),
        ([True] * 6, "array of booleans"),
        ([None, 1, 2, 3, 4, 5], "array of Python objects"),
        ([1, 2, 3, 4, 5, 2**70], "array of Python objects"),
        (np.ma.masked_less(np.array(FLAT), 2), "one with a mask"),
    ],
)
def test_what_is_not_a_count_is_refused(source: Any, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        count_cells(source, DOMAIN)
