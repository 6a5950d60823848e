"""Products over attributes: (A ⊗ B) asks every combination of a query of A and a query of B."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from math import ceil, prod

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Indices, Operator, Vector
from .diagonal import Identity


@dataclass(frozen=True, eq=False, init=False)
class Kronecker(Operator):
    """A₁ ⊗ A₂ ⊗ …: cells and queries in C order, the last factor running fastest.

    Everything factors: (⊗A)ᵗ = ⊗Aᵗ, (⊗A)⁺ = ⊗A⁺, Gram matrices and column norms multiply. The number of
    cells may be astronomical; only actions on vectors need them to fit, at the cost of one pass per factor.

    >>> from rowspace import operators as op
    >>> (op.Kronecker(op.Identity(2), op.Total(3)) @ np.arange(6)).tolist()     # sums of each row of a 2 × 3 table
    [3, 12]
    >>> op.Kronecker(*[op.Prefix(10)] * 30).integer_norm(1) == 10**30
    True
    """

    factors: tuple[Operator, ...]

    def __init__(self, *operators: Operator, factors: tuple[Operator, ...] = ()) -> None:
        """Kronecker(A, B, …), or Kronecker(factors=(A, B, …)) as saved files spell it."""
        everything = (*operators, *factors) if isinstance(factors, tuple) else ()
        if not everything or not all(isinstance(factor, Operator) for factor in everything):
            raise InvalidInput("expected one or more operators to multiply")
        object.__setattr__(self, "factors", everything)

    @property
    def shape(self) -> tuple[int, int]:
        return prod(f.shape[0] for f in self.factors), prod(f.shape[1] for f in self.factors)

    @property
    def integral(self) -> bool:
        return all(factor.integral for factor in self.factors)

    @property
    def nonnegative(self) -> bool:
        return all(factor.nonnegative for factor in self.factors)

    @property
    def full_column_rank(self) -> bool | None:
        ranks = [factor.full_column_rank for factor in self.factors]
        if all(ranks):
            return True
        return False if False in ranks else None

    @property
    def rounding_keeps_row_space(self) -> bool:
        return super().rounding_keeps_row_space or all(f.rounding_keeps_row_space for f in self.factors)

    def _apply(self, x: Array) -> Array:
        return self._along_axes(x, [f.shape for f in self.factors], [f._apply for f in self.factors])

    def _adjoint(self, y: Array) -> Array:
        shapes = [(f.shape[1], f.shape[0]) for f in self.factors]
        return self._along_axes(y, shapes, [f._adjoint for f in self.factors])

    def _along_axes(self, x: Array, shapes: list[tuple[int, int]], hooks: list[object]) -> Array:
        batch = x.shape[:-1]
        grid = x.reshape(*batch, *(n for _, n in shapes))
        # Shrinking factors first: the intermediate arrays stay as small as they can.
        for k in sorted(range(len(shapes)), key=lambda k: shapes[k][0] / shapes[k][1]):
            if isinstance(self.factors[k], Identity):
                continue
            axis = len(batch) + k
            moved = np.ascontiguousarray(np.moveaxis(grid, axis, -1))
            grid = np.moveaxis(hooks[k](moved), -1, axis)  # type: ignore[operator]
        out = np.ascontiguousarray(grid).reshape(*batch, prod(m for m, _ in shapes))
        # A product of identities moved nothing: the answer must still not be the caller's array.
        return out.copy() if np.may_share_memory(out, x) else out

    @property
    def T(self) -> Operator:
        return Kronecker(*(factor.T for factor in self.factors))

    def gram(self) -> Operator:
        return Kronecker(*(factor.gram() for factor in self.factors))

    def pinv(self) -> Operator:
        return Kronecker(*(factor.pinv() for factor in self.factors))

    def _column_sums(self, p: int) -> Vector:
        self.check_vector("list its column norms")
        return reduce(_outer, (factor._column_sums(p) for factor in self.factors))

    def _max_column_sum(self, p: int) -> float:
        return prod(factor._max_column_sum(p) for factor in self.factors)

    def _integer_norm(self, p: int) -> int:
        # |ab|ᵖ = |a|ᵖ|b|ᵖ, so the column sums multiply, and so do their maxima.
        return prod(factor.integer_norm(p) for factor in self.factors)

    def _exact_column_sums(self, p: int) -> list[int]:
        self.check_vector("list its column norms")
        factors = (factor._exact_column_sums(p) for factor in self.factors)
        return reduce(lambda left, right: [a * b for a in left for b in right], factors)

    def largest_entry(self) -> float:
        return prod(factor.largest_entry() for factor in self.factors)

    def largest_inner_entry(self) -> int:
        bounded = any(factor.largest_inner_entry() > 1 for factor in self.factors)
        return ceil(self.largest_entry()) if bounded else 1

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        forms = [factor.integer_form(bits) for factor in self.factors]
        return Kronecker(*(B for B, _ in forms)), prod(s for _, s in forms)

    def _rounded_at(self, scale: float) -> Operator:
        real = [factor.largest_entry() for factor in self.factors if not factor.integral]
        if not real:
            return max(1, round(scale)) * self
        # Factors that are no integers share the scale: all their largest entries become the same number.
        largest = (scale * prod(real)) ** (1 / len(real))
        return Kronecker(
            *(f if f.integral else f._rounded_at(largest / f.largest_entry()) for f in self.factors)
        )

    def nuclear_norm(self) -> float:
        return prod(factor.nuclear_norm() for factor in self.factors)

    def squared_frobenius(self) -> float:
        return prod(factor.squared_frobenius() for factor in self.factors)

    def row_quadratic(self, M: Vector) -> Vector:
        """Every row of all factors but the largest leaves a small matrix, which that one is asked about."""
        k = max(range(len(self.factors)), key=lambda i: self.factors[i].shape[0])
        largest, others = self.factors[k], self.factors[:k] + self.factors[k + 1 :]
        sizes = [factor.shape[1] for factor in self.factors]
        before, n, after = prod(sizes[:k]), sizes[k], prod(sizes[k + 1 :])
        blocks = M.reshape(before, n, after, before, n, after).transpose(1, 4, 0, 2, 3, 5)
        blocks = blocks.reshape(n, n, before * after, before * after)
        found = []
        for row in _rows_of(others):
            seen = np.flatnonzero(row)
            left = blocks[:, :, seen][..., seen] @ row[seen] @ row[seen]
            found.append(largest.row_quadratic(left))
        shape = [factor.shape[0] for factor in others]
        return np.moveaxis(np.reshape(found, (*shape, largest.shape[0])), -1, k).ravel()

    def _rows(self, start: int, stop: int) -> Vector:
        # Row (i, j, …) of the product is the product of row i, row j, …: only those rows are built.
        indices, rows = np.arange(start, stop), np.ones((stop - start, 1))
        for position, factor in enumerate(self.factors):
            below = prod(f.shape[0] for f in self.factors[position + 1 :])
            wanted, where = np.unique(indices // below % factor.shape[0], return_inverse=True)
            runs = np.split(wanted, np.flatnonzero(np.diff(wanted) > 1) + 1)
            built = np.concatenate([factor._rows(int(run[0]), int(run[-1]) + 1) for run in runs if run.size])
            rows = np.einsum("ri,rj->rij", rows, built[where]).reshape(stop - start, -1)
        return rows

    def _dense(self) -> Vector:
        dense = self.factors[0].to_dense()
        for factor in self.factors[1:]:
            dense = np.asarray(np.kron(dense, factor.to_dense()), dtype=np.float64)
        return dense

    def _integers(self) -> Indices:
        return reduce(np.kron, (factor.integer_matrix() for factor in self.factors))


def _rows_of(factors: tuple[Operator, ...]) -> Iterator[Vector]:
    """The rows of a product, one by one; of no factors, a single one."""
    product = Kronecker(*factors) if factors else Identity(1)
    return (row for _, rows in product.row_blocks() for row in rows)


def _outer(a: Vector, b: Vector) -> Vector:
    return np.multiply.outer(a, b).ravel()
