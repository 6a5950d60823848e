"""Errors of queries and workloads against brute force and the paper's closed forms."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace import error
from rowspace import operators as op
from rowspace.exceptions import InvalidInput, UnsupportedWorkload
from rowspace.privacy import ZCDP, ApproxDP, ApproxDPTheorem3, PureDP

STRATEGIES = [
    op.Identity(8),
    op.Hierarchy(8),
    op.Hierarchy(8, 3),
    op.Hierarchy(8, 2, (1, 0, 2, 0.5)),
    op.Haar(8),
    op.Haar(8, (1, 2, 0.5, 3)),
    op.Prefix(8),
    op.Stack(op.Identity(8), 3 * op.Total(8)),
    op.Kronecker(op.Hierarchy(4), op.Identity(2)),
    2.5 * op.Kronecker(op.Haar(2), op.Hierarchy(4)),
    op.Permuted(op.Hierarchy(8), np.array([3, 1, 0, 2, 7, 6, 4, 5])),
    op.Dense(np.random.default_rng(3).normal(size=(9, 8))),
]
WORKLOADS = [
    op.Identity(8),
    op.Total(8),
    op.Prefix(8),
    op.Ranges(8),
    op.WidthRanges(8, 3),
    op.AllPredicates(8),
    op.Hierarchy(8),
    op.Stack(op.Ranges(8), 2.0 * op.Total(8)),
    op.Kronecker(op.Ranges(4), op.Identity(2)),
    op.Stack(op.Kronecker(op.Prefix(2), op.Total(4)), 3 * op.Kronecker(op.Total(2), op.Ranges(4))),
    op.Weighted([1, 0, 3, 1, 1, 2, 1, 1], op.Prefix(8)),
]
PRIVACIES = [
    (PureDP(0.7), 1, 2 / 0.49),
    (ZCDP(0.3), 2, 1 / 0.6),
    (ApproxDPTheorem3(1.0, 1e-6), 2, 8 * np.log(2e6)),
]


def brute_force(A, W, p):
    """Δ² w(AᵗA)⁻¹wᵗ for every row, from dense matrices alone."""
    A, W = A.to_dense(), W.to_dense()
    return np.linalg.norm(A, p, axis=0).max() ** 2 * np.einsum("ij,jk,ik->i", W, np.linalg.inv(A.T @ A), W)


@pytest.mark.parametrize("W", WORKLOADS, ids=str)
@pytest.mark.parametrize("A", STRATEGIES, ids=str)
def test_errors_are_the_papers_formulas(A, W):
    for privacy, p, unit in PRIVACIES:
        expected = unit * brute_force(A, W, p)
        np.testing.assert_allclose(
            error.query_errors(A, W, privacy), expected, rtol=1e-8, atol=1e-9 * expected.max()
        )
        assert error.total_error(A, W, privacy) == pytest.approx(expected.sum(), rel=1e-8)
        assert error.max_error(A, W, privacy) == pytest.approx(expected.max(), rel=1e-8)


@pytest.mark.parametrize("W", WORKLOADS, ids=str)
@pytest.mark.parametrize("A", STRATEGIES, ids=str)
def test_moments_are_those_of_the_coefficients(A, W):
    found = error.moments(A, W)
    C = W.to_dense() @ np.linalg.pinv(A.to_dense())
    np.testing.assert_allclose(found.second, (C**2).sum(axis=1), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.fourth, (C**4).sum(axis=1), rtol=1e-7, atol=1e-12)
    on_lattice = found.spacing > 0
    multiples = C[on_lattice] / found.spacing[on_lattice, None]
    assert np.allclose(multiples, np.rint(multiples), atol=1e-5)


def test_a_scalar_multiple_changes_no_error():
    A, W = op.Hierarchy(8), op.Ranges(8)
    assert error.total_error(7.3 * A, W, PureDP(1.0)) == pytest.approx(error.total_error(A, W, PureDP(1.0)))


def test_unequal_noise_is_equal_noise_on_scaled_rows():
    """Appendix A: noise of scale b_i on row i is noise of scale b on row i times b/b_i."""
    A, scales = op.Prefix(4), np.array([1.0, 2.0, 0.5, 4.0])
    equal = error.query_variances(op.Weighted(1 / scales, A), op.Identity(4))
    dense = np.linalg.inv(A.to_dense())
    np.testing.assert_allclose(equal, (dense**2 * scales**2).sum(axis=1))


@pytest.mark.parametrize(
    ("A", "W"),
    [
        (op.Total(4), op.Identity(4)),
        (op.Hierarchy(4, 2, (1, 1, 0)), op.Prefix(4)),
        (op.Haar(4, (1, 0, 1)), op.Ranges(4)),
        (op.Dense([[1, 1, 0], [0, 0, 1]]), op.Identity(3)),
        (op.Kronecker(op.Total(2), op.Identity(2)), op.Kronecker(op.Identity(2), op.Total(2))),
        (op.WidthRanges(6, 3), op.Identity(6)),
    ],
    ids=str,
)
def test_an_unsupported_query_never_gets_a_number(A, W):
    for ask in (error.total_error, error.query_errors, error.max_error):
        with pytest.raises(UnsupportedWorkload, match="row space"):
            ask(A, W, PureDP(1.0))
    with pytest.raises(UnsupportedWorkload):
        error.moments(A, W)


def test_a_deficient_strategy_answers_what_it_supports():
    A = op.Hierarchy(4, 2, (1, 1, 0))
    halves = op.Dense([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]])
    expected = np.einsum(
        "ij,jk,ik->i", halves.array, np.linalg.pinv(A.to_dense().T @ A.to_dense()), halves.array
    )
    np.testing.assert_allclose(error.query_errors(A, halves, PureDP(1.0)), 2 * 4 * expected)


def test_strategy_and_workload_must_share_their_cells():
    with pytest.raises(InvalidInput, match="over 5 cells"):
        error.total_error(op.Identity(4), op.Prefix(5), PureDP(1.0))


@given(st.integers(1, 40), st.integers(2, 5), st.data())
@settings(max_examples=60, deadline=None)
def test_tree_trace_on_irregular_trees(n, branching, data):
    depth = op.Hierarchy(n, branching).depth
    weights = data.draw(
        st.lists(st.sampled_from([0.0, 0.3, 1.0, 2.5]), min_size=depth - 1, max_size=depth - 1)
    )
    A = op.Hierarchy(n, branching, (*weights, 1.0))
    M = np.linalg.inv(A.to_dense().T @ A.to_dense())
    for W in (op.Ranges(n), op.Prefix(n), op.WidthRanges(n, max(1, n // 3)), op.Total(n)):
        assert error.profile_trace(A, W) == pytest.approx(np.trace(M @ W.gram().to_dense()), rel=1e-9)


def test_gaussian_is_never_worse_than_the_papers_calibration():
    for epsilon in (0.1, 1.0, 5.0):
        tight, paper = ApproxDP(epsilon, 1e-6), ApproxDPTheorem3(epsilon, 1e-6)
        A, W = op.Hierarchy(16), op.Ranges(16)
        assert error.total_error(A, W, tight) < error.total_error(A, W, paper)


def test_matrices_as_users_have_them():
    rows = np.vstack([np.eye(4), np.ones((1, 4))])
    expected = error.total_error(op.Dense(rows), op.Prefix(4), PureDP(1.0))
    queries = np.tril(np.ones((4, 4)))
    for A in (rows, rows.tolist(), scipy.sparse.csr_array(rows)):
        assert error.total_error(A, queries, PureDP(1.0)) == pytest.approx(expected)
        assert error.max_error(A, queries.tolist(), PureDP(1.0)) < expected
        assert error.profile_equivalent(A, op.Dense(rows))
        np.testing.assert_allclose(error.profile(A), error.profile(op.Dense(rows)))


@pytest.mark.parametrize("privacy", [1.0, None, "PureDP", PureDP])
def test_a_number_is_no_guarantee(privacy):
    with pytest.raises(InvalidInput, match="PureDP"):
        error.query_errors(op.Identity(4), op.Prefix(4), privacy)


@pytest.mark.parametrize("queries", [1, 8], ids=["one by one", "all at once"])
def test_a_small_query_outside_the_row_space_does_not_hide_beside_large_ones(queries):
    large = np.full((queries, 8), 1e8)
    A = op.Dense(np.vstack([np.ones(8), [1, 1, 1, 1, 0, 0, 0, 0]]))
    assert np.isfinite(error.moments(A, op.Dense(large)).second).all()
    W = op.Dense(np.vstack([large, np.eye(8)[0]]))
    for judge in (error.moments, error.query_variances, error.profile_trace):
        with pytest.raises(UnsupportedWorkload):
            judge(A, W)
