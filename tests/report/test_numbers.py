from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowspace.report.numbers import counts, figures, whole


@given(st.lists(st.floats(), min_size=1, max_size=5))
def test_any_figures_have_one_form(values: list[float]) -> None:
    texts = figures(values)
    assert len(texts) == len(values)
    decimals = {len(text.partition(".")[2]) for text in texts if text[-1].isdigit() and "e" not in text}
    assert len(decimals) <= 1


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (1234.5678, 0.5, "1,234.57"),
        (1234.5678, 5.0, "1,234.6"),
        (1234.5678, 50.0, "1,235"),
        (-0.04, 5.0, "0.0"),
        (-12.34, 5.0, "-12.3"),
        (7.0, 0.0, "7.0"),
        (math.nan, 1.0, "–"),
        (math.inf, 1.0, "∞"),
        (-math.inf, 1.0, "-∞"),
        (1e15, 1.0, "1e+15"),
    ],
)
def test_counts_show_what_their_error_allows(value: float, error: float, text: str) -> None:
    assert counts([value], [error]) == [text]


def test_whole_numbers_of_any_size() -> None:
    assert whole(0) == "0"
    assert whole(10**14) == "100,000,000,000,000"
    assert whole(2**5000).startswith("about 10^")
