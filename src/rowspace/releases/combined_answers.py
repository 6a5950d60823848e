"""Four ways to answer from several measurements, each with its error bars.

Intervals take the shape of the noise into account: sums of Laplace noise have wider tails than normal noise. Where
measurements with different noise meet, every query's noise is taken to be of the kind that needs the widest interval.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from rowspace.error import Moments, half_widths, moments
from rowspace.exceptions import UnsupportedWorkload
from rowspace.operators import Operator
from rowspace.operators.base import Vector
from rowspace.reconstruct import Measurement, whitened
from rowspace.strategy import Reconstruction, Strategy
from rowspace.tables import answer_products
from rowspace.threads import one_thread_if_small
from rowspace.workload import Workload

from .evidence import Evidence

Columns = tuple[Vector, Vector, Vector]
"""Answers, standard errors, half-widths of intervals."""


class Answers(ABC):
    """A way to answer queries."""

    method: ClassVar[str]

    @abstractmethod
    def table(self, queries: Workload, level: float) -> Columns:
        """Answers, standard errors and half-widths, in the order of the queries."""


@dataclass(frozen=True, eq=False)
class ByStrategy(Answers):
    """From one strategy."""

    measurement: Measurement

    method: ClassVar[str] = "consistent with one another, by least squares on averages of the same strategy"

    @cached_property
    def _strategy(self) -> Strategy:
        return Strategy.of(self.measurement.strategy)

    @cached_property
    def _estimate(self) -> Reconstruction:
        return self._strategy.estimate(self.measurement.values)

    def table(self, queries: Workload, level: float) -> Columns:
        """By least squares on this strategy, as a release does."""
        own, products = self.measurement, queries.products()
        parts = self._strategy.moments(products)
        answer = self._estimate.answers(products)
        # The noise moves in steps: so do the answers, by the spacing of its coefficients times that.
        parts = replace(parts, spacing=parts.spacing * own.step)
        half = half_widths(parts, own, level, own.step or 1.0)
        return answer, np.sqrt(own.variance * parts.second), half


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
        # As if a single noise variable carried all of it: the widest tails there can be.
        parts = Moments(second, second**2, np.sqrt(second), np.zeros_like(second))
        return answer, np.sqrt(second), widest(parts, self.evidence.measurements, level)


@dataclass(frozen=True, eq=False)
class ByCells(Answers):
    """From all strategies stacked, each divided by its noise's standard deviation."""

    evidence: Evidence

    method: ClassVar[str] = "consistent with one another, by generalized least squares on cells"

    @cached_property
    def _strategy(self) -> Operator:
        return whitened(self.evidence.measurements)[0]

    def table(self, queries: Workload, level: float) -> Columns:
        """From the estimate of every cell."""
        W = queries.operator()
        with one_thread_if_small(self._strategy.shape[1]):
            parts = moments(self._strategy, W)
        parts = replace(parts, spacing=np.zeros_like(parts.spacing))
        half = widest(parts, self.evidence.measurements, level)
        return np.asarray(W @ self.evidence.estimate), np.sqrt(parts.second), half


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
        parts = Moments(second, second**2, np.sqrt(second), np.zeros_like(second))
        return answer, np.sqrt(second), widest(parts, [measurement for _, measurement in found], level)


@dataclass(frozen=True)
class _UnitNoise:
    """Noise of variance one."""

    excess_kurtosis: float
    variance: float = 1.0


def widest(parts: Moments, measurements: Sequence[Measurement], level: float) -> Vector:
    """Half-widths that hold whichever measurement's noise an answer is made of.

    At high levels the heaviest tails need the widest interval, at low ones the lightest. Noise in whole steps is at
    most half a step from a continuous law; no answer's step is larger than its largest coefficient.
    """
    shapes = {0.0, max(measurement.excess_kurtosis for measurement in measurements)}
    step = float(
        max((measurement.step or 1.0) / np.sqrt(measurement.variance) for measurement in measurements)
    )
    each = [half_widths(parts, _UnitNoise(shape), level, step) for shape in sorted(shapes)]
    return np.asarray(np.max(each, axis=0))
