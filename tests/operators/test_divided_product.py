"""Products that pass 64 bits, divided exactly: what answers of weighted tables rest on."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rowspace.tables.layout import divided_product

SMALL, LARGE = st.integers(0, 2**31 - 1), st.integers(0, 2**50)


@given(
    st.lists(st.integers(-(2**62) + 1, 2**62 - 1), min_size=1, max_size=5), SMALL | LARGE, st.integers(0, 60)
)
@example([-(2**62) + 1, 2**62 - 1], 2**31 - 1, 31)
@example([-(2**62) + 1, 2**62 - 1], 2**31 - 1, 60)
@example([-(2**62) + 1, 2**62 - 1], 2**31, 32)
@example([-(2**62) + 1, 2**62 - 1], 2**50, 50)
@example([-1, 0, 1], 1, 60)
@example([-1, 0, 1], 0, 0)
@settings(max_examples=500, deadline=None)
def test_against_python_integers(values, weight, bits):
    """q·2^bits + r is the product, and 0 ≤ r < 2^bits, wherever q fits 63 bits."""
    fitting = [v for v in values if -(2**62) <= (v * weight) >> bits <= 2**62]
    high, low = divided_product(np.array(fitting, dtype=np.int64)[None], np.array([weight]), bits)
    assert high.dtype == low.dtype == np.int64
    assert high[0].tolist() == [(v * weight) >> bits for v in fitting]
    assert low[0].tolist() == [(v * weight) % 2**bits for v in fitting]


@given(st.lists(st.tuples(SMALL, st.integers(-(2**30), 2**30)), min_size=1, max_size=6), st.integers(0, 40))
@settings(max_examples=100, deadline=None)
def test_every_table_has_its_own_weight(tables, bits):
    weights, values = (np.array(column, dtype=np.int64) for column in zip(*tables, strict=True))
    stack = values[:, None, None] * np.array([[1, -2, 3]])
    high, low = divided_product(stack, weights, bits)
    assert high.shape == low.shape == stack.shape
    assert np.array_equal(high * 2**bits + low, stack * weights[:, None, None])
    assert low.min() >= 0
    assert low.max() < 2**bits
