"""Prefix sums, the workload of cumulative distributions and quantiles, and their inverse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import Array, Indices, Operator, Vector
from .checks import check_size


@dataclass(frozen=True, eq=False)
class Prefix(Operator):
    """Row i counts cells 0..i: the lower triangle of ones. Every verb is one cumulative sum."""

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

    def nuclear_norm(self) -> float:
        # The inverse Gram matrix is tridiagonal (−1, 2, −1) with one corner 1: its eigenvalues are known.
        k = np.arange(1, self.n + 1)
        return float((0.5 / np.sin((2 * k - 1) * np.pi / (4 * self.n + 2))).sum())

    def row_quadratic(self, M: Vector) -> Vector:
        return np.diagonal(np.cumsum(np.cumsum(M, axis=0), axis=1)).copy()

    def _dense(self) -> Vector:
        return np.tril(np.ones((self.n, self.n)))


@dataclass(frozen=True, eq=False)
class Difference(Operator):
    """First differences, the inverse of `Prefix`."""

    n: int

    integral = True
    full_column_rank = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", check_size("n", self.n))

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n

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
