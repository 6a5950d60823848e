"""All ranges: the paper's W_R, with n(n+1)/2 rows that are never needed one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rowspace.exceptions import TooLarge

from .base import DENSE_LIMIT, Array, Indices, Operator, Vector
from .checks import check_size
from .composed import Composed


@dataclass(frozen=True, eq=False)
class Ranges(Operator):
    """Every range [i, j] with i ≤ j, in lexicographic order: [0,0], [0,1], …, [0,n−1], [1,1], ….

    A cell j (counted from 1) lies in j(n+1−j) ranges, and two cells i ≤ j together in i(n+1−j): that is
    the whole Gram matrix, applied by two cumulative sums.
    """

    n: int

    integral = True
    nonnegative = True
    full_column_rank = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", check_size("n", self.n))

    @property
    def shape(self) -> tuple[int, int]:
        return self.n * (self.n + 1) // 2, self.n

    def ends(self, start: int, stop: int) -> tuple[Indices, Indices]:
        """First and last cell of the ranges in rows start..stop."""
        row = np.arange(start, stop, dtype=np.int64)
        # Ranges starting before i number i·n − i(i−1)/2; bisect that exactly, since a closed form
        # through a floating-point square root is off by one for large n.
        firsts = np.arange(self.n + 1, dtype=np.int64)
        first = np.searchsorted(firsts * self.n - firsts * (firsts - 1) // 2, row, side="right") - 1
        return first, first + row - (first * self.n - first * (first - 1) // 2)

    def _apply(self, x: Array) -> Array:
        if self.shape[0] * max(1, x.size // self.n) > DENSE_LIMIT:
            raise TooLarge(
                f"all ranges over {self.n} cells are {self.shape[0]} answers; ask for a selection of rows"
            )
        sums = np.zeros((*x.shape[:-1], self.n + 1), dtype=x.dtype)
        np.cumsum(x, axis=-1, out=sums[..., 1:])
        # The ranges that start at one cell are neighbours: a slice each is several times faster than gathering.
        out = np.empty((*x.shape[:-1], self.shape[0]), dtype=x.dtype)
        row = 0
        for first in range(self.n):
            stop = row + self.n - first
            np.subtract(sums[..., first + 1 :], sums[..., first : first + 1], out=out[..., row:stop])
            row = stop
        return out

    def _adjoint(self, y: Array) -> Array:
        square = np.zeros((*y.shape[:-1], self.n, self.n), dtype=y.dtype)
        square[..., *np.triu_indices(self.n)] = y
        opened, closed = square.sum(axis=-1), square.sum(axis=-2)
        out = np.cumsum(opened, axis=-1)
        out[..., 1:] -= np.cumsum(closed, axis=-1)[..., :-1]
        return out

    def _rows(self, start: int, stop: int) -> Vector:
        first, last = self.ends(start, stop)
        cells = np.arange(self.n)
        return ((cells >= first[:, None]) & (cells <= last[:, None])).astype(float)

    def _dense(self) -> Vector:
        return self._rows(0, self.shape[0])

    def gram(self) -> Operator:
        return RangesGram(self.n)

    def pinv(self) -> Operator:
        return Composed(RangesGram(self.n).pinv(), self.T)

    def _column_sums(self, p: int) -> Vector:
        j = np.arange(1.0, self.n + 1)
        return np.asarray(j * (self.n + 1 - j))

    def _max_column_sum(self, p: int) -> float:
        # The middle cell lies in the most ranges.
        return float((self.n + 1) // 2 * (self.n // 2 + 1))

    def _integer_norm(self, p: int) -> int:
        return (self.n + 1) // 2 * (self.n // 2 + 1)

    def largest_entry(self) -> float:
        return 1.0

    def segment_energy(self, density: Vector, bounds: Indices) -> Vector:
        # Σ_{i,j in s} d_i d_j min(i,j)(n+1−max(i,j)), the off-diagonal half by one running sum.
        starts, stops = bounds[:-1], bounds[1:]
        i = np.arange(1.0, self.n + 1)
        low, high = i * density, (self.n + 1 - i) * density
        before = np.concatenate(([0.0], np.cumsum(np.add.reduceat(low, starts))[:-1]))
        below = np.cumsum(low) - low - np.repeat(before, stops - starts)
        return np.asarray(np.add.reduceat(low * high + 2 * high * below, starts))

    def nuclear_norm(self) -> float:
        # The Gram matrix is n + 1 times the inverse of (−1, 2, −1), whose eigenvectors are sines.
        k = np.arange(1, self.n + 1)
        return float((0.5 * np.sqrt(self.n + 1) / np.sin(k * np.pi / (2 * self.n + 2))).sum())

    def row_quadratic(self, M: Vector) -> Vector:
        # With C the summed-area table of M, the block [i..j]² sums to C[j,j] − 2C[i−1,j] + C[i−1,i−1].
        if self.shape[0] > DENSE_LIMIT:
            raise TooLarge(f"all ranges over {self.n} cells are {self.shape[0]} numbers; ask for a selection")
        C = np.zeros((self.n + 1, self.n + 1))
        np.cumsum(np.cumsum(M, axis=0), axis=1, out=C[1:, 1:])
        first, last = self.ends(0, self.shape[0])
        return np.asarray(C[last + 1, last + 1] - 2 * C[first, last + 1] + C[first, first])


@dataclass(frozen=True, eq=False)
class RangesGram(Operator):
    """The Gram matrix of all ranges: min(i,j)·(n+1−max(i,j)), (n+1) times a discrete Green's function."""

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
        i = np.arange(1, self.n + 1, dtype=x.dtype)
        high = (self.n + 1 - i) * x
        above = np.cumsum(high[..., ::-1], axis=-1)[..., ::-1] - high
        return np.asarray((self.n + 1 - i) * np.cumsum(i * x, axis=-1) + i * above)

    def _adjoint(self, y: Array) -> Array:
        return self._apply(y)

    @property
    def T(self) -> Operator:
        return self

    def pinv(self) -> Operator:
        return (1.0 / (self.n + 1)) * SecondDifference(self.n)

    def _dense(self) -> Vector:
        i = np.arange(1.0, self.n + 1)
        return np.asarray(np.minimum.outer(i, i) * (self.n + 1 - np.maximum.outer(i, i)))


@dataclass(frozen=True, eq=False)
class SecondDifference(Operator):
    """The tridiagonal (−1, 2, −1) matrix, inverse of the ranges' Gram matrix up to the factor n + 1."""

    n: int

    integral = True
    full_column_rank = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", check_size("n", self.n))

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n

    def _apply(self, x: Array) -> Array:
        out = 2 * x
        out[..., 1:] -= x[..., :-1]
        out[..., :-1] -= x[..., 1:]
        return out

    def _adjoint(self, y: Array) -> Array:
        return self._apply(y)

    @property
    def T(self) -> Operator:
        return self

    def pinv(self) -> Operator:
        return (1.0 / (self.n + 1)) * RangesGram(self.n)
