"""The error of a p-Identity strategy as a function of Θ, with its gradient and without any n × n matrix.

A = [I; Θ]·diag(1/u) with u = 1 + Σ_k Θ_k, so every column sums to one. With V = WᵗW, v its diagonal, X = Θ·diag(u),
S = (I + ΘΘᵗ)⁻¹ and B = XVXᵗ, Woodbury's identity gives

    E(Θ)  = tr((AᵗA)⁻¹V) = Σ_j u_j² v_j − tr(SB)
    ∂E/∂Θ = 2·SBS·Θ − 2·R·diag(u) + 1·gᵗ   with R = SXV and g_j = 2u_j v_j − 2 Σ_k Θ_kj R_kj

(dS = −S(dΘΘᵗ + ΘdΘᵗ)S for the first term; u moves with every row of Θ for the last). V is only ever applied to the
p rows of X, by the workload's structure. Good rows are local, so Θ is kept by blocks of cells, each with the few
rows that reach it: a step costs O(p · n · (cost of V + rows per block) + p³).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy

from rowspace.operators import Array, Indices, Operator, Vector, lean_gram

BATCH = 2**15
"""Numbers to which V is applied at a time: they and the running sums stay in the processor's cache."""


@dataclass(frozen=True)
class Support:
    """Which entries of Θ may differ from zero: block b, cells bounds[b]..bounds[b+1], has the rows active[b]."""

    rows: int
    bounds: tuple[int, ...]
    active: tuple[Indices, ...]

    @classmethod
    def full(cls, rows: int, cells: int) -> Support:
        """Every entry."""
        return cls(rows, (0, cells), (np.arange(rows),))

    @classmethod
    def of_windows(cls, starts: Vector, stops: Vector, cells: int, width: int) -> Support:
        """Row k on the blocks of `width` cells that meet its window [starts[k], stops[k])."""
        bounds = (*range(0, cells, width), cells)
        active = [np.flatnonzero((starts < stop) & (stops > start)) for start, stop in pairwise(bounds)]
        return cls(len(starts), bounds, tuple(active))

    @property
    def cells(self) -> int:
        """Number of columns of Θ."""
        return self.bounds[-1]

    @cached_property
    def offsets(self) -> list[int]:
        """Where each block begins in the flat vector of entries, and their number at the end."""
        sizes = [len(a) * (stop - start) for a, (start, stop) in zip(self.active, self.spans, strict=True)]
        return [0, *np.cumsum(sizes).tolist()]

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """First cell and end of every block."""
        return list(pairwise(self.bounds))

    @property
    def entries(self) -> int:
        """How many entries of Θ are free."""
        return self.offsets[-1]

    def blocks(self, x: Array) -> list[Array]:
        """The blocks of Θ, (rows of the block) × (cells of the block), as views into the flat vector."""
        return [
            x[a:b].reshape(len(rows), -1)
            for (a, b), rows in zip(pairwise(self.offsets), self.active, strict=True)
        ]

    def gather(self, theta: Vector) -> Vector:
        """The free entries of a dense p × n array."""
        pieces = [theta[rows, a:b].ravel() for rows, (a, b) in zip(self.active, self.spans, strict=True)]
        return np.concatenate(pieces)

    def matrix(self, x: Vector) -> Any:
        """Θ as a scipy sparse matrix, without rows that are all zero."""
        pieces = zip(self.active, self.spans, strict=True)
        where = [np.meshgrid(rows, np.arange(a, b), indexing="ij") for rows, (a, b) in pieces]
        i, j = (np.concatenate([grid[axis].ravel() for grid in where]) for axis in (0, 1))
        used = x > 0
        kept, compact = np.unique(i[used], return_inverse=True)
        return scipy.sparse.csr_array((x[used], (compact, j[used])), shape=(max(1, len(kept)), self.cells))


class PIdentityLoss:
    """Θ's free entries ↦ (E, ∂E), both divided by the identity's error, so that Θ = 0 gives one."""

    def __init__(self, W: Operator, support: Support) -> None:
        self.support = support
        self.V = lean_gram(W)
        self.diagonal = W._column_sums(2)
        self.unit = float(self.diagonal.sum())
        # Outside the support X is zero for good, so one array serves every step.
        self._X = np.zeros((support.rows, support.cells))

    def __call__(self, x: Vector) -> tuple[float, Vector]:
        """The relative error and its gradient."""
        support, p = self.support, self.support.rows
        thetas, spans = support.blocks(x), support.spans
        u = np.concatenate([1.0 + theta.sum(axis=0) for theta in thetas])
        K, X = np.eye(p), self._X
        scaled = [theta * u[a:b] for theta, (a, b) in zip(thetas, spans, strict=True)]
        for theta, x_block, rows, (a, b) in zip(thetas, scaled, support.active, spans, strict=True):
            K[rows[:, None], rows] += theta @ theta.T
            X[rows, a:b] = x_block
        S = np.asarray(scipy.linalg.inv(K, assume_a="pos"))
        Y = self._apply_gram(X)
        B = np.zeros((p, p))
        for x_block, rows, (a, b) in zip(scaled, support.active, spans, strict=True):
            B[rows] += x_block @ Y[:, a:b].T
        value = float(u**2 @ self.diagonal) - float(np.sum(S * B))
        gradient = self._gradient(thetas, u, S, S @ B, Y)
        return value / self.unit, gradient / self.unit

    def _gradient(self, thetas: list[Vector], u: Vector, S: Vector, SB: Vector, Y: Vector) -> Vector:
        """The formula at the top, block by block."""
        gradient = np.empty(self.support.entries)
        blocks = self.support.blocks(gradient)
        spans = self.support.spans
        for out, theta, rows, (a, b) in zip(blocks, thetas, self.support.active, spans, strict=True):
            S_rows = S[rows]
            R = S_rows @ Y[:, a:b]
            np.matmul(SB[rows] @ S_rows.T, theta, out=out)
            common = u[a:b] * self.diagonal[a:b] - np.einsum("kj,kj->j", theta, R)
            R *= u[a:b]
            out -= R
            out += common
        gradient *= 2.0
        return gradient

    def _apply_gram(self, X: Vector) -> Vector:
        """V on every row of X, some rows at a time."""
        step = max(1, BATCH // X.shape[1])
        if step >= len(X):
            return self.V._apply(X)
        out = np.empty_like(X)
        for start in range(0, len(X), step):
            out[start : start + step] = self.V._apply(X[start : start + step])
        return out
