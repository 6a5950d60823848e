"""Error of queries and workloads under a strategy: Propositions 4 and 5 of the paper, for both noises.

The error of query w is v · Δ² · w(AᵗA)⁻¹wᵗ, where v is the variance of the noise at unit sensitivity (2/ε²
for Laplace) and Δ the strategy's sensitivity in the noise's norm. These are the paper's formulas for
continuous noise; a `Plan` reports the error of the exact integer noise it will draw. Strategies and workloads are
operators, numpy arrays, nested lists or scipy sparse matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.operators import DECOMPOSITION_LIMIT, Kronecker, Operator, Scaled, Stack, as_operator
from rowspace.operators.base import Vector
from rowspace.operators.fallback import inverse_gram
from rowspace.privacy import Privacy, sensitivity

from .moments import moments
from .traces import profile_trace, same_cells


def total_error(A: Operator | Any, W: Operator | Any, privacy: Privacy) -> float:
    """Sum over the workload of the expected squared error of each answer.

    >>> from rowspace import PureDP, operators as op
    >>> total_error(op.Identity(4), op.Ranges(4), PureDP(1.0))
    40.0
    >>> round(total_error([[1, 1], [1, -1]], [[1, 0], [0, 1], [1, 1]], PureDP(1.0)), 9)
    16.0
    """
    A, W = _checked(A, W, privacy)
    return noise_level(A, privacy) * profile_trace(A, W)


def query_errors(A: Operator | Any, W: Operator | Any, privacy: Privacy) -> Vector:
    """Expected squared error of every query of the workload, in its row order.

    >>> from rowspace import PureDP, operators as op
    >>> query_errors(op.Identity(3), op.Prefix(3), PureDP(1.0))
    array([2., 4., 6.])
    """
    A, W = _checked(A, W, privacy)
    return noise_level(A, privacy) * query_variances(A, W)


def max_error(A: Operator | Any, W: Operator | Any, privacy: Privacy) -> float:
    """The largest expected squared error of any query of the workload."""
    return float(query_errors(A, W, privacy).max())


def noise_level(A: Operator, privacy: Privacy) -> float:
    """Variance of the (continuous) noise on each strategy answer: unit variance times squared sensitivity."""
    return privacy.unit_variance * sensitivity(A, privacy) ** 2


def query_variances(A: Operator, W: Operator) -> Vector:
    """w(AᵗA)⁺wᵗ for every row of W, its error at unit noise; `UnsupportedWorkload` outside the row space."""
    if isinstance(W, Stack):
        return np.concatenate([query_variances(A, part) for part in W.parts])
    if isinstance(W, Scaled):
        return W.factor**2 * query_variances(A, W.of)
    if isinstance(A, Kronecker) and isinstance(W, Kronecker) and same_cells(A, W):
        product = np.ones(1)
        for a, w in zip(A.factors, W.factors, strict=True):
            product = np.multiply.outer(product, query_variances(a, w)).ravel()
        return product
    if A.full_column_rank and A.shape[1] <= DECOMPOSITION_LIMIT // 2 and W.shape[0] > A.shape[1]:
        # Many queries: one dense profile, then one pass over the rows (two cumulative sums for ranges).
        return W.row_quadratic(_profile_of_full_rank(A))
    return moments(A, W).second


def _profile_of_full_rank(A: Operator) -> Vector:
    """(AᵗA)⁻¹ from the fast pseudo-inverse where there is one: A⁺(A⁺)ᵗ."""
    try:
        inverse = A.pinv()
        B = inverse.to_dense()
        return np.asarray(B @ B.T)
    except TooLarge:
        return inverse_gram(A)


def _checked(A: Any, W: Any, privacy: Any) -> tuple[Operator, Operator]:
    """Strategy and workload as operators over the same cells, under something that is a guarantee."""
    if not isinstance(privacy, Privacy):
        raise InvalidInput(
            f"expected a privacy guarantee such as rs.PureDP(epsilon=1.0), got {type(privacy).__name__}"
        )
    A, W = as_operator(A), as_operator(W)
    check_cells(A, W)
    return A, W


def check_cells(A: Operator, W: Operator) -> None:
    """Strategy and workload must be over the same cells."""
    if A.shape[1] != W.shape[1]:
        raise InvalidInput(f"expected a strategy over {W.shape[1]} cells like the workload, got {A.shape[1]}")
