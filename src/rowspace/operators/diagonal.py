"""Diagonal matrices: one weight per cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Indices, Operator, Vector
from .checks import read_only, rounded_but_not_to_zero, rounding_scale


@dataclass(frozen=True, eq=False)
class Diagonal(Operator):
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
        return bool(np.abs(self.values).max() < 2**53) and bool(np.all(self.values == np.rint(self.values)))

    @property
    def nonnegative(self) -> bool:
        return bool((self.values >= 0).all())

    @property
    def full_column_rank(self) -> bool:
        return bool(self.values.all())

    def _apply(self, x: Array) -> Array:
        return np.asarray((self.values.astype(np.int64) if x.dtype.kind == "i" else self.values) * x)

    def _adjoint(self, y: Array) -> Array:
        return self._apply(y)

    @property
    def T(self) -> Operator:
        return self

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

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        scale = rounding_scale(bits, self.largest_entry())
        return self._rounded_at(scale), scale

    def _rounded_at(self, scale: float) -> Operator:
        return Diagonal(rounded_but_not_to_zero(scale * self.values))

    def nuclear_norm(self) -> float:
        return float(np.abs(self.values).sum())

    def segment_energy(self, density: Vector, bounds: Indices) -> Vector:
        return np.asarray(np.add.reduceat((self.values * density) ** 2, bounds[:-1]))

    def _dense(self) -> Vector:
        return np.diag(self.values)
