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

from .base import Array, Operator, check_operators
from .component_tables import ComponentTables
from .dense import Dense
from .identity import Identity
from .product_tables import ProductTables, shared
from .residuals import Residuals
from .splits import CellSplit, ContrastSplit, Split
from .subset_lattice import members
from .table_layout import along


def cell_contrasts(n: int) -> Residuals:
    """n·I − 11ᵗ, the contrasts of an attribute whose cells are alike."""
    return Residuals((n,), ((0,),), (1.0,))


@dataclass(frozen=True, eq=False)
class ProductResiduals(ProductTables):
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
        check_operators(*self.contrasts)
        for S, n in zip(self.contrasts, self.sizes, strict=True):
            fits = isinstance(S, Dense) and S.shape == (n - 1, n)
            if not fits and (cell_contrasts(n) if n > 1 else Identity(1)) != S:
                raise InvalidInput(
                    f"expected cell_contrasts({n}) or a Dense matrix of {n - 1} x {n} contrasts"
                )
        if any(self.sizes[i] == 1 for attributes in self.sets for i in attributes):
            raise InvalidInput("expected residuals over attributes of two or more cells")
        object.__setattr__(self, "contrasts", shared(self.contrasts))

    @property
    def matrices(self) -> tuple[Operator, ...]:
        return self.contrasts

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        known = {id(S): _split(S, n) for S, n in zip(self.contrasts, self.sizes, strict=True)}
        return tuple(known[id(S)] for S in self.contrasts)

    @cached_property
    def component_variances(self) -> Mapping[int, float]:
        """1/w_R², and (Π n_i)² less for cells, whose K is not that of n·I − 11ᵗ but of I − 11ᵗ/n."""
        found = {}
        for mask, weight in zip(self._masks, self.weights, strict=True):
            cells = prod(self.sizes[i] for i in members(mask) if isinstance(self.contrasts[i], Residuals))
            if weight:
                found[mask] = 1 / (weight * cells) ** 2
        return found

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

    @property
    def full_column_rank(self) -> bool:
        measured = {mask for mask, weight in zip(self._masks, self.weights, strict=True) if weight}
        return len(measured) == 1 << self.axes.varying.bit_count()

    def _with(self, weights: tuple[float, ...], matrices: tuple[Operator, ...]) -> ProductResiduals:
        return ProductResiduals(self.sizes, self.sets, weights, matrices)


def _split(S: Operator, n: int) -> Split:
    return CellSplit(n) if isinstance(S, Residuals) or n == 1 else ContrastSplit(S)
