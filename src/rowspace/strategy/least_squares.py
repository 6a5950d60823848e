"""x̂ = A⁺y: the unbiased estimate of least variance among those linear in y (Theorem 1 of the paper)."""

from __future__ import annotations

import numpy as np
import scipy

from rowspace.exceptions import RowspaceError, TooLarge
from rowspace.operators import Operator, Vector
from rowspace.threads import one_thread_if_small

TOLERANCE = 1e-12
"""Relative residual of the iterative solver: far below any noise."""


def least_squares(A: Operator, y: Vector) -> Vector:
    """By the matrix's own pseudo-inverse where it has one (trees, wavelets, products: linear time), else by LSMR."""
    with one_thread_if_small(A.shape[1]):
        try:
            return A.pinv() @ y
        except TooLarge:
            return iterated(A, y)


def iterated(A: Operator, y: Vector) -> Vector:
    """By LSMR: actions of the matrix only, whatever its structure."""
    linear = scipy.sparse.linalg.LinearOperator(
        A.shape, matvec=lambda v: A @ v.ravel(), rmatvec=lambda v: A.T @ v.ravel(), dtype=np.float64
    )
    # conlim=0: a badly conditioned strategy takes more steps; by default it would be left half solved, without a word.
    solution, stop, *_ = scipy.sparse.linalg.lsmr(
        linear, y, atol=TOLERANCE, btol=TOLERANCE, conlim=0, maxiter=10_000
    )
    if stop == 7:
        raise RowspaceError(
            "least squares did not converge; report the plan, its strategy is badly conditioned"
        )
    return np.asarray(solution)
