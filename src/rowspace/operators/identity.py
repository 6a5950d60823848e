"""The identity: every cell's count by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import Array, Indices, Operator, Vector
from .checks import check_size


@dataclass(frozen=True, eq=False)
class Identity(Operator):
    """Iₙ: asks each of the n cells. Sensitivity 1, the least a full-rank strategy can have."""

    n: int

    integral = True
    nonnegative = True
    full_column_rank = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", check_size("n", self.n))

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n

    def _apply(self, x: Array) -> Array:
        return x.copy()

    def _apply_along(self, x: Array, axis: int) -> Array:
        return x

    def _adjoint(self, y: Array) -> Array:
        return y.copy()

    @property
    def T(self) -> Operator:
        return self

    def gram(self) -> Operator:
        return self

    def pinv(self) -> Operator:
        return self

    def _column_sums(self, p: int) -> Vector:
        return np.ones(self.n)

    def _max_column_sum(self, p: int) -> float:
        return 1.0

    def segment_energy(self, density: Vector, bounds: Indices) -> Vector:
        return np.asarray(np.add.reduceat(density**2, bounds[:-1]))

    def nuclear_norm(self) -> float:
        return float(self.n)

    def row_quadratic(self, M: Vector) -> Vector:
        return np.diagonal(M).copy()

    def _profile_trace(self, W: Operator) -> float:
        return W.squared_frobenius()
