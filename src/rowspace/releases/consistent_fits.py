"""Non-negative least squares on what releases measured, over cells or over tables: as exactly as is asked, and kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import ClassVar

import numpy as np

from rowspace.exceptions import TooLarge
from rowspace.operators import Identity, Vector
from rowspace.reconstruct import (
    ROUGH,
    JointTables,
    Measurement,
    NonnegativeTables,
    TableFamily,
    largest_sets,
    nonnegative_cells,
    raked,
    weighted_family,
)
from rowspace.strategy import Facts, Strategy
from rowspace.tables import ComponentTables, mask_of, members
from rowspace.workload import Workload

from .evidence import Evidence

ALMOST_NONE = 1e-4
"""Variance of a fact beside the least variance of what was measured, until counts are raked to it."""

TABLE_CELL_LIMIT = 2**24
"""Most cells of all tables together."""


@dataclass(frozen=True, eq=False)
class CellFit:
    """Non-negative least squares on all that was measured, as exactly as is asked."""

    evidence: Evidence
    records: float
    facts: Facts | None = None
    """What the counts must keep to."""

    @cached_property
    def rough(self) -> Vector:
        """A count for every cell, right within the noise."""
        start = np.full(self.evidence.domain.size, self.records / self.evidence.domain.size)
        if all(Strategy.of(m.strategy).tables is None for m in self.evidence.measurements):
            start = self.evidence.estimate
        return self._kept(nonnegative_cells(self._measurements, start, self.records, ROUGH).counts)

    @cached_property
    def exact(self) -> Vector:
        """A count for every cell: the solution."""
        return self._kept(nonnegative_cells(self._measurements, self.rough, self.records).counts)

    @cached_property
    def _measurements(self) -> tuple[Measurement, ...]:
        """What was measured, and facts as if they had been, with next to no noise."""
        found = self.evidence.measurements
        if self.facts is None or not self.facts.known:
            return found
        variance = ALMOST_NONE * min(own.variance for own in found)
        return *found, Measurement(self.facts.queries.operator(), variance, 0.0, 0.0, self.facts.values)

    def _kept(self, counts: Vector) -> Vector:
        if self.facts is None:
            return counts
        totals = np.concatenate([self.facts.values, np.zeros(len(self.facts.empty))])
        return raked(counts, self.facts.groups(), totals)


@dataclass(frozen=True, eq=False)
class TableFit:
    """The nearest non-negative tables that agree, over all sets of attributes measured together."""

    words: ClassVar[str] = (
        "by the nearest non-negative tables with the total kept that agree wherever they overlap"
    )

    workload: Workload
    joint: JointTables
    records: float

    @property
    def sizes(self) -> tuple[int, ...]:
        """Cells of every attribute."""
        return self.joint.sizes

    @cached_property
    def family(self) -> TableFamily:
        """All measured tables, so that a precise small one is not moved for the sake of a coarse large one."""
        found = weighted_family(self.joint.sizes, {own: self._precision(own) for own in self._measured})
        check_cells(found.cells)
        return found

    @cached_property
    def _measured(self) -> list[tuple[int, ...]]:
        """The sets of attributes whose component is known."""
        return [tuple(members(mask)) for mask in self.joint.variances]

    @cached_property
    def largest(self) -> tuple[tuple[int, ...], ...]:
        """The sets that records are drawn along, those in no other: what is below them follows."""
        return largest_sets(self._measured)

    def _precision(self, own: tuple[int, ...]) -> float:
        """1/variance of a component, per degree of freedom."""
        spread = prod(self._traces[i] / (self.joint.sizes[i] - 1) for i in own)
        return 1 / (self.joint.variances[mask_of(own)] * spread)

    @cached_property
    def _traces(self) -> list[float]:
        """tr K of every attribute."""
        return [
            split.trace(Identity(n)) for n, split in zip(self.joint.sizes, self.joint.splits, strict=True)
        ]

    @cached_property
    def _solution(self) -> NonnegativeTables:
        return NonnegativeTables(self.family, self.joint.tables, self.records)

    @property
    def exact(self) -> ComponentTables:
        """The nearest non-negative tables that agree."""
        return self._solution.exact

    def rough(self, rows: int) -> ComponentTables:
        """Good enough for so many records."""
        return self._solution.rough(rows)


def check_cells(cells: int) -> None:
    """Refuse tables of too many cells."""
    if cells > TABLE_CELL_LIMIT:
        raise TooLarge(
            f"the tables have {cells:,} cells together, more than {TABLE_CELL_LIMIT:,}; plan smaller marginals"
        )
