"""A matrix with zeros to its right and below: queries that do not see the last cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Indices, Operator, Vector, check_operators
from .checks import check_size


@dataclass(frozen=True, eq=False)
class Padded(Operator):
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
        check_operators(self.of)
        for name, least in zip(("rows", "columns"), self.of.shape, strict=True):
            if check_size(name, getattr(self, name)) < least:
                raise InvalidInput(f"expected at least {least} {name}, got {getattr(self, name)}")

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self.columns

    @property
    def integral(self) -> bool:
        return self.of.integral

    @property
    def nonnegative(self) -> bool:
        return self.of.nonnegative

    @property
    def full_column_rank(self) -> bool | None:
        return self.of.full_column_rank if self.columns == self.of.shape[1] else False

    @property
    def rounding_keeps_row_space(self) -> bool:
        return super().rounding_keeps_row_space or self.of.rounding_keeps_row_space

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

    def _max_column_sum(self, p: int) -> float:
        return self.of._max_column_sum(p)

    def _integer_norm(self, p: int) -> int:
        return self.of._integer_norm(p)

    def _exact_column_sums(self, p: int) -> list[int]:
        return self.of._exact_column_sums(p) + [0] * (self.columns - self.of.shape[1])

    def pair_norm(self, p: int) -> int | None:
        known = self.of.pair_norm(p)
        # A zero column is as far from another as that one is long.
        return None if known is None else max(known, self.of._integer_norm(p))

    def largest_entry(self) -> float:
        return self.of.largest_entry()

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        rounded, scale = self.of.integer_form(bits)
        return Padded(rounded, self.rows, self.columns), scale

    def _rounded_at(self, scale: float) -> Operator:
        return Padded(self.of._rounded_at(scale), self.rows, self.columns)

    def squared_frobenius(self) -> float:
        return self.of.squared_frobenius()

    def nuclear_norm(self) -> float:
        return self.of.nuclear_norm()

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
