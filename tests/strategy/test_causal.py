"""Strategies that can be measured period by period."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace import ZCDP, PureDP
from rowspace import operators as op
from rowspace.error import noise_level, profile_trace, query_variances
from rowspace.exceptions import InvalidInput
from rowspace.strategy.causal import (
    causal_factor,
    in_integers,
    over_time,
    periods_of_rows,
    rows_of_period,
    until,
)
from rowspace.strategy.causal_layers import layered
from rowspace.strategy.causal_search import triangles
from rowspace.strategy.gaussian_optimal import GaussianOptimal
from rowspace.strategy.timing import by_period
from rowspace.tables import Piece, gather


@given(st.integers(1, 8), st.integers(0, 8), st.integers(0, 2**32 - 1))
def test_the_factor_is_lower_triangular_and_no_less_informative(n, rank, seed):
    B = np.random.default_rng(seed).normal(size=(rank, n))
    X = B.T @ B + 1e-9 * np.eye(n)
    C = causal_factor(X)
    assert not np.triu(C, 1).any()
    assert (np.diagonal(C) > 0).all()
    found = C.T @ C
    assert np.allclose(np.diagonal(found), np.diagonal(X).max())
    # CᵗC ⪰ (1 − 10⁻⁴)·X: no query in X's row space has noticeably more error at the same sensitivity.
    assert np.linalg.eigvalsh(found - (1 - 1e-4) * X).min() > -1e-9 * np.diagonal(X).max()


def layers(sizes, joint, seed=1):
    """Any triangles for all residuals."""
    rng, n = np.random.default_rng(seed), int(np.prod([sizes[i] for i in joint]))
    subsets = op.Layers.subsets_of(tuple(i for i in range(len(sizes)) if i not in joint))
    return op.Layers(
        sizes, joint, tuple(in_integers(np.tril(rng.normal(size=(n, n))) + 3 * np.eye(n)) for _ in subsets)
    )


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_rows_and_cuts_against_the_dense_matrix(axis):
    sizes = (2, 3, 4)
    n, rng = 24, np.random.default_rng(1)
    triangle = in_integers(np.tril(rng.normal(size=(n, n))) + 3 * np.eye(n))
    factors = [op.Hierarchy(m) for m in sizes]
    factors[axis] = in_integers(np.tril(np.ones((sizes[axis],) * 2)))
    period_of_cell = np.indices(sizes)[axis].ravel()
    later = (axis + 1) % 3
    strategies = [over_time(triangle, sizes, axis), op.Kronecker(*factors), 3 * op.Kronecker(*factors)]
    strategies += [layers(sizes, (axis,)), layers(sizes, (axis, later))]
    for A in strategies:
        dense, rows = A.to_dense(), periods_of_rows(A, sizes, axis)
        for row, period in zip(dense, rows, strict=True):
            assert period_of_cell[row != 0].max() <= period
        for t in range(sizes[axis]):
            so_far = period_of_cell <= t
            assert np.array_equal(until(A, sizes, axis, t + 1).to_dense(), dense[np.ix_(rows <= t, so_far)])
            assert np.array_equal(
                rows_of_period(A, sizes, axis, t).to_dense(), dense[np.ix_(rows == t, so_far)]
            )


def test_what_needs_later_cells_is_refused():
    for A in (op.Dense(np.triu(np.ones((3, 3)))), op.Prefix(3), op.Dense(np.tril(np.ones((3, 3)), -1))):
        with pytest.raises(InvalidInput, match="later periods"):
            periods_of_rows(A, (3,), 0)
    for joint in ((0,), (0, 1)):
        with pytest.raises(InvalidInput, match="later periods"):
            periods_of_rows(layers((3, 2, 2), joint), (3, 2, 2), 1)
    with pytest.raises(InvalidInput, match="later periods"):
        periods_of_rows(op.Layers((2, 3), (1,), (op.Dense(np.triu(np.ones((3, 3)))),) * 2), (2, 3), 1)
    with pytest.raises(InvalidInput, match="later periods"):
        periods_of_rows(op.Permuted(op.Dense(np.eye(6)), [1, 0, 2, 3, 4, 5]), (3, 2), 0)
    with pytest.raises(InvalidInput, match="later periods"):
        periods_of_rows(
            op.Permuted(op.Kronecker(op.Identity(3), op.Identity(2)), [1, 2, 0, 3, 4, 5]), (3, 2), 0
        )


@pytest.mark.parametrize("joint", [(0,), (1,), (2, 0), (1, 2)])
def test_errors_of_layers_are_those_of_the_dense_matrix(joint):
    sizes = (3, 4, 2)
    A = layers(sizes, joint)
    dense = A.to_dense()
    inverse = np.linalg.pinv(dense)
    products = [
        op.Kronecker(op.Prefix(3), op.Identity(4), op.Total(2)),
        op.Kronecker(op.Identity(3), op.Ranges(4), op.Prefix(2)),
        op.Kronecker(op.Dense([[1.0, -2.0, 0.5]]), op.Total(4), op.Identity(2)),
    ]
    for W in (*products, op.Stack(2 * products[0], products[1]), op.Dense(np.arange(48.0).reshape(2, 24))):
        variances = np.square(W.to_dense() @ inverse).sum(axis=1)
        assert query_variances(A, W) == pytest.approx(variances, rel=1e-9)
        assert profile_trace(A, W) == pytest.approx(variances.sum(), rel=1e-9)
    for p in (1, 2):
        assert A.integer_norm(p) == (np.abs(dense) ** p).sum(axis=0).max()


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_a_triangle_for_each_residual_is_the_optimum(seed):
    """Where cells are alike nothing is lost against the dense optimum, and its bound is one."""
    rng = np.random.default_rng(seed)
    sizes, axis = (3, 4, 3), 1
    families = [
        [op.Identity(3), op.Total(3)],
        [op.Prefix(4), op.Identity(4), op.Total(4)],
        [op.Ranges(3), op.Total(3), op.Identity(3)],
    ]
    parts = [
        (
            rng.uniform(0.5, 2),
            tuple(Piece((i,), own[rng.integers(len(own))]) for i, own in enumerate(families)),
        )
        for _ in range(3)
    ]
    queries = gather(sizes, parts)
    W, privacy = queries.weighted_operator(), ZCDP(0.5)
    A, bound, _ = layered(queries, queries, axis)
    best = GaussianOptimal(gap=1e-5).optimize(W, privacy)
    assert bound <= best.total_error * (1 + 1e-9)
    if A is not None:
        assert bound > (1 - 2e-3) * best.total_error
        assert noise_level(A, privacy) * profile_trace(A, W) < 1.003 * best.total_error
        periods_of_rows(A, sizes, axis)


def test_cells_by_period():
    assert by_period((2, 3), 1).tolist() == [0, 3, 1, 4, 2, 5]


def test_time_costs_nothing_under_gaussian_noise():
    """At n = 128 the streamed error is the optimum."""
    W = op.Prefix(128)
    (C,) = triangles(W, ZCDP(0.5))
    assert noise_level(C, ZCDP(0.5)) * profile_trace(C, W) == pytest.approx(683.61, abs=0.01)


@pytest.mark.parametrize("n", [8, 64])
def test_triangles_under_laplace_noise_beat_single_counts(n):
    W, privacy = op.Prefix(n), PureDP(2**0.5)
    found = min(noise_level(C, privacy) * profile_trace(C, W) for C in triangles(W, privacy))
    plain = n * (n + 1) / 2
    assert found < (0.76 if n == 64 else 1.0001) * plain


def test_rounding_keeps_lower_triangles():
    """Those of more than 1,024 periods, too, whose rank nobody computes."""
    n = 1100
    C = op.Dense(np.tril(np.full((n, n), 1e-3)) + np.eye(n))
    assert C.rounding_keeps_row_space
    assert not np.triu(C.supporting_integers(8).to_dense(), 1).any()
    assert not op.Dense(np.full((n, n), 0.3)).rounding_keeps_row_space
