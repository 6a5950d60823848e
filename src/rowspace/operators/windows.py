"""Ranges of one width, and all predicates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from rowspace.exceptions import InvalidInput, TooLarge

from .base import DENSE_LIMIT, Array, Indices, Operator, Vector
from .checks import check_size
from .composed import Composed
from .kinds import OnCells, Symmetric
from .total import UniformGram


@dataclass(frozen=True, eq=False)
class WidthRanges(OnCells):
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
        super().__post_init__()
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
class WindowOverlapInverse(Symmetric):
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


@dataclass(frozen=True, eq=False)
class AllPredicates(OnCells):
    """Every 0/1 query over n cells, in the order of binary numbers (cell 0 is the leading digit).

    Half of all queries contain a given cell and a quarter contain two given cells, so the Gram matrix is
    2ⁿ⁻²(I + J). Rows are built only while they fit; n ≤ 1000 keeps 2ⁿ a floating-point number.
    """

    n: int

    integral = True
    nonnegative = True
    full_column_rank = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n > 1000:
            raise InvalidInput(
                f"expected at most 1000 cells for all predicates, got {self.n}: 2**n leaves floating point"
            )

    @property
    def shape(self) -> tuple[int, int]:
        return 2**self.n, self.n

    def _apply(self, x: Array) -> Array:
        self._check_rows(max(1, x.size // self.n))
        sums = np.zeros((*x.shape[:-1], 1), dtype=x.dtype)
        for cell in range(self.n):
            doubled = np.stack((sums, sums + x[..., cell : cell + 1]), axis=-1)
            sums = doubled.reshape(*x.shape[:-1], 2 ** (cell + 1))
        return sums

    def _adjoint(self, y: Array) -> Array:
        self._check_rows(1)
        grid = y.reshape(*y.shape[:-1], *(2,) * self.n)
        axes = tuple(range(y.ndim - 1, y.ndim - 1 + self.n))
        return np.stack([grid.take(1, axis=axis).sum(axis=axes[:-1]) for axis in axes], axis=-1)

    def _check_rows(self, batch: int) -> None:
        if 2**self.n * batch > DENSE_LIMIT:
            raise TooLarge(
                f"all predicates over {self.n} cells are 2**{self.n} answers; only their Gram matrix is built"
            )

    def gram(self) -> Operator:
        quarter = 2.0 ** (self.n - 2)
        return UniformGram(self.n, quarter, quarter)

    def nuclear_norm(self) -> float:
        return float(2.0 ** (self.n / 2 - 1) * (self.n - 1 + np.sqrt(self.n + 1)))

    def pinv(self) -> Operator:
        return Composed(self.gram().pinv(), self.T)

    def _column_sums(self, p: int) -> Vector:
        return np.full(self.n, 2.0 ** (self.n - 1))

    def _rows(self, start: int, stop: int) -> Vector:
        digits = np.arange(self.n - 1, -1, -1)
        return np.array(
            [[row >> int(digit) & 1 for digit in digits] for row in range(start, stop)], dtype=float
        )

    def _integer_norm(self, p: int) -> int:
        return int(2 ** (self.n - 1))

    def largest_entry(self) -> float:
        return 1.0
