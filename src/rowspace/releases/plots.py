"""Figures of a release: one attribute as a histogram with intervals, two as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.workload import marginal

from .chart_data import chart_axis, chart_table, histogram
from .combined import Combined
from .release import Release

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_CELLS = 2**17


def plot_release(
    release: Release | Combined, *names: str, level: float = 0.95, ax: Axes | None = None
) -> Axes:
    """Draw the number of records by one attribute or taxonomy level, with intervals, or by two, as a heat map.

    Asked of the release, so it costs no privacy; `UnsupportedWorkload` where it was not measured.

    >>> import matplotlib, rowspace as rs; matplotlib.use("agg")
    >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4))
    >>> plan = rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(1.0))
    >>> plot_release(rs.release(plan, [10, 20, 30, 40]), "age").get_xlabel()
    'age'
    """
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
