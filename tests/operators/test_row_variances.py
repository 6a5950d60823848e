"""The error of every prefix and every cell in closed form, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace import ZCDP
from rowspace import operators as op
from rowspace.error import query_errors
from rowspace.error.analysis import query_variances


def strategies_over(n: int, rng: np.random.Generator) -> list[op.Operator]:
    """Every structure that knows a closed form, with uneven weights."""
    levels = len(op.Hierarchy(n, 3).level_weights)
    weights = (*rng.integers(0, 4, levels - 1).astype(float).tolist(), 2.0)
    found: list[op.Operator] = [op.Identity(n), 3 * op.Identity(n), op.Hierarchy(n, 2), op.Prefix(n)]
    found.append(op.Hierarchy(n, 3, weights))
    if n >= 2 and n & (n - 1) == 0:
        found.append(op.Haar(n, tuple(rng.integers(1, 5, n.bit_length()).astype(float).tolist())))
    for waves in (op.Sines(n), op.Cosines(n)):
        spectral = op.Spectral.with_unit_columns(waves, rng.uniform(1, 3, n))
        found += [spectral, spectral.to_integers(20)[0]]
    return [*found, op.Dense(np.triu(rng.uniform(0.5, 1, (n, n))))]


@given(st.integers(2, 70), st.integers(0, 2**20))
@settings(max_examples=30, deadline=None)
def test_against_dense_algebra(n: int, seed: int) -> None:
    for A in strategies_over(n, np.random.default_rng(seed)):
        dense = A.to_dense()
        M = np.linalg.inv(dense.T @ dense)
        for W in (op.Prefix(n), op.Identity(n), 2 * op.Prefix(n), op.Ranges(n)):
            rows = W.to_dense()
            truth = np.einsum("ij,jk,ik->i", rows, M, rows)
            np.testing.assert_allclose(query_variances(A, W), truth, rtol=1e-7, err_msg=f"{A} on {W}")


def test_a_million_prefixes() -> None:
    n = 2**20
    A = op.Spectral.with_unit_columns(op.Cosines(n), 1 / np.sqrt(np.sin(op.Cosines(n).angles / 2)))
    errors = query_errors(A, op.Prefix(n), ZCDP(0.5))
    assert errors.sum() == pytest.approx(A.profile_trace(op.Prefix(n)), rel=1e-6)
    assert query_errors(op.Hierarchy(n, 16), op.Prefix(n), ZCDP(0.5)).min() > 0


def test_the_identity_on_products_needs_no_cells() -> None:
    W = op.Kronecker(op.Prefix(300), op.Total(400), op.Identity(500))
    errors = query_errors(op.Identity(W.shape[1]), W, ZCDP(0.5))
    assert errors.max() == 300 * 400
    assert len(errors) == 300 * 500


def test_a_triangle_with_a_firm_diagonal_is_known_to_have_full_rank() -> None:
    assert op.Dense(np.triu(np.ones((4, 4)))).full_column_rank is True
    for array in (np.ones((4, 4)), np.tril(np.ones((4, 4))), np.diag([1.0, 1e-3]), np.triu(np.ones((3, 4)))):
        assert op.Dense(array).full_column_rank is None
