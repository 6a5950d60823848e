"""Residuals: for chosen sets of attributes what their table says beyond all smaller ones.

ResidualPlanner's measurements (Xiao et al., 2023) in integers: the rows for R are ⊗_{i∈R}(n_i·I − 11ᵗ) ⊗_{j∉R} 1ᵗ.
Tables for different sets are orthogonal, so each residual can have the weight it deserves. Where an attribute is asked
by ranges or prefixes, its cells are not alike: a good strategy asks sums of neighbours, and contrasts S (one row less
than cells, so that they miss exactly one direction u) take the place of n·I − 11ᵗ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from rowspace.exceptions import InvalidInput
from rowspace.operators import CellContrasts, Dense, Identity, Operator
from rowspace.operators.base import Array

from .estimates import ComponentTables
from .splits import CellSplit, ContrastSplit
from .table_operator import TableOperator


@dataclass(frozen=True, eq=False)
class Residuals(TableOperator):
    """weight · ⊗_{i∈R} S_i ⊗_{j∉R} 1ᵗ for every R in `sets`, each table in C order.

    `contrasts` holds every S_i: `CellContrasts(n_i)`, or a `Dense` matrix of n_i − 1 independent rows that does not see
    some direction u with Σu ≠ 0. Without it all are cell contrasts; then the Gram matrix has the eigenvalue
    w_R² Π_{i∈R} n_i² Π_{j∉R} n_j on residual R and none elsewhere.

    >>> Residuals((3,), ((), (0,)), (1, 1)).to_dense().astype(int)
    array([[ 1,  1,  1],
           [ 2, -1, -1],
           [-1,  2, -1],
           [-1, -1,  2]])
    >>> from rowspace import operators as op
    >>> S = op.CellContrasts(2), op.Dense([[1, -1, 0], [1, 1, -1]])
    >>> Residuals((2, 3), ((), (1,)), (1, 2), S).to_dense().astype(int)
    array([[ 1,  1,  1,  1,  1,  1],
           [ 2, -2,  0,  2, -2,  0],
           [ 2,  2, -2,  2,  2, -2]])
    """

    sizes: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]
    contrasts: tuple[Operator, ...] = ()

    matrix_field = "contrasts"

    def __post_init__(self) -> None:
        self._check()
        if any(self.sizes[i] == 1 for attributes in self.sets for i in attributes):
            raise InvalidInput(
                "expected residuals over attributes of two or more cells: one cell never varies"
            )

    @staticmethod
    def _plain(n: int) -> Operator:
        return CellContrasts(n)

    def _checked_matrix(self, M: Operator, n: int) -> Operator:
        # Files of 0.1 hold cell contrasts as residuals of one attribute, and an identity where there is one cell.
        if CellContrasts(n) == M or (n == 1 and Identity(1) == M):
            return CellContrasts(n)
        if isinstance(M, Residuals) and Residuals((n,), ((0,),), (1.0,)) == M:
            return CellContrasts(n)
        if not isinstance(M, Dense) or M.shape != (n - 1, n):
            raise InvalidInput(f"expected CellContrasts({n}) or a Dense matrix of {n - 1} x {n} contrasts")
        return M

    @cached_property
    def splits(self) -> tuple[CellSplit | ContrastSplit, ...]:
        known = {
            id(S): CellSplit(S.n) if isinstance(S, CellContrasts) else ContrastSplit(S) for S in self.matrices
        }
        return tuple(known[id(S)] for S in self.matrices)

    @cached_property
    def component_variances(self) -> Mapping[int, float]:
        """1/w_R², and (Π n_i)² less for cells, whose K is not that of n·I − 11ᵗ but of I − 11ᵗ/n."""
        cells = [S.n if isinstance(S, CellContrasts) else 1 for S in self.matrices]
        found: dict[int, float] = {}
        for stack in self.layout.stacks:
            factor = prod(cells[i] for i in self.attributes_of(stack))
            for number in stack.numbers.tolist():
                if weight := self.weights[number]:
                    found[self._masks[number]] = 1 / (weight * factor) ** 2
        return found

    def component_tables(self, y: Array) -> ComponentTables:
        """ω_R = ⊗L_i (answers to R) / w_R, with L_i·S_i = I − u1ᵗ."""
        found = ComponentTables(self.splits)
        weights = np.array(self.weights)
        for stack in self.layout.stacks:
            own = self.attributes_of(stack)
            for block in stack.blocks():
                measured = weights[block.numbers] > 0
                scale = 1 / weights[block.numbers][measured]
                part = block.taken(y)[measured] * scale.reshape(-1, *[1] * len(own))
                for axis, i in enumerate(own, start=1):
                    part = self.splits[i].resolved(part, axis)
                found.add([self.sets[number] for number in block.numbers[measured].tolist()], part)
        return found

    def pair_norm(self, p: int) -> int | None:
        """Where all cells are alike and p = 2: 2 Σ_{R≠∅} w_R² Π n_i(n_i − 1) · (1 + 1/min(n_i − 1)).

        Columns of the table R have the inner product w_R² Π n_i(n_i·[agree] − 1), which is least where they agree in
        all attributes but one, the one with the fewest cells.
        """
        if p == 1 or not self.all_cells_alike:
            return super().pair_norm(p)
        total = 0
        for own, weights in self._weights_by_matrices:
            if own:
                sizes = [self.sizes[i] for i in own]
                square = prod(n * (n - 1) for n in sizes)
                total += sum(int(w) ** 2 for w in weights) * (2 * square + 2 * square // (min(sizes) - 1))
        return total
