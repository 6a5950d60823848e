"""Scalar multiples and weighted rows (unequal noise is equal noise on scaled rows: paper, appendix A)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Indices, Operator, Vector, check_operators
from .checks import check_number, read_only, rounded_but_not_to_zero, rounding_scale
from .kinds import Wrapper, are_whole, integers_for


@dataclass(frozen=True, eq=False)
class Scaled(Wrapper):
    """c · A. Scaling a strategy changes no error: the sensitivity grows as the profile shrinks."""

    factor: float
    of: Operator

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", check_number("the factor of an operator", self.factor))
        check_operators(self.of)

    @classmethod
    def of_product(cls, factor: float, A: Operator) -> Operator:
        """c · A with nested factors multiplied and a factor of one dropped."""
        factor = check_number("the factor of an operator", factor)
        if isinstance(A, Scaled):
            factor, A = factor * A.factor, A.of
        return A if factor == 1 else cls(factor, A)

    def quotient(self, divisor: int) -> Operator | None:
        return None if self.factor % divisor else Scaled.of_product(self.factor / divisor, self.of)

    @property
    def integral(self) -> bool:
        return self.of.integral and self.factor.is_integer() and abs(self.factor) < 2**53

    @property
    def nonnegative(self) -> bool:
        return self.factor >= 0 and self.of.nonnegative

    @property
    def full_column_rank(self) -> bool | None:
        return self.of.full_column_rank if self.factor else False

    def _apply(self, x: Array) -> Array:
        return np.asarray(self._factor_for(x) * self.of._apply(x))

    def _adjoint(self, y: Array) -> Array:
        return np.asarray(self._factor_for(y) * self.of._adjoint(y))

    def _factor_for(self, x: Array) -> float:
        return int(self.factor) if x.dtype.kind == "i" else self.factor

    @property
    def T(self) -> Operator:
        return Scaled(self.factor, self.of.T)

    def gram(self) -> Operator:
        return Scaled.of_product(self.factor**2, self.of.gram())

    def pinv(self) -> Operator:
        return Scaled.of_product(1.0 / self.factor if self.factor else 0.0, self.of.pinv())

    def _column_sums(self, p: int) -> Vector:
        return abs(self.factor) ** p * self.of._column_sums(p)

    def _max_column_sum(self, p: int) -> float:
        return abs(self.factor) ** p * self.of._max_column_sum(p)

    def _integer_norm(self, p: int) -> int:
        return int(abs(int(self.factor)) ** p * self.of.integer_norm(p))

    def _exact_column_sums(self, p: int) -> list[int]:
        factor = abs(int(self.factor)) ** p
        return [factor * s for s in self.of._exact_column_sums(p)]

    def largest_entry(self) -> float:
        return abs(self.factor) * self.of.largest_entry()

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        if not self.factor:
            return Scaled(0.0, self.of.integer_form(bits)[0]), 1.0
        # The sign stays with the matrix, so that scales are positive.
        rounded, scale = self.of.integer_form(bits)
        return (rounded if self.factor > 0 else -rounded), scale / abs(self.factor)

    def _rounded_at(self, scale: float) -> Operator:
        if not self.factor:
            return Scaled(0.0, self.of.integer_form(1)[0])
        rounded = self.of._rounded_at(scale * abs(self.factor))
        return rounded if self.factor > 0 else -rounded

    def squared_frobenius(self) -> float:
        return self.factor**2 * self.of.squared_frobenius()

    def segment_energy(self, density: Vector, bounds: Indices) -> Vector:
        return self.factor**2 * self.of.segment_energy(density, bounds)

    def _profile_trace(self, W: Operator) -> float:
        if not self.factor:
            return super()._profile_trace(W)
        return self.of.profile_trace(W) / self.factor**2

    def segment_squares(self, density: Vector, bounds: Indices, powers: Vector) -> Vector | None:
        squares = self.of.segment_squares(density, bounds, powers)
        return None if squares is None else self.factor**2 * squares

    def row_variances(self, W: Operator) -> Vector | None:
        variances = self.of.row_variances(W) if self.factor else None
        return None if variances is None else variances / self.factor**2

    def nuclear_norm(self) -> float:
        return abs(self.factor) * self.of.nuclear_norm()

    def row_quadratic(self, M: Vector) -> Vector:
        return self.factor**2 * self.of.row_quadratic(M)

    def _rows(self, start: int, stop: int) -> Vector:
        return self.factor * self.of._rows(start, stop)

    def _dense(self) -> Vector:
        return self.factor * self.of._dense()

    def _integers(self) -> Indices:
        return int(self.factor) * self.of._integers()


@dataclass(frozen=True, eq=False)
class Weighted(Wrapper):
    """diag(weights) · A: each row of A scaled by its own weight."""

    weights: Vector
    of: Operator

    def __post_init__(self) -> None:
        check_operators(self.of)
        weights = read_only(self.weights, np.float64)
        if weights.shape != (self.of.shape[0],):
            raise InvalidInput(f"expected {self.of.shape[0]} row weights, got shape {weights.shape}")
        if not np.isfinite(weights).all():
            raise InvalidInput("expected finite row weights, got NaN or infinity")
        object.__setattr__(self, "weights", weights)

    @cached_property
    def integral(self) -> bool:
        return self.of.integral and are_whole(self.weights)

    @property
    def nonnegative(self) -> bool:
        return self.of.nonnegative and bool((self.weights >= 0).all())

    @property
    def full_column_rank(self) -> bool | None:
        # A zero weight drops a row, which may or may not matter.
        return self.of.full_column_rank if self.weights.all() else None

    def _apply(self, x: Array) -> Array:
        return np.asarray(integers_for(self.weights, x) * self.of._apply(x))

    def _adjoint(self, y: Array) -> Array:
        return self.of._adjoint(integers_for(self.weights, y) * y)

    def largest_entry(self) -> float:
        return float(np.abs(self.weights).max()) * self.of.largest_entry()

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        if not self.of.integral:
            return Operator._rounded(self, bits)
        scale = rounding_scale(bits, float(np.abs(self.weights).max()))
        return self._rounded_at(scale), scale

    def _rounded_at(self, scale: float) -> Operator:
        if not self.of.integral:
            return Operator._rounded_at(self, scale)
        return Weighted(rounded_but_not_to_zero(scale * self.weights), self.of)

    def _rows(self, start: int, stop: int) -> Vector:
        return np.asarray(self.weights[start:stop, None] * self.of._rows(start, stop))

    def _dense(self) -> Vector:
        return np.asarray(self.weights[:, None] * self.of._dense())

    def _integers(self) -> Indices:
        return np.asarray(self.weights.astype(np.int64)[:, None] * self.of._integers())


@dataclass(frozen=True, eq=False)
class Transpose(Wrapper):
    """Aᵗ, by swapping the two actions of A."""

    of: Operator

    full_column_rank = None

    @property
    def rounding_keeps_row_space(self) -> bool:
        return self.integral

    @property
    def shape(self) -> tuple[int, int]:
        m, n = self.of.shape
        return n, m

    def _apply(self, x: Array) -> Array:
        return self.of._adjoint(x)

    def _adjoint(self, y: Array) -> Array:
        return self.of._apply(y)

    @property
    def T(self) -> Operator:
        return self.of

    def _around(self, other: Operator) -> Operator:
        return other.T

    def pinv(self) -> Operator:
        return self.of.pinv().T

    def nuclear_norm(self) -> float:
        return self.of.nuclear_norm()

    def _dense(self) -> Vector:
        return self.of._dense().T

    def _integers(self) -> Indices:
        return self.of._integers().T
