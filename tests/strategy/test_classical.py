"""Identity, the workload itself, trees, wavelets, taxonomies, products: never junk, never below the bound."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace import error, strategy
from rowspace import operators as op
from rowspace.exceptions import InvalidInput, InvalidWorkload
from rowspace.privacy import ZCDP, PureDP

BOTH = [PureDP(1.0), ZCDP(0.5), PureDP(0.5, "replace-one"), ZCDP(0.5, "replace-one")]
ONE_D = [
    op.Ranges(16),
    op.Prefix(16),
    op.Identity(16),
    op.Stack(op.Identity(16), 5 * op.Total(16)),
    op.WidthRanges(16, 4),
]
SEVERAL = [
    op.Kronecker(op.Ranges(8), op.Identity(3)),
    op.Stack(op.Kronecker(op.Ranges(8), op.Total(4)), 2 * op.Kronecker(op.Total(8), op.Identity(4))),
    op.Stack(
        op.Kronecker(op.Prefix(5), op.Total(2), op.Total(3)), op.Kronecker(op.Total(10), op.Identity(3))
    ),
]


def unit_error(A, W, p):
    """E(A, W) from dense matrices alone."""
    A, V = A.to_dense(), W.gram().to_dense()
    return np.linalg.norm(A, p, axis=0).max() ** 2 * np.trace(np.linalg.pinv(A.T @ A) @ V)


def optimizers_for(W):
    if W.shape[1] == 16:
        yield from (
            strategy.IdentityStrategy(),
            strategy.WorkloadItself(),
            strategy.Hierarchical(),
            strategy.Wavelet(),
        )
    yield strategy.Select()


@pytest.mark.parametrize("privacy", BOTH, ids=str)
@pytest.mark.parametrize("W", ONE_D + SEVERAL, ids=str)
def test_every_result_is_honest(W, privacy):
    for optimizer in optimizers_for(W):
        result = optimizer.optimize(W, privacy)
        assert result.total_error >= result.lower_bound * (1 - 1e-9), optimizer
        assert result.total_error == pytest.approx(error.total_error(result.strategy, W, privacy))
        if privacy.neighbours.value == "add-remove":
            assert result.total_error == pytest.approx(
                privacy.unit_variance * unit_error(result.strategy, W, privacy.norm), rel=1e-6
            )


@pytest.mark.parametrize("privacy", BOTH, ids=str)
@pytest.mark.parametrize("W", ONE_D + SEVERAL, ids=str)
def test_selection_is_never_worse_than_identity(W, privacy):
    results = strategy.Select().candidates(W, privacy)
    identity = error.total_error(op.Identity(W.shape[1]), W, privacy)
    assert results[0].total_error <= identity * (1 + 1e-12)
    assert [r.total_error for r in results] == sorted(r.total_error for r in results)


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("n", [8, 27, 16])
def test_level_weights_are_a_minimum(n, norm):
    """No small change of one level's weight improves the true error of a regular tree."""
    privacy = PureDP(1.0) if norm == 1 else ZCDP(0.5)
    branching = 3 if n == 27 else 2
    W = op.Ranges(n)
    best = strategy.Hierarchical((branching,)).optimize(W, privacy)
    for level in range(len(best.strategy.weights)):
        for change in (0.9, 1.1):
            weights = list(best.strategy.weights)
            weights[level] *= change
            other = op.Hierarchy(n, branching, tuple(weights))
            assert error.total_error(other, W, privacy) >= best.total_error * (1 - 1e-6)


@pytest.mark.parametrize("privacy", BOTH[:2], ids=str)
def test_wavelet_weights_are_a_minimum(privacy):
    W = op.Ranges(16)
    best = strategy.Wavelet().optimize(W, privacy)
    for level in range(5):
        for change in (0.95, 1.05):
            weights = list(best.strategy.level_weights)
            weights[level] *= change
            assert error.total_error(op.Haar(16, tuple(weights)), W, privacy) >= best.total_error * (1 - 1e-9)


def test_weighted_strategies_beat_the_papers_plain_ones():
    W, privacy = op.Ranges(64), PureDP(1.0)
    assert error.total_error(op.Hierarchy(64), W, privacy) == pytest.approx(2 * 132_336, rel=1e-4)
    assert error.total_error(op.Haar(64), W, privacy) == pytest.approx(2 * 106_337, rel=1e-4)
    assert strategy.Hierarchical((2,)).optimize(W, privacy).total_error < 2 * 100_000
    assert strategy.Wavelet().optimize(W, privacy).total_error < 2 * 106_337


def test_the_taxonomy_follows_the_declared_tree():
    order = np.array([4, 0, 2, 1, 3])
    tree = op.Permuted(op.Tree((np.array([0, 5]), np.array([0, 2, 5]), np.arange(6)), (1, 1, 1)), order)
    W = op.Stack(tree, op.Identity(5))
    result = strategy.Taxonomy(tree).optimize(W, PureDP(1.0))
    assert result.total_error == pytest.approx(2 * unit_error(result.strategy, W, 1))
    assert result.total_error <= error.total_error(tree, W, PureDP(1.0))


def test_workload_itself_costs_its_rank():
    W = op.Dense([[1, 1, 0], [1, 1, 0], [0, 0, 1], [2, 2, 1]])
    result = strategy.WorkloadItself().optimize(W, PureDP(1.0))
    assert result.total_error == pytest.approx(2 * 4**2 * 2)


def test_the_best_candidate_is_no_worse_than_a_product():
    W = SEVERAL[1]
    best = strategy.Select().candidates(W, PureDP(1.0))[0]
    product = strategy.Product().optimize(W, PureDP(1.0))
    assert best.total_error <= product.total_error * (1 + 1e-9)


def test_a_predicate_that_ties_attributes_merges_them():
    """One part over (a×b)⊗c, another over a⊗b⊗c: the common boundary is between b and c."""
    tied = op.Kronecker(op.Sparse(np.array([[1, 0, 0, 1]])), op.Total(3))
    W = op.Stack(tied, op.Kronecker(op.Identity(2), op.Total(2), op.Identity(3)))
    result = strategy.Select().optimize(W, PureDP(1.0))
    assert result.total_error == pytest.approx(2 * unit_error(result.strategy, W, 1))


@given(st.integers(1, 9), st.integers(1, 6), st.integers(0, 2**32 - 1), st.sampled_from(BOTH))
@settings(max_examples=40, deadline=None)
def test_random_workloads(n, rows, seed, privacy):
    """Duplicate, zero and dependent rows included: a supported strategy between the bound and the identity."""
    rng = np.random.default_rng(seed)
    W = rng.integers(-1, 2, (rows, n)).astype(float)
    W[0, 0] = 1.0
    W = op.Dense(np.vstack([W, W[:1], np.zeros((1, n))]))
    result = strategy.Select().optimize(W, privacy)
    identity = error.total_error(op.Identity(n), W, privacy)
    assert result.lower_bound * (1 - 1e-9) <= result.total_error <= identity * (1 + 1e-9)


def test_bad_input():
    with pytest.raises(InvalidWorkload, match="non-zero"):
        strategy.WorkloadItself().optimize(op.Dense(np.zeros((2, 3))), PureDP(1.0))
    with pytest.raises(InvalidInput, match="branching"):
        strategy.Hierarchical(())
    with pytest.raises(InvalidInput, match="power of two"):
        strategy.Wavelet().optimize(op.Ranges(6), PureDP(1.0))
    with pytest.raises(InvalidWorkload, match="products"):
        strategy.Product(lambda i, V: []).optimize(op.Ranges(6), PureDP(1.0))


def test_large_trees_are_planned_in_linear_space():
    """2²⁰ cells: the trace of all ranges comes from one energy per node, never from a matrix."""
    result = strategy.Hierarchical((16,)).optimize(op.Ranges(2**20), PureDP(1.0))
    assert (
        result.lower_bound
        < result.total_error
        < error.total_error(op.Identity(2**20), op.Ranges(2**20), PureDP(1.0))
    )


def test_a_workload_may_be_any_matrix():
    rows = np.tril(np.ones((6, 6)))
    expected = strategy.select(op.Prefix(6), ZCDP(0.5)).total_error
    for W in (rows, rows.tolist()):
        assert strategy.select(W, ZCDP(0.5)).total_error == pytest.approx(expected, rel=1e-4)
