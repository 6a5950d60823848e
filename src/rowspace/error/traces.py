"""tr((AᵗA)⁺ WᵗW): what a strategy's noise costs a workload, by structure of the pair.

The formulas about two structures at once live here, in order of preference:

1. a workload as its own strategy costs its rank (paper, Example 6);
2. a product strategy on a product workload factors: tr(⊗M ⊗V) = Π tr(M_i V_i), and a union is the sum of its parts;
3. otherwise the strategy's own closed form (trees, wavelets, identity), else dense algebra within limits.
"""

from __future__ import annotations

from math import prod

import numpy as np
import scipy

from rowspace.operators import Kronecker, Operator, Scaled, Stack
from rowspace.operators.fallback import check_decomposable


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
        if isinstance(W, Kronecker) and same_cells(A, W):
            return prod(profile_trace(a, w) for a, w in zip(A.factors, W.factors, strict=True))
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


def same_cells(A: Kronecker, W: Kronecker) -> bool:
    """Whether two products are over the same attributes, factor by factor."""
    return [f.shape[1] for f in A.factors] == [f.shape[1] for f in W.factors]
