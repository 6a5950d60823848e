"""Answers over time by period, cumulative, to date, in windows, their changes and growth, with error bars.

They are counts, or sums of a measure. All but growth are linear queries, so that noise which they share is taken into
account as in every answer, and all periods agree with one another. Growth is a ratio of two of them less one, as
`derived.ratio` has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product as combinations
from typing import TYPE_CHECKING

import numpy as np
import scipy

from rowspace.domain import Dates, Domain
from rowspace.exceptions import InvalidInput
from rowspace.operators import Dense, Identity, Operator, Prefix, Sparse, WidthRanges
from rowspace.workload import Workload, product, sum

from .derived import ratio

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from .release import Release

_MOST_MARKS = 100
"""Periods up to which each has a mark of its own on its line."""

KINDS = ("period", "cumulative", "year to date", "window", "change", "growth")


def series(
    release: Release,
    kind: str,
    by: Sequence[str] = (),
    *,
    measure: str | None = None,
    periods: int = 1,
    level: float = 0.95,
) -> pd.DataFrame:
    """One row for every period, and combination of the attributes `by`, for which the figure is known.

    measure: what is summed; else records are counted. periods: the width of a window, or how many periods before the
    one that a change or growth is from.
    """
    import pandas as pd

    over = release.plan.over
    if not over:
        raise InvalidInput("expected a release of a plan over periods, as rs.plan(…, over='month') makes it")
    names = [by] if isinstance(by, str) else list(by)
    domain = release.plan.workload.domain
    rows, numbers = _rows(release, kind, periods)
    cells = [
        (number, *own)
        for number in numbers
        for own in combinations(*(range(domain[name].size) for name in names))
    ]
    keys = [[domain[name].label(i) for name, i in zip((over, *names), cell, strict=True)] for cell in cells]
    found = pd.DataFrame(keys, columns=[over, *names])
    if kind == "growth":
        figures = [_growth(release, (over, *names), cell, measure, periods, level) for cell in cells]
        found[["answer", "std_error", "low", "high"]] = np.array(figures).reshape(-1, 4)
        return found
    families: dict[str, str | Operator] = {over: rows, **dict.fromkeys(names, "identity")}
    # Cells come in the order of the domain; rows in that of the keys.
    asked = release.ask(_queries(domain, families, measure), level)[["answer", "std_error", "low", "high"]]
    axes = sorted([over, *names], key=domain.position)
    shape = [len(numbers) if name == over else domain[name].size for name in axes]
    order = np.arange(len(asked)).reshape(shape).transpose([axes.index(name) for name in (over, *names)])
    found[asked.columns] = asked.to_numpy()[order.ravel()]
    found.attrs |= asked.attrs
    return found


def plot_series(
    release: Release,
    kind: str,
    *,
    measure: str | None = None,
    periods: int = 1,
    level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """The figures of all periods as a line, with a band of their intervals."""
    from rowspace.drawing import LIGHT, axes_or_new

    data = series(release, kind, measure=measure, periods=periods, level=level)
    ax = axes_or_new(ax)
    at = np.arange(len(data))
    ax.fill_between(at, data["low"], data["high"], color=LIGHT["series1"], alpha=0.2, linewidth=0)
    few = len(data) <= _MOST_MARKS
    ax.plot(
        at,
        data["answer"],
        color=LIGHT["series1"],
        marker="o" if few else "",
        markersize=3,
        linewidth=1.5 if few else 0.7,
    )
    every = -(-len(data) // 12)
    ax.set_xticks(at[::every], data[release.plan.over][::every].tolist(), rotation=45, ha="right")
    of = f", sum of {measure}" if measure else ""
    ax.set_ylabel(f"{kind}{of}, {100 * level:g} % band")
    return ax


def _rows(release: Release, kind: str, periods: int) -> tuple[Operator, Sequence[int]]:
    """What is added up of the periods so far, and the period that each row is about."""
    attribute = release.plan.workload.domain[release.plan.over]
    n = attribute.size
    if kind not in KINDS:
        raise InvalidInput(f"expected one of {', '.join(KINDS)}, got {kind!r}")
    if isinstance(periods, bool) or not isinstance(periods, int) or not 1 <= periods <= n:
        raise InvalidInput(f"expected periods= between 1 and {n}, those that are over, got {periods!r}")
    match kind:
        case "period":
            return Identity(n), range(n)
        case "cumulative":
            return Prefix(n), range(n)
        case "year to date":
            if not isinstance(attribute, Dates):
                raise InvalidInput("a year to date needs periods of rs.Dates")
            years = np.array([attribute.format(attribute.edge(i))[:4] for i in range(n)])
            sizes = np.unique(years, return_counts=True)[1].tolist()
            return Sparse(scipy.sparse.block_diag([np.tril(np.ones((own, own))) for own in sizes])), range(n)
        case "window":
            return WidthRanges(n, periods), range(periods - 1, n)
    if periods == n:
        raise InvalidInput(f"expected periods= below {n}: that many are over, and none is so much earlier")
    ones = np.ones(n - periods)
    return Sparse(
        scipy.sparse.diags_array([-ones, ones], offsets=[0, periods], shape=(n - periods, n))
    ), range(periods, n)


def _queries(domain: Domain, families: dict[str, str | Operator], measure: str | None) -> Workload:
    """How many records, or the sum of a measure."""
    return product(domain, families) if measure is None else sum(domain, measure, families=families)


def _growth(
    release: Release,
    names: Sequence[str],
    cell: tuple[int, ...],
    measure: str | None,
    periods: int,
    level: float,
) -> tuple[float, ...]:
    """A figure over an earlier one, less one; not a number where that is not distinguishable from zero."""
    domain = release.plan.workload.domain

    def single(period: int) -> Workload:
        rows = zip(names, (period, *cell[1:]), strict=True)
        return _queries(domain, {name: Dense(np.eye(1, domain[name].size, i)) for name, i in rows}, measure)

    a, b = single(cell[0]), single(cell[0] - periods)
    try:
        found = ratio(release, a, b, level)
    except InvalidInput:
        return (np.nan,) * 4
    return found.value - 1, float(found.std_error or 0.0), found.low - 1, found.high - 1
