"""Estimated tables of any set of attributes, put together from components that are estimated independently.

The component of R is the table over R of what is left of the counts when, along every attribute of R, each cell's share
u of the total is subtracted. A table over S is the sum over R ⊆ S of its components, each spread over S∖R by u: so all
tables agree with one another wherever they overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import prod

import numpy as np

from rowspace.operators import Array, Identity, Vector, check_supported

from .layout import BLOCK
from .product_workload import Piece, ProductWorkload, gather
from .splits import CellSplit, Split

Attributes = tuple[int, ...]

KEPT_CELLS = 2**20
"""Cells of tables that are kept once they were asked for: a stream of questions is about a few of them."""


@dataclass(frozen=True)
class ComponentTables:
    """Components in stacks of equal shape, and where each set's is: (stack, row).

    `check` raises `UnsupportedWorkload` for a part of a workload that components measured in part do not answer; where
    it is left out, components are measured as a whole or not at all.
    """

    splits: Sequence[Split]
    check: Callable[[ProductWorkload, int], object] | None = None
    stacks: list[Array] = field(default_factory=list)
    places: dict[Attributes, tuple[int, int]] = field(default_factory=dict)
    _kept: dict[tuple[Attributes, bool], Array] = field(default_factory=dict, repr=False, compare=False)

    def add(self, sets: Sequence[Attributes], tables: Array) -> None:
        """Take in the components of some sets, of one shape."""
        self._kept.clear()
        self.places.update({own: (len(self.stacks), row) for row, own in enumerate(sets)})
        self.stacks.append(tables)

    def table(self, attributes: Attributes) -> Vector:
        """The estimated table over some attributes, ascending."""
        return np.asarray(self.tables([attributes])[0])

    def tables(self, sets: Sequence[Attributes], *, unmeasured: bool = False) -> Array:
        """The tables over sets of attributes of the same sizes, stacked; vectorized over the sets.

        unmeasured: components that were not measured count as zero, in place of `UnsupportedWorkload`.
        """
        if self.check is not None and not unmeasured:
            for own in sets:
                self.check(self._marginal(own), 0)
        shape = tuple(len(self.splits[i].u) for i in sets[0])
        if len(sets) == 1 and prod(shape) <= KEPT_CELLS:
            return self._single(sets[0], shape, unmeasured)[None]
        out = np.zeros((len(sets), *shape))
        step = max(1, BLOCK // max(1, prod(shape)))
        for start in range(0, len(sets), step):
            self._fill(out[start : start + step], sets[start : start + step], unmeasured)
        return out

    def _single(self, own: Attributes, shape: tuple[int, ...], unmeasured: bool) -> Array:
        """One table, kept for the next question about the same attributes."""
        found = self._kept.get((own, unmeasured))
        if found is None:
            found = np.zeros(shape)
            self._fill(found[None], [own], unmeasured)
            found.flags.writeable = False
            if sum(table.size for table in list(self._kept.values())) + found.size > KEPT_CELLS:
                self._kept.clear()
            self._kept[own, unmeasured] = found
        return found

    def _marginal(self, own: Attributes) -> ProductWorkload:
        """The queries that ask for every cell of a table."""
        sizes = [len(split.u) for split in self.splits]
        return gather(sizes, [(1.0, tuple(Piece((i,), Identity(sizes[i])) for i in own))])

    def cells(self) -> Vector:
        """All cells, flat: components that were not measured count as zero, so undetermined cells share alike by u.

        Attribute by attribute, so that what components have in common is spread once: a few passes over the cells.
        """
        sizes = [len(split.u) for split in self.splits]
        tables = {
            own: self.stacks[stack][row].reshape([n if i in own else 1 for i, n in enumerate(sizes)])
            for own, (stack, row) in self.places.items()
        }
        for i in reversed(range(len(sizes))):
            merged: dict[Attributes, Array] = {}
            for own, table in tables.items():
                if i not in own:
                    table = table * self.splits[i].u.reshape([-1 if j == i else 1 for j in range(len(sizes))])
                rest = tuple(j for j in own if j != i)
                merged[rest] = merged[rest] + table if rest in merged else table
            tables = merged
        (total,) = tables.values()
        return np.asarray(total.reshape(-1))

    def _fill(self, out: Array, sets: Sequence[Attributes], unmeasured: bool) -> None:
        k = len(sets[0])
        # An attribute of one cell never varies: no component is about it.
        varying = [j for j in range(k) if out.shape[j + 1] > 1]
        for size in range(len(varying) + 1):
            for chosen in combinations(varying, size):
                wanted = [tuple(own[j] for j in chosen) for own in sets]
                if unmeasured and any(own not in self.places for own in wanted):
                    term = self._measured(wanted, [out.shape[j + 1] for j in chosen])
                else:
                    term = self._gathered(wanted)
                rest = [j for j in range(k) if j not in chosen]
                term = np.expand_dims(term, [j + 1 for j in rest])
                for j in rest:
                    term = term * self._spread([own[j] for own in sets], j, k)
                out += term

    def _measured(self, sets: Sequence[Attributes], shape: Sequence[int]) -> Array:
        """The components of some sets, zero where there is none."""
        found = np.zeros((len(sets), *shape))
        for row, own in enumerate(sets):
            if own in self.places:
                stack, at = self.places[own]
                found[row] = self.stacks[stack][at]
        return found

    def _gathered(self, sets: Sequence[Attributes]) -> Array:
        """The components of some sets, one after the other."""
        check_supported(float(any(own not in self.places for own in sets)), 1.0)
        places = np.array([self.places[own] for own in sets])
        found = np.unique(places[:, 0])
        if len(found) == 1:
            stack = self.stacks[found[0]]
            rows = places[:, 1]
            ascending = len(rows) == len(stack) and bool((np.diff(rows) == 1).all())
            return stack if ascending else np.asarray(stack[rows])
        out = np.empty((len(sets), *self.stacks[found[0]].shape[1:]))
        for number in found:
            own = places[:, 0] == number
            out[own] = self.stacks[number][places[own, 1]]
        return out

    def _spread(self, attributes: list[int], axis: int, dimensions: int) -> Array:
        """u of the attribute each table has at this axis, as an array that multiplies by broadcasting."""
        distinct, inverse = np.unique(attributes, return_inverse=True)
        if all(isinstance(self.splits[i], CellSplit) for i in distinct.tolist()):
            # Equal shares: one number, which leaves the small component small.
            return np.asarray(self.splits[attributes[0]].u[0])
        vectors = np.array([self.splits[i].u for i in distinct.tolist()])[inverse]
        shape = [1] * dimensions
        shape[axis] = vectors.shape[1]
        return vectors.reshape(len(attributes), *shape)
