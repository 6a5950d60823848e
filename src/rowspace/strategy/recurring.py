"""The best strategy over time for people who come back: least error for what they can move in all their periods.

With P the sets of periods that one person may have, as rows of ones and zeros, the problem is

    minimize tr(V X⁻¹)   over X ⪰ 0 with 1_Sᵗ X 1_S ≤ 1 for every S.

For any weights λ on some of the sets, Σλ = 1, let M = Σ λ_S 1_S 1_Sᵗ. Every feasible X has tr(MX) ≤ 1, and then
tr(VX⁻¹) ≥ (tr (M^½ V M^½)^½)²: a bound for any weights. It is attained by X ∝ M^(−½) (M^½ V M^½)^½ M^(−½). Weights
grow where 1_Sᵗ X 1_S exceeds 1, and the farthest set joins them, until both meet (one period: `GaussianOptimal`).
Multi-epoch matrix factorization (Choquette-Choo et al. 2023) is the same problem.

The best X has negative entries. They help a person who is always in the same cell, and are of no use where periods have
many cells, since a person may move between cells. So there is a second solution without them: M_tu is lowered where
X_tu is negative, which is the multiplier of X_tu ≥ 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from rowspace.operators import Vector

from .participation import farther, pattern_values, regular

MOST_PERIODS = 512
"""Most periods for which it is searched: a step takes four decompositions."""

GAP = 1e-3
"""How close to its bound the search stops."""

RIDGE = 1e-8
"""Share of the mean of X's diagonal that is added to it: more than rounding takes from it, less than the gap."""

_WORK, _STEPS, _TRIES, _LEAST = 2e8, 200, 30, 1e-6
_POWER, _PULL, _NEAR = 1.5, 0.5, 0.9  # of weights, towards no negative entries, of sets worth a weight


@dataclass(frozen=True)
class Recurring:
    """X = AᵗA of a strategy for people who come back, what no strategy goes below, and the weights that prove it."""

    X: Vector
    bound: float
    moments: Vector


def recurring_optimum(V: Vector, most: int, apart: int, *, signed: bool) -> Recurring:
    """The best X found for queries with WᵗW = V over periods. signed: whether its entries may be negative."""
    n = len(V)
    regular_V = V + 1e-12 * np.trace(V) / n * np.eye(n)  # the bound is for V itself
    patterns = regular(n, most, apart)
    weights = np.full(n, 1 / n)
    kept = np.ones((n, n))  # the share of M that is left where X would be negative
    best: tuple[float, Vector] = (np.inf, np.eye(n))
    proof: tuple[float, Vector] = (0.0, np.eye(n))
    for step in range(min(_STEPS, int(_WORK / n**3) + 20)):
        M = patterns.T @ (weights[:, None] * patterns)
        root = _root(M)
        proof = max(proof, (_squared_trace(root @ V @ root), M), key=lambda found: found[0])
        X = _between(M, kept, regular_V)
        moved = X if signed else np.maximum(X, 0.0)
        worst = farther(moved, patterns, most, apart)
        values = pattern_values(moved, patterns)
        norm = float(worst @ moved @ worst)
        error = norm * float(np.trace(scipy.linalg.solve(X, V, assume_a="pos")))
        best = min(best, (error, X), key=lambda found: found[0])
        if best[0] <= (1 + GAP) * proof[0]:
            break
        weights = weights * (values / values.max()) ** _POWER
        other = farther(moved, patterns[[step % len(patterns)]], most, apart)
        for found in (worst, other):
            if float(found @ moved @ found) > _NEAR * norm and not (patterns == found).all(axis=1).any():
                patterns, weights = (
                    np.concatenate([patterns, found[None]]),
                    np.append(weights, weights.mean()),
                )
        weights /= weights.sum()
        if not signed:
            scale = np.sqrt(np.diagonal(X))
            pull = X / np.multiply.outer(scale, scale)
            kept = np.clip(kept + _PULL * np.where(pull < 0, pull, 0.3 * pull), 0.0, 1.0)
            np.fill_diagonal(kept, 1.0)
    return Recurring(best[1], proof[0], proof[1])


def recurring_moments(n: int, most: int, apart: int) -> Vector:
    """M for people whose periods follow as closely as they may, their first one at random."""
    patterns = regular(n, most, apart)
    return np.asarray(patterns.T @ patterns / n)


def bound_of_moments(M: Vector, V: Vector) -> float:
    """What no strategy goes below for queries over cells in the order of time, by people who stay in one cell.

    All cells alike, they have the moments M ⊗ I/cells.
    """
    cells = len(V) // len(M)
    root = np.kron(_root(M), np.eye(cells) / np.sqrt(cells))
    return _squared_trace(root @ V @ root)


def _between(M: Vector, kept: Vector, V: Vector) -> Vector:
    """The X that is best for the moments M, as far as they are kept."""
    values, Q = scipy.linalg.eigh(M * kept)
    for _ in range(_TRIES):  # entrywise shares need not keep it positive; the diagonal alone does
        if values[0] >= _LEAST * values[-1]:
            break
        kept = 0.8 * kept + 0.2 * np.eye(len(M))
        values, Q = scipy.linalg.eigh(M * kept)
    values = np.maximum(values, _LEAST * values[-1])  # periods that nobody asks about lose all weight
    root, inverse = (Q * np.sqrt(values)) @ Q.T, (Q / np.sqrt(values)) @ Q.T
    X = inverse @ _root(root @ V @ root) @ inverse
    # Periods that no query tells apart leave X hardly anything in some direction: a little there, so that it inverts.
    return np.asarray((X + X.T) / 2 + RIDGE * np.trace(X) / len(X) * np.eye(len(X)))


def _squared_trace(S: Vector) -> float:
    """(tr S^½)², no more: rounding moves eigenvalues by about 1e-16 of the largest."""
    values = scipy.linalg.eigvalsh(S)
    return float(np.sqrt(np.maximum(values - 1e-14 * values[-1], 0.0)).sum()) ** 2 * (1 - 1e-9)


def _root(M: Vector) -> Vector:
    values, Q = scipy.linalg.eigh(M)
    return np.asarray((Q * np.sqrt(np.maximum(values, 0.0))) @ Q.T)
