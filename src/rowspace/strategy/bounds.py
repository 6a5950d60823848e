"""Lower bounds: numbers no strategy can go below, so that every result can say how far from the best it is.

All bounds are in the unit of E(A, W) = (sensitivity)² · tr((AᵗA)⁺WᵗW) and hold for Laplace and Gaussian noise
alike, because the L1 norm of a column is at least its L2 norm.

| bound                 | what it takes                               | how close on ranges / prefixes of 1024 |
|-----------------------|---------------------------------------------|----------------------------------------|
| `singular_value_bound`| the sum of singular values                  | 1.3 % / 3.2 %                          |
| `root_diagonal_bound` | the diagonal of (WᵗW)^½, O(n log n) for both | 0.02 % / 0.3 %                         |
| `dual_bound`          | an eigendecomposition a step, n ≤ 4096      | 3 steps: 1e-9 / 0.05 %                 |

Products of workloads multiply each of them, since λ = λ₁ ⊗ λ₂ makes the matrices of `dual` products as well. A union is
at least the sum of its parts, because one strategy serves them all; that is used where the whole is out of reach.
Unions of products have a far better bound at any number of cells (`product_bounds`).
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np

from rowspace.exceptions import InvalidWorkload, TooLarge
from rowspace.operators import (
    DECOMPOSITION_LIMIT,
    Kronecker,
    Operator,
    Prefix,
    Ranges,
    Scaled,
    Stack,
    Vector,
    check_size,
)
from rowspace.privacy import Neighbours, Privacy

from .dual import FullRank, bound_at
from .dual_ascent import plain_step

QUICK_CELLS = 512
"""Most cells for which `unit_lower_bound` decomposes matrices: a fraction of a second."""

QUICK_STEPS = 3


def unit_lower_bound(W: Operator, privacy: Privacy) -> float:
    """The best bound that is cheap for this workload under this notion of neighbours; 0 when none is."""
    # A record may be replaced by one that is not counted: the sensitivity is at least that of removing one.
    best = add_remove_bound(W)
    if privacy.neighbours is Neighbours.ADD_REMOVE:
        return best
    small = W.shape[1] <= DECOMPOSITION_LIMIT
    return max(best, replace_one_bound(W) if small else _remembered_products_bound(W, replacing=True))


def add_remove_bound(W: Operator) -> float:
    """The best that is cheap for neighbours that add or remove a record."""
    if isinstance(W, Stack) and W.shape[1] > QUICK_CELLS:
        return _remembered_products_bound(W, replacing=False) or decomposed_bound(W)
    return decomposed_bound(W)


@lru_cache(maxsize=64)
def _remembered_products_bound(W: Operator, *, replacing: bool) -> float:
    """The bound of a union of products attribute by attribute; 0 for other workloads."""
    # It is made of the bounds here.
    from .product_bounds import union_bound
    from .table_demand import read_products

    try:
        return union_bound(read_products(W), replacing)
    except (InvalidWorkload, TooLarge):
        return 0.0


def decomposed_bound(W: Operator) -> float:
    """The best for neighbours that add or remove a record by decomposing W: a second or so for thousands of cells."""
    if isinstance(W, Scaled):
        return W.factor**2 * decomposed_bound(W.of)
    if isinstance(W, Kronecker):
        return prod(decomposed_bound(factor) for factor in W.factors)
    return _remembered_bound(W)


@lru_cache(maxsize=64)
def _remembered_bound(W: Operator) -> float:
    """Every candidate for a workload is judged against the same bound: it is computed once."""
    if W.shape[1] <= QUICK_CELLS:
        return dual_bound(W, QUICK_STEPS)
    if isinstance(W, (Ranges, Prefix)):
        return root_diagonal_bound(W)
    by_parts = sum(decomposed_bound(part) for part in W.parts) if isinstance(W, Stack) else 0.0
    return max(singular_value_bound(W), by_parts)


def singular_value_bound(W: Operator) -> float:
    """(Σσ)²/n, with σ the singular values of W (Theorem 6).

    Proof. With G = AᵗA, Cauchy–Schwarz gives (tr V^½)² ≤ tr(G)·tr(G⁺V) for V = WᵗW in A's row space, and
    tr(G) = Σ‖a_j‖² ≤ n·max‖a_j‖².

    >>> from rowspace import operators as op
    >>> singular_value_bound(op.Identity(5))
    5.0
    """
    if isinstance(W, Scaled):
        return W.factor**2 * singular_value_bound(W.of)
    try:
        return W.nuclear_norm() ** 2 / W.shape[1]
    except TooLarge:
        if isinstance(W, Stack):
            return sum(singular_value_bound(part) for part in W.parts)
        # Σσ ≥ (Σσ²)^½ always.
        return W.squared_frobenius() / W.shape[1]


def root_diagonal_bound(W: Ranges | Prefix) -> float:
    """Σ_j ((WᵗW)^½)_jj², in closed form: the half step of the dual from λ = 1 (see `dual`), O(n log n).

    At least the singular value bound, whose (Σ_j ·)²/n it replaces by Σ_j (·)².

    >>> from rowspace import operators as op
    >>> bound = root_diagonal_bound(op.Ranges(1024))
    >>> bool(singular_value_bound(op.Ranges(1024)) < bound < 6.48433e6 < 1.0003 * bound)
    True
    """
    diagonal = _ranges_root_diagonal(W.n) if isinstance(W, Ranges) else _prefix_root_diagonal(W.n)
    return float(np.sum(diagonal**2))


def _ranges_root_diagonal(n: int) -> Vector:
    """Σ_k σ_k·2/(n+1)·sin²(jφ_k) for j = 1…n, with φ_k = πk/(n+1) and σ_k = ½√(n+1)/sin(½φ_k), in O(n).

    From j − 1 to j it grows by Σ_k (sin((2j − ½)φ_k) + sin((2j − 3/2)φ_k))/√(n+1), since sin φ = 2 sin ½φ cos ½φ; and
    a sum of sines over equal steps is a cotangent.
    """
    quarter = np.pi / (4 * n + 4)
    odd = np.arange(1, 4 * n, 2)
    cotangents = 1.0 / np.tan(odd * quarter)
    return np.asarray(np.cumsum(cotangents[0::2] + cotangents[1::2]) / (2 * np.sqrt(n + 1)))


def _prefix_root_diagonal(n: int) -> Vector:
    """Σ_k σ_k·4/(2n+1)·cos²(θ_k(j + ½)) for j = 0…n−1, with θ_k = (2k−1)π/(2n+1) and σ_k = ½/sin(½θ_k), in O(n).

    By the same differences, which are cosecants here, summed up from j = n where all the waves vanish.
    """
    quarter = np.pi / (4 * n + 2)
    odd = np.arange(3, 4 * n + 2, 2)
    cosecants = 1.0 / np.sin(odd * quarter)
    return np.asarray(np.cumsum((cosecants[0::2] + cosecants[1::2])[::-1])[::-1] / (2 * n + 1))


def dual_bound(W: Operator, steps: int = 10) -> float:
    """The bound of Program 2's dual after some steps from equal weights; one eigendecomposition each.

    Guarantees:
        - never below the singular value bound, and never falls with more steps (`test_dual_bound_only_rises`);
        - below the error of every strategy, Laplace or Gaussian (`test_bounds_hold_for_random_strategies`).

    `TooLarge` past 4096 cells in a factor that is no product; unions past that are bounded by the sum of their parts.

    >>> from rowspace import operators as op
    >>> round(dual_bound(op.Ranges(64), 4), 1)
    11024.4
    """
    check_size("steps", steps)
    if isinstance(W, Scaled):
        return W.factor**2 * dual_bound(W.of, steps)
    if isinstance(W, Kronecker):
        return prod(dual_bound(factor, steps) for factor in W.factors)
    n = W.shape[1]
    if n > DECOMPOSITION_LIMIT:
        if isinstance(W, Stack):
            return sum(dual_bound(part, steps) for part in W.parts)
        raise TooLarge(
            f"the dual bound needs eigendecompositions of {n} x {n} matrices, the limit is {DECOMPOSITION_LIMIT}; "
            "use singular_value_bound"
        )
    if not W.squared_frobenius() > 0:
        return 0.0
    V = W.gram().to_dense()
    # The bound is proportional to V; on this scale nothing overflows.
    scale = float(np.diagonal(V).max())
    if not np.isfinite(scale):
        raise InvalidWorkload("expected a workload whose squares fit 64-bit floats; scale it down")
    geometry, weights, best = FullRank.of(V / scale), np.full(n, 1 / n), 0.0
    for _ in range(steps):
        point = geometry.at(weights)
        best = max(best, bound_at(point))
        weights = plain_step(point)
    return scale * best


def replace_one_bound(W: Operator) -> float:
    """2(Σσ′)²/(n − 1) with σ′ the singular values of W on the vectors that sum to zero: by pairs of columns alone.

    Proof. With P = I − 11ᵗ/n, (Σσ′)² = ‖WP‖₁² = ‖WA⁺·AP‖₁² ≤ ‖WA⁺‖²·‖AP‖² by Cauchy–Schwarz, in Frobenius norms. And
    ‖AP‖² = Σ_{j<k} ‖a_j − a_k‖²/n, of n(n − 1)/2 terms that are at most the squared sensitivity over n.
    """
    n = W.shape[1]
    if n > DECOMPOSITION_LIMIT or n == 1:
        return 0.0
    try:
        V = W.gram().to_dense()
    except TooLarge:
        return 0.0
    centred = V - V.mean(axis=0) - V.mean(axis=1)[:, None] + V.mean()
    eigenvalues = np.clip(np.linalg.eigvalsh(centred), 0.0, None)
    # Rounding may have made a zero eigenvalue positive.
    eigenvalues[eigenvalues < n * np.finfo(float).eps * eigenvalues.max()] = 0.0
    return float(2.0 * np.sqrt(eigenvalues).sum() ** 2 / (n - 1))
