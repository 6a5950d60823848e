"""Nothing is densified by surprise: past the stated limits `TooLarge`, and the structured verbs go on working."""

import time
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from rowspace import operators as op
from rowspace import tables
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.operators.tree import TreeInverse
from rowspace.operators.windows import WindowOverlapInverse

N = 2**20
MANY = op.Kronecker(*(op.Prefix(10) for _ in range(30)))

LARGE = [
    op.Identity(N),
    op.Total(N).gram(),
    op.Prefix(N),
    op.Difference(N),
    op.Ranges(N),
    op.RangesGram(N),
    op.SecondDifference(N),
    op.WidthRanges(N, 5),
    WindowOverlapInverse(N, 5),
    op.AllPredicates(1000),
    op.Hierarchy(N),
    op.Hierarchy(N - 1, 10),
    op.Tree((np.array([0, 7, N]), np.arange(N + 1)), (1, 1)),
    TreeInverse(op.Hierarchy(N)),
    op.Haar(N),
    op.Sparse(sparse.eye_array(N, format="csr")),
    op.CellContrasts(N),
    op.Diagonal(np.ones(N)),
    op.PIdentity(np.ones(N), op.Sparse(np.ones((1, N)))),
    op.PIdentity(np.ones(N), op.Sparse(np.ones((1, N)))).pinv(),
    op.Sines(N),
    op.Cosines(N),
    op.Spectral(op.Sines(N), np.ones(N), np.ones(N)),
    op.Fading(N, np.ones(2**14, np.int64)),
    op.Fading(N, np.ones(2**14, np.int64)).pinv(),
    op.SpectralIntegers(op.Cosines(N), np.eye(1, N, dtype=np.int64)[0], np.ones(N, np.int64)),
    tables.Marginals((32,) * 4, ((0, 1), (2, 3), (0, 1, 2, 3)), (1, 2, 3)),
    tables.Marginals((10,) * 30, ((0, 1), (2, 3, 4, 5, 6, 7)), (1, 2)),
    tables.Residuals((32,) * 4, ((), (0, 1), (1, 2, 3)), (1, 2, 3)),
    tables.Residuals((1024,) * 2, ((), (0, 1)), (1, 2), (tables.Residuals((1024,), ((0,),), (1,)),) * 2),
    tables.Marginals((1024,) * 2, ((0,), (0, 1)), (1, 2), (op.Hierarchy(1024), op.Identity(1024))),
    tables.QueryMix(
        (1024,) * 2,
        ((0,), (1,)),
        (op.Sparse(sparse.tril(np.ones((1024, 1024)))),) * 2,
        (np.stack((np.arange(1024),) * 2, axis=1),),
        (op.Dense(np.eye(1024)),),
        ((-1, -1),),
    ),
    tables.TableInverse(tables.Marginals((32,) * 4, ((0, 1), (2, 3), (1, 2, 3)), (1, 2, 3))),
    MANY,
    op.Stack(op.Identity(N), op.Total(N)),
    0.5 * op.Prefix(N),
    op.Weighted(np.ones(N), op.Prefix(N)),
    op.Permuted(op.Prefix(N), np.arange(N)[::-1]),
    op.Padded(op.Prefix(N - 1), N, N),
    op.Extended(op.Prefix(N - 1), (N,), (N - 1,), 2),
    op.Layers((N // 4, 4), (1,), (op.Dense(np.eye(4)),) * 2),
    op.Merged(op.Prefix(N), np.arange(N)[::-1]),
    op.Composed(op.Prefix(N), op.Haar(N)),
    op.Sum((op.Prefix(N), op.Identity(N))),
    op.Prefix(N).T,
]
every_large = pytest.mark.parametrize("large", LARGE, ids=lambda operator: type(operator).__name__)


def test_every_structure_is_here():
    """All but `Dense`, which is its own matrix, and `Total`, which is one row."""
    classes = {
        cls
        for cls in op.Operator.registry.values()
        if cls.__module__.startswith(("rowspace.operators", "rowspace.tables"))
    }
    assert {cls.__name__ for cls in classes} - {type(large).__name__ for large in LARGE} == {
        "Dense",
        "TableOperator",
        "Total",
    }


@every_large
def test_no_dense_matrix(large):
    with pytest.raises(TooLarge, match=str(op.DENSE_LIMIT)):
        large.to_dense()


@every_large
def test_no_block_of_too_many_rows(large):
    with pytest.raises(TooLarge, match=str(op.DENSE_LIMIT)):
        large.rows_dense(0, large.shape[0])


@every_large
def test_structured_verbs_need_little_memory(large):
    """Shapes, flags, transposes, Gram matrices: no array anywhere near n² entries."""
    tracemalloc.start()
    assert large.T.shape == large.shape[::-1]
    assert large.gram().shape == (large.shape[1],) * 2
    assert isinstance(large.nonnegative, bool)
    assert isinstance(large.integral, bool)
    assert large.full_column_rank in (True, False, None)
    assert (2 * large).shape == large.shape
    op.encode(large)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * 8 * N


@every_large
def test_actions_are_linear_in_the_cells(large):
    m, n = large.shape
    if max(m, n) > 2 * N + 1:
        pytest.skip("not even a vector fits")
    x = np.ones(n)
    answers = large @ x
    assert answers.shape == (m,)
    assert (large.T @ answers).shape == (n,)
    assert (large.gram() @ x).shape == (n,)


def peak_vectors(work):
    """Peak memory of `work()` beyond what was there before, in vectors of N float64."""
    tracemalloc.start()
    result = work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del result
    return peak / (8 * N)


@pytest.mark.parametrize(
    "make",
    [lambda: op.Hierarchy(N), lambda: op.Hierarchy(N, 10), lambda: op.Haar(N)],
    ids=["binary tree", "tree of ten", "wavelet"],
)
def test_a_million_cells_take_ten_vectors(make):
    x = np.random.default_rng(0).integers(0, 100, N)
    y = make() @ x
    assert peak_vectors(lambda: make() @ x) <= 10
    assert peak_vectors(lambda: make().pinv() @ y) <= 10
    np.testing.assert_allclose(make().pinv() @ y, x, atol=1e-9)


def test_large_pseudo_inverses_have_closed_forms():
    x = np.random.default_rng(0).normal(size=N)
    structured = (
        op.Identity(N),
        op.Prefix(N),
        op.Difference(N),
        op.Diagonal(np.full(N, 0.5)),
        op.Hierarchy(N, 16),
        op.Haar(N),
    )
    for A in (*structured, -2 * op.Haar(N), op.Permuted(op.Hierarchy(N), np.arange(N)[::-1])):
        np.testing.assert_allclose(A.pinv() @ (A @ x), x, atol=1e-6)
    windows = op.WidthRanges(N, 3)
    y = windows @ x
    np.testing.assert_allclose(windows @ (windows.pinv() @ y), y, atol=1e-6)


def test_large_errors_have_closed_forms():
    """All ranges on a million cells: n(n+1)(n+2)/6 for the identity, and far less for trees."""
    W = op.Ranges(N)
    identity = op.Identity(N).profile_trace(W)
    assert identity == pytest.approx(N * (N + 1) * (N + 2) / 6, rel=1e-12)
    for A in (op.Hierarchy(N, 16), op.Haar(N)):
        assert 0 < A.max_column_norm(1) ** 2 * A.profile_trace(W) < identity / 100


@pytest.mark.parametrize(
    "A", [op.Dense(np.ones((5000, 5000))), op.Composed(op.Prefix(N), op.Haar(N))], ids=["Dense", "Composed"]
)
def test_no_decomposition_that_takes_minutes(A):
    with pytest.raises(TooLarge, match=str(op.DECOMPOSITION_LIMIT)):
        A.pinv()
    with pytest.raises(TooLarge, match=str(op.DECOMPOSITION_LIMIT)):
        A.profile_trace(op.Total(A.shape[1]))


def test_too_many_answers_are_refused_before_they_are_made():
    with pytest.raises(TooLarge, match="answers"):
        op.Ranges(N) @ np.ones(N)
    with pytest.raises(TooLarge, match="answers"):
        op.AllPredicates(40) @ np.ones(40)
    with pytest.raises(TooLarge, match="answers"):
        op.AllPredicates(20) @ np.ones((20, 200))
    with pytest.raises(TooLarge, match=str(op.DENSE_LIMIT)):
        op.WidthRanges(N, N // 2).pinv() @ np.ones(N // 2 + 1)


@pytest.mark.parametrize("cls", [op.Identity, op.Total, op.Prefix, op.Ranges, op.Haar])
def test_more_cells_than_memory(cls):
    """The structure is a few numbers; only what needs a number per cell is refused."""
    A = cls(2**60)
    assert A.max_column_norm(1) >= 1
    assert isinstance(A.integer_norm(2), int)
    with pytest.raises(TooLarge, match=str(op.DENSE_LIMIT)):
        A.column_norms(1)
    with pytest.raises(TooLarge, match=str(op.DENSE_LIMIT)):
        A.squared_frobenius()


def test_wide_operators_with_few_rows_do_become_dense():
    """What counts is the number of entries, not the longer side."""
    for A in (
        op.Total(N),
        op.WidthRanges(N, N - 3),
        op.Composed(op.Total(N), op.Haar(N)),
        op.Stack(op.Total(N), op.Total(N)),
    ):
        dense = A.to_dense()
        assert dense.shape == A.shape
        np.testing.assert_array_equal(dense[:, 10], A @ np.eye(1, N, 10).ravel())


def test_gram_of_a_tall_composition_is_built_in_blocks():
    tall = op.Weighted(np.ones(50_000), op.Sparse(np.tile(np.eye(500), (100, 1))))
    tracemalloc.start()
    dense = tall.gram().to_dense()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(dense, 100 * np.eye(500))
    assert peak < 8 * tall.shape[0] * tall.shape[1] / 2


def test_astronomical_products_cost_nothing():
    """10³⁰ cells: everything that factors is known in microseconds (allowed here: a hundred times that)."""
    assert MANY.shape == (10**30, 10**30)
    begin = time.perf_counter()
    for _ in range(10):
        assert MANY.max_column_norm(1) == pytest.approx(1e30)
        assert MANY.max_column_norm(2) == pytest.approx(1e15)
        assert MANY.integer_norm(1) == MANY.integer_norm(2) == 10**30
        assert MANY.gram().shape == MANY.T.shape == MANY.pinv().shape == (10**30, 10**30)
        assert MANY.largest_entry() == 1.0
        assert MANY.full_column_rank
        assert MANY.squared_frobenius() == pytest.approx(55.0**30)
    assert (time.perf_counter() - begin) / 10 < 0.02
    with pytest.raises(TooLarge, match=str(op.DENSE_LIMIT)):
        MANY.column_norms(1)
    with pytest.raises(TooLarge, match=str(op.DENSE_LIMIT)):
        op.Stack(MANY, MANY).max_column_norm(1)


def test_an_order_is_measured_before_it_is_compared():
    """Found by fuzzing plan files: a short order for two billion cells took 17 GB."""
    with pytest.raises(InvalidInput, match="permutation"):
        op.Permuted(op.Prefix(2**31), np.array([2, 0, 1]))
