"""Residuals: for chosen sets of attributes what their table says beyond all smaller ones.

ResidualPlanner's measurements (Xiao et al., 2023) in integers: the rows for R are ⊗_{i∈R}(n_i·I − 11ᵗ) ⊗_{j∉R} 1ᵗ.
Tables for different sets are orthogonal, so each residual can have the weight it deserves. Where an attribute is asked
by ranges or prefixes, its cells are not alike: a good strategy asks sums of neighbours, and contrasts S (one row less
than cells, so that they miss exactly one direction u) take the place of n·I − 11ᵗ.

Where queries tie attributes together (x + y ≤ c), a good strategy is no product: the set R then has a matrix J_R of its
own over the cells of its table. Let the component ω_R be what the table over R says beyond all smaller ones, as in
`splits`. If the rows of J_R are independent on the tables that sum to zero along every attribute, J_R asks about ω_R
all it can and nothing else: as many numbers as there are unknown, whatever it also says about smaller tables. So these
are estimated without it, from the smallest table to the largest:

    ω_R = L_R (answers to R / w_R − J_R (what smaller components make of the table R)),      J_R L_R = I.

The other way round (`elimination`), a query is taken apart from the largest table to the smallest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from rowspace.exceptions import InvalidInput
from rowspace.operators import Array, CellContrasts, Dense, Identity, Operator, Vector

from .elimination import Elimination
from .estimates import ComponentTables
from .lattice import mask_of
from .product_workload import ProductWorkload
from .splits import CellSplit, ContrastSplit
from .table_operator import TableOperator

LEAST_SINGULAR = 1e-9
"""Share of the largest singular value below which rows of a joint matrix are not independent."""

ADDED_CELLS = 2**16
"""Most cells whose column sums over all joint matrices are added up, to find the largest exactly."""


@dataclass(frozen=True, eq=False)
class Residuals(TableOperator):
    """weight · ⊗_{i∈R} S_i ⊗_{j∉R} 1ᵗ for every R in `sets`, each table in C order.

    `contrasts` holds every S_i: `CellContrasts(n_i)`, or a `Dense` matrix of n_i − 1 independent rows that does not see
    some direction u with Σu ≠ 0. Without it all are cell contrasts; then the Gram matrix has the eigenvalue
    w_R² Π_{i∈R} n_i² Π_{j∉R} n_j on residual R and none elsewhere. `joint` gives some sets a matrix J_R of integers
    over their joint cells in place of the product: one entry per set, None where there is none.

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
    >>> J = op.Dense([[1, 1, 0, 1, 0, 0]])            # x + y ≤ 1
    >>> Residuals((2, 3), ((), (0, 1)), (1, 1), joint=(None, J)).to_dense().astype(int)
    array([[1, 1, 1, 1, 1, 1],
           [1, 1, 0, 1, 0, 0]])
    """

    sizes: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]
    contrasts: tuple[Operator, ...] = ()
    joint: tuple[Operator | None, ...] = ()

    matrix_field = "contrasts"

    def __post_init__(self) -> None:
        self._check()
        if any(self.sizes[i] == 1 for attributes in self.sets for i in attributes):
            raise InvalidInput(
                "expected residuals over attributes of two or more cells: one cell never varies"
            )
        object.__setattr__(self, "joint", self._checked_joint())

    def _checked_joint(self) -> tuple[Operator | None, ...]:
        """The joint matrices, equal ones as one object; none where there is none."""
        if not isinstance(self.joint, (tuple, list)) or len(self.joint) not in (0, len(self.sets)):
            raise InvalidInput(
                f"expected a joint matrix or None for each of the {len(self.sets)} sets, or nothing"
            )
        known: dict[Operator, Operator] = {}
        found: list[Operator | None] = []
        for own, J in zip(self.sets, self.joint, strict=False):
            if J is not None:
                cells, most = (prod(self.sizes[i] - k for i in own) for k in (0, 1))
                if not isinstance(J, Dense) or not J.integral or J.shape[1] != cells or J.shape[0] > most:
                    raise InvalidInput(
                        f"expected a Dense matrix of integers over {cells} joint cells, of at most {most} rows"
                    )
                J = known.setdefault(J, J)
            found.append(J)
        return tuple(found) if known else ()

    @cached_property
    def _joint_by_number(self) -> Mapping[int, Operator]:
        return {number: J for number, J in enumerate(self.joint) if J is not None}

    @property
    def all_cells_alike(self) -> bool:
        return not self.contrasts and not self.joint

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
        """1/w_R², and (Π n_i)² less for cells, whose K is not that of n·I − 11ᵗ but of I − 11ᵗ/n.

        Sets with a joint matrix have no such number.
        """
        cells = [S.n if isinstance(S, CellContrasts) else 1 for S in self.matrices]
        found: dict[int, float] = {}
        for stack in self.layout.stacks:
            factor = prod(cells[i] for i in self.attributes_of(stack))
            for number in stack.numbers.tolist():
                if (weight := self.weights[number]) and number not in self._joint_by_number:
                    found[self._masks[number]] = 1 / (weight * factor) ** 2
        return found

    def component_tables(self, y: Array) -> ComponentTables:
        """ω_R = ⊗L_i (answers to R) / w_R, with L_i·S_i = I − u1ᵗ; for a joint matrix see above."""
        found = ComponentTables(self.splits, self.part_variances if self.joint else None)
        weights = np.array(self.weights)
        # Smaller sets first: what they say is taken off the answers to joint matrices.
        for stack in sorted(self.layout.stacks, key=lambda stack: len(self.attributes_of(stack))):
            own = self.attributes_of(stack)
            for block in stack.blocks():
                measured = weights[block.numbers] > 0
                if not measured.any():
                    continue
                sets = [self.sets[number] for number in block.numbers[measured].tolist()]
                part = block.taken(y)[measured] / weights[block.numbers][measured].reshape(
                    -1, *[1] * len(block.shape)
                )
                if J := self._joint_by_number.get(int(stack.numbers[0])):
                    smaller = found.tables(sets, unmeasured=True)
                    part = (part - J._apply(smaller.reshape(len(sets), -1))) @ self.resolving(own).T
                    part = part.reshape(smaller.shape)
                else:
                    for axis, i in enumerate(own, start=1):
                        part = self.splits[i].resolved(part, axis)
                found.add(sets, part)
        return found

    @cached_property
    def _resolving(self) -> dict[tuple[object, ...], Vector]:
        return {}

    def resolving(self, own: tuple[int, ...]) -> Vector:
        """L_R for a set with a joint matrix: from its answers to the tables, summing to zero, that have them."""
        J = self._joint_by_number[self._numbers[mask_of(own)]]
        sizes = tuple(self.sizes[i] for i in own)
        if (id(J), sizes) not in self._resolving:
            centred = J.to_dense().reshape(-1, *sizes)
            for axis in range(1, len(own) + 1):
                centred = centred - centred.mean(axis=axis, keepdims=True)
            rows = centred.reshape(len(centred), -1)
            _, s, _ = np.linalg.svd(rows, full_matrices=False)
            if s.min() <= LEAST_SINGULAR * s.max():
                raise InvalidInput("expected joint matrices whose rows are independent beyond smaller tables")
            self._resolving[id(J), sizes] = np.asarray(np.linalg.pinv(rows), dtype=np.float64)
        return self._resolving[id(J), sizes]

    @cached_property
    def _numbers(self) -> Mapping[int, int]:
        """The number of every set that is measured."""
        return {mask: k for k, (mask, w) in enumerate(zip(self._masks, self.weights, strict=True)) if w}

    def joint_of(self, mask: int) -> tuple[Operator, float] | None:
        """(J_R, w_R) of a set that is measured by a joint matrix: what it adds to the information is w²·JᵗJ."""
        number = self._numbers.get(mask)
        J = None if number is None else self._joint_by_number.get(number)
        return None if J is None or number is None else (J, self.weights[number])

    def trace_of_products(self, workload: ProductWorkload) -> float:
        if not self.joint:
            return super().trace_of_products(workload)
        return float(workload.powers @ self.totals_of_parts(workload))

    def totals_of_parts(self, workload: ProductWorkload) -> Vector:
        if not self.joint:
            return super().totals_of_parts(workload)
        return Elimination(self, workload).totals()

    def part_variances(self, workload: ProductWorkload, number: int) -> Vector:
        if not self.joint:
            return super().part_variances(workload, number)
        return Elimination(self, workload).variances(number)

    @property
    def full_column_rank(self) -> bool | None:
        return super().full_column_rank if not self.joint else None

    def check_rank(self) -> None:
        super().check_rank()
        for number in self._joint_by_number:
            if self.weights[number]:
                self.resolving(self.sets[number])

    def _max_column_sum(self, p: int) -> float:
        if self._few_joint_cells:
            return float(self._column_sums(p).max())
        return super()._max_column_sum(p)

    def _integer_norm(self, p: int) -> int:
        """An upper bound where tables with joint matrices have too many cells to be added up one by one."""
        return max(self._exact_column_sums(p)) if self._few_joint_cells else super()._integer_norm(p)

    @property
    def _few_joint_cells(self) -> bool:
        return bool(self.joint) and self.shape[1] <= ADDED_CELLS

    def pair_norm(self, p: int) -> int | None:
        """Where all cells are alike and p = 2: 2 Σ_{R≠∅} w_R² Π n_i(n_i − 1) · (1 + 1/min(n_i − 1)).

        Columns of the table R have the inner product w_R² Π n_i(n_i·[agree] − 1), which is least where they agree in
        all attributes but one, the one with the fewest cells.
        """
        if p == 1 or not self.all_cells_alike:
            return super().pair_norm(p)
        total = 0
        for stack, weights in zip(self.layout.stacks, self._weights_of_stacks, strict=True):
            if own := self.attributes_of(stack):
                sizes = [self.sizes[i] for i in own]
                square = prod(n * (n - 1) for n in sizes)
                total += sum(int(w) ** 2 for w in weights) * (2 * square + 2 * square // (min(sizes) - 1))
        return total
