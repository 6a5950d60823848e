"""The least largest variance of any part, through its dual: equal noise is not fair when tables differ in size.

With M the variance coefficients (part × component), the largest variance of any part is at least the λ-weighted mean
for every λ of the simplex, so the optimum is at least T(λ) = (Σ_S √(p_S (Mᵗλ)_S))², and noise that is optimal for λ
has a largest variance that is an upper bound. λ ← λ·variance (normalized) closes the gap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy

from rowspace.operators import Vector

GAP = 3e-6
MOST_STEPS = 2000


@dataclass(frozen=True, eq=False)
class WorstPart:
    """Where the search ended, at unit noise and unit privacy."""

    costs: Vector
    """(Mᵗλ) to optimize for, at the best noise found, not the last."""
    weights: Vector
    """The λ of the best bound."""


def worst_part(totals: scipy.sparse.csr_array, queries: Vector, prices: Vector) -> WorstPart:
    """The noise of least largest mean variance of a part; `totals` are sums over the queries of each part."""
    M = scipy.sparse.csr_array(scipy.sparse.diags_array(1 / queries) @ totals)
    weights = np.full(len(queries), 1 / len(queries))
    best, lower, upper = WorstPart(np.zeros(len(prices)), weights), 0.0, np.inf
    for _ in range(MOST_STEPS):
        costs = M.T @ weights
        roots = np.sqrt(prices * costs)
        total = float(roots.sum())
        if total**2 > lower:
            lower, best = total**2, replace(best, weights=weights)
        # σ_S² = (Σ roots)·√(p_S / costs_S): unit privacy cost, the λ-weighted variance is total².
        noise = total * np.divide(np.sqrt(prices), np.sqrt(costs), out=np.zeros_like(costs), where=costs > 0)
        variances = M @ noise
        if variances.max() < upper:
            upper, best = float(variances.max()), replace(best, costs=costs)
        if upper <= lower * (1 + GAP):
            break
        weights = weights * variances
        weights /= weights.sum()
    return best
