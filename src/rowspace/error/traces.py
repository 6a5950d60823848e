"""tr((AᵗA)⁺ WᵗW): what a strategy's noise costs a workload, by structure of the pair.

The formulas about two structures at once live here, in order of preference:

1. a union is the sum of its parts, a multiple c·W costs c² times W;
2. a product strategy on a product workload factors: tr(⊗M ⊗V) = Π tr(M_i V_i);
3. otherwise the strategy's own closed form (trees, wavelets, identity), else dense algebra within limits.
"""

from __future__ import annotations

from math import prod

from rowspace.operators import Kronecker, Operator, Scaled, Stack


def profile_trace(A: Operator, W: Operator) -> float:
    """tr((AᵗA)⁺ WᵗW); `UnsupportedWorkload` when W leaves A's row space.

    >>> from rowspace import operators as op
    >>> profile_trace(op.Identity(4), op.Ranges(4))
    20.0
    """
    if isinstance(W, Stack):
        return sum(profile_trace(A, part) for part in W.parts)
    if isinstance(W, Scaled):
        return W.factor**2 * profile_trace(A, W.of)
    if isinstance(A, Scaled) and A.factor:
        return profile_trace(A.of, W) / A.factor**2
    if isinstance(A, Kronecker) and isinstance(W, Kronecker) and same_cells(A, W):
        return prod(profile_trace(a, w) for a, w in zip(A.factors, W.factors, strict=True))
    return A.profile_trace(W)


def same_cells(A: Kronecker, W: Kronecker) -> bool:
    """Whether two products are over the same attributes, factor by factor."""
    return [f.shape[1] for f in A.factors] == [f.shape[1] for f in W.factors]
