"""A strategy for some of the cells, and the others asked one by one: what it costs nobody to know as well."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Indices, Operator, Vector, check_operators
from .checks import check_number, check_size, rounding_scale


@dataclass(frozen=True, eq=False)
class Extended(Operator):
    """`of` asked of the box of cells below `box`, and `weight` times every cell outside of it (after `of`'s rows).

    Cells are those of an array of shape `sizes` in C order. A cell has either a column of `of` or one entry, so with a
    weight no larger than a column's norm the sensitivity is that of `of`, and its answers are as good as without.

    >>> from rowspace import operators as op
    >>> Extended(op.Prefix(2), (3,), (2,), 2).to_dense()
    array([[1., 0., 0.],
           [1., 1., 0.],
           [0., 0., 2.]])
    """

    of: Operator
    sizes: tuple[int, ...]
    box: tuple[int, ...]
    weight: float

    def __post_init__(self) -> None:
        check_operators(self.of)
        sizes, box = _sizes("sizes", self.sizes), _sizes("box", self.box)
        if len(sizes) != len(box) or any(b > n for b, n in zip(box, sizes, strict=True)):
            raise InvalidInput("expected a box within the sizes, attribute by attribute")
        if prod(box) != self.of.shape[1]:
            raise InvalidInput(f"expected a box of {self.of.shape[1]} cells, got {prod(box)}")
        if not check_number("weight", self.weight) > 0:
            raise InvalidInput("expected a positive weight")
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "box", box)

    @property
    def shape(self) -> tuple[int, int]:
        cells = prod(self.sizes)
        return self.of.shape[0] + cells - self.of.shape[1], cells

    @property
    def integral(self) -> bool:
        return self.of.integral and int(self.weight) == self.weight

    @property
    def nonnegative(self) -> bool:
        return self.of.nonnegative

    @property
    def full_column_rank(self) -> bool | None:
        return self.of.full_column_rank

    @property
    def rounding_keeps_row_space(self) -> bool:
        return super().rounding_keeps_row_space or self.of.rounding_keeps_row_space

    @property
    def wide(self) -> bool:
        return self.of.wide

    @cached_property
    def _outside(self) -> Indices:
        """The cells outside the box."""
        inside = np.zeros(self.sizes, dtype=np.bool_)
        inside[self._corner] = True
        return np.flatnonzero(~inside)

    @property
    def _corner(self) -> Any:
        return (..., *(slice(b) for b in self.box))

    def _parted(self, x: Array) -> tuple[Array, Array]:
        """The cells of the box, and the others."""
        inside = x.reshape(*x.shape[:-1], *self.sizes)[self._corner]
        return inside.reshape(*x.shape[:-1], self.of.shape[1]), x[..., self._outside]

    def _joined(self, inside: Array, outside: Array) -> Array:
        """All cells, from those of the box and the others."""
        batch = inside.shape[:-1]
        out = np.empty((*batch, self.shape[1]), dtype=np.result_type(inside, outside))
        out.reshape(*batch, *self.sizes)[self._corner] = inside.reshape(*batch, *self.box)
        out[..., self._outside] = outside
        return out

    def _weighted(self, x: Array) -> Array:
        return x * (int(self.weight) if x.dtype.kind == "i" else self.weight)

    def _apply(self, x: Array) -> Array:
        inside, outside = self._parted(x)
        return np.concatenate([self.of._apply(inside), self._weighted(outside)], axis=-1)

    def _divided(self, x: Indices, bits: int) -> tuple[Indices, Indices]:
        inside, outside = self._parted(x)
        high, low = self.of._divided(inside, bits)
        # The weight is a multiple of 2^bits or the product fits 64 bits (`weight_beside`): nothing is lost.
        weight = int(self.weight)
        if bits and weight % 2**bits == 0:
            parts = outside * (weight >> bits), np.zeros_like(outside)
        else:
            product = outside * weight
            parts = product >> bits, product & ((1 << bits) - 1)
        return np.concatenate([high, parts[0]]), np.concatenate([low, parts[1]])

    def _adjoint(self, y: Array) -> Array:
        m = self.of.shape[0]
        return self._joined(self.of._adjoint(y[..., :m]), self._weighted(y[..., m:]))

    def pinv(self) -> Operator:
        return Extended(self.of.pinv().T, self.sizes, self.box, 1 / self.weight).T

    def _column_sums(self, p: int) -> Vector:
        rest = np.full(self.shape[1] - self.of.shape[1], float(self.weight) ** p)
        return self._joined(self.of._column_sums(p), rest)

    def _max_column_sum(self, p: int) -> float:
        return max(self.of._max_column_sum(p), self._rest(float(self.weight) ** p))

    def _integer_norm(self, p: int) -> int:
        return max(self.of._integer_norm(p), int(self._rest(int(self.weight) ** p)))

    def _rest(self, value: float) -> float:
        """The value where there are other cells, else zero."""
        return value if self.shape[1] > self.of.shape[1] else 0

    def largest_entry(self) -> float:
        return max(self.of.largest_entry(), self._rest(float(self.weight)))

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        scale = rounding_scale(bits, self.largest_entry())
        return self._rounded_at(scale), scale

    def _rounded_at(self, scale: float) -> Operator:
        weight = max(1, round(scale * self.weight))
        return Extended(self.of._rounded_at(scale), self.sizes, self.box, weight)


def _sizes(name: str, values: Any) -> tuple[int, ...]:
    if not isinstance(values, (tuple, list)) or not values:
        raise InvalidInput(f"expected {name} as a tuple of one or more sizes")
    return tuple(check_size(name, value) for value in values)
