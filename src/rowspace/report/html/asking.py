"""What the charts show, asked of the release at no cost; nothing where it cannot answer without bias."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from rowspace import operators as op
from rowspace import workload as families
from rowspace.domain import Attribute, Dates, Numeric
from rowspace.exceptions import TooLarge, UnsupportedWorkload
from rowspace.releases import Combined, Release
from rowspace.workload import Part, Workload

from .charts.frame import Tick
from .estimates import Estimates, estimates
from .scales import Scale, tick_labels, ticks

MOST_CELLS = 120
"""Most columns of a histogram; cells of a finer attribute are taken together."""

_MOST_MERGED = 2**20


@dataclass(frozen=True)
class Axis:
    """The cells of an attribute or of a taxonomy level along a chart, `width` neighbours taken together."""

    name: str
    labels: tuple[str, ...]
    width: int
    numeric: Numeric | None

    @property
    def ticks(self) -> list[Tick]:
        """Labels along the axis: edges of a numeric attribute, middles of the cells of another."""
        number = len(self.labels)
        if self.numeric is None:
            every = math.ceil(number / 12)
            return [Tick((at + 0.5) / number, self.labels[at]) for at in range(0, number, every)]
        return _edge_ticks(self.numeric, number, self.width)


def axis_of(release: Release | Combined, name: str) -> Axis:
    """An attribute or level, its cells merged as far as a chart needs."""
    domain = release.plan.domain
    owner, level = domain.resolve(name)
    if level is not None:
        return Axis(
            name, tuple(domain.level(level).label(at) for at in range(domain.level(level).size)), 1, None
        )
    attribute = domain[owner]
    if not isinstance(attribute, Numeric):
        return Axis(name, tuple(attribute.labels()), 1, None)
    width = math.ceil(attribute.size / MOST_CELLS)
    firsts = range(0, attribute.size, width)
    labels = tuple(_span(attribute, first, width) for first in firsts)
    return Axis(name, labels, width, attribute)


def cells(release: Release | Combined, axis: Axis, level: float) -> Estimates | None:
    """The number of records in each cell of an axis."""
    domain = release.plan.domain
    if axis.width == 1:
        return _ask(release, families.marginal(domain, axis.name), axis.labels, level)
    if domain[axis.name].size > _MOST_MERGED:
        return None
    return _ask(release, families.product(domain, {axis.name: _merging(axis)}), axis.labels, level)


def cumulative(release: Release | Combined, axis: Axis, level: float) -> Estimates | None:
    """The number of records up to the end of each cell of an axis."""
    domain = release.plan.domain
    labels = tuple(f"up to {label}" for label in axis.labels)
    if axis.width == 1:
        return _ask(release, families.prefixes(domain, axis.name), labels, level)
    if domain[axis.name].size > _MOST_MERGED // 64:
        return None
    merging = _merging(axis).to_dense().cumsum(axis=0)
    return _ask(release, families.product(domain, {axis.name: op.Dense(merging)}), labels, level)


def answers_of(release: Release | Combined, parts: list[Part], level: float) -> Estimates | None:
    """The answers of some parts of the workload, labelled as the workload labels them."""
    queries = Workload(release.plan.domain, parts)
    return _ask(release, queries, tuple(queries.labels()), level)


def _ask(
    release: Release | Combined, queries: Workload, labels: tuple[str, ...], level: float
) -> Estimates | None:
    """The answers, or nothing if the strategy does not determine them or they would take too long."""
    try:
        return estimates(labels, release.ask(queries, level))
    except (UnsupportedWorkload, TooLarge):
        return None


def _merging(axis: Axis) -> op.Operator:
    """The 0/1 matrix that adds up neighbouring cells."""
    assert axis.numeric is not None
    n = axis.numeric.size
    at = np.arange(n)
    return op.Sparse(
        scipy.sparse.csr_array((np.ones(n), (at // axis.width, at)), shape=(len(axis.labels), n))
    )


def _span(attribute: Attribute, first: int, width: int) -> str:
    return attribute.span_label(first, min(first + width, attribute.size) - 1)


def _edge_ticks(attribute: Numeric, number: int, width: int) -> list[Tick]:
    """Round numbers where bins are equal, else some of the edges; columns are drawn equally wide either way."""
    widths = np.diff(attribute.edges)
    if np.allclose(widths, widths[0]) and not isinstance(attribute, Dates):
        shown = attribute.edge(0) + (attribute.edge(attribute.size) - attribute.edge(0)) * (
            number * width / attribute.size
        )
        scale = Scale(attribute.low, shown)
        values = ticks(scale, 6)
        return [Tick(scale.share(v), label) for v, label in zip(values, tick_labels(values), strict=True)]
    every = math.ceil((number + 1) / 6)
    return [
        Tick(at / number, _edge_label(attribute, min(at * width, attribute.size)))
        for at in range(0, number + 1, every)
    ]


def _edge_label(attribute: Numeric, index: int) -> str:
    edge = attribute.edge(index)
    return attribute.format(edge) if isinstance(attribute, Dates) else tick_labels([edge])[0]
