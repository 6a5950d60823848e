"""The best strategy by period where cells of some attributes are alike: a triangle for every residual of those.

Attributes that are asked cell by cell or not at all have cells that are alike. Then V = WᵗW = Σ_S P_S ⊗ V_S over their
subsets S (`operators.layers`), and so is the best X. With p_S = tr P_S, N = Σ p_S and any weights λ on the joint cells,
Σλ = 1, every X with diag X ≤ 1 has

    tr(VX⁻¹) ≥ (Σ_S p_S tr(Λ^½ V_S Λ^½)^½)² / N,    attained by X_S ∝ Λ^(−½) (Λ^½ V_S Λ^½)^½ Λ^(−½).

Weights grow where diag X = Σ_S (p_S/N) diag X_S exceeds 1, until both meet. Every X_S is a lower triangle's CᵗC.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from math import prod, sqrt

import numpy as np
import scipy

from rowspace import operators as op
from rowspace.operators import Vector
from rowspace.tables import Piece, ProductWorkload, is_cells

from .causal import PRECISION, invertible_factor

MOST_JOINT_CELLS = 1536
"""Most joint cells: a step takes a decomposition of so many rows for every set."""

MOST_WORK = 4e11
"""Most of joint cells³ · sets in all steps: a minute or two."""

GAP, STEPS = 2e-3, 30
"""How close to its bound the search stops, and the most steps."""

FAINT = 1e-9
"""Share of all that is asked that every joint cell of every set is asked in any case."""

_POWER, _LEAST = 1.8, 1e-9  # of weights; a cell that nobody asks about keeps some


def layered(
    queries: ProductWorkload, counted: ProductWorkload, axis: int
) -> tuple[op.Layers | None, float, float]:
    """(strategy over the cells that are counted, bound for X with diag X ≤ 1, seconds); none where it does not fit.

    queries: without the places for missing values that none of them sees; the bound is theirs. axis: time.
    """
    started = time.perf_counter()
    alike = [i for i, n in enumerate(counted.sizes) if i != axis and n > 1 and _alike(queries, i)]
    joint = (axis, *(i for i in range(len(counted.sizes)) if i != axis and i not in alike))
    cells, sets = prod(counted.sizes[i] for i in joint), 2 ** len(alike)
    if not alike or cells > MOST_JOINT_CELLS or sets > op.MOST_LAYER_SETS or 2 * cells**3 * sets > MOST_WORK:
        return None, 0.0, 0.0
    seen = _without_places(queries, alike)
    X, deficit, bound = _optimum(seen, joint)
    if counted.sizes != seen.sizes:
        X, deficit, _ = _optimum(counted, joint)
    triangles = []
    subsets = op.Layers.subsets_of(tuple(sorted(alike)))
    for S in subsets:
        # The rows for S have P_S times this as their Gram matrix.
        size = prod(n**2 if i in S else n for i, n in enumerate(counted.sizes) if i in alike)
        triangles.append(invertible_factor(X[S] + np.diag(deficit)) / sqrt(size))
    scale = PRECISION / max(np.abs(C).max() for C in triangles)
    rounded = [np.rint(scale * C) for C in triangles]
    factors = tuple(op.Dense(C + np.diag(np.where(np.diagonal(C) == 0, 1.0, 0.0))) for C in rounded)
    return op.Layers(counted.sizes, joint, factors), bound, time.perf_counter() - started


def _alike(queries: ProductWorkload, i: int) -> bool:
    """Whether an attribute is asked cell by cell, but for a place for missing values perhaps, or not at all."""
    own = [piece for piece in queries.pieces if i in piece.axes]
    return all(len(p.axes) == 1 and (is_cells(p.operator) or isinstance(p.operator, op.Total)) for p in own)


def _without_places(queries: ProductWorkload, alike: Sequence[int]) -> ProductWorkload:
    """The queries over cells that are alike: what no strategy goes below for fewer cells, it does not for all."""
    sizes, pieces = list(queries.sizes), list(queries.pieces)
    for i in alike:
        own = [k for k, piece in enumerate(pieces) if piece.axes == (i,)]
        named = [k for k in own if is_cells(pieces[k].operator)]
        sizes[i] = min([pieces[k].operator.shape[0] for k in named] + [sizes[i]])
        for k in own:
            kind = op.Identity if k in named else op.Total
            pieces[k] = Piece((i,), kind(sizes[i]))
    return replace(queries, sizes=tuple(sizes), pieces=tuple(pieces))


def _optimum(
    queries: ProductWorkload, joint: Sequence[int]
) -> tuple[Mapping[tuple[int, ...], Vector], Vector, float]:
    """X_S for every set, what may be added to the diagonal of all for nothing, and the bound.

    The bound is one where cells are alike; where they nearly are, X is that of what they are on average.
    """
    alike = tuple(i for i in range(len(queries.sizes)) if i not in joint)
    subsets = op.Layers.subsets_of(alike)
    V = _grams(queries, joint, alike, subsets)
    share = {S: prod(queries.sizes[i] - 1 for i in S) for S in subsets}
    whole, m = sum(share.values()), len(next(iter(V.values())))
    faint = FAINT * sum(share[S] * float(np.trace(own)) for S, own in V.items()) / (whole * m)
    # Cells that nobody asks about begin near where they end.
    seen = np.asarray(sum(np.diagonal(own) for own in V.values())) > 0
    weights, proof = np.where(seen, 1.0, 10 * FAINT), 0.0
    weights /= weights.sum()
    best: tuple[float, dict[tuple[int, ...], Vector], Vector] = (np.inf, {}, np.zeros(m))
    for _ in range(max(2, min(STEPS, int(MOST_WORK / (m**3 * len(subsets)))))):
        root = np.sqrt(weights)
        X, total, traces = {}, 0.0, 0.0
        for S, own in V.items():
            values, Q = scipy.linalg.eigh(root[:, None] * (own + faint * np.eye(m)) * root)
            # What is faint moves eigenvalues by its own at most, and rounding by about 1e-16 of the largest.
            exact = np.sqrt(np.maximum(values - faint * weights.max() - 1e-14 * values[-1], 0.0)).sum()
            values = np.sqrt(np.maximum(values, 0.0))
            X[S] = (Q * values) @ Q.T / np.multiply.outer(root, root)
            total, traces = total + share[S] * exact, traces + share[S] * float(values.sum())
        proof = max(proof, total**2 / whole * (1 - 1e-9))
        diagonal = np.asarray(sum(share[S] / whole * np.diagonal(own) for S, own in X.items()))
        largest = float(diagonal.max())
        error = largest * traces  # tr(VX⁻¹) ≤ tr(V + faint)X⁻¹
        if error < best[0]:
            best = error, {S: own / largest for S, own in X.items()}, 1 - diagonal / largest
        if error <= (1 + GAP) * proof:
            break
        weights = np.maximum(weights * (diagonal / largest) ** _POWER, _LEAST / m)
        weights /= weights.sum()
    return best[1], best[2], proof


def _grams(
    queries: ProductWorkload,
    joint: Sequence[int],
    alike: Sequence[int],
    subsets: Sequence[tuple[int, ...]],
) -> dict[tuple[int, ...], Vector]:
    """V_S for every set: tr over the other attributes of (P_S ⊗ I) WᵗW, over p_S."""
    cells = prod(queries.sizes[i] for i in joint)
    found = {S: np.zeros((cells, cells)) for S in subsets}
    for part, power in zip(queries.parts, queries.powers, strict=True):
        own = {queries.pieces[k].axes: queries.pieces[k].operator for k in part}
        over = {i: W for axes, W in own.items() for i in axes[:1] if axes[0] in alike}
        G = power * _joint_gram(
            queries.sizes, {axes: W for axes, W in own.items() if axes[0] in joint}, joint
        )
        for S in subsets:
            shares = (_share(over.get(i, op.Total(queries.sizes[i])), i in S) for i in alike)
            if (factor := prod(shares)) > 0:
                found[S] += factor * G
    return found


def _share(W: op.Operator, beyond: bool) -> float:
    """The mean of WᵗW on the vectors that sum to zero, or its value on the constant one."""
    n = W.shape[1]
    mean = float(np.square(W @ np.ones(n)).sum()) / n
    return max(W.squared_frobenius() - mean, 0.0) / (n - 1) if beyond else mean


def _joint_gram(
    sizes: Sequence[int], own: Mapping[tuple[int, ...], op.Operator], joint: Sequence[int]
) -> Vector:
    """WᵗW of a product over the joint attributes, in their order; those it does not name are summed out."""
    named = [i for axes in own for i in axes]
    rest = [i for i in joint if i not in named]
    factors = [W.gram().to_dense() for W in own.values()] + [np.ones((sizes[i],) * 2) for i in rest]
    G = reduce(lambda a, b: np.asarray(np.kron(a, b), dtype=np.float64), factors)
    held = named + rest
    order = [held.index(i) for i in joint]
    shape = [sizes[i] for i in held]
    both = G.reshape(shape + shape).transpose(order + [len(held) + k for k in order])
    return np.asarray(both.reshape(len(G), len(G)))
