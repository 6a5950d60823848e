"""Program 2 for few queries over many cells: its dual in the row space, never a matrix of cells by cells.

A block holds independent integer queries R (r × distinct columns), and F with V = RᵗFFᵗR the Gram matrix of what is
asked. For weights λ of the columns let M = RΛRᵗ, G = FᵗMF and Z = F·G^(−½)·Fᵗ. Then X = RᵗZR is the X(λ) of `dual`,
with x = diag X and tr S = tr G^½: a step costs the Gram matrix M, one eigendecomposition of size r, and the diagonal.
Blocks are the kinds of components of `symmetry`: what is beyond the mean in classes of n cells is asked of λ/n, and a
cell has the share 1 − 1/n of its block's diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from rowspace.operators import Array, Vector

from .dual import symmetric_roots

DENSE = 0.15
"""Share of entries that are not zero above which queries are kept as a dense array."""

_COLUMNS_AT_ONCE = 2**24

NEGLIGIBLE = 1e-9
"""Coefficients of queries of unit norm that are rounding errors."""

RANK_TOLERANCE = 8 * np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class Block:
    """One kind of components: `copies` is Π(n − 1) and `cells` Πn over the axes where it is beyond means."""

    R: Any
    F: Any
    copies: int
    cells: int

    @property
    def dense(self) -> bool:
        """Whether R is an array."""
        return isinstance(self.R, np.ndarray)

    @property
    def rank(self) -> int:
        """How many independent queries it has."""
        return int(self.F.shape[0])

    def mix(self, weights: Vector) -> tuple[Vector, Vector]:
        """(s, T) with tr G^½ = Σs and TᵗT = Z."""
        own = weights / self.cells
        M = (self.R * own) @ self.R.T if self.dense else (self.R.multiply(own) @ self.R.T).toarray()
        s, U = symmetric_roots(self.F.T @ M @ self.F)
        kept = s > 0
        return s, (self.F @ (U[:, kept] / np.sqrt(s[kept]))).T

    def diagonal(self, T: Vector) -> Vector:
        """Its share of x: Π(1 − 1/n) · Σ_k (TR)_kj² for every column j."""
        step = max(1, _COLUMNS_AT_ONCE // max(1, len(T)))
        n = self.R.shape[1]
        blocks = (T @ self.R[:, start : start + step] for start in range(0, n, step))
        return self.copies / self.cells * np.concatenate([np.einsum("kj,kj->j", A, A) for A in blocks])


def block(queries: Array, power: Vector, copies: int, cells: int) -> tuple[Block, Array]:
    """The block of integer queries (rows) with squared weights, and the numbers of the independent ones among them."""
    W = scipy.sparse.csr_array(queries.astype(np.float64))
    norms = np.sqrt(np.asarray(W.multiply(W).sum(axis=1)).ravel())
    # Products of whole numbers are exact: rounding them once keeps dependent queries at a distance of 1e-15.
    gram = (W @ W.T).toarray() / norms / norms[:, None]
    factor, order, rank, _ = scipy.linalg.lapack.dpstrf(gram, tol=RANK_TOLERANCE * len(gram), lower=1)
    order = order - 1
    own, rest = order[:rank], order[rank:]
    # K = Σ power·cᵗc over all queries c·R: those that depend on the independent ones by the same triangle.
    K = np.diag(power[own])
    if len(rest):
        solved = scipy.linalg.solve_triangular(
            factor[:rank, :rank], factor[rank:, :rank].T, lower=True, trans="T"
        )
        # Rounding errors would fill K: without them its triangle is almost as sparse as a diagonal.
        C = np.where(np.abs(solved.T) > NEGLIGIBLE, solved.T, 0.0) * norms[rest, None] / norms[own]
        K += (C.T * power[rest]) @ C
    R = W[own]
    dense = R.nnz > DENSE * R.shape[0] * R.shape[1]
    F = scipy.sparse.csr_array(np.linalg.cholesky(K))
    return Block(R.toarray() if dense else R.tocsc(), F, copies, cells), own


@dataclass(eq=False)
class Blocks:
    """A workload as a function of λ (`dual.Geometry`), which remembers the point of least error."""

    blocks: tuple[Block, ...]

    def __post_init__(self) -> None:
        self.best: BlocksPoint = BlocksPoint(self, np.ones(0), [])

    def start(self) -> Vector:
        """λ ∝ diag(V)^½."""
        weights = np.sqrt(sum(own.diagonal(own.F.T.toarray()) for own in self.blocks))
        return np.asarray(weights / weights.sum())

    def at(self, weights: Vector) -> BlocksPoint:
        """One eigendecomposition per block."""
        point = BlocksPoint(self, weights, [own.mix(weights) for own in self.blocks])
        if not self.best.mixes or point.error < self.best.error:
            self.best = point
        return point


@dataclass(frozen=True, eq=False)
class BlocksPoint:
    """X(λ), block by block (`dual.Point`)."""

    geometry: Blocks
    weights: Vector
    mixes: list[tuple[Vector, Vector]]

    @cached_property
    def diagonal(self) -> Vector:
        """x = diag X(λ)."""
        pairs = zip(self.geometry.blocks, self.mixes, strict=True)
        return np.asarray(sum(own.diagonal(T) for own, (_, T) in pairs))

    @cached_property
    def error(self) -> float:
        """tr(X⁻¹V) of X scaled to a diagonal of at most one."""
        pairs = zip(self.geometry.blocks, self.mixes, strict=True)
        if any(len(T) < own.rank for own, (_, T) in pairs):
            return float("inf")
        return float(self.diagonal.max()) * float(self.weights @ self.diagonal)

    def gram(self) -> Vector:
        """Not built: it has the size of the cells."""
        raise NotImplementedError
