"""What one attribute adds to the bound on a union of products: its queries taken apart by a weight per cell.

With weights u ≥ 0, Σu = 1, D = diag(u), h = √u (a unit vector) and R a matrix with RᵗR the Gram matrix of some queries
about the attribute, a unit vector e says which combination of them stands for the total:

    level²      = (eᵗRu)²,                                    for tables that sum the attribute out,
    resolution² = ‖(I − eeᵗ) R D^½ (I − hhᵗ)‖₁²  (sum of singular values, squared),  for those that do not.

An attribute that every product asks about is never summed out: level 0 and resolution² = ‖R D^½‖₁². Any u and e will do
(`product_bounds` has the proof). Good ones raise Σ_R a_R·log resolution + b_R·log level, by L-BFGS: with PΣQᵗ the
singular value decomposition the resolution grows by ⟨PQᵗ, dN⟩, and both e and h vanish against PQᵗ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from rowspace.operators import Operator, Vector

from .dual import FullRank
from .dual_ascent import plain_step, start_weights

RANK_TOLERANCE = 1e-12
"""Singular values below this share of the largest have no direction of their own."""


def gram_root(W: Operator) -> Vector:
    """R with RᵗR ⪯ WᵗW, equal but for what rounding may have added: the bound grows with RᵗR, so less is safe."""
    V = W.gram().to_dense()
    values, vectors = scipy.linalg.eigh(V)
    noise = len(V) * np.finfo(float).eps * max(values[-1], 0.0)
    kept = values > 2 * noise
    if not kept.any():
        return np.zeros((1, len(V)))
    return np.asarray(np.sqrt(values[kept] - noise)[:, None] * vectors[:, kept].T)


@dataclass(frozen=True, eq=False)
class AttributePoint:
    """The weights u of an attribute's cells, and e for every kind of queries about it."""

    weights: Vector
    directions: tuple[Vector, ...]


def standing_for_total(R: Vector, weights: Vector) -> tuple[Vector, Vector]:
    """Two choices of e: the answers Ru to a table like u, and what nothing but the total leads to.

    The second costs no resolution: it is orthogonal to all of R D^½(I − hhᵗ), so Rᵗe ∝ 1. Rows of R are orthogonal.
    """
    even = R @ weights
    length = float(np.linalg.norm(even))
    even = even / length if length > 0 else np.eye(len(R))[0]
    squares = np.einsum("ij,ij->i", R, R)
    alone = R.sum(axis=1) / np.where(squares > 0, squares, 1.0)
    if np.abs(R.T @ alone - 1).max() > 1e-6:
        return even, even
    return even, alone / np.linalg.norm(alone)


def dual_weights(operators: Sequence[Operator]) -> Vector:
    """Weights that suit several kinds of queries and the total: a few steps of `dual`, at unit mean squares.

    Three times the total is what suits tables of a few attributes.
    """
    n = operators[0].shape[1]
    V = np.full((n, n), 3.0)
    for W in operators:
        G = W.gram().to_dense()
        V += G / max(float(np.trace(G)) / n, np.finfo(float).tiny)
    geometry, weights = FullRank.of(V), start_weights(V)
    for _ in range(3):
        weights = plain_step(geometry.at(weights))
    return weights


def level_and_resolution(R: Vector, weights: Vector, direction: Vector | None) -> Vector:
    """(level², resolution²) of queries at u and e; no e for an attribute that is never summed out."""
    M = R * np.sqrt(weights)
    if direction is None:
        return np.array([0.0, float(scipy.linalg.svdvals(M).sum()) ** 2])
    level = float(direction @ (R @ weights))
    return np.array([level, float(scipy.linalg.svdvals(_remainder(M, weights, direction)).sum())]) ** 2


def _remainder(M: Vector, weights: Vector, direction: Vector) -> Vector:
    """N = (I − eeᵗ) M (I − hhᵗ)."""
    h = np.sqrt(weights)
    N = M - np.outer(M @ h, h)
    return np.asarray(N - np.outer(direction, direction @ N))


@dataclass(frozen=True, eq=False)
class Tangent:
    """Σ over the kinds of queries of a·log resolution² + b·log level², to be raised."""

    roots: tuple[Vector, ...]
    split: bool
    importance: Sequence[Vector]
    """(b, a) for every kind."""

    def raised(self, start: AttributePoint, steps: int) -> AttributePoint:
        """A point where it is larger, found in so many steps."""
        n = len(start.weights)
        first = np.concatenate([np.log(np.maximum(start.weights, 1e-12)), *start.directions])
        found = scipy.optimize.minimize(
            self.descent, first, jac=True, method="L-BFGS-B", options={"maxiter": steps, "maxfun": 2 * steps}
        )
        if not np.isfinite(found.fun):
            return start
        return self._point(found.x, n)

    def _point(self, x: Vector, n: int) -> AttributePoint:
        weights = np.exp(x[:n] - x[:n].max())
        ends = np.cumsum([len(R) for R in self.roots])[:-1]
        directions = np.split(x[n:], ends) if self.split else ()
        return AttributePoint(weights / weights.sum(), tuple(y / np.linalg.norm(y) for y in directions))

    def descent(self, x: Vector) -> tuple[float, Vector]:
        """Less the value, and its gradient by logarithms of weights and by directions before they have length 1."""
        n = self.roots[0].shape[1]
        point = self._point(x, n)
        u, h = point.weights, np.sqrt(point.weights)
        value, by_h, by_direction = 0.0, np.zeros(n), []
        place = n
        for number, (R, (b, a)) in enumerate(zip(self.roots, self.importance, strict=True)):
            M = R * h
            e = point.directions[number] if self.split else np.zeros(len(R))
            P, s, Q = np.linalg.svd(_remainder(M, u, e) if self.split else M, full_matrices=False)
            kept = s > RANK_TOLERANCE * s[0]
            G, resolution = P[:, kept] @ Q[kept], float(s.sum())
            if resolution > 0:
                value += 2 * a * np.log(resolution)
                by_h += 2 * a / resolution * np.einsum("ij,ij->j", R, G)
            if not self.split:
                continue
            by_e = np.zeros(len(R))
            if resolution > 0:
                by_h -= 2 * a / resolution * (G.T @ (M @ h))
                by_e -= 2 * a / resolution * (G @ (M.T @ e))
            level = float(e @ (R @ u))
            if b > 0:
                value += 2 * b * np.log(max(abs(level), np.finfo(float).tiny))
                by_e += 2 * b / level * (R @ u) if level else 0.0
                by_h += 4 * b / level * h * (R.T @ e) if level else 0.0
            length = float(np.linalg.norm(x[place : place + len(R)]))
            by_direction.append((by_e - e * (e @ by_e)) / length)
            place += len(R)
        by_weight = 0.5 * (h * by_h - u * float(h @ by_h))
        return -value, -np.concatenate([by_weight, *by_direction])
