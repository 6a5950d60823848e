"""Products and sums of operators, applied part by part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Operator, Vector


@dataclass(frozen=True, eq=False)
class Composed(Operator):
    """left · right, never multiplied out."""

    left: Operator
    right: Operator

    def __post_init__(self) -> None:
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

    def _apply(self, x: Array) -> Array:
        return self.left._apply(self.right._apply(x))

    def _adjoint(self, y: Array) -> Array:
        return self.right._adjoint(self.left._adjoint(y))

    @property
    def T(self) -> Operator:
        return Composed(self.right.T, self.left.T)


@dataclass(frozen=True, eq=False)
class Sum(Operator):
    """A₁ + A₂ + …, all of one shape: the Gram matrix of a union of workloads."""

    terms: tuple[Operator, ...]

    def __post_init__(self) -> None:
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
