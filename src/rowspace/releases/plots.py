"""Figures of a release: one attribute as a histogram with intervals, two as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rowspace.domain import Dates, Domain, Numeric
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.operators.base import Vector
from rowspace.workload import marginal

from .release import Release

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_CELLS = 2**17


def plot_release(release: Release, *names: str, level: float = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the number of records by one attribute or taxonomy level, with intervals, or by two, as a heat map.

    Asked of the release, so it costs no privacy; `UnsupportedWorkload` where it was not measured.

    >>> import matplotlib, rowspace as rs; matplotlib.use("agg")
    >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4))
    >>> plan = rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(1.0))
    >>> plot_release(rs.release(plan, [10, 20, 30, 40]), "age").get_xlabel()
    'age'
    """
    if len(names) not in (1, 2):
        raise InvalidInput(
            f"expected one attribute or two, got {len(names)}; for example release.plot('age')"
        )
    domain = release.plan.domain
    queries = marginal(domain, *names)
    if queries.size > _MOST_CELLS:
        raise TooLarge(f"a figure of {queries.size:,} cells exceeds {_MOST_CELLS:,}; plot a coarser level")
    answers = release.ask(queries, level)
    if len(names) == 1:
        from rowspace.drawing import columns

        (name,) = names
        edges = _equal_edges(domain, name)
        ax = columns(
            answers["answer"],
            answers["low"],
            answers["high"],
            edges=edges,
            labels=_labels(domain, name) if edges is None else (),
            ax=ax,
        )
        ax.set_xlabel(name)
        ax.set_ylabel(f"records, {100 * level:g} % intervals")
        return ax
    from rowspace.drawing import heat_map

    # The answers come in the order of the domain, whatever the order of the names.
    first, second = sorted(names, key=lambda name: domain.position(domain.resolve(name)[0]))
    labels = {name: _labels(domain, name) for name in names}
    table = answers["answer"].to_numpy().reshape(len(labels[first]), len(labels[second]))
    down, along = names
    ax = heat_map(table if down == first else table.T, labels[down], labels[along], ax=ax)
    ax.set_ylabel(down)
    ax.set_xlabel(along)
    return ax


def _equal_edges(domain: Domain, name: str) -> Vector | None:
    """The edges of a numeric attribute with bins of one width; others would need heights per unit of width."""
    owner, level = domain.resolve(name)
    attribute = domain[owner]
    if level is not None or not isinstance(attribute, Numeric) or isinstance(attribute, Dates):
        return None
    widths = np.diff(attribute.edges)
    return attribute.edges if np.allclose(widths, widths[0]) else None


def _labels(domain: Domain, name: str) -> list[str]:
    """The labels of an attribute's cells, or of a level's."""
    attribute, level = domain.resolve(name)
    if level is None:
        return domain[attribute].labels()
    found = domain.level(level)
    return [found.label(at) for at in range(found.size)]
