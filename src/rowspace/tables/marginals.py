"""Weighted marginals: for chosen sets of attributes the table of counts over each, times its weight.

Every attribute may have a strategy of its own. The Gram matrix of table S is w_S² ⊗_{i∈S}(c_i·11ᵗ + V_i′) ⊗ 11ᵗ, where
A_iᵗA_i = c_i·11ᵗ + V_i′ splits what a matrix says about its attribute's total from the rest. Expanded, the tables add
up component by component: 1/ν_R = Σ_{S⊇R} w_S² Π_{i∈S∖R} c_i; c_i = 1/n_i where the cells themselves are counted.

Sums over the tables that meet a set of attributes in a given way, from sums over the tables above each set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from rowspace.exceptions import InvalidInput
from rowspace.operators import Array, Identity, Operator, Vector, check_supported

from .estimates import ComponentTables
from .lattice import SubsetLattice, mask_of, members
from .layout import TableStack
from .splits import CellSplit, MarginalSplit, MatrixSplit
from .table_operator import TableOperator


@dataclass(frozen=True, eq=False)
class Marginals(TableOperator):
    """weight · ⊗_{i∈S} A_i ⊗_{j∉S} 1ᵗ for every S in `sets` (attribute numbers into `sizes`), each table in C order.

    `bases` holds every A_i, of full column rank; without it all are identities, and the tables are those of counts.

    >>> A = Marginals((2, 3), ((0,), (1,), ()), (1, 1, 2))
    >>> (A @ np.arange(6)).tolist()
    [3, 12, 3, 5, 7, 30]
    >>> Marginals((10,) * 30, ((0, 1), (2, 3)), (1, 3)).integer_norm(1)
    4
    >>> from rowspace import operators as op
    >>> Marginals((2, 3), ((0,), (1,)), (1, 2), (op.Identity(2), op.Prefix(3))).to_dense().astype(int)
    array([[1, 1, 1, 0, 0, 0],
           [0, 0, 0, 1, 1, 1],
           [2, 0, 0, 2, 0, 0],
           [2, 2, 0, 2, 2, 0],
           [2, 2, 2, 2, 2, 2]])
    """

    sizes: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]
    bases: tuple[Operator, ...] = ()

    matrix_field = "bases"

    def __post_init__(self) -> None:
        self._check()

    @staticmethod
    def _plain(n: int) -> Operator:
        return Identity(n)

    def _checked_matrix(self, M: Operator, n: int) -> Operator:
        if M.shape[1] != n or (n == 1 and Identity(1) != M):
            raise InvalidInput(f"expected a matrix over {n} cells, got {M.shape[1]}; Identity(1) over one")
        return M

    @property
    def nonnegative(self) -> bool:
        return all(A.nonnegative for A in self.matrices)

    @cached_property
    def splits(self) -> tuple[MarginalSplit, ...]:
        return marginal_splits(self.matrices)

    @cached_property
    def _lattice(self) -> SubsetLattice:
        """The measured sets and all below them: a table tells something about every set below its own."""
        return SubsetLattice.under(
            mask for mask, weight in zip(self._masks, self.weights, strict=True) if weight
        )

    @cached_property
    def component_variances(self) -> Mapping[int, float]:
        """ν_R = 1/Σ_{S⊇R} w_S² Π_{i∈S∖R} c_i."""
        lattice = self._lattice
        shares = lattice.products([split.share for split in self.splits])
        values = lattice.sums_above(lattice.vector(self._powers(2)) * shares) / shares
        return dict(zip(lattice.masks, (1 / values).tolist(), strict=True))

    def _powers(self, p: int) -> dict[int, float]:
        """Σ of the weights' powers over the tables of every set, attributes of one cell aside."""
        powers: dict[int, float] = {}
        for mask, weight in zip(self._masks, self.weights, strict=True):
            if weight:
                powers[mask] = powers.get(mask, 0.0) + weight**p
        return powers

    def component_tables(self, y: Array) -> ComponentTables:
        """ω_R = ν_R Σ_{S⊇R} w_S ⊗_{i∈R} K_iA_iᵗ ⊗_{i∈S∖R} uᵗA_iᵗ (answers to S)."""
        lattice = self._lattice
        totals = {
            shape: np.zeros((len(numbers), *shape)) for shape, numbers in self._component_stacks.items()
        }
        row = {number: k for numbers in self._component_stacks.values() for k, number in enumerate(numbers)}
        rows = np.array([row[number] for number in range(lattice.size)])
        weights = np.array(self.weights)
        for stack in self.layout.stacks:
            own = self.attributes_of(stack)
            for block in stack.blocks():
                # Tables of no weight say nothing, and their sets need not be in the lattice.
                measured = weights[block.numbers] > 0
                numbers = block.numbers[measured]
                if not len(numbers):
                    continue
                sets = np.array([self.sets[number] for number in numbers.tolist()], dtype=np.int64)
                sets = sets.reshape(len(numbers), len(own))
                tables = weights[numbers].reshape(-1, *[1] * len(own)) * block.taken(y)[measured]
                for kept, part in self._parts(tables, stack):
                    shape = tuple(self.sizes[own[j]] for j in kept)
                    places = rows[lattice.find(sets[:, kept])]
                    np.add.at(totals[shape], places, part.reshape(-1, *shape))
        found = ComponentTables(self.splits)
        for shape, of_shape in self._component_stacks.items():
            variances = np.array([self.component_variances[lattice.masks[number]] for number in of_shape])
            totals[shape] *= variances.reshape(-1, *[1] * len(shape))
            found.add([lattice.sets[number] for number in of_shape], totals[shape])
        return found

    def _parts(self, tables: Array, stack: TableStack) -> Iterator[tuple[list[int], Array]]:
        """(axes R, tables resolved along R and summed up along the others) for all sets of axes that vary.

        Axis by axis, so that every part is computed once.
        """
        own = self.attributes_of(stack)
        pending: list[tuple[int, list[int], Array]] = [(0, [], tables)]
        while pending:
            axis, chosen, part = pending.pop()
            if axis == len(own):
                yield chosen, part
                continue
            total, resolved = self.splits[own[axis]].taken_apart(part, axis + 1)
            pending.append((axis + 1, chosen, total))
            if self.sizes[own[axis]] > 1:
                pending.append((axis + 1, [*chosen, axis], resolved))

    @cached_property
    def _component_stacks(self) -> dict[tuple[int, ...], list[int]]:
        """The sets of the lattice by the shape of their table."""
        stacks: dict[tuple[int, ...], list[int]] = {}
        for number, attributes in enumerate(self._lattice.sets):
            stacks.setdefault(tuple(self.sizes[i] for i in attributes), []).append(number)
        return stacks

    def coefficients(self, mask: int) -> tuple[Vector, Vector]:
        """(values, how often each occurs) among the coefficients c = w A⁺ of one cell w of the marginal over a set S.

        Where all cells are alike, all cells of a marginal have the same ones, in another order. Per table T they depend
        on where a cell of T agrees with the asked one, in the attributes of both:
        c_T = w_T/Π_{i∈S} n_i · Σ_{R⊆S∩T} 1/λ_R · Π_{j∈T∖R} 1/n_j · Π_{i∈R} ([agree] − 1/n_i).
        """
        mask &= self.axes.varying
        known = self.eigenvalues
        check_supported(float(any(R not in known for R in _subsets(mask))), 1.0)
        values, counts = [np.zeros(1)], [np.zeros(1)]
        for table, weight in zip(self._masks, self.weights, strict=True):
            if not weight:
                continue
            common = [self.sizes[i] for i in members(mask & table)]
            value = np.array([1 / known[R] for R in _subsets(mask & table)])
            value = value.reshape((2,) * len(common)) * (
                weight / (self.axes.count(mask) * self.axes.count(table))
            )
            count = np.full((1,) * len(common), float(self.axes.count(table & ~mask)))
            for axis, n in enumerate(common):
                absent, present = np.split(value, 2, axis=axis)
                # Π_{j∈T} 1/n_j is taken out above: what R has of it is given back here.
                value = np.concatenate([absent + (n - 1) * present, absent - present], axis=axis)
                count = np.concatenate([count, (n - 1) * count], axis=axis)
            values.append(value.ravel())
            counts.append(count.ravel())
        return np.concatenate(values), np.concatenate(counts)

    @cached_property
    def _meeting(self) -> MeetingTables:
        return MeetingTables.of(
            self._lattice, self.splits, {mask: power**0.25 for mask, power in self._powers(4).items()}
        )

    def tables_meeting(self, asked: Sequence[int], shared: Sequence[int]) -> tuple[float, float]:
        """Over all tables that share exactly these of the asked attributes (see `MeetingTables.sums`)."""
        return self._meeting.sums(asked, shared)


def marginal_splits(matrices: Sequence[Operator]) -> tuple[MarginalSplit, ...]:
    """The split that measuring each attribute by its matrix leads to; one object per matrix."""
    known: dict[int, MarginalSplit] = {
        id(A): CellSplit(A.shape[1]) if isinstance(A, Identity) else MatrixSplit(A) for A in matrices
    }
    return tuple(known[id(A)] for A in matrices)


def _subsets(mask: int) -> list[int]:
    """All subsets, in the C order of a (2, 2, …) array with one axis per attribute."""
    subsets = [0]
    for attribute in members(mask):
        subsets = [s | bit for s in subsets for bit in (0, mask_of([attribute]))]
    return subsets


@dataclass(frozen=True, eq=False)
class MeetingTables:
    """What of |c|⁴ and of the largest |c| a table contributes beyond the attributes it shares with a query."""

    lattice: SubsetLattice
    splits: Sequence[MarginalSplit]
    fourths: Mapping[int, float]
    largest: float

    @classmethod
    def of(
        cls, lattice: SubsetLattice, splits: Sequence[MarginalSplit], weights: Mapping[int, float]
    ) -> MeetingTables:
        """From the weights of the tables, by set (those of one set together in L4)."""
        # Weights are taken relative to the largest: their fourth powers must not overflow.
        top = max(weights.values())
        shares = lattice.products([_fourth(split) for split in splits])
        powers = lattice.vector({mask: (w / top) ** 4 for mask, w in weights.items()})
        above = dict(zip(lattice.masks, lattice.sums_above(powers * shares).tolist(), strict=True))
        return cls(lattice, splits, above, top)

    def sums(self, asked: Sequence[int], shared: Sequence[int]) -> tuple[float, float]:
        """(Σ over the tables T with T ∩ asked = shared of w⁴ Π_{T∖shared} ‖A·u‖₄⁴, a bound of the largest factor).

        By inclusion and exclusion over what else of `asked` a table may contain.
        """
        others = [i for i in asked if i not in shared and len(self.splits[i].u) > 1]
        base = mask_of(shared)
        total = 0.0
        for size in range(len(others) + 1):
            for more in combinations(others, size):
                total += (-1) ** size * self.fourths.get(base | mask_of(more), 0.0)
        here = float(np.prod([_fourth(self.splits[i]) for i in shared]))
        # What inclusion and exclusion leave of rounding error is no table.
        total = total if total > 1e-12 * self.fourths.get(base, 0.0) else 0.0
        power = self.largest**4 * total / here
        return power, power**0.25


def _fourth(split: MarginalSplit) -> float:
    return float(np.sum(split.seen**4))
