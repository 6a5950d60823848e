"""Rounding that keeps the longest column from growing."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace.operators.rounding import rounded_columns


@given(st.integers(1, 8), st.integers(1, 8), st.floats(0.1, 1000), st.integers(0, 2**32 - 1))
@settings(max_examples=200, deadline=None)
def test_columns_stay_below_the_longest(rows, columns, scale, seed):
    matrix = np.random.default_rng(seed).normal(size=(rows, columns))
    rounded = rounded_columns(matrix, scale)
    assert np.array_equal(rounded, np.rint(rounded))
    assert np.abs(rounded - scale * matrix).max() <= 1
    assert ((rounded == 0) | (np.sign(rounded) == np.sign(matrix))).all()
    most = np.square(scale * matrix).sum(axis=0).max()
    assert np.square(rounded).sum(axis=0).max() <= most * (1 + 1e-12)


def test_integers_stay_as_they_are():
    matrix = np.array([[3.0, -4.0], [0.0, 5.0]])
    assert np.array_equal(rounded_columns(matrix, 2.0), 2 * matrix)
