"""Residuals of products: like residuals of marginals, with contrasts of its own for every attribute.

Where an attribute is asked by ranges or prefixes, its cells are not alike: a good strategy asks sums of neighbours. Its
contrasts S (one row less than cells, so that they miss exactly one direction u) take the place of n·I − 11ᵗ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Operator, Vector, check_operators
from .checks import Indices
from .component_tables import ComponentTables
from .kronecker import Kronecker
from .residuals import Residuals
from .scaled import Scaled
from .splits import CellSplit, ContrastSplit, Split
from .stack import Stack
from .subset_lattice import members
from .table_layout import TableLayout, TableStack, along
from .table_operator import TableOperator
from .total import Total
from .tree import rounded_weights

CONTRAST_BITS = 27
"""Bits of the largest product of contrasts when they are rounded: leaves room for 2³⁴ records in 64 bits."""


def cell_contrasts(n: int) -> Residuals:
    """n·I − 11ᵗ, the contrasts of an attribute whose cells are alike."""
    return Residuals((n,), ((0,),), (1.0,))


@dataclass(frozen=True, eq=False)
class ProductResiduals(TableOperator):
    """weight · ⊗_{i∈R} S_i ⊗_{j∉R} 1ᵗ for every R in `sets`; `contrasts` holds S_i for every attribute.

    Each S_i is either `cell_contrasts(n_i)` or a matrix of n_i − 1 independent rows that does not see some direction u
    with Σu ≠ 0. The largest column sum is Σ w_R² Π_{i∈R} (largest of S_i), attained where every attribute's is.

    >>> from rowspace import operators as op
    >>> A = op.ProductResiduals((2, 3), ((), (1,)), (1, 2), (cell_contrasts(2), op.Dense([[1, -1, 0], [1, 1, -1]])))
    >>> A.to_dense().astype(int)
    array([[ 1,  1,  1,  1,  1,  1],
           [ 2, -2,  0,  2, -2,  0],
           [ 2,  2, -2,  2,  2, -2]])
    """

    sizes: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]
    contrasts: tuple[Operator, ...]

    def __post_init__(self) -> None:
        self._check()
        if not isinstance(self.contrasts, (tuple, list)) or len(self.contrasts) != len(self.sizes):
            raise InvalidInput(f"expected contrasts for each of the {len(self.sizes)} attributes")
        object.__setattr__(self, "contrasts", tuple(self.contrasts))
        check_operators(*self.contrasts)
        used = {i for attributes in self.sets for i in attributes}
        for i in used:
            S, n = self.contrasts[i], self.sizes[i]
            if n == 1:
                raise InvalidInput("expected residuals over attributes of two or more cells")
            if S.shape != ((n, n) if isinstance(S, Residuals) else (n - 1, n)):
                raise InvalidInput(f"expected {n - 1} contrasts over {n} cells, got {S.shape}")
            if isinstance(S, Residuals) and (S.sets, S.weights) != (((0,),), (1.0,)):
                raise InvalidInput("expected cell_contrasts(n) or a plain matrix as contrasts")

    @property
    def integral(self) -> bool:
        return super().integral and all(S.integral for S in self.contrasts)

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        known = {id(S): _split(S, n) for S, n in zip(self.contrasts, self.sizes, strict=True)}
        return tuple(known[id(S)] for S in self.contrasts)

    @cached_property
    def layout(self) -> TableLayout:
        shapes = tuple(tuple(self.contrasts[i].shape[0] for i in own) for own in self.sets)
        kinds = tuple(tuple(id(self.contrasts[i]) for i in own) for own in self.sets)
        return TableLayout(shapes, kinds)

    @cached_property
    def component_variances(self) -> Mapping[int, float]:
        """1/w_R², and (Π n_i)² less for cells, whose K is not that of n·I − 11ᵗ but of I − 11ᵗ/n."""
        found = {}
        for mask, weight in zip(self._masks, self.weights, strict=True):
            cells = prod(self.sizes[i] for i in members(mask) if isinstance(self.contrasts[i], Residuals))
            if weight:
                found[mask] = 1 / (weight * cells) ** 2
        return found

    def _unweighted(self, tables: Indices, stack: TableStack) -> Indices:
        own = self.sets[int(stack.numbers[0])]
        for axis, i in enumerate(own, start=1):
            if isinstance(self.contrasts[i], Residuals):
                tables = self.sizes[i] * tables - tables.sum(axis=axis, keepdims=True)
            else:
                tables = along(tables, axis, self.contrasts[i].to_dense().astype(np.int64))
        return np.ascontiguousarray(tables)

    def largest_unweighted_entry(self) -> int:
        each = [int(S.largest_entry()) for S in self.contrasts]
        return max(prod(each[i] for i in own) for own in self.sets)

    def component_tables(self, y: Array) -> ComponentTables:
        """ω_R = ⊗L_i (answers to R) / w_R, L_i·S_i = I − u1ᵗ."""
        found = ComponentTables(self.splits)
        weights = np.array(self.weights)
        for stack in self.layout.stacks:
            own = self.sets[int(stack.numbers[0])]
            for block in stack.blocks():
                measured = weights[block.numbers] > 0
                scale = 1 / weights[block.numbers][measured]
                part = block.taken(y)[measured] * scale.reshape(-1, *[1] * len(stack.shape))
                for axis, i in enumerate(own, start=1):
                    split = self.splits[i]
                    if isinstance(split, ContrastSplit):
                        part = along(part, axis, split.L)
                    else:
                        part = (part - part.mean(axis=axis, keepdims=True)) / self.sizes[i]
                found.add([self.sets[number] for number in block.numbers[measured].tolist()], part)
        return found

    # -- over the cells, where they fit: as a union of products ----------------------------------------

    @cached_property
    def _union(self) -> Operator:
        totals = [Total(n) for n in self.sizes]
        parts = []
        for own, weight in zip(self.sets, self.weights, strict=True):
            factors = [S if i in own else totals[i] for i, S in enumerate(self.contrasts)]
            parts.append(Scaled.of_product(weight, Kronecker(*factors)))
        return Stack(*parts)

    def _apply(self, x: Array) -> Array:
        return self._union._apply(x)

    def _adjoint(self, y: Array) -> Array:
        return self._union._adjoint(y)

    @property
    def full_column_rank(self) -> bool:
        measured = {mask for mask, weight in zip(self._masks, self.weights, strict=True) if weight}
        return len(measured) == 1 << self.axes.varying.bit_count()

    def _column_sums(self, p: int) -> Vector:
        return self._union._column_sums(p)

    def _exact_column_sums(self, p: int) -> list[int]:
        return self._union._exact_column_sums(p)

    def _max_column_sum(self, p: int) -> float:
        each = [S._max_column_sum(p) for S in self.contrasts]
        return float(
            sum(w**p * prod(each[i] for i in own) for own, w in zip(self.sets, self.weights, strict=True))
        )

    def _integer_norm(self, p: int) -> int:
        # All terms grow with every attribute's column sum, so one cell has the largest of all of them at once.
        each = [S._integer_norm(p) for S in self.contrasts]
        return sum(
            int(w) ** p * prod(each[i] for i in own) for own, w in zip(self.sets, self.weights, strict=True)
        )

    def largest_entry(self) -> float:
        each = [S.largest_entry() for S in self.contrasts]
        return max(w * prod(each[i] for i in own) for own, w in zip(self.sets, self.weights, strict=True))

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        orders = max(sum(not isinstance(self.contrasts[i], Residuals) for i in own) for own in self.sets)
        own_bits = max(6, min(bits - 4, CONTRAST_BITS // max(1, orders)))
        # An attribute's contrasts may be rounded to any scale: tables that use it are weighted less in return.
        rounded: dict[int, tuple[Operator, float]] = {}
        for S in self.contrasts:
            if id(S) not in rounded:
                rounded[id(S)] = S.integer_form(own_bits)
        scales = [rounded[id(S)][1] for S in self.contrasts]
        weights = tuple(
            w / prod(scales[i] for i in own) for own, w in zip(self.sets, self.weights, strict=True)
        )
        contrasts = tuple(rounded[id(S)][0] for S in self.contrasts)
        return TableOperator._rounded(ProductResiduals(self.sizes, self.sets, weights, contrasts), bits)

    def _rounded_at(self, scale: float) -> Operator:
        return ProductResiduals(self.sizes, self.sets, rounded_weights(self.weights, scale), self.contrasts)


def _split(S: Operator, n: int) -> Split:
    return CellSplit(n) if isinstance(S, Residuals) or n == 1 else ContrastSplit(S)
