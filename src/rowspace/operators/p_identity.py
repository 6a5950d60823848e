"""p-Identity strategies: every cell asked with its own weight, and p more rows over all cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from rowspace.exceptions import InvalidInput

from .base import Array, Indices, Operator, Vector
from .checks import read_only, rounded_but_not_to_zero
from .composed import Composed, Sum
from .dense import Dense, Sparse
from .diagonal import Diagonal
from .kinds import are_whole, integers_for
from .stack import lean_gram

EQUAL_COLUMNS = 1e-9
"""Column norms this close, relatively, are equal up to floating point."""


@dataclass(frozen=True, eq=False)
class PIdentity(Operator):
    """A = [diag(cells); rows]: weight cells[j] ≠ 0 for cell j alone, then the p rows (`Dense` or `Sparse`).

    The weights on the cells give full rank, and all else follows from a p × p system. With Θ = rows·diag(1/cells)
    and S = (I + ΘΘᵗ)⁻¹, Woodbury's identity reads (AᵗA)⁻¹ = diag(1/cells)·(I − ΘᵗSΘ)·diag(1/cells): O(p · entries + p³)
    once, then O(entries + p²) for each solve.

    >>> A = PIdentity.normalized([[1.0, 1.0, 0.0]])
    >>> A.to_dense()
    array([[0.5, 0. , 0. ],
           [0. , 0.5, 0. ],
           [0. , 0. , 1. ],
           [0.5, 0.5, 0. ]])
    """

    cells: Vector
    rows: Dense | Sparse

    full_column_rank = True

    def __post_init__(self) -> None:
        cells = read_only(self.cells, np.float64)
        if not isinstance(self.rows, (Dense, Sparse)):
            raise InvalidInput(f"expected Dense or Sparse rows, got {type(self.rows).__name__}")
        if cells.shape != (self.rows.shape[1],):
            raise InvalidInput(f"expected {self.rows.shape[1]} cell weights, got shape {cells.shape}")
        if not np.isfinite(cells).all() or not cells.all():
            raise InvalidInput("expected finite cell weights other than zero; without them use Stack")
        object.__setattr__(self, "cells", cells)

    @classmethod
    def normalized(cls, theta: Any) -> PIdentity:
        """[I; Θ]·D for a p × n array or scipy sparse matrix Θ ≥ 0, with D making every column sum to one."""
        matrix = Sparse(theta) if hasattr(theta, "tocsr") else Dense(theta)
        if not matrix.nonnegative:
            raise InvalidInput("expected theta with no negative entries")
        cells = 1.0 / (1.0 + matrix._column_sums(1))
        return cls(cells, _columns_scaled(matrix, cells))

    @property
    def shape(self) -> tuple[int, int]:
        p, n = self.rows.shape
        return n + p, n

    @cached_property
    def integral(self) -> bool:
        return self.rows.integral and are_whole(self.cells)

    @property
    def nonnegative(self) -> bool:
        return self.rows.nonnegative and bool((self.cells >= 0).all())

    def _apply(self, x: Array) -> Array:
        return np.concatenate([integers_for(self.cells, x) * x, self.rows._apply(x)], axis=-1)

    def _adjoint(self, y: Array) -> Array:
        n = len(self.cells)
        return np.asarray(integers_for(self.cells, y) * y[..., :n] + self.rows._adjoint(y[..., n:]))

    def gram(self) -> Operator:
        return Sum((Diagonal(self.cells**2), Composed(self.rows.T, self.rows)))

    def pinv(self) -> Operator:
        return PIdentityInverse(self)

    @cached_property
    def theta(self) -> Dense | Sparse:
        """Θ = rows·diag(1/cells), so that A = [I; Θ]·diag(cells)."""
        return _columns_scaled(self.rows, 1.0 / self.cells)

    @cached_property
    def _factor(self) -> tuple[Vector, bool]:
        """Cholesky factor of I + ΘΘᵗ, p × p; solving with it keeps the digits an explicit inverse would lose."""
        K = self.theta._apply(self.theta.to_dense())
        K.flat[:: len(K) + 1] += 1.0
        return scipy.linalg.cho_factor(K, lower=True)

    def solve_core(self, z: Vector) -> Vector:
        """(I + ΘΘᵗ)⁻¹ z along the last axis."""
        flat = z.reshape(-1, self.rows.shape[0])
        return np.asarray(scipy.linalg.cho_solve(self._factor, flat.T).T.reshape(z.shape))

    def _profile_trace(self, W: Operator) -> float:
        # With X = Θ·diag(1/cells): tr((AᵗA)⁻¹V) = Σ v_jj/cells_j² − tr(S·XVXᵗ), V only ever applied to rows of X.
        X, V = _columns_scaled(self.theta, 1.0 / self.cells), lean_gram(W)
        XVX = np.concatenate([X._apply(V._apply(block)) for _, block in X.row_blocks()])
        return float(W._column_sums(2) @ self.cells**-2.0) - float(np.trace(self.solve_core(XVX)))

    def _column_sums(self, p: int) -> Vector:
        return np.asarray(np.abs(self.cells) ** p + self.rows._column_sums(p))

    def _exact_column_sums(self, p: int) -> list[int]:
        cells = (abs(int(weight)) ** p for weight in self.cells.tolist())
        return [a + b for a, b in zip(cells, self.rows._exact_column_sums(p), strict=True)]

    def largest_entry(self) -> float:
        return max(float(np.abs(self.cells).max()), self.rows.largest_entry())

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        """Rounding moves the column norms apart; where they were equal the cells' weights make up for it.

        Weight below the largest column norm is free: the sensitivity stays, and no query gets worse.
        """
        scale = 2.0**bits / float(2.0 ** np.ceil(np.log2(self.largest_entry())))
        rows = _with_entries(self.rows, np.rint(scale * _entries(self.rows)))
        cells = rounded_but_not_to_zero(scale * self.cells)
        norms = self._column_sums(1)
        if norms.max() - norms.min() <= EQUAL_COLUMNS * norms.max():
            sums = np.abs(cells) + rows._column_sums(1)
            cells += np.sign(cells) * (sums.max() - sums)
        return PIdentity(cells, rows), scale

    def _rows(self, start: int, stop: int) -> Vector:
        n = len(self.cells)
        alone = np.zeros((max(0, min(stop, n) - start), n))
        own = np.arange(start, start + len(alone))
        alone[own - start, own] = self.cells[own]
        return np.concatenate([alone, self.rows._rows(max(start - n, 0), max(stop - n, 0))])

    def _dense(self) -> Vector:
        return np.concatenate([np.diag(self.cells), self.rows._dense()])

    def _integers(self) -> Indices:
        return np.concatenate([np.diag(self.cells.astype(np.int64)), self.rows._integers()])


@dataclass(frozen=True, eq=False)
class PIdentityInverse(Operator):
    """A⁺ for a p-Identity A: the cells' own answers, corrected by what the p rows disagree with them.

    A⁺(y, z) = diag(1/cells)·(y + ΘᵗS(z − Θy)), which is (AᵗA)⁻¹Aᵗ because (I − ΘᵗSΘ)Θᵗ = ΘᵗS.
    """

    of: PIdentity

    def __post_init__(self) -> None:
        if not isinstance(self.of, PIdentity):
            raise InvalidInput(f"expected a PIdentity, got {type(self.of).__name__}")

    @property
    def shape(self) -> tuple[int, int]:
        m, n = self.of.shape
        return n, m

    def _apply(self, x: Array) -> Array:
        n, theta = self.shape[0], self.of.theta
        y, z = x[..., :n], x[..., n:]
        return np.asarray((y + theta._adjoint(self.of.solve_core(z - theta._apply(y)))) / self.of.cells)

    def _adjoint(self, y: Array) -> Array:
        scaled, theta = y / self.of.cells, self.of.theta
        z = self.of.solve_core(theta._apply(scaled))
        return np.concatenate([scaled - theta._adjoint(z), z], axis=-1)

    def pinv(self) -> Operator:
        return self.of


def _entries(rows: Dense | Sparse) -> Vector:
    """The stored entries, in the order `_with_entries` takes them."""
    return rows.array if isinstance(rows, Dense) else rows.data


def _with_entries(rows: Dense | Sparse, entries: Vector) -> Dense | Sparse:
    """The same layout with other entries."""
    if isinstance(rows, Dense):
        return Dense(entries)
    return Sparse(data=entries, indices=rows.indices, indptr=rows.indptr, columns=rows.columns)


def _columns_scaled(rows: Dense | Sparse, factors: Vector) -> Dense | Sparse:
    """rows · diag(factors)."""
    scales = factors if isinstance(rows, Dense) else factors[rows.indices]
    return _with_entries(rows, _entries(rows) * scales)
