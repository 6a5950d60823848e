"""Error of queries and workloads under a strategy: Propositions 4 and 5 of the paper, for both noises.

The error of query w is v · Δ² · w(AᵗA)⁻¹wᵗ, where v is the variance of the noise at unit sensitivity (2/ε²
for Laplace) and Δ the strategy's sensitivity in the noise's norm. These are the paper's formulas for
continuous noise; a `Plan` reports the error of the exact integer noise it will draw. Strategies and workloads are
operators, numpy arrays, nested lists or scipy sparse matrices.

tr((AᵗA)⁺ WᵗW): what a strategy's noise costs a workload, by structure of the pair.

The formulas about two structures at once live here, in order of preference:

1. a workload as its own strategy costs its rank (paper, Example 6);
2. a product strategy on a product workload factors: tr(⊗M ⊗V) = Π tr(M_i V_i), and a union is the sum of its parts;
3. otherwise the strategy's own closed form (trees, wavelets, identity), else dense algebra within limits.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import scipy

from rowspace.exceptions import InvalidInput
from rowspace.operators import (
    DECOMPOSITION_LIMIT,
    Identity,
    Kronecker,
    Operator,
    Scaled,
    Stack,
    Vector,
    as_operator,
    check_decomposable,
    dense_profile,
)
from rowspace.privacy import Privacy, sensitivity

from .moments import by_factors, moments


def profile_trace(A: Operator, W: Operator) -> float:
    """tr((AᵗA)⁺ WᵗW); `UnsupportedWorkload` when W leaves A's row space.

    >>> from rowspace import operators as op
    >>> profile_trace(op.Identity(4), op.Ranges(4))
    20.0
    """
    if A is W:
        return float(rank(W))
    if isinstance(A, Scaled) and A.factor:
        return profile_trace(A.of, W) / A.factor**2
    if isinstance(A, Kronecker):
        if isinstance(W, Stack):
            return sum(profile_trace(A, part) for part in W.parts)
        if isinstance(W, Scaled):
            return W.factor**2 * profile_trace(A, W.of)
        if isinstance(W, Kronecker) and (parts := by_factors(A, W)):
            return prod(profile_trace(a, w) for a, w in zip(A.factors, parts, strict=True))
    return A.profile_trace(W)


def rank(A: Operator) -> int:
    """Rank of A: its number of columns when the structure says so, else counted from the Gram matrix's spectrum."""
    if A.full_column_rank:
        return A.shape[1]
    if A.shape[0] == 1:
        return int(A.largest_entry() > 0)
    check_decomposable(A.gram(), "compute the rank")
    eigenvalues = scipy.linalg.eigvalsh(A.gram().to_dense())
    # Squares of singular values: relative 1e-12 here is 1e-6 for A, far above rounding and below any real query.
    return int(np.sum(eigenvalues > 1e-12 * eigenvalues[-1] * len(eigenvalues)))


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
    if isinstance(A, Identity) and isinstance(W, Kronecker):
        A = Kronecker(*(Identity(factor.shape[1]) for factor in W.factors))
    if isinstance(A, Kronecker) and isinstance(W, Kronecker) and (parts := by_factors(A, W)):
        product = np.ones(1)
        for a, w in zip(A.factors, parts, strict=True):
            product = np.multiply.outer(product, query_variances(a, w)).ravel()
        return product
    if (known := A.row_variances(W)) is not None:
        return known
    if A.shape[1] <= DECOMPOSITION_LIMIT and W.shape[0] >= A.shape[1] // 4:
        # Many queries: one dense profile, then one pass over the rows (two cumulative sums for ranges).
        return W.row_quadratic(dense_profile(A, W))
    return moments(A, W).second


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
