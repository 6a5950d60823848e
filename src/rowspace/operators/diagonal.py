"""Every cell by itself: the identity, and a weight per cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Indices, Operator, Vector
from .checks import read_only, rounded_but_not_to_zero
from .kinds import OnCells, Symmetric, are_whole, integers_for


@dataclass(frozen=True, eq=False)
class Identity(OnCells, Symmetric):
    """Iₙ: asks each of the n cells. Sensitivity 1, the least a full-rank strategy can have."""

    n: int

    integral = True
    nonnegative = True
    full_column_rank = True

    def _apply(self, x: Array) -> Array:
        return x.copy()

    def _apply_along(self, x: Array, axis: int) -> Array:
        return x

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

    def segment_squares(self, density: Vector, bounds: Indices, powers: Vector) -> Vector:
        return np.asarray(np.repeat(powers, np.diff(bounds)) * density**2)

    def row_variances(self, W: Operator) -> Vector | None:
        # Every cell is a segment of its own.
        ones = np.broadcast_to(1.0, (self.n,))
        return W.segment_squares(ones, np.arange(self.n + 1), ones)

    def nuclear_norm(self) -> float:
        return float(self.n)

    def row_quadratic(self, M: Vector) -> Vector:
        return np.diagonal(M).copy()

    def _profile_trace(self, W: Operator) -> float:
        return W.squared_frobenius()


@dataclass(frozen=True, eq=False)
class Diagonal(Symmetric):
    """diag(values): cell i asked with weight values[i]."""

    values: Vector

    def __post_init__(self) -> None:
        values = read_only(self.values, np.float64)
        if values.ndim != 1 or not values.size or not np.isfinite(values).all():
            raise InvalidInput(f"expected a non-empty vector of finite numbers, got shape {values.shape}")
        object.__setattr__(self, "values", values)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.values), len(self.values)

    @cached_property
    def integral(self) -> bool:
        return are_whole(self.values)

    @property
    def nonnegative(self) -> bool:
        return bool((self.values >= 0).all())

    @property
    def full_column_rank(self) -> bool:
        return bool(self.values.all())

    def _apply(self, x: Array) -> Array:
        return np.asarray(integers_for(self.values, x) * x)

    def gram(self) -> Operator:
        return Diagonal(self.values**2)

    def pinv(self) -> Operator:
        return Diagonal(np.divide(1.0, self.values, out=np.zeros_like(self.values), where=self.values != 0))

    def _column_sums(self, p: int) -> Vector:
        return np.asarray(np.abs(self.values) ** p)

    def _sums_of_entries(self, p: int) -> list[int]:
        return [abs(int(value)) ** p for value in self.values.tolist()]

    def largest_entry(self) -> float:
        return float(np.abs(self.values).max())

    _rounded = Operator._rounded_by_scale

    def _rounded_at(self, scale: float) -> Operator:
        return Diagonal(rounded_but_not_to_zero(scale * self.values))

    def nuclear_norm(self) -> float:
        return float(np.abs(self.values).sum())

    def segment_energy(self, density: Vector, bounds: Indices) -> Vector:
        return np.asarray(np.add.reduceat((self.values * density) ** 2, bounds[:-1]))

    def _dense(self) -> Vector:
        return np.diag(self.values)
