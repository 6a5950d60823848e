"""A matrix with zeros to its right and below: queries that do not see the last cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Indices, Operator, Vector
from .checks import check_number, check_size
from .kinds import PlacedColumns, Wrapper


@dataclass(frozen=True, eq=False)
class Padded(PlacedColumns):
    """`of` in the upper left corner of `rows` × `columns`, zeros elsewhere. Every closed form is that of `of`.

    >>> from rowspace import operators as op
    >>> Padded.right(op.Prefix(2), 3).to_dense()
    array([[1., 0., 0.],
           [1., 1., 0.]])
    """

    of: Operator
    rows: int
    columns: int

    @staticmethod
    def right(of: Operator, columns: int) -> Operator:
        """The same rows over more cells; the operator itself where there are no more."""
        return of if columns == of.shape[1] else Padded(of, of.shape[0], columns)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in zip(("rows", "columns"), self.of.shape, strict=True):
            if check_size(name, getattr(self, name)) < least:
                raise InvalidInput(f"expected at least {least} {name}, got {getattr(self, name)}")

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self.columns

    @property
    def full_column_rank(self) -> bool | None:
        return self.of.full_column_rank if self.columns == self.of.shape[1] else False

    def _apply(self, x: Array) -> Array:
        return _extended(self.of._apply(x[..., : self.of.shape[1]]), self.rows)

    def _adjoint(self, y: Array) -> Array:
        return _extended(self.of._adjoint(y[..., : self.of.shape[0]]), self.columns)

    @property
    def T(self) -> Operator:
        return Padded(self.of.T, self.columns, self.rows)

    def gram(self) -> Operator:
        return Padded(self.of.gram(), self.columns, self.columns)

    def pinv(self) -> Operator:
        return Padded(self.of.pinv(), self.columns, self.rows)

    def _column_sums(self, p: int) -> Vector:
        return _extended(self.of._column_sums(p), self.columns)

    def _exact_column_sums(self, p: int) -> list[int]:
        return self.of._exact_column_sums(p) + [0] * (self.columns - self.of.shape[1])

    def pair_norm(self, p: int) -> int | None:
        known = self.of.pair_norm(p)
        # A zero column is as far from another as that one is long.
        return None if known is None else max(known, self.of._integer_norm(p))

    def squared_frobenius(self) -> float:
        return self.of.squared_frobenius()

    def segment_energy(self, density: Vector, bounds: Indices) -> Vector:
        n = self.of.shape[1]
        seen = int(np.searchsorted(bounds[:-1], n))  # segments that begin among the cells of `of`
        own = np.minimum(bounds[: seen + 1], n)
        return _extended(self.of.segment_energy(density[:n], own), len(bounds) - 1)

    def row_quadratic(self, M: Vector) -> Vector:
        n = self.of.shape[1]
        return _extended(self.of.row_quadratic(np.ascontiguousarray(M[:n, :n])), self.rows)

    def _rows(self, start: int, stop: int) -> Vector:
        m, n = self.of.shape
        out = np.zeros((stop - start, self.columns))
        if start < m:
            out[: min(stop, m) - start, :n] = self.of._rows(start, min(stop, m))
        return out

    def _dense(self) -> Vector:
        return _bordered(self.of._dense(), self.shape)

    def _integers(self) -> Indices:
        return _bordered(self.of._integers(), self.shape)


def _extended(values: Array, length: int) -> Array:
    """Values with zeros behind them along the last axis."""
    out = np.zeros((*values.shape[:-1], length), dtype=values.dtype)
    out[..., : values.shape[-1]] = values
    return out


def _bordered(matrix: Array, shape: tuple[int, int]) -> Array:
    """A matrix with zeros to its right and below."""
    out = np.zeros(shape, dtype=matrix.dtype)
    out[: matrix.shape[0], : matrix.shape[1]] = matrix
    return out


@dataclass(frozen=True, eq=False)
class Extended(Wrapper):
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
        super().__post_init__()
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

    def __rmul__(self, factor: float) -> Operator:
        """Both kinds of rows scaled, so that what is asked beside is still seen to be."""
        if not check_number("the factor of an operator", factor) > 0:
            return super().__rmul__(factor)
        return replace(self, of=factor * self.of, weight=factor * self.weight)

    def quotient(self, divisor: int) -> Operator | None:
        inner = None if self.weight % divisor else self.of.quotient(divisor)
        return None if inner is None else replace(self, of=inner, weight=self.weight / divisor)

    @property
    def integral(self) -> bool:
        return self.of.integral and int(self.weight) == self.weight

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

    _rounded = Operator._rounded_by_scale

    def _rounded_at(self, scale: float) -> Operator:
        weight = max(1, round(scale * self.weight))
        return Extended(self.of._rounded_at(scale), self.sizes, self.box, weight)


def _sizes(name: str, values: Any) -> tuple[int, ...]:
    if not isinstance(values, (tuple, list)) or not values:
        raise InvalidInput(f"expected {name} as a tuple of one or more sizes")
    return tuple(check_size(name, value) for value in values)
