"""p-Identity operators: Woodbury's closed forms, normalisation, and rounding that keeps the sensitivity exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from rowspace import operators as op
from rowspace.exceptions import InvalidInput
from rowspace.operators.stack import lean_gram

THETA = np.array([[0.5, 0.0, 2.0, 0.1], [0.0, 0.3, 0.0, 1.0]])

WORKLOADS = {
    "ranges": op.Ranges(4),
    "weighted union": op.Stack(2 * op.Prefix(4), op.Total(4)),
    "product": op.Kronecker(op.Prefix(2), op.Ranges(2)),
    "wide dense": op.Dense([[1.0, -2.0, 0.0, 0.5]]),
    "tall dense": op.Dense(np.arange(24.0).reshape(6, 4)),
    "sparse with nothing": op.Sparse(np.zeros((2, 4))),
}


@pytest.mark.parametrize("theta", [THETA, sparse.csr_array(THETA)], ids=["dense", "sparse"])
def test_columns_sum_to_one(theta):
    A = op.PIdentity.normalized(theta)
    assert A.column_norms(1) == pytest.approx(np.ones(4), abs=1e-15)
    assert A.to_dense()[:4] * (1 + THETA.sum(axis=0)) == pytest.approx(np.eye(4))
    assert A.to_dense()[4:] * (1 + THETA.sum(axis=0)) == pytest.approx(THETA)


@pytest.mark.parametrize("W", WORKLOADS.values(), ids=WORKLOADS)
@pytest.mark.parametrize("theta", [THETA, sparse.csr_array(THETA)], ids=["dense", "sparse"])
def test_profile_trace_against_dense_algebra(theta, W):
    A = op.PIdentity.normalized(theta)
    dense, V = A.to_dense(), W.to_dense().T @ W.to_dense()
    assert A.profile_trace(W) == pytest.approx(np.trace(np.linalg.inv(dense.T @ dense) @ V), rel=1e-12)


@pytest.mark.parametrize("W", WORKLOADS.values(), ids=WORKLOADS)
def test_lean_gram_is_the_gram(W):
    assert lean_gram(W).to_dense() == pytest.approx(W.gram().to_dense())


def test_nothing_of_size_n_squared():
    n, p = 2**17, 3
    theta = sparse.random_array((p, n), density=0.01, rng=np.random.default_rng(1))
    A = op.PIdentity.normalized(theta)
    x = np.arange(n, dtype=float)
    assert A.pinv() @ (A @ x) == pytest.approx(x, rel=1e-9, abs=1e-6)
    assert A.profile_trace(op.Prefix(n)) > 0
    assert A.integer_form(20)[0].integer_norm(1) > 2**19


@given(st.integers(1, 20), st.integers(1, 6), st.integers(1, 3), st.integers(0, 2**32))
def test_rounding_keeps_columns_equal_and_exact(bits, n, p, seed):
    A = op.PIdentity.normalized(np.random.default_rng(seed).exponential(size=(p, n)))
    B, scale = A.integer_form(bits)
    assert B.integral
    assert type(B) is op.PIdentity
    assert B.full_column_rank
    columns = np.abs(B.to_dense()).sum(axis=0)
    assert set(columns) == {float(B.integer_norm(1))}
    # Rounding moves an entry by half, the fill-up by at most half for every entry of two columns.
    assert np.abs(B.to_dense() - scale * A.to_dense()).max() <= 0.5 + (p + 2)


def test_rounding_leaves_unequal_columns_unequal():
    A = op.PIdentity([0.5, -0.25], op.Dense([[0.5, 0.0]]))
    rounded, scale = A.integer_form(3)
    assert scale == 16
    assert rounded == op.PIdentity([8, -4], op.Dense([[8, 0]]))


def test_pseudo_inverse_of_the_integer_form():
    B, _ = op.PIdentity.normalized(THETA).integer_form(12)
    assert B.pinv().to_dense() == pytest.approx(np.linalg.pinv(B.to_dense()), abs=1e-12)
    exact = B @ np.array([1, 2, 3, 4])
    assert exact.dtype == np.int64
    assert exact.tolist() == (B.to_dense() @ [1, 2, 3, 4]).tolist()


def test_equality_and_files():
    A = op.PIdentity.normalized(sparse.csr_array(THETA))
    assert op.decode(*op.encode(A)) == A


@pytest.mark.parametrize(
    "build",
    [
        lambda: op.PIdentity([1.0, 0.0], op.Dense([[1, 1]])),
        lambda: op.PIdentity([1.0, np.nan], op.Dense([[1, 1]])),
        lambda: op.PIdentity([1.0], op.Dense([[1, 1]])),
        lambda: op.PIdentity([1.0, 1.0], op.Total(2)),
        lambda: op.PIdentity.normalized([[1.0, -0.1]]),
        lambda: op.PIdentity.normalized([[1.0, np.inf]]),
        lambda: op.PIdentity.normalized(np.zeros((0, 3))),
    ],
)
def test_bad_input(build):
    with pytest.raises(InvalidInput):
        build()
