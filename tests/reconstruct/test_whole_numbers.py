"""Whole numbers: the total kept, every cell up or down, runs of cells within one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rowspace import operators as op
from rowspace import tables
from rowspace.reconstruct.nonnegative import whole_cells

COUNTS = arrays(np.float64, st.integers(1, 20), elements=st.floats(0, 50, width=32))


@given(COUNTS, st.floats(0, 0.999))
def test_rounded_up_or_down(counts, offset):
    total = int(np.ceil(counts.sum()))
    whole = whole_cells(counts, total, op.Identity(len(counts)), offset)
    if counts.sum() == 0:
        assert not whole.any()
        return
    scaled = counts * (total / counts.sum())
    assert whole.sum() == total
    assert whole.min() >= 0
    assert np.abs(whole - scaled).max() <= 1 + 1e-6
    assert not whole[counts == 0].any()


@given(COUNTS)
def test_runs_stay_within_one(counts):
    total = round(float(counts.sum()))
    whole = whole_cells(counts, total)
    if total and counts.sum() > 0:
        scaled = counts * (total / counts.sum())
        assert np.abs(np.cumsum(whole) - np.cumsum(scaled)).max() <= 0.5 + 1e-6


def test_whole_counts_stay():
    counts = np.array([3.0, 0.0, 5.0, 1.0])
    assert whole_cells(counts, 9, op.Prefix(4).gram()).tolist() == [3, 0, 5, 1]
    assert whole_cells(counts, 0).tolist() == [0, 0, 0, 0]


def test_random_offset_is_unbiased():
    """The mean over a fine grid of offsets is the counts themselves."""
    counts = np.array([0.3, 0.3, 1.7, 0.0, 2.2, 0.5])
    mean = np.mean([whole_cells(counts, 5, None, (k + 0.5) / 1000) for k in range(1000)], axis=0)
    np.testing.assert_allclose(mean, counts, atol=2e-3)


def test_repairs_what_neighbours_do_not_see():
    """Cells of one value of the last attribute are far apart: their sum is repaired."""
    rng = np.random.default_rng(3)
    counts = rng.gamma(0.5, 1.0, 400)
    W = tables.Marginals((200, 2), ((0,), (1,)), (1, 1))
    total = round(float(counts.sum()))
    scaled = counts * (total / counts.sum())
    plain, repaired = (
        np.abs(W @ (whole_cells(counts, total, G) - scaled))[-2:].max() for G in (None, W.gram())
    )
    assert repaired <= 1.0
    assert repaired < plain
    assert np.sum((W @ (whole_cells(counts, total, W.gram()) - scaled)) ** 2) < np.sum(
        (W @ (whole_cells(counts, total) - scaled)) ** 2
    )


@pytest.mark.parametrize("size", [1, 2])
def test_few_cells(size):
    assert whole_cells(np.full(size, 1.5), 3, op.Identity(size)).sum() == 3
