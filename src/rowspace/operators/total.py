"""The total: one query that sums all cells, and the aI + bJ matrices that its algebra lives in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import Array, Indices, Operator, Vector
from .checks import check_number, check_supported
from .kinds import OnCells, Symmetric
from .scaled import Scaled


@dataclass(frozen=True, eq=False)
class Total(OnCells):
    """1ₙᵗ: the single query that counts everybody."""

    n: int

    integral = True
    nonnegative = True

    @property
    def shape(self) -> tuple[int, int]:
        return 1, self.n

    @property
    def full_column_rank(self) -> bool:
        return self.n == 1

    def _apply(self, x: Array) -> Array:
        return np.asarray(x.sum(axis=-1, keepdims=True))

    def _adjoint(self, y: Array) -> Array:
        return np.repeat(y, self.n, axis=-1)

    def gram(self) -> Operator:
        return UniformGram(self.n, 0.0, 1.0)

    def pinv(self) -> Operator:
        return (1.0 / self.n) * self.T

    def _column_sums(self, p: int) -> Vector:
        return np.ones(self.n)

    def _max_column_sum(self, p: int) -> float:
        return 1.0

    def segment_energy(self, density: Vector, bounds: Indices) -> Vector:
        return np.asarray(np.add.reduceat(density, bounds[:-1]) ** 2)

    def nuclear_norm(self) -> float:
        return float(np.sqrt(self.n))

    def row_quadratic(self, M: Vector) -> Vector:
        return np.array([M.sum()])

    def _profile_trace(self, W: Operator) -> float:
        # The total supports its own multiples only: what W keeps of 1ₙ must be all that W has.
        along = float(W.segment_energy(np.ones(self.n), np.array([0, self.n]))[0]) / self.n
        whole = W.squared_frobenius()
        # These are squares: what lies outside must be small to the square of the usual tolerance.
        check_supported(max(whole - along, 0.0), 1e-5 * whole)
        return along / self.n


@dataclass(frozen=True, eq=False)
class UniformGram(OnCells, Symmetric):
    """a·I + b·J with J all ones: the Gram matrix of workloads that treat all cells alike."""

    n: int
    a: float
    b: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "a", check_number("a", self.a))
        object.__setattr__(self, "b", check_number("b", self.b))

    @property
    def integral(self) -> bool:
        return self.a.is_integer() and self.b.is_integer() and abs(self.a) + abs(self.b) < 2**53

    @property
    def nonnegative(self) -> bool:
        return self.b >= 0 and self.a + self.b >= 0

    def _apply(self, x: Array) -> Array:
        a, b = (int(self.a), int(self.b)) if x.dtype.kind == "i" else (self.a, self.b)
        return np.asarray(a * x + b * x.sum(axis=-1, keepdims=True))

    def pinv(self) -> Operator:
        # Eigenvalues: a on the complement of 1ₙ, a + nb on 1ₙ; invert those that are not zero.
        flat, along = self.a, self.a + self.n * self.b
        if abs(along) <= 4 * np.finfo(float).eps * abs(flat):  # a and n·b cancel but for rounding
            along = 0.0
        inverse_flat = 1.0 / flat if flat else 0.0
        inverse_along = 1.0 / along if along else 0.0
        return UniformGram(self.n, inverse_flat, (inverse_along - inverse_flat) / self.n)

    def _column_sums(self, p: int) -> Vector:
        return np.full(self.n, abs(self.a + self.b) ** p + (self.n - 1) * abs(self.b) ** p)

    def _dense(self) -> Vector:
        return self.a * np.eye(self.n) + self.b


@dataclass(frozen=True, eq=False)
class CellContrasts(OnCells, Symmetric):
    """n·I − 11ᵗ over n cells: n times the projection onto the vectors that sum to zero.

    >>> CellContrasts(3).to_dense().astype(int)
    array([[ 2, -1, -1],
           [-1,  2, -1],
           [-1, -1,  2]])
    """

    n: int

    integral = True
    full_column_rank = False

    def _apply(self, x: Array) -> Array:
        return self._apply_along(x, -1)

    def _apply_along(self, x: Array, axis: int) -> Array:
        return np.asarray(self.n * x - x.sum(axis=axis, keepdims=True))

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
