"""Matrices given entry by entry."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Indices, Operator, Vector
from .checks import read_only, rounding_scale


@dataclass(frozen=True, eq=False)
class Dense(Operator):
    """An explicit m × n array, copied and made immutable."""

    array: Vector

    def __post_init__(self) -> None:
        array = read_only(self.array, np.float64)
        if array.ndim != 2 or 0 in array.shape:
            raise InvalidInput(
                f"expected a two-dimensional array with rows and columns, got shape {array.shape}"
            )
        if not np.isfinite(array).all():
            raise InvalidInput("expected finite entries, got NaN or infinity")
        object.__setattr__(self, "array", array)

    @property
    def shape(self) -> tuple[int, int]:
        m, n = self.array.shape
        return m, n

    @cached_property
    def integral(self) -> bool:
        return bool(np.abs(self.array).max() < 2**53) and bool(np.all(self.array == np.rint(self.array)))

    @property
    def nonnegative(self) -> bool:
        return bool((self.array >= 0).all())

    @property
    def rounding_keeps_row_space(self) -> bool:
        return super().rounding_keeps_row_space or (
            min(self.shape) >= self.shape[1] <= 1024
            and int(np.linalg.matrix_rank(self.array)) == self.shape[1]
        )

    def _apply(self, x: Array) -> Array:
        return np.asarray(x @ self._array_for(x).T)

    def _adjoint(self, y: Array) -> Array:
        return np.asarray(y @ self._array_for(y))

    def _array_for(self, x: Array) -> Array:
        return self.array.astype(np.int64) if x.dtype.kind == "i" else self.array

    def gram(self) -> Operator:
        return Dense(self.array.T @ self.array)

    def largest_entry(self) -> float:
        return float(np.abs(self.array).max())

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        scale = rounding_scale(bits, self.largest_entry())
        return self._rounded_at(scale), scale

    def _rounded_at(self, scale: float) -> Operator:
        return Dense(np.rint(scale * self.array))

    def _rows(self, start: int, stop: int) -> Vector:
        return self.array[start:stop].copy()

    def _dense(self) -> Vector:
        return self.array.copy()

    def _integers(self) -> Indices:
        return self.array.astype(np.int64)
