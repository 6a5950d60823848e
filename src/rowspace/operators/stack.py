"""Unions: the rows of several operators one below the other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Indices, Operator, Vector, check_operators
from .composed import Composed, Sum
from .dense import Dense, Sparse
from .scaled import Scaled


@dataclass(frozen=True, eq=False, init=False)
class Stack(Operator):
    """The rows of every part in order; all parts share their columns. Costs what the parts cost.

    >>> from rowspace import operators as op
    >>> (op.Stack(op.Total(3), 2 * op.Identity(3)) @ np.array([1, 2, 3])).tolist()
    [6, 2, 4, 6]
    """

    parts: tuple[Operator, ...]

    def __init__(self, *operators: Operator, parts: tuple[Operator, ...] = ()) -> None:
        """Stack(A, B, …), or Stack(parts=(A, B, …)) as saved files spell it."""
        everything = (*operators, *parts) if isinstance(parts, tuple) else ()
        if not everything or not all(isinstance(part, Operator) for part in everything):
            raise InvalidInput("expected one or more operators to stack")
        widths = {part.shape[1] for part in everything}
        if len(widths) != 1:
            raise InvalidInput(f"expected operators over the same cells, got widths {sorted(widths)}")
        object.__setattr__(self, "parts", everything)

    @property
    def shape(self) -> tuple[int, int]:
        return sum(part.shape[0] for part in self.parts), self.parts[0].shape[1]

    @property
    def integral(self) -> bool:
        return all(part.integral for part in self.parts)

    @property
    def nonnegative(self) -> bool:
        return all(part.nonnegative for part in self.parts)

    @property
    def full_column_rank(self) -> bool | None:
        return True if any(part.full_column_rank for part in self.parts) else None

    def offsets(self) -> list[int]:
        """Row where each part begins, and the number of rows at the end."""
        offsets = [0]
        for part in self.parts:
            offsets.append(offsets[-1] + part.shape[0])
        return offsets

    @property
    def rounding_keeps_row_space(self) -> bool:
        return super().rounding_keeps_row_space or all(part.rounding_keeps_row_space for part in self.parts)

    def _apply(self, x: Array) -> Array:
        return np.concatenate([part._apply(x) for part in self.parts], axis=-1)

    def _adjoint(self, y: Array) -> Array:
        offsets = self.offsets()
        pieces = [y[..., a:b] for a, b in pairwise(offsets)]
        return np.asarray(sum(part._adjoint(piece) for part, piece in zip(self.parts, pieces, strict=True)))

    def gram(self) -> Operator:
        return Sum(tuple(part.gram() for part in self.parts))

    def _column_sums(self, p: int) -> Vector:
        return np.asarray(sum(part._column_sums(p) for part in self.parts))

    def _exact_column_sums(self, p: int) -> list[int]:
        return [
            sum(column) for column in zip(*(part._exact_column_sums(p) for part in self.parts), strict=True)
        ]

    def largest_entry(self) -> float:
        return max(part.largest_entry() for part in self.parts)

    _rounded = Operator._rounded_by_scale

    def _rounded_at(self, scale: float) -> Operator:
        return Stack(*(part._rounded_at(scale) for part in self.parts))

    def squared_frobenius(self) -> float:
        return sum(part.squared_frobenius() for part in self.parts)

    def segment_energy(self, density: Vector, bounds: Indices) -> Vector:
        return np.asarray(sum(part.segment_energy(density, bounds) for part in self.parts))

    def row_quadratic(self, M: Vector) -> Vector:
        return np.concatenate([part.row_quadratic(M) for part in self.parts])

    def _rows(self, start: int, stop: int) -> Vector:
        offsets = self.offsets()
        pieces = [
            part._rows(max(start - a, 0), min(stop, b) - a)
            for part, a, b in zip(self.parts, offsets, offsets[1:], strict=False)
            if a < stop and start < b
        ]
        return np.concatenate(pieces) if pieces else np.zeros((0, self.shape[1]))

    def _dense(self) -> Vector:
        return np.concatenate([part._dense() for part in self.parts])

    def _integers(self) -> Indices:
        return np.concatenate([part._integers() for part in self.parts])


def lean_gram(W: Operator) -> Operator:
    """WᵗW with the cheapest action on one vector.

    A structure's own Gram matrix has a fast action already. One given entry by entry has an n × n array for
    it, which pays only when W has more than n/2 rows; that of a sparse one may fill up entirely (one row of ones does),
    which pays only when W has more than n² entries.

    >>> from rowspace import operators as op
    >>> lean_gram(op.Stack(op.Prefix(4), op.Sparse([[1, 1, 1, 1]]))).terms[1]
    Composed(...)
    """
    check_operators(W)
    if isinstance(W, Stack):
        return Sum(tuple(lean_gram(part) for part in W.parts))
    if isinstance(W, Scaled):
        return Scaled.of_product(W.factor**2, lean_gram(W.of))
    m, n = W.shape
    if (isinstance(W, Sparse) and not W.has_small_gram) or (isinstance(W, Dense) and 2 * m <= n):
        return Composed(W.T, W)
    return W.gram()
