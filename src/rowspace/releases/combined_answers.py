"""Four ways to answer from several measurements, each with its error bars.

Intervals take the shape of the noise into account: sums of Laplace noise have wider tails than normal noise. Where
measurements with different noise meet, every query's noise is taken to be of the kind that needs the widest interval.

Counts that a discovery showed, as evidence beside releases: what was paid for finding values is not paid again.

A shown count is too high on average, so least squares may not take it as it is. `error.beside_another` makes it
unbiased with the help of what the releases say about the same count, and that goes into least squares with weights that
depend on no noise. Errors are stated as if counts near the threshold, which the releases mostly carry, were not there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rowspace.error import beside_another
from rowspace.exceptions import UnsupportedWorkload
from rowspace.operators import DECOMPOSITION_LIMIT, Vector
from rowspace.planning import counts_of, found_rows, measured_rows
from rowspace.privacy import TruncatedLaplace
from rowspace.reconstruct import Measurement
from rowspace.strategy import CELLS_AT_ONCE, Pooled, Reconstruction, carried_by_one, widest
from rowspace.tables import answer_products
from rowspace.workload import Workload

from .evidence import Evidence, as_queries

if TYPE_CHECKING:
    from .discovered import Discovery

FEW_CELLS = CELLS_AT_ONCE
"""Up to so many cells are solved for all at once; tests choose another number."""

Columns = tuple[Vector, Vector, Vector]
"""Answers, standard errors, half-widths of intervals."""


class Answers(ABC):
    """A way to answer queries."""

    method: ClassVar[str]

    @abstractmethod
    def table(self, queries: Workload, level: float) -> Columns:
        """Answers, standard errors and half-widths, in the order of the queries."""

    def error_bars(self, queries: Workload, level: float) -> tuple[Vector, Vector]:
        """Standard errors and half-widths alone."""
        return self.table(queries, level)[1:]


@dataclass(frozen=True, eq=False)
class ByStrategy(Answers):
    """From one strategy."""

    measurement: Measurement

    method: ClassVar[str] = "consistent with one another, by least squares on averages of the same strategy"

    @cached_property
    def _pooled(self) -> Pooled:
        return Pooled((self.measurement,))

    @cached_property
    def _estimate(self) -> Reconstruction:
        return self._pooled.strategy.estimate(self.measurement.values)

    def error_bars(self, queries: Workload, level: float) -> tuple[Vector, Vector]:
        """Without an estimate."""
        return self._pooled.error_bars(queries.products(), level)

    def table(self, queries: Workload, level: float) -> Columns:
        """By least squares on this strategy, as a release does."""
        return self._estimate.answers(queries.products()), *self.error_bars(queries, level)


@dataclass(frozen=True, eq=False)
class ByTables(Answers):
    """From tables that were measured alike, component by component, whatever the number of cells."""

    evidence: Evidence

    method: ClassVar[str] = "consistent with one another, by generalized least squares on tables"

    def table(self, queries: Workload, level: float) -> Columns:
        """From the tables over each query's own attributes."""
        joint = self.evidence.tables
        assert joint is not None
        products = queries.products().unweighted()
        second = joint.query_variances(products)
        answer = answer_products(joint.tables, products)
        return answer, np.sqrt(second), widest(carried_by_one(second), self.evidence.measurements, level)


@dataclass(frozen=True, eq=False)
class ByCells(Answers):
    """From all strategies stacked, each divided by its noise's standard deviation."""

    evidence: Evidence

    method: ClassVar[str] = "consistent with one another, by generalized least squares on cells"

    @cached_property
    def _pooled(self) -> Pooled:
        return Pooled(self.evidence.measurements)

    def error_bars(self, queries: Workload, level: float) -> tuple[Vector, Vector]:
        """Without an estimate."""
        return self._pooled.error_bars(queries.products(), level)

    def table(self, queries: Workload, level: float) -> Columns:
        """From the estimate of every cell."""
        errors, half = self.error_bars(queries, level)
        return np.asarray(queries.operator() @ self.evidence.estimate), errors, half


@dataclass(frozen=True, eq=False)
class ByQuery(Answers):
    """Each query by itself: the average of its answers from every measurement, weighted by 1/variance.

    For strategies too different to be solved together over so many cells. Unbiased, with known variances, better than
    each; but not the best there is, and averages of different queries need not add up.
    """

    measurements: Sequence[Measurement]

    method: ClassVar[str] = (
        "each the average of the releases' answers with weights 1/variance, so sums of answers may differ a little "
        "from answers to sums"
    )

    @cached_property
    def _single(self) -> list[ByStrategy]:
        return [ByStrategy(measurement) for measurement in self.measurements]

    def table(self, queries: Workload, level: float) -> Columns:
        """Part by part of the workload, each by the measurements that support it."""
        found = [self._part(Workload(queries.domain, [part]), level) for part in queries.parts]
        answer, error, half = (np.concatenate(column) for column in zip(*found, strict=True))
        return answer, error, half

    def _part(self, queries: Workload, level: float) -> Columns:
        """The queries of one part, by the measurements that support them."""
        found = []
        for single in self._single:
            try:
                found.append((single.table(queries, level), single.measurement))
            except UnsupportedWorkload as error:
                unsupported = error
        if not found:
            raise unsupported
        errors = np.array([columns[1] for columns, _ in found])
        # A query of no variance (no cell satisfies it) has the same answer everywhere.
        certain = (errors == 0).any(axis=0)
        precision = np.where(certain, 1.0, 1 / np.where(errors > 0, errors, 1.0) ** 2)
        weights = precision / precision.sum(axis=0)
        answer = np.einsum("ij,ij->j", weights, np.array([columns[0] for columns, _ in found]))
        second = np.einsum("ij,ij->j", weights**2, errors**2)
        return (
            answer,
            np.sqrt(second),
            widest(carried_by_one(second), [measurement for _, measurement in found], level),
        )


def answers_from(evidence: Evidence) -> Answers:
    """Exactly where one strategy, like tables or few cells allow it, else query by query."""
    if len(evidence.measurements) == 1:
        return ByStrategy(evidence.measurements[0])
    cells = evidence.domain.size
    if cells > FEW_CELLS and evidence.tables is not None:
        return ByTables(evidence)
    return ByCells(evidence) if cells <= DECOMPOSITION_LIMIT else ByQuery(evidence.measurements)


@dataclass(frozen=True, eq=False)
class BesideFound(Answers):
    """Answers with all shown counts, and errors without those near the threshold."""

    answers: Answers
    errors: Answers

    @property
    def method(self) -> str:  # type: ignore[override]
        """How the answers were found, in words."""
        return f"{self.answers.method}, with the counts of what was found, made unbiased"

    def error_bars(self, queries: Workload, level: float) -> tuple[Vector, Vector]:
        """Those of the measurements that errors are stated for."""
        return self.errors.error_bars(queries, level)

    def table(self, queries: Workload, level: float) -> Columns:
        """Answers from all, errors from those."""
        return self.answers.table(queries, level)[0], *self.error_bars(queries, level)


def evidence_beside(alone: Evidence, found: Sequence[Discovery]) -> tuple[Evidence, Evidence]:
    """The evidence of releases together with discoveries: to answer from, and to state errors by.

    Raises:
        UnsupportedWorkload: The releases do not tell the counts of what was found by themselves.
    """
    every, certain = list(alone.measurements), list(alone.measurements)
    answers = answers_from(alone)
    for each in found:
        queries, noise = as_queries(alone.domain, counts_of(each, alone.domain), ()), each.plan.threshold
        assert isinstance(noise, TruncatedLaplace)
        try:
            other = answers.table(queries, 0.95)[0]
        except UnsupportedWorkload:
            raise UnsupportedWorkload(
                f"expected releases that count the values of {' and '.join(each.plan.columns)} that were found: a "
                "count that was shown for its noise is no evidence by itself; ask for them in the plan"
            ) from None
        values, as_shown = beside_another(noise, each.plan.least, each.noisy_counts, other)
        rows = found_rows(queries)
        every.append(Measurement(**vars(measured_rows(rows, noise)), values=values))
        if as_shown.any():
            certain.append(Measurement(**vars(measured_rows(rows[as_shown], noise)), values=values[as_shown]))
    return replace(alone, measurements=tuple(every)), replace(alone, measurements=tuple(certain))


def named(found: Sequence[Discovery]) -> str:
    """How many discoveries, in words."""
    return f" and {len(found)} {'discovery' if len(found) == 1 else 'discoveries'}" if found else ""
