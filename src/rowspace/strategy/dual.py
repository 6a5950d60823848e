"""The dual of Program 2: a weight per cell, a lower bound, and the strategy that almost attains it.

Program 2 asks for X = AᵗA with diagonal at most 1 and least tr(X⁻¹V), V = WᵗW. For any weights λ ≥ 0 with Σλ = 1 let
S = (Λ^½VΛ^½)^½, X(λ) = Λ^(−½)SΛ^(−½) and x = diag X(λ).

*Every λ is a lower bound.* tr S = ‖WΛ^½‖₁ (the sum of singular values) is the maximum of tr(UᵗWΛ^½) over ‖U‖ ≤ 1, and
AᵗA = X with x ≤ 1 gives (tr S)² ≤ tr(XΛ)·tr(X⁻¹V) ≤ tr(X⁻¹V), by Cauchy–Schwarz.

*The step λ ← λx² never lowers it.* Keep the maximizing U while λ changes to κ: tr(UᵗWK^½) = Σ λx·(κ/λ)^½ ≤ tr S(κ). The
best κ for the left side is κ ∝ λx², and there it is (Σλx²)^½. So **Σλx² is a lower bound already**, one
eigendecomposition before λ ← λx² is tried; it is at least (Σλx)² = (tr S)². With d = λx this is the over-relaxed
iteration λ ← d²/λ, and this is why it needs no line search: it is the safeguard under the acceleration.

*At the fixed point* x = 1 wherever λ > 0, so X(λ) is feasible and attains the bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy

from rowspace.operators import Vector

from .reflection import Sector, assemble, gather, sectors

HARDLY_DEFICIENT = 1e-7
"""Missing part of a diagonal entry that is left alone: completing it gains no more, and makes X nearly singular."""

IDENTITY_SHARE = 2e-7
"""Share of the identity mixed into X where some queries are too faint to count in 64-bit floats: X supports them."""


NEGLIGIBLE = 1e-25
"""Weights below this are taken as zero."""


class DualPoint(Protocol):
    """Program 2 and its dual at one λ."""

    @property
    def weights(self) -> Vector:
        """λ, with sum one."""
        ...

    @property
    def diagonal(self) -> Vector:
        """x = diag X(λ)."""
        ...

    @property
    def error(self) -> float:
        """tr(X⁻¹V) for the feasible X made from X(λ)."""
        ...

    def gram(self) -> Vector:
        """The feasible X: largest diagonal entry 1."""
        ...


class Geometry(Protocol):
    """A workload, seen as a function of λ."""

    def at(self, weights: Vector) -> DualPoint:
        """One symmetric eigendecomposition."""
        ...


def bound_at(point: DualPoint) -> float:
    """Σλx²: no strategy of unit L2 norm has less error."""
    return float(np.sum(point.weights * point.diagonal**2))


def certified_bound(V: Vector, weights: Vector) -> float:
    """The bound at λ computed from V itself, whatever way led to λ."""
    return bound_at(FullRank.of(V).at(weights / weights.sum()))


def symmetric_roots(Z: Vector) -> tuple[Vector, Vector]:
    """(s, Q): square roots of Z's eigenvalues, lowered by what rounding may have added, and its eigenvectors.

    Smaller roots only lower the bound; a root of rounding noise would raise it by the noise's square root.
    """
    eigenvalues, Q = scipy.linalg.eigh(Z, driver="evd", overwrite_a=True, check_finite=False)
    noise = len(Z) * np.finfo(float).eps * max(eigenvalues[-1], 0.0)
    return np.sqrt(np.maximum(eigenvalues - noise, 0.0)), Q


@dataclass(frozen=True)
class FullRank:
    """V of full rank: columns of X may be scaled freely, so X is made feasible by X ← DXD with unit diagonal."""

    parts: tuple[Sector, ...]
    n: int

    @classmethod
    def of(cls, V: Vector) -> FullRank:
        """Split V by reflection where it can be."""
        return cls(sectors(V), len(V))

    def at(self, weights: Vector) -> FullRankPoint:
        """One eigendecomposition, or two of half the size."""
        roots = tuple(
            symmetric_roots(part.block * np.multiply.outer(root, root))
            for part in self.parts
            for root in (np.sqrt(weights[part.cells]),)
        )
        return FullRankPoint(self, weights, roots)


@dataclass(frozen=True)
class FullRankPoint:
    """S = Q diag(s) Qᵗ for every block."""

    geometry: FullRank
    weights: Vector
    roots: tuple[tuple[Vector, Vector], ...]

    @property
    def definite(self) -> bool:
        """Whether every eigenvalue stands above rounding: else X has no digits in some direction."""
        return all(bool(s.all()) for s, _ in self.roots)

    @cached_property
    def _root_diagonal(self) -> Vector:
        diagonals = [np.square(Q) @ s for s, Q in self.roots]
        return gather(self.geometry.parts, diagonals, self.geometry.n)

    @property
    def diagonal(self) -> Vector:
        """x = d/λ."""
        # A weight too small for its d to have a digit adds nothing to the bound.
        d, weights = self._root_diagonal, self.weights
        return np.divide(d, weights, out=np.zeros_like(d), where=weights > NEGLIGIBLE)

    @cached_property
    def error(self) -> float:
        """One matrix product per block."""
        if not self.definite:
            return float("inf")
        # X = d^(−½) S d^(−½), so tr(X⁻¹V) = Σ_k q_kᵗ d^½ V d^½ q_k / s_k.
        total = 0.0
        for part, (s, Q) in zip(self.geometry.parts, self.roots, strict=True):
            B = np.sqrt(self._root_diagonal[part.cells])[:, None] * Q
            total += float(np.sum(np.einsum("ik,ik->k", part.block @ B, B) / s))
        return total

    def gram(self) -> Vector:
        """X = d^(−½) S d^(−½), whose diagonal is 1."""
        blocks = []
        for part, (s, Q) in zip(self.geometry.parts, self.roots, strict=True):
            B = Q * np.sqrt(s) / np.sqrt(self._root_diagonal[part.cells])[:, None]
            blocks.append(B @ B.T)
        X = assemble(self.geometry.parts, blocks, self.geometry.n)
        np.fill_diagonal(X, 1.0)
        return X


@dataclass(frozen=True)
class RowSpace:
    """V = LLᵗ of any rank: X(λ) = L(LᵗΛL)^(−½)Lᵗ stays in the workload's row space.

    Scaling columns would leave it. So X is scaled by its largest diagonal entry and the deficient columns are
    completed (Theorem 8), which costs only to second order: for Σλ = 1 and m = Σλx ≤ 1 the error is about 2m − 1
    where the bound is at least m².
    """

    L: Vector

    def at(self, weights: Vector) -> RowSpacePoint:
        """One eigendecomposition of the size of the rank."""
        s, U = symmetric_roots((self.L.T * weights) @ self.L)
        kept = s > 0
        # X(λ) = YYᵗ
        return RowSpacePoint(self, weights, (self.L @ U[:, kept]) / np.sqrt(s[kept]), s[kept])


@dataclass(frozen=True)
class RowSpacePoint:
    """X(λ) = YYᵗ."""

    geometry: RowSpace
    weights: Vector
    Y: Vector
    s: Vector

    @cached_property
    def diagonal(self) -> Vector:
        """Row norms of Y, squared."""
        return np.asarray(np.einsum("ik,ik->i", self.Y, self.Y))

    @cached_property
    def error(self) -> float:
        """From the completed X.

        Below full rank it is BBᵗ + Δ with B = Y/x_max^½ and L = B·(x_max s)^½Uᵗ. Then BᵗX⁻¹B = M(I + M)⁻¹ for
        M = BᵗΔ⁻¹B, of the size of the rank. What is hardly deficient counts as deficient by that much.
        """
        (n, rank), top = self.geometry.L.shape, self.diagonal.max()
        if self.Y.shape[1] == n or self.Y.shape[1] < rank:
            return profile_trace(self.gram(), self.geometry.L)
        deficits = np.maximum(1 - self.diagonal / top, HARDLY_DEFICIENT)
        B = self.Y / np.sqrt(top * deficits)[:, None]
        left = np.linalg.inv(np.eye(rank) + B.T @ B)
        return float(top * (self.s @ (1 - np.diagonal(left))))

    def gram(self) -> Vector:
        """YYᵗ scaled and completed, or with columns scaled where the rank is full."""
        x, (n, rank) = self.diagonal, self.geometry.L.shape
        dropped = self.Y.shape[1] < rank
        B = self.Y / (np.sqrt(x)[:, None] if rank == n and not dropped else np.sqrt(x.max()))
        X = B @ B.T
        return completed((1 - IDENTITY_SHARE) * X if dropped else X)


def completed(X: Vector) -> Vector:
    """X with deficient diagonal entries raised to 1; those short of it by rounding stay, for X to keep its rank."""
    diagonal = np.diagonal(X)
    np.fill_diagonal(X, np.where(diagonal < 1 - HARDLY_DEFICIENT, 1.0, diagonal))
    return X


def profile_trace(X: Vector, L: Vector) -> float:
    """tr(X⁺LLᵗ) for columns of L in the range of X."""
    return float(np.einsum("ij,ij->", inverse_of(X) @ L, L))


def inverse_of(X: Vector) -> Vector:
    """X⁻¹, or X⁺ for a nearly singular X."""
    try:
        factor = scipy.linalg.cholesky(X, lower=True)
        pivots = np.diagonal(factor)
        if pivots.min() > 1e-5 * pivots.max():
            half = scipy.linalg.solve_triangular(factor, np.eye(len(X)), lower=True)
            return np.asarray(half.T @ half)
    except scipy.linalg.LinAlgError:
        pass
    return np.asarray(scipy.linalg.pinvh(X))
