"""n·I − 11ᵗ: every cell against all of them, what a table says about an attribute beyond its total."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import Array, Operator, Vector
from .checks import check_size
from .scaled import Scaled


@dataclass(frozen=True, eq=False)
class CellContrasts(Operator):
    """n·I − 11ᵗ over n cells: n times the projection onto the vectors that sum to zero.

    >>> CellContrasts(3).to_dense().astype(int)
    array([[ 2, -1, -1],
           [-1,  2, -1],
           [-1, -1,  2]])
    """

    n: int

    integral = True
    full_column_rank = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", check_size("n", self.n))

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n

    def _apply(self, x: Array) -> Array:
        return self._apply_along(x, -1)

    def _apply_along(self, x: Array, axis: int) -> Array:
        return np.asarray(self.n * x - x.sum(axis=axis, keepdims=True))

    def _adjoint(self, y: Array) -> Array:
        return self._apply(y)

    @property
    def T(self) -> Operator:
        return self

    def gram(self) -> Operator:
        return Scaled.of_product(self.n, self)

    def pinv(self) -> Operator:
        return Scaled.of_product(1 / self.n**2, self)

    def _column_sums(self, p: int) -> Vector:
        return np.full(self.n, self._max_column_sum(p))

    def _max_column_sum(self, p: int) -> float:
        return float(self._integer_norm(p))

    def _integer_norm(self, p: int) -> int:
        return int((self.n - 1) ** p) + self.n - 1

    def _exact_column_sums(self, p: int) -> list[int]:
        return [self._integer_norm(p)] * self.n

    def largest_entry(self) -> float:
        return float(self.n - 1)

    def squared_frobenius(self) -> float:
        return float(self.n**2 * (self.n - 1))

    def nuclear_norm(self) -> float:
        return float(self.n * (self.n - 1))
