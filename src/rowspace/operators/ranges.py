"""Prefixes and all ranges of ordered cells; rows are never needed one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rowspace.exceptions import TooLarge

from .base import DENSE_LIMIT, Array, Indices, Operator, Vector
from .composed import Composed
from .kinds import OnCells, Symmetric


@dataclass(frozen=True, eq=False)
class Prefix(OnCells):
    """Row i counts cells 0..i: the lower triangle of ones. Every verb is one cumulative sum."""

    n: int

    integral = True
    nonnegative = True
    full_column_rank = True

    def _apply(self, x: Array) -> Array:
        return np.cumsum(x, axis=-1)

    def _adjoint(self, y: Array) -> Array:
        return np.cumsum(y[..., ::-1], axis=-1)[..., ::-1]

    def pinv(self) -> Operator:
        return Difference(self.n)

    def _column_sums(self, p: int) -> Vector:
        return np.arange(self.n, 0, -1, dtype=float)

    def _max_column_sum(self, p: int) -> float:
        return float(self.n)

    def _integer_norm(self, p: int) -> int:
        return self.n

    def largest_entry(self) -> float:
        return 1.0

    def segment_energy(self, density: Vector, bounds: Indices) -> Vector:
        # Inside its segment the prefix climbs; behind it the prefix stays at the segment's sum.
        starts, stops = bounds[:-1], bounds[1:]
        sums = np.add.reduceat(density, starts)
        before = np.concatenate(([0.0], np.cumsum(sums)[:-1]))
        climbing = np.cumsum(density) - np.repeat(before, stops - starts)
        return np.asarray(np.add.reduceat(climbing**2, starts) + sums**2 * (self.n - stops))

    def segment_squares(self, density: Vector, bounds: Indices, powers: Vector) -> Vector:
        # Segments passed by count with all their density, the one a prefix ends in with what was climbed of it.
        starts, sizes = bounds[:-1], np.diff(bounds)
        sums = np.add.reduceat(density, starts)
        before = np.concatenate(([0.0], np.cumsum(sums)[:-1]))
        passed = np.concatenate(([0.0], np.cumsum(powers * sums**2)[:-1]))
        climbing = np.cumsum(density) - np.repeat(before, sizes)
        return np.asarray(np.repeat(passed, sizes) + np.repeat(powers, sizes) * climbing**2)

    def row_variances(self, W: Operator) -> Vector | None:
        return np.ones(self.n) if isinstance(W, Prefix) else None

    def nuclear_norm(self) -> float:
        # The inverse Gram matrix is tridiagonal (−1, 2, −1) with one corner 1: its eigenvalues are known.
        k = np.arange(1, self.n + 1)
        return float((0.5 / np.sin((2 * k - 1) * np.pi / (4 * self.n + 2))).sum())

    def row_quadratic(self, M: Vector) -> Vector:
        return np.diagonal(np.cumsum(np.cumsum(M, axis=0), axis=1)).copy()

    def _dense(self) -> Vector:
        return np.tril(np.ones((self.n, self.n)))


@dataclass(frozen=True, eq=False)
class Difference(OnCells):
    """First differences, the inverse of `Prefix`."""

    n: int

    integral = True
    full_column_rank = True

    def _apply(self, x: Array) -> Array:
        out = x.copy()
        out[..., 1:] -= x[..., :-1]
        return out

    def _adjoint(self, y: Array) -> Array:
        out = y.copy()
        out[..., :-1] -= y[..., 1:]
        return out

    def pinv(self) -> Operator:
        return Prefix(self.n)

    def _column_sums(self, p: int) -> Vector:
        sums = np.full(self.n, 2.0)
        sums[-1] = 1.0
        return sums


@dataclass(frozen=True, eq=False)
class Ranges(OnCells):
    """Every range [i, j] with i ≤ j, in lexicographic order: [0,0], [0,1], …, [0,n−1], [1,1], ….

    A cell j (counted from 1) lies in j(n+1−j) ranges, and two cells i ≤ j together in i(n+1−j): that is
    the whole Gram matrix, applied by two cumulative sums.
    """

    n: int

    integral = True
    nonnegative = True
    full_column_rank = True

    @property
    def shape(self) -> tuple[int, int]:
        return self.n * (self.n + 1) // 2, self.n

    def ends(self, rows: npt.NDArray[np.integer]) -> tuple[Indices, Indices]:
        """First and last cell of each of these rows, both included."""
        # Counted from the last row, the ranges that begin at cell n-1-k are numbered k(k+1)/2 to k(k+1)/2 + k. The
        # square root of floats is off by at most one.
        row = self.shape[0] - 1 - rows.astype(np.int64)
        k = ((np.sqrt(8.0 * row + 1) - 1) / 2).astype(np.int64)
        k -= k * (k + 1) // 2 > row
        k += (k + 1) * (k + 2) // 2 <= row
        return self.n - 1 - k, self.n - 1 - (row - k * (k + 1) // 2)

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
        first, last = self.ends(np.arange(start, stop))
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
        first, last = self.ends(np.arange(self.shape[0]))
        return np.asarray(C[last + 1, last + 1] - 2 * C[first, last + 1] + C[first, first])


@dataclass(frozen=True, eq=False)
class RangesGram(OnCells, Symmetric):
    """The Gram matrix of all ranges: min(i,j)·(n+1−max(i,j)), (n+1) times a discrete Green's function."""

    n: int

    integral = True
    nonnegative = True
    full_column_rank = True

    def _apply(self, x: Array) -> Array:
        i = np.arange(1, self.n + 1, dtype=x.dtype)
        high = (self.n + 1 - i) * x
        above = np.cumsum(high[..., ::-1], axis=-1)[..., ::-1] - high
        return np.asarray((self.n + 1 - i) * np.cumsum(i * x, axis=-1) + i * above)

    def pinv(self) -> Operator:
        return (1.0 / (self.n + 1)) * SecondDifference(self.n)

    def _dense(self) -> Vector:
        i = np.arange(1.0, self.n + 1)
        return np.asarray(np.minimum.outer(i, i) * (self.n + 1 - np.maximum.outer(i, i)))


@dataclass(frozen=True, eq=False)
class SecondDifference(OnCells, Symmetric):
    """The tridiagonal (−1, 2, −1) matrix, inverse of the ranges' Gram matrix up to the factor n + 1."""

    n: int

    integral = True
    full_column_rank = True

    def _apply(self, x: Array) -> Array:
        out = 2 * x
        out[..., 1:] -= x[..., :-1]
        out[..., :-1] -= x[..., 1:]
        return out

    def pinv(self) -> Operator:
        return (1.0 / (self.n + 1)) * RangesGram(self.n)
