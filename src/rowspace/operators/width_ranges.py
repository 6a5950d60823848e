"""All ranges of one width: a sliding window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from rowspace.exceptions import InvalidInput, TooLarge

from .base import DENSE_LIMIT, Array, Indices, Operator, Vector
from .checks import check_size
from .composed import Composed


@dataclass(frozen=True, eq=False)
class WidthRanges(Operator):
    """Row i counts cells i..i+width−1; n − width + 1 rows, all independent.

    O(n) to apply; O(n · width²) to invert, refused where n · width passes `DENSE_LIMIT`.

    >>> (WidthRanges(5, 3) @ np.array([1, 2, 3, 4, 5])).tolist()
    [6, 9, 12]
    """

    n: int
    width: int

    integral = True
    nonnegative = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", check_size("n", self.n))
        object.__setattr__(self, "width", check_size("width", self.width))
        if self.width > self.n:
            raise InvalidInput(f"expected a width of at most {self.n} cells, got {self.width}")

    @property
    def shape(self) -> tuple[int, int]:
        return self.n - self.width + 1, self.n

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
        # Windows that cover a whole segment all see its sum: they are counted. Those that cut it, fewer than
        # twice its cells, are laid out: the ones starting before it, then the ones starting inside.
        starts, stops = bounds[:-1], bounds[1:]
        low, high = np.maximum(starts - self.width + 1, 0), np.minimum(stops, self.shape[0])
        before = np.clip(np.minimum(stops - self.width, starts + 1), low, high)
        inside = np.clip(starts + 1, low, high)
        sums = np.concatenate(([0.0], np.cumsum(density)))
        energy = (inside - before) * (sums[stops] - sums[starts]) ** 2
        for first, last in ((low, before), (inside, high)):
            counts = last - first
            segment = np.repeat(np.arange(len(starts)), counts)
            window = np.arange(counts.sum()) + np.repeat(first - np.cumsum(counts) + counts, counts)
            begin = np.maximum(window, starts[segment])
            end = np.minimum(window + self.width, stops[segment])
            seen = (sums[end] - sums[begin]) ** 2
            energy += np.bincount(segment, seen, minlength=len(starts))
        return np.asarray(energy)


@dataclass(frozen=True, eq=False)
class WindowOverlapInverse(Operator):
    """(AAᵗ)⁻¹ for sliding windows: AAᵗ is banded with entries max(width − |i−j|, 0); O(rows · width²)."""

    rows: int
    width: int

    full_column_rank = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", check_size("rows", self.rows))
        object.__setattr__(self, "width", check_size("width", self.width))

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self.rows

    def _apply(self, x: Array) -> Array:
        if self.rows * min(self.width, self.rows) > DENSE_LIMIT:
            raise TooLarge(
                f"cannot invert {self.rows} windows of width {self.width}: their overlaps are more than "
                f"{DENSE_LIMIT} numbers; use a strategy with a closed form (Hierarchy, Haar)"
            )
        bands = np.repeat(np.arange(min(self.width, self.rows))[:, None], self.rows, axis=1)
        flat = x.reshape(-1, self.rows).T
        return np.asarray(scipy.linalg.solveh_banded(self.width - bands, flat, lower=True).T.reshape(x.shape))

    def _adjoint(self, y: Array) -> Array:
        return self._apply(y)

    @property
    def T(self) -> Operator:
        return self
