"""From X to a strategy A with AᵗA = X, in a form that survives rounding to integers.

Every factor of X has the same L2 norms and the same error. A triangular one is cheap to invert. Under Laplace noise
factors differ in their L1 norms, so the symmetric root is tried too. And an X of less than full rank, which supports
the workload exactly and no more, is written as T·R with R independent rows of the workload itself: then rounding T
keeps the row space, where rounding the product would leave it.
"""

from __future__ import annotations

import numpy as np
import scipy

from rowspace.error import profile_trace
from rowspace.operators import DENSE_LIMIT, Composed, Dense, Operator, Vector

from .row_space import ROWS_PER_CELL

FIRM_PIVOT = 1e-3
"""Least relative pivot of X's triangular factor at which rounding its entries to 20 bits is harmless."""

FAINT = 1e-5
"""Share of X's largest eigenvalue below which directions that no query sees are left out."""


def factored(X: Vector, W: Operator, norm: int) -> Operator:
    """A with AᵗA = X: the factor of least sensitivity in the given norm among those tried."""
    triangle = _triangle(X)
    if triangle is None:
        return _low_rank(X, W)
    if norm == 2:
        return Dense(triangle)
    eigenvalues, Q = scipy.linalg.eigh(X)
    root = (Q * np.sqrt(np.maximum(eigenvalues, 0.0))) @ Q.T
    return min(Dense(triangle), Dense(root), key=lambda A: A.max_column_norm(1))


def error_trace(A: Operator, W: Operator, V: Vector) -> float:
    """tr((AᵗA)⁺WᵗW) from A itself, fast where A is triangular."""
    if isinstance(A, Dense) and A.shape[0] == A.shape[1] and not np.tril(A.array, -1).any():
        half = scipy.linalg.solve_triangular(A.array, np.eye(len(V)))
        return float(np.einsum("ij,ij->", V @ half, half))
    return profile_trace(A, W)


def _triangle(X: Vector) -> Vector | None:
    """The upper triangular factor of X, or None when X is nearly singular."""
    try:
        triangle = scipy.linalg.cholesky(X)
    except scipy.linalg.LinAlgError:
        return None
    pivots = np.diagonal(triangle)
    return triangle if pivots.min() > FIRM_PIVOT * pivots.max() else None


def _low_rank(X: Vector, W: Operator) -> Operator:
    """T·R with R made of rows of W and of single cells, or the plain factor where such rows are out of reach."""
    eigenvalues, Q = scipy.linalg.eigh(X)
    kept = eigenvalues > 1e-12 * eigenvalues[-1]
    F = (Q[:, kept] * np.sqrt(eigenvalues[kept])).T
    m, n = W.shape
    if W.integral and m <= ROWS_PER_CELL * n and m * n <= DENSE_LIMIT:
        # Completed cells are asked one by one: their unit vectors lie in the range of X.
        alone = np.flatnonzero(np.einsum("ik,ik->i", Q[:, kept], Q[:, kept]) > 1 - 1e-9)
        rows = np.concatenate((W.to_dense(), np.eye(n)[alone]))
        order = scipy.linalg.qr(rows.T, mode="r", pivoting=True)[1]
        R = rows[np.sort(order[: len(F)])]
        T = scipy.linalg.lstsq(R.T, F.T)[0].T
        if np.allclose(T @ R, F, atol=1e-9):
            return Composed(Dense(T), Dense(R))
    # What columns lack to equal norms is asked cell by cell; next to nothing of it would only blur the row space.
    faint = eigenvalues[kept] < FAINT * eigenvalues[-1]
    if faint.any():
        asked = np.abs(W @ Q[:, kept][:, faint]).max(axis=0)
        faint[faint] = asked <= 1e-9 * np.abs(W @ Q[:, -1:]).max()
    return Dense(F[~faint])
