"""What structures of one kind have in common: how many cells they have, what they wrap, their weights per level."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Indices, Operator, Vector, check_operators
from .checks import check_number, check_size


class OnCells(Operator, abstract=True):
    """A structure that its number of cells defines; square unless it says otherwise."""

    n: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", check_size("n", self.n))

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n


class Symmetric(Operator, abstract=True):
    """A structure that is its own transpose."""

    def _adjoint(self, y: Array) -> Array:
        return self._apply(y)

    @property
    def T(self) -> Operator:
        return self


class Wrapper(Operator, abstract=True):
    """Another operator with its cells or rows laid out anew: what is said of columns, entries and rank stays."""

    of: Operator

    def __post_init__(self) -> None:
        check_operators(self.of)

    def _around(self, other: Operator) -> Operator:
        """The same layout of another operator."""
        return dataclasses.replace(self, of=other)  # type: ignore[type-var]

    @property
    def shape(self) -> tuple[int, int]:
        return self.of.shape

    @property
    def integral(self) -> bool:
        return self.of.integral

    @property
    def nonnegative(self) -> bool:
        return self.of.nonnegative

    @property
    def full_column_rank(self) -> bool | None:
        return self.of.full_column_rank

    @property
    def rounding_keeps_row_space(self) -> bool:
        return super().rounding_keeps_row_space or self.of.rounding_keeps_row_space

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        rounded, scale = self.of.integer_form(bits)
        return self._around(rounded), scale

    def _rounded_at(self, scale: float) -> Operator:
        return self._around(self.of._rounded_at(scale))

    def largest_entry(self) -> float:
        return self.of.largest_entry()


class PlacedColumns(Wrapper, abstract=True):
    """A wrapper whose columns are those of `of` in another place, perhaps with zeros: the same norms."""

    def _max_column_sum(self, p: int) -> float:
        return self.of._max_column_sum(p)

    def _integer_norm(self, p: int) -> int:
        return self.of._integer_norm(p)

    def nuclear_norm(self) -> float:
        return self.of.nuclear_norm()


class Levelled(Operator, abstract=True):
    """Levels of queries with a weight each, every cell in one query of every level: all columns have one norm."""

    @property
    def level_weights(self) -> tuple[float, ...]:
        """Weight of every level, root first."""
        raise NotImplementedError

    rounding_keeps_row_space = True

    @property
    def integral(self) -> bool:
        return all(weight.is_integer() and weight < 2**53 for weight in self.level_weights)

    def _column_sums(self, p: int) -> Vector:
        return np.full(self.shape[1], self._max_column_sum(p))

    def _max_column_sum(self, p: int) -> float:
        return float(sum(weight**p for weight in self.level_weights))

    def _integer_norm(self, p: int) -> int:
        return sum(int(weight) ** p for weight in self.level_weights)

    def _exact_column_sums(self, p: int) -> list[int]:
        return [self._integer_norm(p)] * self.shape[1]

    def largest_entry(self) -> float:
        return max(self.level_weights)

    _rounded = Operator._rounded_by_scale

    def _rounded_at(self, scale: float) -> Operator:
        return dataclasses.replace(self, weights=rounded_weights(self.level_weights, scale))  # type: ignore[type-var]

    def _weights_for(self, x: Array) -> tuple[float, ...]:
        return tuple(map(int, self.level_weights)) if x.dtype.kind == "i" else self.level_weights


def check_level_weights(weights: Any, levels: int) -> tuple[float, ...]:
    """As many finite weights ≥ 0 as levels, not all zero."""
    given = tuple(weights) if isinstance(weights, (tuple, list, np.ndarray)) else ()
    if len(given) != levels:
        raise InvalidInput(f"expected a sequence of {levels} level weights, root first")
    checked = tuple(float(check_number("a level weight", weight)) for weight in given)
    if min(checked) < 0 or not any(checked):
        raise InvalidInput("expected level weights >= 0, not all zero")
    return checked


def rounded_weights(weights: tuple[float, ...], scale: float) -> tuple[float, ...]:
    """Integer weights close to scale · weights; a positive weight never becomes zero."""
    return tuple(float(max(1, round(scale * w))) if w else 0.0 for w in weights)


def integers_for(values: Vector, x: Array) -> Vector | Indices:
    """Whole values as integers where x has integers, so that products stay exact."""
    return values.astype(np.int64) if x.dtype.kind == "i" else values


def are_whole(values: Vector) -> bool:
    """Whether all values are whole numbers that floating point holds exactly."""
    return bool(np.abs(values).max(initial=0.0) < 2**53) and bool(np.all(values == np.rint(values)))
