"""Consistent counts in one of two forms: every cell where that many fit, else tables that agree.

Cells give more: whatever is asked of them, one population answers. Tables are for domains of any size.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.operators import Identity, TableOperator
from rowspace.operators.base import Operator, Vector
from rowspace.operators.component_tables import ComponentTables
from rowspace.operators.subset_lattice import mask_of, members
from rowspace.reconstruct import answer_products
from rowspace.reconstruct.joint_tables import JointTables
from rowspace.reconstruct.nonnegative import nonnegative_cells
from rowspace.reconstruct.nonnegative_tables import (
    TableFamily,
    largest_sets,
    nonnegative_tables,
    weighted_family,
)
from rowspace.reconstruct.row_repairs import cell_numbers, repaired_rows
from rowspace.reconstruct.table_rows import Codes, drawn_rows
from rowspace.reconstruct.whole_numbers import whole_cells
from rowspace.workload import Workload, total

from .consistent_effect import Effect
from .evidence import Evidence, measurement_of
from .release import TABLE_LIMIT, Release

if TYPE_CHECKING:
    from .combined import Combined

CELL_LIMIT = 2**20
"""Most cells that are solved for one by one; beyond, strategies of tables give tables."""

TABLE_CELL_LIMIT = 2**24
"""Most cells of all tables together."""

ROW_LIMIT = 2**26
"""Most records that are made at once."""


class Counts(ABC):
    """Counts that are not negative and agree with one another."""

    @property
    @abstractmethod
    def method(self) -> str:
        """How they were found, in words."""

    @abstractmethod
    def answer(self, queries: Workload) -> Vector:
        """Answers to queries over the release's domain."""

    @abstractmethod
    def codes(self, rows: int | None, rng: np.random.Generator) -> Codes:
        """Records as cell numbers (attributes, rows); as many as the counts' total unless given."""

    @abstractmethod
    def effect(self) -> Effect:
        """What was done to the answers of the workload."""


def counts_of(release: Release | Combined, *, integral: bool) -> Counts:
    """The counts of a release: over cells, or over tables where its cells are too many."""
    evidence = evidence_of(release)
    size = evidence.domain.size
    # The total is kept: it must have been measured (`UnsupportedWorkload` otherwise).
    records = float(release.ask(total(evidence.domain))["answer"].iloc[0])
    if size <= CELL_LIMIT:
        return CellCounts(release, evidence, records, integral)
    if evidence.tables is None:
        raise TooLarge(
            f"the attributes have {size:,} joint cells, more than {CELL_LIMIT:,}, and were not measured by tables "
            "alike; plan marginals to have consistent tables"
        )
    return TableCounts(release, evidence.workload, evidence.tables, records, integral)


def evidence_of(release: Release | Combined) -> Evidence:
    """What a release, or several together, say about the counts."""
    if isinstance(release, Release):
        return Evidence(release.plan.counted, (measurement_of(release),))
    return release.evidence


@dataclass(frozen=True, eq=False)
class CellCounts(Counts):
    """A count for every cell, by non-negative least squares on all that was measured."""

    release: Release | Combined
    evidence: Evidence
    records: float
    integral: bool

    @property
    def method(self) -> str:
        """How they were found, in words."""
        rounded = ", then rounded so that the workload's answers change least" if self.integral else ""
        return f"by non-negative least squares on the cells with the total kept{rounded}"

    @cached_property
    def nonnegative(self) -> Vector:
        """The non-negative least-squares solution."""
        start = np.full(self.evidence.domain.size, self.records / self.evidence.domain.size)
        if not any(isinstance(m.strategy, TableOperator) for m in self.evidence.measurements):
            start = self.evidence.estimate
        return nonnegative_cells(self.evidence.measurements, start, self.records).counts

    @cached_property
    def counts(self) -> Vector:
        """What queries are asked of."""
        if not self.integral:
            return self.nonnegative
        return whole_cells(self.nonnegative, max(0, round(self.records)), self._gram).astype(np.float64)

    @cached_property
    def _gram(self) -> Operator:
        return self.evidence.workload.unweighted_operator().gram()

    def answer(self, queries: Workload) -> Vector:
        """From the cells."""
        return np.asarray(queries.unweighted_operator() @ self.counts)

    def codes(self, rows: int | None, rng: np.random.Generator) -> Codes:
        """Every cell as often as its share says, within one, in random order."""
        number = checked_rows(rows, self.records)
        offset = float(rng.random())
        times = whole_cells(self.nonnegative, number, self._gram, offset)
        cells = rng.permutation(np.repeat(np.arange(len(times)), times))
        return np.stack(np.unravel_index(cells, self.evidence.domain.shape))

    def effect(self) -> Effect:
        """From all answers; by the Gram matrix where they are too many, ‖W d‖² = d·WᵗW·d."""
        rounding = self._moved(self.counts - self.nonnegative) if self.integral else 0.0
        if self.evidence.workload.size <= TABLE_LIMIT or not isinstance(self.release, Release):
            return Effect.measured(self.release, self.answer(self.evidence.workload), rounding)
        change = self._moved(self.counts - self.evidence.estimate)
        return Effect(change, self.release.plan.rmse, rounding, None)

    def _moved(self, change: Vector) -> float:
        """Root mean square of the workload's answers to a change of the cells."""
        squares = float(change @ (self._gram @ change))
        return sqrt(max(0.0, squares) / self.evidence.workload.size)


@dataclass(frozen=True, eq=False)
class TableCounts(Counts):
    """Tables over all sets of attributes measured together that are in no other."""

    release: Release | Combined
    workload: Workload
    joint: JointTables
    records: float
    integral: bool

    @property
    def method(self) -> str:
        """How they were found, in words."""
        if self.integral:
            return (
                "counted from synthetic records that were fitted to all tables, so that all tables are those of one "
                "population; no table is matched exactly"
            )
        return "by the nearest non-negative tables with the total kept that agree wherever they overlap"

    @cached_property
    def family(self) -> TableFamily:
        """All measured tables, so that a precise small one is not moved for the sake of a coarse large one."""
        found = weighted_family(self.joint.sizes, {own: self._precision(own) for own in self._measured})
        if found.cells > TABLE_CELL_LIMIT:
            raise TooLarge(
                f"the tables have {found.cells:,} cells together, more than {TABLE_CELL_LIMIT:,}; plan smaller "
                "marginals"
            )
        return found

    @cached_property
    def _measured(self) -> list[tuple[int, ...]]:
        """The sets of attributes whose component is known."""
        return [tuple(members(mask)) for mask in self.joint.variances]

    @cached_property
    def largest(self) -> tuple[tuple[int, ...], ...]:
        """The sets that records are drawn along: what is below them follows."""
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
    def nonnegative(self) -> ComponentTables:
        """The nearest non-negative tables that agree."""
        return nonnegative_tables(self.family, self.joint.tables, self.records)

    @cached_property
    def tables(self) -> ComponentTables:
        """What queries are asked of."""
        if not self.integral:
            return self.nonnegative
        # Always the same records, so that answers do not change from call to call.
        codes = self.codes(None, np.random.default_rng(0))
        return self.family.agreed(counted(codes, self.family))

    def answer(self, queries: Workload) -> Vector:
        """From the table over each query's own attributes."""
        return answer_products(self.tables, queries.products().unweighted())

    def codes(self, rows: int | None, rng: np.random.Generator) -> Codes:
        """Drawn along the tables that tie attributes most closely, then brought closer to all tables."""
        number = checked_rows(rows, self.records)
        sets, sizes = self.largest, self.joint.sizes
        codes = drawn_rows(self.nonnegative, sets, sizes, number, rng)
        return repaired_rows(codes, self.nonnegative, sets, sizes, rng)

    def effect(self) -> Effect:
        """From all answers."""
        products = self.workload.products().unweighted()
        between, after = (answer_products(tables, products) for tables in (self.nonnegative, self.tables))
        return Effect.measured(self.release, after, float(np.sqrt(np.mean((after - between) ** 2))))


def counted(codes: Codes, family: TableFamily) -> Vector:
    """All tables of some records, one after the other."""
    shapes = family.marginals.count_shapes
    return np.concatenate(
        [
            np.bincount(cell_numbers(codes, own, family.sizes), minlength=prod(shape)).astype(np.float64)
            for own, shape in zip(family.sets, shapes, strict=True)
        ]
    )


def checked_rows(rows: int | None, records: float) -> int:
    """The number of records to make: as many as the total says unless given."""
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, (int, np.integer)) or rows < 0):
        got = rows if isinstance(rows, (int, float)) else type(rows).__name__
        raise InvalidInput(f"expected rows as a whole number, 0 or more, got {got}")
    number = max(0, round(records)) if rows is None else int(rows)
    if number > ROW_LIMIT:
        raise TooLarge(f"{number:,} records are more than {ROW_LIMIT:,}; give rows a smaller number")
    return number
