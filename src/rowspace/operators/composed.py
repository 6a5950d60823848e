"""Products and sums of operators, applied part by part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rowspace.exceptions import InvalidInput, TooLarge

from .base import DENSE_LIMIT, Array, Indices, Operator, Vector, check_operators

SLOW_PRODUCTS = 2**32
"""Most multiplications of 64-bit integers, which no BLAS does: some seconds."""


@dataclass(frozen=True, eq=False)
class Composed(Operator):
    """left · right, never multiplied out."""

    left: Operator
    right: Operator

    def __post_init__(self) -> None:
        check_operators(self.left, self.right)
        if self.left.shape[1] != self.right.shape[0]:
            raise InvalidInput(f"cannot compose shapes {self.left.shape} and {self.right.shape}")

    @property
    def shape(self) -> tuple[int, int]:
        return self.left.shape[0], self.right.shape[1]

    @property
    def integral(self) -> bool:
        return self.left.integral and self.right.integral

    @property
    def nonnegative(self) -> bool:
        return self.left.nonnegative and self.right.nonnegative

    @property
    def full_column_rank(self) -> bool | None:
        if self.left.full_column_rank and self.right.full_column_rank:
            return True
        return False if self.right.full_column_rank is False else None

    @property
    def rounding_keeps_row_space(self) -> bool:
        return super().rounding_keeps_row_space or self.right.integral

    def _apply(self, x: Array) -> Array:
        return self.left._apply(self.right._apply(x))

    def _adjoint(self, y: Array) -> Array:
        return self.right._adjoint(self.left._adjoint(y))

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        if not self.right.integral:
            return super()._rounded(bits)
        # Rounding the left factor alone keeps every row in the right factor's row space.
        left, scale = self.left.integer_form(bits)
        return Composed(left, self.right), scale

    @property
    def T(self) -> Operator:
        return Composed(self.right.T, self.left.T)

    def _integers(self) -> Indices:
        m, n, inner = *self.shape, self.left.shape[1]
        if inner * max(m, n) > DENSE_LIMIT:
            return super()._integers()
        # Every partial sum below 2⁵³: then BLAS is exact, and a hundred times as fast.
        small = inner * self.left.largest_entry() * self.right.largest_entry() < 2**52
        if not small and m * n * inner > SLOW_PRODUCTS:
            raise TooLarge(f"cannot multiply {m} x {inner} by {inner} x {n} entries of so many bits exactly")
        left, right = self.left._integers(), self.right._integers()
        if small:
            return (left.astype(np.float64) @ right.astype(np.float64)).astype(np.int64)
        return left @ right

    def _by_units(self, dtype: Any) -> Array:
        m, n, inner = *self.shape, self.left.shape[1]
        # Unit vectors from the shorter side, few enough at a time for what lies in between.
        step = max(1, 2**22 // max(m, n, inner))
        if m < n:
            return np.concatenate([self._adjoint(units) for units in _unit_blocks(m, step, dtype)])
        return np.concatenate([self._apply(units) for units in _unit_blocks(n, step, dtype)]).T.copy()


@dataclass(frozen=True, eq=False)
class Sum(Operator):
    """A₁ + A₂ + …, all of one shape: the Gram matrix of a union of workloads."""

    terms: tuple[Operator, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.terms, (tuple, list)) or not self.terms:
            raise InvalidInput("expected a tuple of one or more operators to add")
        check_operators(*self.terms)
        object.__setattr__(self, "terms", tuple(self.terms))
        shapes = {term.shape for term in self.terms}
        if len(shapes) != 1:
            raise InvalidInput(f"expected terms of one shape, got {sorted(shapes)}")

    @property
    def shape(self) -> tuple[int, int]:
        return self.terms[0].shape

    @property
    def integral(self) -> bool:
        return all(term.integral for term in self.terms)

    @property
    def nonnegative(self) -> bool:
        return all(term.nonnegative for term in self.terms)

    def _apply(self, x: Array) -> Array:
        return np.asarray(sum(term._apply(x) for term in self.terms))

    def _adjoint(self, y: Array) -> Array:
        return np.asarray(sum(term._adjoint(y) for term in self.terms))

    @property
    def T(self) -> Operator:
        return Sum(tuple(term.T for term in self.terms))

    def _dense(self) -> Vector:
        return np.asarray(sum(term._dense() for term in self.terms))

    def _integers(self) -> Indices:
        return np.asarray(sum(term._integers() for term in self.terms))


def _unit_blocks(size: int, step: int, dtype: Any) -> Iterator[Array]:
    """The identity matrix, `step` rows at a time."""
    for start in range(0, size, step):
        yield np.eye(min(step, size - start), size, k=start, dtype=dtype)
