"""Sums of integers and of their squares past 64 bits, against Python's own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowspace import operators as op
from rowspace.exceptions import TooLarge
from rowspace.operators.rounding import exact_sums

numbers = st.integers(-(2**63) + 1, 2**63 - 1)


@given(st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=6), st.sampled_from([1, 2]))
def test_against_python(rows, p):
    assert exact_sums(np.array(rows), p) == [
        sum(abs(a) ** p for a in column) for column in zip(*rows, strict=True)
    ]


def test_many_rows():
    largest = 2**63 - 1
    assert exact_sums(np.full((2**20 + 3, 1), -largest), 2) == [(2**20 + 3) * largest**2]


def test_a_matrix_without_closed_forms_is_refused_before_it_takes_long():
    with pytest.raises(TooLarge, match="sensitivity"):
        op.RangesGram(8000).integer_norm(2)
