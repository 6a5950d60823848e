"""All ranges of one width: a sliding window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solveh_banded

from rowspace.exceptions import InvalidInput

from .base import Array, Indices, Operator, Vector, check_size
from .composed import Composed


@dataclass(frozen=True, eq=False)
class WidthRanges(Operator):
    """Row i counts cells i..i+width−1; n − width + 1 rows, all independent."""

    n: int
    width: int

    def __post_init__(self) -> None:
        check_size("n", self.n)
        if check_size("width", self.width) > self.n:
            raise InvalidInput(f"expected a width of at most {self.n} cells, got {self.width}")

    @property
    def shape(self) -> tuple[int, int]:
        return self.n - self.width + 1, self.n

    @property
    def integral(self) -> bool:
        return True

    @property
    def nonnegative(self) -> bool:
        return True

    @property
    def full_column_rank(self) -> bool:
        return self.width == 1

    def _apply(self, x: Array) -> Array:
        sums = np.cumsum(x, axis=-1)
        out = sums[..., self.width - 1 :].copy()
        out[..., 1:] -= sums[..., : -self.width]
        return out

    def _adjoint(self, y: Array) -> Array:
        steps = np.zeros((*y.shape[:-1], self.n), dtype=y.dtype)
        steps[..., : self.shape[0]] = y
        steps[..., self.width :] -= y[..., : self.n - self.width]
        return np.cumsum(steps, axis=-1)

    def pinv(self) -> Operator:
        # The rows are independent, so A⁺ = Aᵗ(AAᵗ)⁻¹, and windows overlap only near each other.
        return Composed(self.T, WindowOverlapInverse(self.shape[0], self.width))

    def _column_sums(self, p: int) -> Vector:
        cell = np.arange(self.n)
        return np.asarray(np.minimum(cell, self.shape[0] - 1) - np.maximum(cell - self.width + 1, 0) + 1.0)

    def largest_entry(self) -> float:
        return 1.0

    def segment_energy(self, density: Vector, bounds: Indices) -> Vector:
        # A segment meets the windows starting up to width − 1 before it: lay each out with that margin.
        starts, stops = bounds[:-1], bounds[1:]
        low, high = np.maximum(starts - self.width + 1, 0), np.minimum(stops, self.shape[0])
        counts = np.maximum(high - low, 0)
        segment = np.repeat(np.arange(len(starts)), counts)
        window = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + low[segment]
        sums = np.concatenate(([0.0], np.cumsum(density)))
        begin = np.maximum(window, starts[segment])
        end = np.minimum(window + self.width, stops[segment])
        energies = (sums[end] - sums[begin]) ** 2
        return np.asarray(np.bincount(segment, energies, minlength=len(starts)), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class WindowOverlapInverse(Operator):
    """(AAᵗ)⁻¹ for sliding windows: AAᵗ is banded with entries max(width − |i−j|, 0); O(rows · width²)."""

    rows: int
    width: int

    def __post_init__(self) -> None:
        check_size("rows", self.rows)
        check_size("width", self.width)

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self.rows

    @property
    def full_column_rank(self) -> bool:
        return True

    def _apply(self, x: Array) -> Array:
        bands = np.repeat(np.arange(min(self.width, self.rows))[:, None], self.rows, axis=1)
        flat = x.reshape(-1, self.rows).T
        return np.asarray(solveh_banded(self.width - bands, flat, lower=True).T.reshape(x.shape))

    def _adjoint(self, y: Array) -> Array:
        return self._apply(y)

    @property
    def T(self) -> Operator:
        return self
