"""Bounds on the distance of two columns, known by structure: never below the true largest distance."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace import operators as op
from rowspace import tables

SIZES = st.lists(st.integers(2, 4), min_size=1, max_size=3).map(tuple)


def largest_distance(A, p):
    columns = A.to_dense().T
    return max((np.abs(a - b) ** p).sum() for a, b in combinations(columns, 2))


@given(SIZES, st.integers(0, 10**6))
@settings(max_examples=80, deadline=None)
def test_never_below_the_largest_distance(sizes, seed):
    rng = np.random.default_rng(seed)
    every = [s for k in range(len(sizes) + 1) for s in combinations(range(len(sizes)), k)]
    sets = tuple(s for s in every if rng.random() < 0.7) or ((),)
    weights = tuple(float(w) for w in rng.integers(1, 6, len(sets)))
    contrasts = tuple(op.CellContrasts(n) for n in sizes)
    bases = tuple(op.Hierarchy(n) for n in sizes)
    for A in (
        tables.Marginals(sizes, sets, weights),
        tables.Residuals(sizes, sets, weights),
        tables.Residuals(sizes, sets, weights, contrasts),
        tables.Marginals(sizes, sets, weights, bases),
    ):
        for p in (1, 2):
            assert A.pair_norm(p) >= largest_distance(A, p) - 1e-9


@pytest.mark.parametrize("n", [2, 3, 10])
def test_one_attribute_is_exact(n):
    A = tables.Residuals((n,), ((), (0,)), (3.0, 2.0))
    assert A.pair_norm(2) == largest_distance(A, 2)
