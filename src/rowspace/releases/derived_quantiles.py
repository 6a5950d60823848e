"""The distribution of a numeric attribute: cumulative shares and quantiles, with intervals.

The q-quantile is where the cumulative count reaches q times the total, the counts of a bin spread evenly over it
(the quantile of grouped data). For every edge x the number D(x) = N(below x) − q·N is a linear query of the counts, so
its noise is known exactly, and the interval holds all x where D(x) = 0 is not refuted at the level: no delta method,
and right for skewed and for nearly empty distributions too. Between edges D is interpolated, which is a linear query
as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rowspace.exceptions import InvalidInput
from rowspace.operators.base import Vector

from .derived import Estimate
from .derived_rows import along, numeric

if TYPE_CHECKING:
    import pandas as pd

    from .release import Release

INVERSION = "inverted tests of linear queries, counts spread evenly within a bin"


def cdf(
    release: Release,
    attribute: str,
    where: str | None = None,
    level: float = 0.95,
    *,
    simultaneous: bool = False,
) -> pd.DataFrame:
    """The share of records below each edge: columns ``below``, ``share``, ``std_error``, ``low``, ``high``.

    Intervals by the delta method, for each edge by itself; with `simultaneous` all of them hold at once with
    probability `level` (by Bonferroni, so a little wider than needed).
    """
    import pandas as pd

    found = numeric(release.plan.domain, attribute)
    n = found.size
    prefix = np.tril(np.ones((n, n)))
    counts = release.ask(along(release.plan.domain, attribute, prefix, where), level)["answer"].to_numpy()
    whole = _positive_total(release, attribute, where, level)
    shares = counts / whole
    # The last share is 1 by definition; the others are ratios whose noise is that of prefix − share·total.
    rows = prefix - shares[:, None]
    each = 1 - (1 - level) / max(1, n - 1) if simultaneous else level
    errors = release.ask(along(release.plan.domain, attribute, rows[:-1], where), each) if n > 1 else None
    std = np.zeros(n)
    half = np.zeros(n)
    if errors is not None:
        std[:-1] = errors["std_error"].to_numpy() / whole
        half[:-1] = (errors["high"] - errors["low"]).to_numpy() / 2 / whole
    table = pd.DataFrame(
        {
            "below": found.edges[1:],
            "share": shares,
            "std_error": std,
            "low": shares - half,
            "high": shares + half,
        }
    )
    table.attrs["method"] = "delta method" + (", simultaneous" if simultaneous else "")
    return table


def quantiles(
    release: Release,
    attribute: str,
    q: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 0.9),
    where: str | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Many quantiles at once: columns ``q``, ``value``, ``low``, ``high``; every interval holds at `level` by itself.

    `InvalidInput` when the noisy number of records is not positive: then there is nothing to take quantiles of.

    >>> import rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4))
    >>> made = rs.release(rs.plan(rs.workload.prefixes(domain, "age"), rs.PureDP(1.0)), [900, 100, 100, 900])
    >>> [round(v) for v in quantiles(made, "age", [0.25, 0.5, 0.75])["value"]]
    [1, 2, 3]
    """
    import pandas as pd

    wanted = _checked(q)
    found = numeric(release.plan.domain, attribute)
    _positive_total(release, attribute, where, level)
    rows = [_one(release, attribute, found.edges, number, where, level) for number in wanted]
    table = pd.DataFrame(rows, columns=["q", "value", "low", "high"])
    table.attrs["method"] = INVERSION
    return table


def median(release: Release, attribute: str, where: str | None = None, level: float = 0.95) -> Estimate:
    """The median with its interval; the standard error is the interval's half-width in normal standard errors."""
    from rowspace.error import Moments, standard_quantile

    _, value, low, high = quantiles(release, attribute, [0.5], where, level).iloc[0].tolist()
    one = np.ones(1)
    z = float(standard_quantile(Moments(one, 0 * one, 0 * one, 0 * one), 0.0, level)[0])
    return Estimate(value, (high - low) / 2 / z, low, high, level, INVERSION)


def _one(
    release: Release, attribute: str, edges: Vector, q: float, where: str | None, level: float
) -> tuple[float, float, float, float]:
    """(q, quantile, low, high)."""
    n = len(edges) - 1
    # Row k is D at edge k: what is below it, less q times everything. After them the bins, whose noise is that of the
    # steps of D.
    rows = np.vstack([np.tril(np.ones((n + 1, n)), -1) - q, np.eye(n)])
    answers = release.ask(along(release.plan.domain, attribute, rows, where), level)
    D = answers["answer"].to_numpy()[: n + 1]
    half = (answers["high"] - answers["low"]).to_numpy() / 2
    line = _Line(edges, D, half[: n + 1], half[n + 1 :])
    # Noise may make D fall here and there; between its upper and lower hulls it rises.
    rising = (np.maximum.accumulate(D) + np.minimum.accumulate(D[::-1])[::-1]) / 2
    nothing = np.zeros(n + 1)
    value = _Line(edges, rising, nothing, nothing[:-1]).first_possible()
    # Where there is hardly any noise the ends differ from the quantile by rounding errors alone, to either side.
    low, high = line.first_possible(), -line.mirrored().first_possible()
    return q, value, min(low, value), max(high, value)


@dataclass(frozen=True)
class _Line:
    """D at every edge, with its half-width there and that of its step over each bin."""

    edges: Vector
    D: Vector
    half: Vector
    step: Vector

    def mirrored(self) -> _Line:
        """The same line seen from the right, below zero where it was above."""
        return _Line(-self.edges[::-1], -self.D[::-1], self.half[::-1], self.step[::-1])

    def first_possible(self) -> float:
        """The first place where D is not surely below zero; the left end if there, the right end if nowhere."""
        possible = np.flatnonzero(self.D + self.half >= 0)
        if not possible.size or possible[0] == 0:
            return float(self.edges[-1] if not possible.size else self.edges[0])
        k = int(possible[0])
        # Inside a bin D is a mixture of its ends, whose variance follows from those of the ends and of the step; D plus
        # its half-width is convex there, below zero at the left end and not at the right: one zero.
        before, after = 0.0, 1.0
        for _ in range(40):
            t = (before + after) / 2
            spread = (
                (1 - t) * self.half[k - 1] ** 2 + t * self.half[k] ** 2 - t * (1 - t) * self.step[k - 1] ** 2
            )
            if (1 - t) * self.D[k - 1] + t * self.D[k] + np.sqrt(max(spread, 0.0)) >= 0:
                after = t
            else:
                before = t
        return float(self.edges[k - 1] + after * (self.edges[k] - self.edges[k - 1]))


def _positive_total(release: Release, attribute: str, where: str | None, level: float) -> float:
    """The noisy number of records, which must be positive."""
    size = release.plan.domain[attribute].size
    row = release.ask(along(release.plan.domain, attribute, np.ones((1, size)), where), level).iloc[0]
    whole = float(row["answer"])
    if whole <= 0:
        raise InvalidInput(
            f"the noisy number of records{'' if where is None else ' where ' + where} is {whole:.4g} ± "
            f"{float(row['high'] - row['low']) / 2:.4g}: without records there is no distribution; ask about more"
        )
    return whole


def _checked(q: Sequence[float]) -> list[float]:
    """Quantiles strictly between 0 and 1."""
    try:
        numbers = [float(number) for number in q]
    except (TypeError, ValueError):
        raise InvalidInput("expected a list of quantiles such as [0.25, 0.5, 0.75]") from None
    if not numbers or not all(0 < number < 1 for number in numbers):
        raise InvalidInput("expected quantiles strictly between 0 and 1, such as [0.25, 0.5, 0.75]")
    return numbers
