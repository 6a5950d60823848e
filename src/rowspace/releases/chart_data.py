"""The numbers of a chart, asked of a release at no cost, and figures by matplotlib; pages draw the same numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from rowspace import operators as op
from rowspace.domain import Dates, Domain, Numeric
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.operators import Vector
from rowspace.workload import Factor, Mean, Part, Workload, marginal, prefixes, product

from .combined import Combined
from .means import FIGURES, mean_figures
from .release import Release

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_MERGED = 2**20


@dataclass(frozen=True)
class Estimates:
    """Some answers with their intervals, under the labels they are drawn with."""

    labels: tuple[str, ...]
    answer: tuple[float, ...]
    std_error: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def half_width(self) -> list[float]:
        """Half the width of each interval: what a ± means."""
        return [(high - low) / 2 for low, high in zip(self.low, self.high, strict=True)]

    def joined(self, other: Estimates) -> Estimates:
        """These, then the others."""
        return Estimates(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))

    def answered(self) -> Estimates:
        """Those that have an answer: a mean of hardly any records has none."""
        return self.take(at for at, answer in enumerate(self.answer) if not math.isnan(answer))

    def take(self, indices: Iterable[int]) -> Estimates:
        """Some of them, in the order of the indices."""
        at = list(indices)
        return Estimates(*(tuple(column[index] for index in at) for column in vars(self).values()))


@dataclass(frozen=True)
class ChartAxis:
    """The cells of an attribute or of a taxonomy level along a chart, `width` neighbours taken together."""

    name: str
    labels: tuple[str, ...]
    numeric: Numeric | None = None
    width: int = 1

    @property
    def equal_edges(self) -> Vector | None:
        """The edges of numbers in bins of one width; other bins would need heights per unit of width."""
        if self.numeric is None or isinstance(self.numeric, Dates):
            return None
        widths = np.diff(self.numeric.edges)
        return self.numeric.edges if np.allclose(widths, widths[0]) else None


@dataclass(frozen=True)
class ChartTable:
    """Answers by two attributes, row by row."""

    rows: ChartAxis
    columns: ChartAxis
    data: Estimates

    def transposed(self) -> ChartTable:
        """The same table with its axes exchanged."""
        width = len(self.columns.labels)
        order = (at for column in range(width) for at in range(column, len(self.data), width))
        return ChartTable(self.columns, self.rows, self.data.take(order))


def chart_axis(domain: Domain, name: str, most: int | None = None) -> ChartAxis:
    """An attribute or level; the bins of a numeric one are merged until there are no more than `most`."""
    owner, level = domain.resolve(name)
    if level is not None:
        found = domain.level(level)
        return ChartAxis(name, tuple(found.label(at) for at in range(found.size)))
    attribute = domain.dimension(owner)
    if not isinstance(attribute, Numeric):
        return ChartAxis(name, tuple(attribute.labels()))
    n, width = attribute.size, 1 if most is None else math.ceil(attribute.size / most)
    spans = (attribute.span_label(first, min(first + width, n) - 1) for first in range(0, n, width))
    return ChartAxis(name, tuple(spans), attribute, width)


def histogram(release: Release | Combined, axis: ChartAxis, level: float) -> Estimates:
    """The number of records in each cell of an axis."""
    domain = release.plan.domain
    if axis.width == 1:
        return _ask(release, marginal(domain, axis.name), axis.labels, level)
    return _ask(
        release, product(domain, {axis.name: _merging(domain, axis, _MOST_MERGED)}), axis.labels, level
    )


def cumulative(release: Release | Combined, axis: ChartAxis, level: float) -> Estimates:
    """The number of records up to the end of each cell of an axis."""
    domain = release.plan.domain
    labels = tuple(f"up to {label}" for label in axis.labels)
    if axis.width == 1:
        return _ask(release, prefixes(domain, axis.name), labels, level)
    summed = op.Dense(_merging(domain, axis, _MOST_MERGED // 64).to_dense().cumsum(axis=0))
    return _ask(release, product(domain, {axis.name: summed}), labels, level)


def missing_records(release: Release | Combined, name: str, level: float) -> Estimates:
    """The number of records whose value of an attribute or level is missing."""
    queries = marginal(release.plan.domain, name, missing=True)
    data = _ask(release, queries, tuple(_labels(queries.parts[0].factors[0])), level)
    return data.take([len(data) - 1])


def chart_table(
    release: Release | Combined, rows: str, columns: str, level: float, *, missing: bool = False
) -> ChartTable:
    """The number of records by two attributes or levels; with `missing`, also where a value is missing."""
    domain = release.plan.domain
    queries = marginal(domain, rows, columns, missing=missing)
    # The answers come in the order of the domain, whatever the order of the names.
    first, second = sorted((rows, columns), key=lambda name: domain.position(domain.resolve(name)[0]))
    data = _ask(release, queries, tuple(queries.labels()), level)
    if missing:
        # What is missing has no place among numbers: then the axis is a list of names.
        named = zip((first, second), queries.parts[0].factors, strict=True)
        down, along = (ChartAxis(name, tuple(_labels(factor))) for name, factor in named)
    else:
        down, along = chart_axis(domain, first), chart_axis(domain, second)
    table = ChartTable(down, along, data)
    return table if rows == first else table.transposed()


def answers_of(release: Release | Combined, parts: Sequence[Part], level: float) -> Estimates:
    """The answers of some parts of the workload, labelled as the workload labels them."""
    queries = Workload(release.plan.domain, list(parts))
    means = [part for part in parts if part.factors and isinstance(part.factors[-1], Mean)]
    if not means:
        return _ask(release, queries, tuple(queries.labels()), level)
    if len(means) < len(parts):
        raise InvalidInput("expected means apart from other queries")
    figures = mean_figures(release, means, level)
    columns = (np.concatenate([own[name] for own in figures]).tolist() for name in FIGURES)
    return Estimates(tuple(queries.labels()), *map(tuple, columns))


def _ask(release: Release | Combined, queries: Workload, labels: tuple[str, ...], level: float) -> Estimates:
    """The answers under these labels."""
    answers = release.ask(queries, level)
    return Estimates(labels, *(tuple(answers[name].tolist()) for name in FIGURES))


def _labels(factor: Factor) -> list[str]:
    """What stands in a table for each query of a factor."""
    return factor.entries(np.arange(factor.size))


def _merging(domain: Domain, axis: ChartAxis, most: int) -> op.Operator:
    """The 0/1 matrix that adds up neighbouring cells."""
    n = domain[axis.name].size
    if n > most:
        raise TooLarge(f"a chart of {n:,} cells taken together exceeds {most:,}; draw a coarser level")
    at = np.arange(n)
    return op.Sparse(
        scipy.sparse.csr_array((np.ones(n), (at // axis.width, at)), shape=(len(axis.labels), n))
    )


_MOST_CELLS = 2**17


def plot_release(
    release: Release | Combined, *names: str, level: float = 0.95, ax: Axes | None = None
) -> Axes:
    """See `Release.plot`; `UnsupportedWorkload` where it was not measured."""
    from rowspace.drawing import columns, heat_map

    if len(names) not in (1, 2):
        raise InvalidInput(
            f"expected one attribute or two, got {len(names)}; for example release.plot('age')"
        )
    domain = release.plan.domain
    size = marginal(domain, *names).size
    if size > _MOST_CELLS:
        raise TooLarge(f"a figure of {size:,} cells exceeds {_MOST_CELLS:,}; plot a coarser level")
    if len(names) == 1:
        axis = chart_axis(domain, names[0])
        data = histogram(release, axis, level)
        ax = columns(data.answer, data.low, data.high, edges=axis.equal_edges, labels=axis.labels, ax=ax)
        ax.set_xlabel(axis.name)
        ax.set_ylabel(f"records, {100 * level:g} % intervals")
        return ax
    first, second = names
    table = chart_table(release, first, second, level)
    rows, along = table.rows, table.columns
    answers = np.reshape(table.data.answer, (len(rows.labels), len(along.labels)))
    ax = heat_map(answers, rows.labels, along.labels, ax=ax)
    ax.set_ylabel(rows.name)
    ax.set_xlabel(along.name)
    return ax
