"""Consistent counts in one of two forms: every cell where that many fit, else tables that agree.

Cells give more: whatever is asked of them, one population answers. Tables are for domains of any size.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from rowspace.exceptions import InvalidInput, TooLarge, UnsupportedWorkload
from rowspace.operators import Operator, Vector
from rowspace.planning import is_count
from rowspace.reconstruct import Codes, TableFamily, cell_numbers, drawn_rows, repaired_rows, whole_cells
from rowspace.strategy import Facts
from rowspace.tables import ComponentTables, answer_products
from rowspace.workload import Workload, total

from .consistent_fits import CellFit, TableFit
from .estimate_fit import EstimateFit
from .evidence import Evidence, measurement_of
from .release import TABLE_LIMIT, Release

if TYPE_CHECKING:
    from .combined import Combined


@dataclass(frozen=True)
class Effect:
    """What consistency did to the answers of the workload: root mean squares over all of them.

    >>> print(Effect(0.5, 2.0, 0.0, 12))
    moved the answers by 0.5 (root mean square; their standard error is 2); 12 of them were negative
    >>> print(Effect(0.5, 2.0, 0.3, None))
    moved the answers by 0.5 (root mean square; ...), by 0.3 to be whole, which adds up to 1.1 % to it
    """

    change: float
    """From the unbiased answers."""

    std_error: float
    """Of the unbiased answers."""

    rounding: float
    """From the non-negative answers to the whole ones; zero where nothing was rounded."""

    negative: int | None
    """How many of the unbiased answers were negative; None when there are too many to look at."""

    @property
    def rounding_adds(self) -> float:
        """The share by which rounding raises the root mean square error, when it is independent of the noise."""
        return sqrt(1 + (self.rounding / self.std_error) ** 2) - 1 if self.std_error > 0 else 0.0

    @classmethod
    def measured(cls, release: Release | Combined, answers: Vector, rounding: float) -> Effect:
        """From the workload's consistent answers and the release's own."""
        own = release.answers()
        change = answers - own["answer"].to_numpy()
        return cls(
            float(np.sqrt(np.mean(change**2))),
            float(np.sqrt(np.mean(own["std_error"] ** 2))),
            rounding,
            int((own["answer"] < 0).sum()),
        )

    def __str__(self) -> str:
        rounding = (
            f", by {self.rounding:.3g} to be whole, which adds up to {100 * self.rounding_adds:.2g} % to it"
            if self.rounding
            else ""
        )
        negative = "" if self.negative is None else f"; {self.negative:,} of them were negative"
        return (
            f"moved the answers by {self.change:.3g} (root mean square; their standard error is "
            f"{self.std_error:.3g}){rounding}{negative}"
        )


CELL_LIMIT = 2**20
"""Most cells that are solved for one by one; beyond, strategies of tables give tables."""

ROW_LIMIT = 2**26
"""Most records that are made at once."""

FEW_ROWS = 1000
"""Records for which a rough solution over cells will do: the noise moves shares of 1/1000 by more than it is off."""

CLEARLY = 2 / 3
"""Share of the measurement's squared error below which estimates of tables are taken: at little noise, and in tables of
a few dozen cells, the nearest tables are as good."""


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


def counts_of(release: Release | Combined, *, integral: bool, by: str | None = None) -> Counts:
    """The counts of a release, found once and kept with it: by projection, by estimate, or by the better one."""
    if by == "estimate":
        return TableCounts(release, integral=integral, fit=release._tables)
    projected = release._counts
    if by is None and isinstance(projected, TableCounts) and projected.fit.records > 0:
        # Cells answer whatever is asked; where only tables are kept, the estimate of them answers as much.
        estimate = _better_estimate(release)
        if estimate is not None:
            return TableCounts(release, integral=integral, fit=estimate)
    return replace(projected, integral=integral)


def _better_estimate(release: Release | Combined) -> EstimateFit | None:
    """The estimate, where it answers the whole workload with less error than the measurement, by its own account."""
    try:
        found = release._tables
    except (TooLarge, UnsupportedWorkload):
        return None
    return found if found.complete and found.expected_share < CLEARLY else None


def found_counts(release: Release | Combined) -> CellCounts | TableCounts:
    """The counts of a release: over cells, or over tables where its cells are too many."""
    evidence = evidence_of(release)
    size = evidence.domain.size
    # The total is kept: it must have been measured (`UnsupportedWorkload` otherwise).
    records = float(release.ask(total(evidence.domain))["answer"].iloc[0])
    if size <= CELL_LIMIT:
        return CellCounts(release, integral=False, fit=CellFit(evidence, records, _facts(release)))
    if getattr(release.plan, "known", None):
        raise TooLarge(
            f"consistent counts that keep to known facts are made cell by cell, and there are {size:,} cells, more "
            f"than {CELL_LIMIT:,}; use release.answers()"
        )
    if evidence.tables is None:
        raise TooLarge(
            f"the attributes have {size:,} joint cells, more than {CELL_LIMIT:,}, and were not measured by tables "
            "alike; plan marginals to have consistent tables"
        )
    return TableCounts(release, integral=False, fit=TableFit(evidence.workload, evidence.tables, records))


def _facts(release: Release | Combined) -> Facts | None:
    """The facts that counts must keep to."""
    if not isinstance(release, Release) or not release.plan.known:
        return None
    facts = release.plan.known.over(release.plan.domain)
    if not all(map(is_count, facts.known)):
        raise InvalidInput("expected known facts to be counts for consistent counts, got sums too")
    return facts


def evidence_of(release: Release | Combined) -> Evidence:
    """What a release, or several together, say about the counts."""
    if isinstance(release, Release):
        return Evidence(release.plan.counted, (measurement_of(release),))
    return release.evidence


@dataclass(frozen=True, eq=False)
class CellCounts(Counts):
    """A count for every cell, by non-negative least squares on all that was measured."""

    release: Release | Combined
    integral: bool
    fit: CellFit

    @property
    def evidence(self) -> Evidence:
        """What was measured."""
        return self.fit.evidence

    @property
    def method(self) -> str:
        """How they were found, in words."""
        rounded = ", then rounded so that the workload's answers change least" if self.integral else ""
        return f"by non-negative least squares on the cells with the total kept{rounded}"

    @property
    def nonnegative(self) -> Vector:
        """The non-negative least-squares solution."""
        return self.fit.exact

    @cached_property
    def counts(self) -> Vector:
        """What queries are asked of."""
        if not self.integral:
            return self.nonnegative
        return whole_cells(self.nonnegative, max(0, round(self.fit.records)), self._gram).astype(np.float64)

    @cached_property
    def _gram(self) -> Operator:
        return self.evidence.workload.operator().gram()

    def answer(self, queries: Workload) -> Vector:
        """From the cells."""
        return np.asarray(queries.operator() @ self.counts)

    def codes(self, rows: int | None, rng: np.random.Generator) -> Codes:
        """Every cell as often as its share says, within one, in random order."""
        number = checked_rows(rows, self.fit.records)
        offset = float(rng.random())
        shares = self.fit.rough if number <= FEW_ROWS else self.fit.exact
        times = whole_cells(shares, number, self._gram, offset)
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
    integral: bool
    fit: TableFit | EstimateFit

    @property
    def method(self) -> str:
        """How they were found, in words."""
        if self.integral:
            return (
                "counted from synthetic records that were fitted to all tables, so that all tables are those of one "
                "population; no table is matched exactly"
            )
        return self.fit.words

    @property
    def nonnegative(self) -> ComponentTables:
        """The non-negative tables that agree."""
        return self.fit.exact

    @cached_property
    def tables(self) -> ComponentTables:
        """What queries are asked of."""
        if not self.integral:
            return self.nonnegative
        # Always the same records, so that answers do not change from call to call.
        codes = self.codes(None, np.random.default_rng(0))
        return self.fit.family.agreed(counted(codes, self.fit.family))

    def answer(self, queries: Workload) -> Vector:
        """From the table over each query's own attributes."""
        return answer_products(self.tables, queries.products().unweighted())

    def codes(self, rows: int | None, rng: np.random.Generator) -> Codes:
        """Drawn along the tables that tie attributes most closely, then brought closer to all tables."""
        number = checked_rows(rows, self.fit.records)
        sets, sizes = self.fit.largest, self.fit.sizes
        tables = self.fit.rough(number)
        codes = drawn_rows(tables, sets, sizes, number, rng)
        return repaired_rows(codes, tables, sets, sizes, rng)

    def distances(self, codes: Codes) -> dict[str, float]:
        """How far the tables of some records are from those they were made from: Σ|difference|/records of each."""
        rows, tables = max(1, codes.shape[1]), self.fit.rough(codes.shape[1])
        names = self.release.plan.domain.names
        found = {}
        for own in self.fit.largest:
            wanted = np.maximum(tables.table(own).ravel(), 0.0)
            share = wanted / wanted.sum() if wanted.sum() > 0 else wanted
            has = np.bincount(cell_numbers(codes, own, self.fit.sizes), minlength=len(wanted)) / rows
            found[" × ".join(names[i] for i in own) or "total"] = float(np.abs(has - share).sum())
        return found

    def effect(self) -> Effect:
        """From all answers."""
        products = self.fit.workload.products().unweighted()
        between, after = (answer_products(tables, products) for tables in (self.nonnegative, self.tables))
        return Effect.measured(self.release, after, float(np.sqrt(np.mean((after - between) ** 2))))


def counted(codes: Codes, family: TableFamily) -> Vector:
    """All tables of some records, one after the other."""
    shapes = family.marginals.layout.shapes
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
