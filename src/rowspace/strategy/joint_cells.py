"""The Gaussian optimum for one table: V_S to be answered by functions F_S, with the cells of the table as columns.

With B = V^½F and weights λ on the cells, U and s² the eigenvectors and eigenvalues of BΛBᵗ, the rows s^(−½)UᵗB are a
strategy for every λ, and (tr s)² a bound (`dual`); `dual_ascent` brings them together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rowspace.operators import Vector

from .dual_ascent import ascend

FLOOR = 1e-14
"""Share of the largest eigenvalue of BΛBᵗ below which others have no digits, and count as that."""

FRESH = 1e-4
"""Share of equal weights that every search for λ starts with."""

DUAL_STEPS = 100
"""Most steps of the dual for one set."""


@dataclass(frozen=True, eq=False)
class Solved:
    """The optimum of one set, and its rows with columns of length at most 1."""

    root: float
    bound: float
    """Of the root, from below: it changes more smoothly."""
    weights: Vector
    by_gram: Vector
    by_functions: Vector
    rows: Vector
    mixing: Vector
    """From F_S to the rows."""


@dataclass(frozen=True, eq=False)
class CellPoint:
    """V^½F = B at one λ: X = YᵗY, scaled by its largest diagonal entry."""

    B: Vector
    weights: Vector
    s: Vector
    U: Vector

    @cached_property
    def half(self) -> Vector:
        """s^(−½)Uᵗ."""
        return np.asarray((self.U / np.sqrt(self.s)).T)

    @cached_property
    def diagonal(self) -> Vector:
        """x."""
        Y = self.half @ self.B
        return np.asarray(np.einsum("ij,ij->j", Y, Y))

    @property
    def error(self) -> float:
        """κ from above."""
        return float(self.diagonal.max() * self.s.sum())

    def gram(self) -> Vector:
        """X over the cells."""
        Y = self.half @ self.B
        return np.asarray(Y.T @ Y / self.diagonal.max())


@dataclass(frozen=True, eq=False)
class CellGeometry:
    """The cells of one table, seen as a function of λ."""

    B: Vector

    def at(self, weights: Vector) -> CellPoint:
        """One eigendecomposition of the size of V."""
        squares, U = np.linalg.eigh((self.B * weights) @ self.B.T)
        return CellPoint(self.B, weights, np.sqrt(np.maximum(squares, FLOOR * squares[-1])), U)


def solve_cells(V: Vector, F: Vector, weights: Vector, gap: float) -> Solved:
    """The optimum to a gap, from some weights."""
    values, vectors = np.linalg.eigh(V)
    values = np.maximum(values, 0.0)
    root = (vectors * np.sqrt(values)) @ vectors.T
    # Weights that have vanished for another F may be needed for this one.
    start = (1 - FRESH) * weights + FRESH / len(weights)
    ascent = ascend(CellGeometry(root @ F), start, gap, DUAL_STEPS)
    point = ascent.point
    assert isinstance(point, CellPoint)
    length = np.sqrt(point.diagonal.max())
    half = point.half @ root
    X = half.T @ half
    return Solved(
        point.error**0.5,
        ascent.bound**0.5,
        point.weights,
        np.linalg.inv(X),
        (X @ F) * point.weights,
        half @ F / length,
        half / length,
    )
