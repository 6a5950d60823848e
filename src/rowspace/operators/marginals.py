"""Weighted marginals: for chosen sets of attributes the table of counts over each, times its weight."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .base import Array, Vector
from .checks import Indices
from .component_tables import ComponentTables
from .measured_tables import MeasuredTables
from .splits import CellSplit
from .subset_lattice import SubsetLattice, mask_of, members
from .subset_operator import SubsetOperator
from .subset_tables import Tables
from .table_layout import TableStack


@dataclass(frozen=True, eq=False)
class Marginals(MeasuredTables, SubsetOperator):
    """The tables over `sets` of attributes (numbers into `sizes`), one after the other, each in C order.

    It is the union of weight · ⊗(I or 1ᵗ), but with closed forms: λ_R = Σ_{S⊇R} w_S² Π_{j∉S} n_j (see
    `subset_operator`), actions in a few passes over the cells whatever the number of tables. The number of cells may be
    astronomical; only actions need them to fit.

    >>> from rowspace import operators as op
    >>> A = op.Marginals((2, 3), ((0,), (1,), ()), (1, 1, 2))
    >>> (A @ np.arange(6)).tolist()
    [3, 12, 3, 5, 7, 30]
    >>> op.Marginals((10,) * 30, ((0, 1), (2, 3)), (1, 3)).integer_norm(1)
    4
    """

    sizes: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]

    nonnegative = True

    def __post_init__(self) -> None:
        self._check()

    @cached_property
    def splits(self) -> tuple[CellSplit, ...]:
        return tuple(CellSplit(n) for n in self.sizes)

    @property
    def matrix_rows(self) -> tuple[int, ...]:
        """Answers along every attribute."""
        return self.sizes

    @cached_property
    def eigenvalues(self) -> Mapping[int, float]:
        """Σ_{S⊇R} w_S² / Π_{j∈S} n_j for every R below a measured set."""
        powers: dict[int, float] = {}
        for mask, weight in zip(self._masks, self.weights, strict=True):
            if weight:
                powers[mask] = powers.get(mask, 0.0) + weight**2
        lattice = self._lattice
        per_table = lattice.vector(powers) * lattice.products([1 / n for n in self.sizes])
        return dict(zip(lattice.masks, lattice.sums_above(per_table).tolist(), strict=True))

    def _apply(self, x: Array) -> Array:
        out = np.empty((*x.shape[:-1], self.shape[0]), dtype=x.dtype)
        sums = self.axes.sums(x, self._masks)
        for mask, weight, table in self._tables(out):
            np.multiply(sums[mask], weight, out=table)
        return out

    def _adjoint(self, y: Array) -> Array:
        return self.axes.spread(self._weighted_tables(y))

    def _weighted_tables(self, y: Array) -> Tables:
        """Every table times its weight; tables over the same varying attributes are added."""
        tables: Tables = {}
        for mask, weight, table in self._tables(y):
            tables[mask] = tables[mask] + weight * table if mask in tables else weight * table
        return tables

    def _components(self, y: Array) -> Tables:
        seen = self.eigenvalues
        return self.axes.residuals({m: t for m, t in self._weighted_tables(y).items() if m in seen})

    def _answers(self, parts: Tables) -> Array:
        tables = self.axes.residuals_adjoint(parts)
        batch = tables[0].shape[: tables[0].ndim - self.axes.varying.bit_count()]
        y = np.zeros((*batch, self.shape[0]))
        for mask, weight, table in self._tables(y):
            if weight:
                np.multiply(tables[mask], weight, out=table)
        return y

    def coefficients(self, mask: int) -> tuple[Vector, Vector]:
        """Per table T: values that depend on where a cell of T agrees with the asked one, in the attributes of both.

        c_T = w_T/Π_{i∈S} n_i · Σ_{R⊆S∩T} 1/λ_R · Π_{j∈T∖R} 1/n_j · Π_{i∈R} ([agree] − 1/n_i), S the asked set.
        """
        mask &= self.axes.varying
        self.check_supports(SubsetLattice.under([mask]).masks)
        values, counts = [np.zeros(1)], [np.zeros(1)]
        for table, weight in zip(self._masks, self.weights, strict=True):
            if not weight:
                continue
            common = [self.sizes[i] for i in members(mask & table)]
            value = np.array([1 / self.eigenvalues[R] for R in _subsets(mask & table)])
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

    def _unweighted(self, tables: Indices, stack: TableStack) -> Indices:
        return tables

    def largest_unweighted_entry(self) -> int:
        return 1

    def component_tables(self, y: Array) -> ComponentTables:
        """ω_R = ν_R Σ_{S⊇R} w_S · (table S averaged over S∖R, centred along R)."""
        lattice = self._lattice
        totals = {
            shape: np.zeros((len(numbers), *shape)) for shape, numbers in self._component_stacks.items()
        }
        row = {number: k for numbers in self._component_stacks.values() for k, number in enumerate(numbers)}
        rows = np.array([row[number] for number in range(lattice.size)])
        weights = np.array(self.weights)
        for stack in self.layout.stacks:
            for block in stack.blocks():
                # Tables of no weight say nothing, and their sets need not be in the lattice.
                measured = weights[block.numbers] > 0
                numbers = block.numbers[measured]
                sets = np.array([self.sets[number] for number in numbers.tolist()], dtype=np.int64)
                sets = sets.reshape(len(numbers), len(stack.shape))
                own = weights[numbers].reshape(-1, *[1] * len(stack.shape))
                tables = own * block.taken(y)[measured]
                for chosen, part in _centred_means(tables) if len(numbers) else ():
                    kept = [j for j in chosen if stack.shape[j] > 1]
                    shape = tuple(stack.shape[j] for j in kept)
                    places = rows[lattice.find(sets[:, kept])]
                    np.add.at(totals[shape], places, part.reshape(-1, *shape))
        found = ComponentTables(self.splits)
        for shape, of_shape in self._component_stacks.items():
            variances = np.array([self.component_variances[lattice.masks[number]] for number in of_shape])
            totals[shape] *= variances.reshape(-1, *[1] * len(shape))
            found.add([lattice.sets[number] for number in of_shape], totals[shape])
        return found

    @cached_property
    def _component_stacks(self) -> dict[tuple[int, ...], list[int]]:
        """The sets of the lattice by the shape of their table."""
        stacks: dict[tuple[int, ...], list[int]] = {}
        for number, attributes in enumerate(self._lattice.sets):
            stacks.setdefault(tuple(self.sizes[i] for i in attributes), []).append(number)
        return stacks

    def _max_column_sum(self, p: int) -> float:
        # Every cell is counted in exactly one cell of every table.
        return float(sum(weight**p for weight in self.weights))

    def _integer_norm(self, p: int) -> int:
        return sum(int(weight) ** p for weight in self.weights)

    def largest_entry(self) -> float:
        return max(self.weights)


def _centred_means(tables: Array) -> Iterator[tuple[list[int], Array]]:
    """(axes R, tables averaged over the other axes and centred along R) for all sets of axes, the first axis aside.

    Axis by axis a table is its mean and what is left: every part is computed once.
    """
    pending: list[tuple[int, list[int], Array]] = [(1, [], tables)]
    while pending:
        axis, chosen, part = pending.pop()
        if axis == tables.ndim:
            yield chosen, part
            continue
        mean = part.mean(axis=axis, keepdims=True)
        pending.append((axis + 1, chosen, mean))
        if tables.shape[axis] > 1:
            pending.append((axis + 1, [*chosen, axis - 1], part - mean))


def _subsets(mask: int) -> list[int]:
    """All subsets, in the C order of a (2, 2, …) array with one axis per attribute."""
    subsets = [0]
    for attribute in members(mask):
        subsets = [s | bit for s in subsets for bit in (0, mask_of([attribute]))]
    return subsets
