"""What strategies of tables with a matrix per attribute have in common: ⊗_{i∈S} M_i ⊗_{j∉S} 1ᵗ for every set S."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from functools import cached_property
from math import ceil, log2, prod

import numpy as np

from .base import Array, Operator, Vector
from .checks import Indices, rounding_scale
from .column_rounding import rounded_columns
from .dense import Dense
from .identity import Identity
from .kronecker import Kronecker
from .scaled import Scaled
from .stack import Stack
from .table_layout import TableLayout, TableStack
from .table_operator import TableOperator
from .total import Total
from .tree import rounded_weights

MATRIX_BITS = 30
"""Bits of the largest product of matrices when they are rounded: leaves room for 2³² records in 64 bits."""

GOOD_BITS, MOST_BITS = 6, 32
"""Products of many matrices get so many bits each (a percent of error), if then 2³⁰ records fit 64 bits."""

LEAST_BITS = 3
"""With fewer a matrix is hardly itself any more."""


class ProductTables(TableOperator):
    """weight · ⊗_{i∈S} M_i ⊗_{j∉S} 1ᵗ for every S in `sets`.

    The largest column sum is Σ w_Sᵖ Π_{i∈S} (largest of M_i): all terms grow with every attribute's column sum, so it
    is attained at the cell where every attribute's is.
    """

    @property
    @abstractmethod
    def matrices(self) -> tuple[Operator, ...]:
        """M_i for every attribute."""

    @abstractmethod
    def _with(self, weights: tuple[float, ...], matrices: tuple[Operator, ...]) -> ProductTables:
        """The same tables with other weights and matrices."""

    @property
    def integral(self) -> bool:
        return super().integral and all(M.integral for M in self.matrices)

    @cached_property
    def layout(self) -> TableLayout:
        shapes = tuple(tuple(self.matrices[i].shape[0] for i in own) for own in self.sets)
        kinds = tuple(tuple(id(self.matrices[i]) for i in own) for own in self.sets)
        return TableLayout(shapes, kinds)

    def _unweighted(self, tables: Indices, stack: TableStack) -> Indices:
        # By the matrix's own action on integers, the one its exact column sums are about.
        for axis, i in enumerate(self.sets[int(stack.numbers[0])], start=1):
            if not isinstance(self.matrices[i], Identity):
                cells = np.moveaxis(tables, axis, -1)
                flat = np.ascontiguousarray(cells).reshape(-1, self.sizes[i])
                asked = self.matrices[i]._apply(flat).reshape(*cells.shape[:-1], -1)
                tables = np.moveaxis(asked, -1, axis)
        return np.ascontiguousarray(tables)

    def largest_unweighted_entry(self) -> int:
        each = [ceil(min(M.largest_entry(), 2.0**62)) for M in self.matrices]
        return max(prod(each[i] for i in own) for own in self.sets)

    # -- over the cells, where they fit: as a union of products ----------------------------------------

    @cached_property
    def _union(self) -> Operator:
        totals = [Total(n) for n in self.sizes]
        parts = []
        for own, weight in zip(self.sets, self.weights, strict=True):
            factors = [M if i in own else totals[i] for i, M in enumerate(self.matrices)]
            parts.append(Scaled.of_product(weight, Kronecker(*factors)))
        return Stack(*parts)

    def _apply(self, x: Array) -> Array:
        return self._union._apply(x)

    def _adjoint(self, y: Array) -> Array:
        return self._union._adjoint(y)

    def _integers(self) -> Indices:
        return self._union._integers()

    def _column_sums(self, p: int) -> Vector:
        return self._union._column_sums(p)

    def _exact_column_sums(self, p: int) -> list[int]:
        return self._union._exact_column_sums(p)

    def _max_column_sum(self, p: int) -> float:
        each = [M._max_column_sum(p) for M in self.matrices]
        return float(
            sum(w**p * prod(each[i] for i in own) for own, w in zip(self.sets, self.weights, strict=True))
        )

    def _integer_norm(self, p: int) -> int:
        each = [M._integer_norm(p) for M in self.matrices]
        return sum(
            int(w) ** p * prod(each[i] for i in own) for own, w in zip(self.sets, self.weights, strict=True)
        )

    def largest_entry(self) -> float:
        each = [M.largest_entry() for M in self.matrices]
        return max(w * prod(each[i] for i in own) for own, w in zip(self.sets, self.weights, strict=True))

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        # An attribute's matrix may be rounded to any scale: tables that use it are weighted less in return.
        rounded: dict[tuple[int, int], tuple[Operator, float]] = {}
        forms = []
        for M, own_bits in zip(self.matrices, self._bits_of_matrices(), strict=True):
            key = id(M), max(LEAST_BITS, min(bits, own_bits))
            if key not in rounded:
                rounded[key] = _integers(M, key[1])
            forms.append(rounded[key])
        weights = tuple(
            w / prod(forms[i][1] for i in own) for own, w in zip(self.sets, self.weights, strict=True)
        )
        return TableOperator._rounded(self._with(weights, tuple(form for form, _ in forms)), bits)

    def _bits_of_matrices(self) -> list[int]:
        """Bits to round each matrix to that is not integers already: few where a table is about many attributes."""
        real = [not M.integral for M in self.matrices]
        taken = [
            0.0 if r else log2(max(1.0, M.largest_entry())) for r, M in zip(real, self.matrices, strict=True)
        ]
        most = [MATRIX_BITS] * len(self.matrices)
        for own in self.sets:
            number = sum(real[i] for i in own)
            if number:
                few = int((MOST_BITS - sum(taken[i] for i in own)) // number)
                bits = min(max(MATRIX_BITS // number, GOOD_BITS), few)
                for i in own:
                    most[i] = min(most[i], bits)
        return most

    def _rounded_at(self, scale: float) -> Operator:
        return self._with(rounded_weights(self.weights, scale), self.matrices)


def _integers(M: Operator, bits: int) -> tuple[Operator, float]:
    """(integers, scale): a matrix given by its entries is rounded column by column."""
    if M.integral or not isinstance(M, Dense):
        return M.integer_form(bits)
    scale = rounding_scale(bits, M.largest_entry())
    return Dense(rounded_columns(M.array, scale)), scale


def shared(matrices: Iterable[Operator]) -> tuple[Operator, ...]:
    """The same matrices, equal ones as one object: what is known by `id` is then known of all of them."""
    known: dict[Operator, Operator] = {}
    return tuple(known.setdefault(M, M) for M in matrices)
