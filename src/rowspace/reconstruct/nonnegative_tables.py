"""Non-negative tables that agree wherever they overlap, for domains too large for cells.

    minimize Σ_S w_S² ‖t_S − t̂_S‖²    over tables t_S ≥ 0 with one total, equal where they overlap

Tables that agree form a linear space, on which least squares projects without the cells; tables that are not negative
and have the total form simplices, on which each table is projected by itself. The alternating direction method of
multipliers goes between the two until they meet. What is left is then removed exactly: the agreeing tables are mixed
with as much of the even distribution as lifts their lowest cell to zero.

Agreement is pairwise and on all common attributes. That does not mean that some counts over all cells have exactly
these tables: with cycles of overlapping tables none may.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod, sqrt

import numpy as np

from rowspace.operators import Vector
from rowspace.tables import ComponentTables, Marginals, mask_of, subsets_in_order

from .nonnegative import nearest_counts

ACCURACY = 1e-3
"""Largest difference between the agreeing and the non-negative tables at which it stops, in units 1/w_S."""

MOST_STEPS = 1_000
"""Steps after which it stops in any case."""

ROUGH = (0.1, 0.01, 0.001, 0.0001)
"""Differences, as shares of a table's records, at which a rough solution is kept. They are about as large as the
distance from the exact one: on Adult's pairs 0.057, 0.0099, 0.00099 against 0.040, 0.0073, 0.0011."""


@dataclass(frozen=True, eq=False)
class TableFamily:
    """Sets of attributes whose tables are kept, and how much each counts."""

    sizes: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]

    @cached_property
    def marginals(self) -> Marginals:
        """The tables as a strategy: its least squares is what makes tables agree."""
        return Marginals(self.sizes, self.sets, self.weights)

    @property
    def cells(self) -> int:
        """Cells of all tables together."""
        return self.marginals.shape[0]

    def flat(self, tables: ComponentTables) -> Vector:
        """All tables, one after the other."""
        out = np.empty(self.cells)
        for stack in self.marginals.layout.stacks:
            for block in stack.blocks():
                out[block.where] = tables.tables([self.sets[n] for n in block.numbers.tolist()]).ravel()
        return out

    def agreed(self, flat: Vector) -> ComponentTables:
        """The tables nearest to these that agree wherever they overlap."""
        return self.marginals.component_tables(self.per_cell(self.weights) * flat)

    def per_cell(self, values: Sequence[float]) -> Vector:
        """A value per table, repeated over its cells."""
        return np.repeat(np.asarray(values, dtype=np.float64), np.diff(self.marginals.layout.offsets))

    @cached_property
    def even(self) -> Vector:
        """One record spread evenly over the cells of every table."""
        return self.per_cell([1 / prod(shape) for shape in self.marginals.layout.shapes])

    def nearest_counts(self, flat: Vector, total: float) -> Vector:
        """Every table by itself made non-negative with this total."""
        out = np.empty_like(flat)
        for stack in self.marginals.layout.stacks:
            for block in stack.blocks():
                tables = block.taken(flat)
                rows = tables.reshape(len(tables), -1)
                out[block.where] = nearest_counts(rows, total).ravel()
        return out


def weighted_family(sizes: tuple[int, ...], precisions: Mapping[tuple[int, ...], float]) -> TableFamily:
    """Tables, small ones beside the large ones that hold them, weighted so that each component has its precision.

    precisions: set of attributes, every one below it included → 1/variance of its component. A component R is seen by
    every table S ⊇ R, spread over the cells of S∖R: from the largest sets down, each table adds what those above leave.
    Where they say more than was measured already, it adds nothing.

    >>> precisions = {(): 12.5 + 1 / 6, (0,): 25 + 1 / 3, (1,): 1 / 2, (0, 1): 1.0}
    >>> found = weighted_family((2, 3), precisions)
    >>> found.sets, [round(weight, 9) for weight in found.weights]
    (((0, 1), (0,)), [1.0, 5.0])
    """
    missing = dict(precisions)
    powers: dict[tuple[int, ...], float] = {}
    for own in sorted(precisions, key=len, reverse=True):
        power = missing[own]
        if power <= 1e-9 * precisions[own]:
            continue
        powers[own] = power
        cells = prod(sizes[i] for i in own)
        for inside in subsets_in_order(own):
            if inside in missing:
                missing[inside] -= power * prod(sizes[i] for i in inside) / cells
    return TableFamily(sizes, tuple(powers), tuple(sqrt(power) for power in powers.values()))


def largest_sets(sets: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Those that are in no other: what is below them follows by summing.

    >>> largest_sets([(), (0,), (1,), (0, 2), (2,)])
    ((1,), (0, 2))
    """
    masks = {own: mask_of(own) for own in dict.fromkeys(sets)}
    holding: dict[int, list[int]] = {}
    for own, mask in masks.items():
        for i in own:
            holding.setdefault(i, []).append(mask)
    everything = list(masks.values())
    return tuple(
        own
        for own, mask in masks.items()
        if not any(mask != other and mask & other == mask for other in _near(own, holding, everything))
    )


def _near(own: tuple[int, ...], holding: dict[int, list[int]], everything: list[int]) -> list[int]:
    """The sets that share the attribute of fewest sets."""
    return min((holding[i] for i in own), key=len) if own else everything


class NonnegativeTables:
    """The non-negative tables nearest to an estimate, agreeing and with this total: solved for as far as is asked.

    Every step costs O(cells of all tables), and what has been reached is kept. What is returned does not depend on what
    was asked for before.
    """

    def __init__(self, family: TableFamily, estimate: ComponentTables, total: float) -> None:
        self._family, self._total = family, total
        self._target = self._cut = self._agreeing = family.flat(estimate)
        self._pull = np.zeros_like(self._target)
        self._rough: list[ComponentTables] = []
        self.steps = 0
        """Steps taken so far."""

    @cached_property
    def exact(self) -> ComponentTables:
        """To the end: no cell is negative and the tables agree exactly."""
        if self._total <= 0:
            return self._family.agreed(np.zeros(self._family.cells))
        while self._advance():
            pass
        return self._family.agreed(lifted(self._family, self._agreeing, self._total))

    def rough(self, rows: int) -> ComponentTables:
        """Good enough for so many records: no table is more than about one of them from `exact`.

        Agreeing, and negative in places, by no more than that.
        """
        number = next((at for at, share in enumerate(ROUGH) if share * rows <= 1), len(ROUGH))
        if number == len(ROUGH) or self._total <= 0:
            return self.exact
        while len(self._rough) <= number and self._advance():
            pass
        return self._rough[number] if number < len(self._rough) else self.exact

    def _advance(self) -> bool:
        """One step; whether another one is needed."""
        family = self._family
        if self._converged or self.steps == MOST_STEPS:
            return False
        self._agreeing = family.flat(family.agreed((self._target + self._cut - self._pull) / 2))
        self._cut = family.nearest_counts(self._agreeing + self._pull, self._total)
        self._pull += self._agreeing - self._cut
        self.steps += 1
        while len(self._rough) < len(ROUGH) and self._apart <= ROUGH[len(self._rough)]:
            self._rough.append(family.agreed(self._cut))
        return True

    @property
    def _converged(self) -> bool:
        unit = 1 / max(self._family.weights)
        return self.steps > 0 and np.abs(self._agreeing - self._cut).max(initial=0.0) <= ACCURACY * unit

    @property
    def _apart(self) -> float:
        """The largest share of a table's records by which the agreeing and the non-negative one differ."""
        offsets = self._family.marginals.layout.offsets[:-1]
        moved = np.add.reduceat(np.abs(self._agreeing - self._cut), offsets)
        return float(moved.max() / 2 / self._total)


def lifted(family: TableFamily, agreeing: Vector, total: float) -> Vector:
    """Agreeing tables with the total, mixed with the even distribution until no cell is negative."""
    found = float(agreeing[: prod(family.marginals.layout.shapes[0])].sum())
    even = total * family.even
    agreeing = agreeing + (total - found) * family.even
    # A little more than needed, for what is lost when tables are put together again.
    short = max(0.0, -float((agreeing / even).min())) + 1e-9
    share = short / (1 + short)
    return np.asarray((1 - share) * agreeing + share * even)
