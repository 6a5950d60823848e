"""Marginals and residuals: closed forms against dense truth, and cells by the million or beyond any vector."""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace import error, tables
from rowspace import operators as op
from rowspace.error.moments import _blockwise, moments
from rowspace.exceptions import InvalidInput, TooLarge, UnsupportedWorkload
from rowspace.tables import SubsetLattice, mask_of, members, products_of

from . import naive


def marginal(sizes, attributes):
    """The workload of one marginal."""
    return op.Kronecker(*(op.Identity(n) if i in attributes else op.Total(n) for i, n in enumerate(sizes)))


def subsets(d):
    return [chosen for k in range(d + 1) for chosen in combinations(range(d), k)]


@st.composite
def weighted_sets(draw):
    """Sizes (some of one cell), different sets, and weights (some zero)."""
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    sets = draw(st.lists(st.sampled_from(subsets(len(sizes))), min_size=1, max_size=6, unique=True))
    some = st.sampled_from([0.0, 0.3, 1.0, 2.0])
    weights = draw(st.lists(some, min_size=len(sets), max_size=len(sets)).filter(any))
    return sizes, tuple(sets), tuple(weights)


def strategies_of(case):
    sizes, sets, weights = case
    yield tables.Marginals(sizes, sets, weights), naive.marginals(sizes, sets, weights)
    varying = [(s, w) for s, w in zip(sets, weights, strict=True) if all(sizes[i] > 1 for i in s)]
    if any(w for _, w in varying):
        sets, weights = zip(*varying, strict=True)
        yield tables.Residuals(sizes, sets, weights), naive.residuals(sizes, sets, weights)


@given(weighted_sets())
@settings(max_examples=60, deadline=None)
def test_random_ones_against_dense(case):
    for A, truth in strategies_of(case):
        np.testing.assert_allclose(A.to_dense(), truth)
        np.testing.assert_allclose(A.pinv().to_dense(), np.linalg.pinv(truth, rcond=1e-12), atol=1e-9)
        np.testing.assert_allclose(A.pinv().T.to_dense(), np.linalg.pinv(truth.T, rcond=1e-12), atol=1e-9)
        assert A.full_column_rank == (np.linalg.matrix_rank(truth) == truth.shape[1])
        np.testing.assert_allclose(A.column_norms(2), np.linalg.norm(truth, axis=0))


@given(weighted_sets(), st.data())
@settings(max_examples=60, deadline=None)
def test_errors_of_random_workloads_by_brute_force(case, data):
    """Supported marginals have the dense error and coefficients; others are refused by every verb."""
    sizes = case[0]
    asked = data.draw(st.lists(st.sampled_from(subsets(len(sizes))), min_size=1, max_size=3))
    W = op.Stack(*(factor * marginal(sizes, s) for factor, s in zip((1.0, 0.5, 2.0), asked, strict=False)))
    for A, truth in strategies_of(case):
        P, dense = np.linalg.pinv(truth, rcond=1e-12), W.to_dense()
        if np.abs(dense @ P @ truth - dense).max() > 1e-9:
            for verb in (A.profile_trace, lambda W, A=A: moments(A, W)):
                with pytest.raises(UnsupportedWorkload):
                    verb(W)
            continue
        C = dense @ P
        assert error.profile_trace(A, W) == pytest.approx(np.sum(C**2), rel=1e-9)
        found = moments(A, W)
        np.testing.assert_allclose(found.second, np.sum(C**2, axis=1))
        np.testing.assert_allclose(found.fourth, np.sum(C**4, axis=1))
        np.testing.assert_allclose(found.largest, np.abs(C).max(axis=1))
        np.testing.assert_allclose(error.query_variances(A, W), np.sum(C**2, axis=1))


def test_spacing_of_coefficients_is_that_of_the_rows():
    """A marginal measured by its cells moves on their lattice."""
    sizes = (3, 4)
    A, W = tables.Marginals(sizes, ((0, 1),), (2.0,)), marginal(sizes, (0,))
    np.testing.assert_allclose(moments(A, W).spacing, _blockwise(A, W).spacing)
    np.testing.assert_allclose(moments(A, W).spacing, 0.5)


def test_supported_marginals_come_back_exactly():
    sizes, sets = (3, 4, 2, 1), ((0, 1), (1, 2), (3,))
    x = np.random.default_rng(0).integers(0, 100, 24)
    for A in (
        tables.Marginals(sizes, sets, (2, 3, 1)),
        tables.Residuals(sizes, ((), (0,), (1,), (0, 1), (2,)), (3, 2, 1, 1, 1)),
    ):
        estimate = A.pinv() @ (A @ x)
        for asked in ((), (0,), (0, 1), (2,)):
            W = marginal(sizes, asked)
            np.testing.assert_allclose(W @ estimate, W @ x, atol=1e-9)


def test_other_workloads_take_the_dense_way():
    A = tables.Marginals((2, 3), ((0, 1), (0,)), (1, 2))
    G = np.linalg.inv(A.gram().to_dense())
    for W in (
        op.Prefix(6),
        op.Kronecker(op.Prefix(2), op.Total(3)),
        op.Kronecker(op.Total(3), op.Identity(2)),
    ):
        assert A.profile_trace(W) == pytest.approx(np.trace(G @ W.gram().to_dense()))
        assert moments(A, W).second.sum() == pytest.approx(A.profile_trace(W))


def test_a_million_cells_take_few_vectors():
    sizes = (16,) * 5
    A = tables.Marginals(sizes, tuple(combinations(range(5), 2)), (1,) * 10)
    x = np.random.default_rng(0).integers(0, 100, 2**20)
    y = A @ x
    for work, vectors in ((lambda: A @ x, 1), (lambda: A.pinv() @ y, 3), (lambda: A.T @ y, 3)):
        tracemalloc.start()
        work()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak <= vectors * 8 * 2**20
    W = marginal(sizes, (1, 3))
    np.testing.assert_allclose(W @ (A.pinv() @ y), W @ x, rtol=1e-9)


def test_variances_of_many_cells_need_no_cells():
    sizes = (100,) * 20
    A = tables.Marginals(sizes, ((0, 1, 2), (3,)), (1, 2))
    W = marginal(sizes, (0, 1, 2))
    assert A.shape == (10**6 + 100, 10**40)
    assert A.profile_trace(W) == pytest.approx(moments(A, W).second.sum())
    assert A.integer_norm(2) == 5
    with pytest.raises(TooLarge):
        A.column_norms(1)


@given(weighted_sets(), st.integers(4, 30))
@settings(max_examples=40, deadline=None)
def test_rounding_keeps_the_row_space(case, bits):
    for A, truth in strategies_of(case):
        B, _ = A.integer_form(bits)
        assert B.integral
        assert np.linalg.matrix_rank(np.vstack([truth, B.to_dense()])) == np.linalg.matrix_rank(truth)
        assert B.integer_norm(1) == np.abs(B.to_dense()).sum(axis=0).max()


def test_reading_workloads():
    sizes = (2, 1, 3)
    W = op.Stack(
        2 * marginal(sizes, (0, 1)),
        op.Stack(marginal(sizes, ()), marginal(sizes, (0,))),
        0 * marginal(sizes, (2,)),
    )
    assert asked(W) == (sizes, {1: 5.0, 0: 1.0, 4: 0.0})
    nested = op.Kronecker(op.Kronecker(op.Identity(2), op.Total(3)), op.Total(5))
    assert asked(nested) == ((2, 3, 5), {1: 1.0})
    whole = op.Stack(op.Identity(30), nested, op.Kronecker(op.Total(6), op.Identity(5)))
    assert asked(whole) == ((2, 3, 5), {7: 1.0, 1: 1.0, 4: 1.0})
    crossed = op.Stack(op.Kronecker(op.Identity(2), op.Prefix(3)), op.Kronecker(op.Prefix(3), op.Total(2)))
    assert asked(crossed) == ((6,), {1: 2.0})
    tied = op.Stack(op.Kronecker(op.Prefix(6), op.Total(5)), op.Kronecker(op.Identity(2), op.Prefix(15)))
    assert [piece.axes for piece in products_of(tied, (2, 3, 5)).pieces] == [(0, 1), (0,), (1, 2)]
    assert [piece.axes for piece in products_of(op.Kronecker(op.Prefix(3), op.Total(2)), (2, 3)).pieces] == [
        (0, 1)
    ]
    assert products_of(op.Prefix(5), (2, 3)) is None


def asked(W):
    """(sizes, Σ of squared weights per set of attributes that vary)."""
    products = products_of(W)
    powers = {}
    for part, power in zip(products.parts, products.powers.tolist(), strict=True):
        mask = mask_of(i for i in products.axes_of(part) if products.sizes[i] > 1)
        powers[mask] = powers.get(mask, 0.0) + power
    return products.sizes, powers


@given(st.lists(st.integers(0, 31), max_size=5), st.data())
def test_lattice_sums_against_loops(masks, data):
    lattice = SubsetLattice.under(masks)
    assert set(lattice.masks) == {0} | {m & s for m in masks for s in range(32)}
    values = np.array(
        data.draw(st.lists(st.integers(-9, 9), min_size=len(lattice.masks), max_size=len(lattice.masks))),
        float,
    )
    above = [sum(v for v, S in zip(values, lattice.masks, strict=True) if R & ~S == 0) for R in lattice.masks]
    below = [sum(v for v, R in zip(values, lattice.masks, strict=True) if R & ~S == 0) for S in lattice.masks]
    np.testing.assert_array_equal(lattice.sums_above(values), above)
    np.testing.assert_array_equal(lattice.sums_below(values), below)
    assert all(mask_of(members(mask)) == mask for mask in lattice.masks)


def test_lattices_that_are_too_large_are_refused():
    with pytest.raises(TooLarge, match="attributes"):
        SubsetLattice.under([2**30 - 1])


@pytest.mark.parametrize(
    ("sizes", "sets", "weights"),
    [
        ((), ((0,),), (1,)),
        ((0, 2), ((0,),), (1,)),
        ("23", ((0,),), (1,)),
        ((2, 3), (), ()),
        ((2, 3), ((2,),), (1,)),
        ((2, 3), ((1, 0),), (1,)),
        ((2, 3), ((0, 0),), (1,)),
        ((2, 3), ((-1,),), (1,)),
        ((2, 3), (0,), (1,)),
        ((2, 3), ((0,), (0,)), (1, 1)),
        ((2, 3), ((0,),), (1, 2)),
        ((2, 3), ((0,),), (-1,)),
        ((2, 3), ((0,),), (0,)),
        ((2, 3), ((0,),), (np.nan,)),
        ((2, 3), ((0,),), 1.0),
        ((2,) * 30, (tuple(range(30)),), (1,)),
    ],
)
def test_bad_fields_are_refused(sizes, sets, weights):
    for cls in (tables.Marginals, tables.Residuals):
        with pytest.raises(InvalidInput, match="expected"):
            cls(sizes, sets, weights)


def test_one_cell_has_no_residual():
    with pytest.raises(InvalidInput, match="two or more cells"):
        tables.Residuals((1, 2), ((0,),), (1,))
