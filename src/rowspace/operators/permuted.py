"""The same queries over cells in another order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Indices, Operator, Vector, check_operators
from .checks import read_only


@dataclass(frozen=True, eq=False)
class Permuted(Operator):
    """x ↦ A x[order]: lets a taxonomy's tree, which wants neighbouring leaves, work on cells in any order.

    >>> from rowspace import operators as op
    >>> (Permuted(op.Prefix(3), [2, 0, 1]) @ np.array([10, 20, 30])).tolist()
    [30, 40, 60]
    """

    of: Operator
    order: Indices

    def __post_init__(self) -> None:
        check_operators(self.of)
        order = read_only(self.order, np.int64)
        # The length first: the operator may have more cells than fit in memory, the order cannot.
        permutes = order.shape == (self.of.shape[1],) and np.array_equal(
            np.sort(order), np.arange(len(order))
        )
        if not permutes:
            raise InvalidInput(f"expected a permutation of 0..{self.of.shape[1] - 1}")
        object.__setattr__(self, "order", order)

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

    def _apply(self, x: Array) -> Array:
        return self.of._apply(x[..., self.order])

    def _adjoint(self, y: Array) -> Array:
        out = np.empty((*y.shape[:-1], len(self.order)), dtype=y.dtype)
        out[..., self.order] = self.of._adjoint(y)
        return out

    def pinv(self) -> Operator:
        return Permuted(self.of.pinv().T, self.order).T

    def _column_sums(self, p: int) -> Vector:
        sums = np.empty(len(self.order))
        sums[self.order] = self.of._column_sums(p)
        return sums

    def _max_column_sum(self, p: int) -> float:
        return self.of._max_column_sum(p)

    def _integer_norm(self, p: int) -> int:
        return self.of._integer_norm(p)

    def _exact_column_sums(self, p: int) -> list[int]:
        sums = self.of._exact_column_sums(p)
        return [sums[position] for position in np.argsort(self.order).tolist()]

    def _rows(self, start: int, stop: int) -> Vector:
        return self.of._rows(start, stop)[:, np.argsort(self.order)]

    def _integers(self) -> Indices:
        return self.of._integers()[:, np.argsort(self.order)]

    def largest_entry(self) -> float:
        return self.of.largest_entry()

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        rounded, scale = self.of.integer_form(bits)
        return Permuted(rounded, self.order), scale

    def _rounded_at(self, scale: float) -> Operator:
        return Permuted(self.of._rounded_at(scale), self.order)

    def nuclear_norm(self) -> float:
        return self.of.nuclear_norm()

    def _profile_trace(self, W: Operator) -> float:
        # Moving the cells of the strategy one way is moving the cells of the workload the other way.
        return self.of.profile_trace(Permuted(W, np.argsort(self.order)))
