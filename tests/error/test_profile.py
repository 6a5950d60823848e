"""Profiles, their decomposition and equivalence, with the paper's figures."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace import error
from rowspace import operators as op
from rowspace.exceptions import InvalidInput

H4_PROFILE = np.array([[13, -8, -1, -1], [-8, 13, -1, -1], [-1, -1, 13, -8], [-1, -1, -8, 13]]) / 21
Y4_PROFILE = np.array([[3, -1, 0, 0], [-1, 3, 0, 0], [0, 0, 3, -1], [0, 0, -1, 3]]) / 8


def test_the_papers_profiles():
    np.testing.assert_allclose(error.profile(op.Identity(4)), np.eye(4))
    np.testing.assert_allclose(error.profile(op.Hierarchy(4)), H4_PROFILE)
    np.testing.assert_allclose(error.profile(op.Haar(4)), Y4_PROFILE)


def test_h_prime_and_y_prime_are_profile_equivalent_with_less_sensitivity():
    r = np.sqrt
    H = np.array(
        [
            [-r(1.75)] * 4,
            [r(0.75), r(0.75), -r(0.75), -r(0.75)],
            [-r(0.5), r(0.5), 0, 0],
            [0, 0, -r(0.5), r(0.5)],
        ]
    )
    Y = np.array([[r(3), r(1 / 3), 0, 0], [0, r(8 / 3), 0, 0], [0, 0, r(3), r(1 / 3)], [0, 0, 0, r(8 / 3)]])
    assert error.profile_equivalent(op.Dense(H), op.Hierarchy(4))
    assert error.profile_equivalent(op.Dense(Y), op.Haar(4))
    assert not error.profile_equivalent(op.Dense(Y), op.Hierarchy(4))
    assert op.Dense(H).max_column_norm(1) == pytest.approx(r(0.5) + r(0.75) + r(1.75))
    assert op.Dense(H).max_column_norm(1) == pytest.approx(2.896, abs=5e-4)
    assert op.Dense(Y).max_column_norm(1) == pytest.approx(2.210, abs=5e-4)


def test_the_papers_two_by_two_example():
    M = [[2, -1.5], [-1.5, 2]]
    parts = error.decompose(M)
    np.testing.assert_allclose(parts.values, [3.5, 0.5])
    np.testing.assert_allclose(parts.vectors @ np.diag(parts.values) @ parts.vectors.T, M)
    A2 = op.Dense([[1 / np.sqrt(7), -1 / np.sqrt(7)], [1, 1]])
    assert error.profile_equivalent(A2, error.strategy_from_profile(M))


@given(st.integers(1, 6), st.integers(0, 3), st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_every_rotation_achieves_the_profile(n, extra_rows, seed):
    """Theorem 2, both directions: rotations keep the profile, and equal profiles differ by a rotation."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n + 2, n))
    M = np.linalg.inv(B.T @ B)
    Q, _ = np.linalg.qr(rng.normal(size=(n + extra_rows, n)))
    A = error.strategy_from_profile(M, Q)
    assert A.shape == (n + extra_rows, n)
    np.testing.assert_allclose(error.profile(A), M, rtol=1e-6, atol=1e-8 * np.abs(M).max())
    back = A.to_dense() @ np.linalg.inv(error.strategy_from_profile(M).to_dense())
    np.testing.assert_allclose(back.T @ back, np.eye(n), atol=1e-6)


@pytest.mark.parametrize(
    "M", [np.ones((2, 3)), [[1, 2], [0, 1]], [[1, 2], [2, 1]], [[0.0]], [[np.nan]], [[np.inf, 0], [0, 1]]]
)
def test_what_is_no_profile_is_refused(M):
    with pytest.raises(InvalidInput):
        error.decompose(M)


def test_a_deficient_strategy_has_no_profile():
    with pytest.raises(InvalidInput, match="full rank 3, got rank 1"):
        error.profile(op.Total(3))
    with pytest.raises(InvalidInput, match="orthonormal"):
        error.strategy_from_profile(np.eye(2), np.ones((2, 2)))
