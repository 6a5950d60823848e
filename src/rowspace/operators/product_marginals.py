"""Weighted tables with a strategy of its own for every attribute: unions of products that share their factors.

The Gram matrix of table S is w_S² ⊗_{i∈S}(c_i·11ᵗ + V_i′) ⊗ 11ᵗ, where A_iᵗA_i = c_i·11ᵗ + V_i′ splits what a matrix
says about its attribute's total from the rest. Expanded, the tables add up component by component:
1/ν_R = Σ_{S⊇R} w_S² Π_{i∈S∖R} c_i, as for plain marginals, where c_i = 1/n_i.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Operator, check_operators
from .component_tables import ComponentTables
from .identity import Identity
from .measured_tables import MeasuredTables
from .product_tables import ProductTables, shared
from .splits import CellSplit, MarginalSplit, MatrixSplit
from .table_layout import TableStack


@dataclass(frozen=True, eq=False)
class ProductMarginals(MeasuredTables, ProductTables):
    """weight · ⊗_{i∈S} A_i ⊗_{j∉S} 1ᵗ for every S in `sets`; `bases` holds every A_i, of full column rank.

    >>> from rowspace import operators as op
    >>> A = op.ProductMarginals((2, 3), ((0,), (1,)), (1, 2), (op.Identity(2), op.Prefix(3)))
    >>> A.to_dense().astype(int)
    array([[1, 1, 1, 0, 0, 0],
           [0, 0, 0, 1, 1, 1],
           [2, 0, 0, 2, 0, 0],
           [2, 2, 0, 2, 2, 0],
           [2, 2, 2, 2, 2, 2]])
    """

    sizes: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]
    bases: tuple[Operator, ...]

    def __post_init__(self) -> None:
        self._check()
        if not isinstance(self.bases, (tuple, list)) or len(self.bases) != len(self.sizes):
            raise InvalidInput(f"expected a matrix for each of the {len(self.sizes)} attributes")
        check_operators(*self.bases)
        for A, n in zip(self.bases, self.sizes, strict=True):
            if A.shape[1] != n or (n == 1 and Identity(1) != A):
                raise InvalidInput(
                    f"expected a matrix over {n} cells, got {A.shape[1]}; Identity(1) over one"
                )
        object.__setattr__(self, "bases", shared(self.bases))

    @property
    def matrices(self) -> tuple[Operator, ...]:
        return self.bases

    def _with(self, weights: tuple[float, ...], matrices: tuple[Operator, ...]) -> ProductMarginals:
        return ProductMarginals(self.sizes, self.sets, weights, matrices)

    @property
    def matrix_rows(self) -> tuple[int, ...]:
        """Answers along every attribute."""
        return tuple(A.shape[0] for A in self.bases)

    @property
    def nonnegative(self) -> bool:
        return all(A.nonnegative for A in self.bases)

    @property
    def full_column_rank(self) -> bool | None:
        return True if len(self._lattice.masks) == 1 << self.axes.varying.bit_count() else None

    @cached_property
    def splits(self) -> tuple[MarginalSplit, ...]:
        known: dict[int, MarginalSplit] = {
            id(A): CellSplit(n) if isinstance(A, Identity) else MatrixSplit(A)
            for A, n in zip(self.bases, self.sizes, strict=True)
        }
        return tuple(known[id(A)] for A in self.bases)

    @cached_property
    def component_variances(self) -> Mapping[int, float]:
        """ν_R = 1/Σ_{S⊇R} w_S² Π_{i∈S∖R} c_i."""
        powers: dict[int, float] = {}
        for mask, weight in zip(self._masks, self.weights, strict=True):
            if weight:
                powers[mask] = powers.get(mask, 0.0) + weight**2
        lattice = self._lattice
        shares = lattice.products([split.share for split in self.splits])
        values = lattice.sums_above(lattice.vector(powers) * shares) / shares
        return dict(zip(lattice.masks, (1 / values).tolist(), strict=True))

    def component_tables(self, y: Array) -> ComponentTables:
        """ω_R = ν_R Σ_{S⊇R} w_S ⊗_{i∈R} K_iA_iᵗ ⊗_{i∈S∖R} uᵗA_iᵗ (answers to S)."""
        lattice = self._lattice
        totals: list[Array] = [np.zeros(())] * lattice.size
        for number, attributes in enumerate(lattice.sets):
            totals[number] = np.zeros(tuple(self.sizes[i] for i in attributes))
        weights = np.array(self.weights)
        for stack in self.layout.stacks:
            for block in stack.blocks():
                # Tables of no weight say nothing, and their sets need not be in the lattice.
                measured = weights[block.numbers] > 0
                numbers = block.numbers[measured]
                own = weights[numbers].reshape(-1, *[1] * len(stack.shape))
                for chosen, part in self._parts(own * block.taken(y)[measured], block):
                    for number, table in zip(numbers.tolist(), part, strict=True):
                        place = lattice.index[sum(1 << self.sets[number][j] for j in chosen)]
                        totals[place] += table.reshape(totals[place].shape)
        found = ComponentTables(self.splits)
        for number, attributes in enumerate(lattice.sets):
            found.add([attributes], (self.component_variances[lattice.masks[number]] * totals[number])[None])
        return found

    def _parts(self, tables: Array, stack: TableStack) -> Iterator[tuple[list[int], Array]]:
        """(axes R, tables resolved along R and summed up along the others) for all sets of axes."""
        first = self.sets[int(stack.numbers[0])]
        pending: list[tuple[int, list[int], Array]] = [(0, [], tables)]
        while pending:
            axis, chosen, part = pending.pop()
            if axis == len(first):
                yield chosen, part
                continue
            split = self.splits[first[axis]]
            total, resolved = split.taken_apart(part, axis + 1)
            pending.append((axis + 1, chosen, total))
            if self.sizes[first[axis]] > 1:
                pending.append((axis + 1, [*chosen, axis], resolved))
