"""The distribution of a numeric attribute: cumulative shares and quantiles, with intervals.

For every edge x the number D(x) = N(below x) − q·N is a linear query of the counts, so its noise is known exactly. The
quantile of the records lies between two neighbouring edges x < y with D(x) < 0 ≤ D(y). The interval runs from the last
edge before which D < 0 is not refuted to the first one after which D > 0 is not: no delta method, and right for skewed
and for nearly empty distributions too. It ends at edges, because the counts say nothing about where in its bin a record
lies. The value between them is interpolated as if records were spread evenly over the bin, and says so.

Coverage: the interval misses the quantile on the left only if the test at the first edge after it errs, on the right
only if that at the last edge not after it does. So one test at `level`, two-sided, bounds both.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from rowspace.domain import Domain, Numeric
from rowspace.exceptions import InvalidInput
from rowspace.operators import Vector

from .derived import Estimate, along, numeric

if TYPE_CHECKING:
    import pandas as pd

    from .release import Release

INVERSION = "inverted tests of linear queries, between edges of bins"

ONE_RECORD = 1.0
"""The usual definitions of a sample's quantile (Hyndman and Fan, 1996) are within one record of each other."""


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
    n = len(found.edges) - 1
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
    """See `Release.quantiles`: columns ``q``, ``value``, ``low``, ``high``, ``note``.

    ``low`` and ``high`` are edges of bins, and every interval holds the quantile of the records at `level` by itself.
    ``value`` is interpolated within the bin that ``note`` names, as if its records were spread evenly: where in the bin
    they are is not known. An attribute that counts what is outside in its nearest bin (``outside="clip"``) has no edge
    at that end: an interval that reaches it ends at infinity.
    """
    import pandas as pd

    found, wanted = checked_quantiles(release.plan.domain, attribute, q)
    _positive_total(release, attribute, where, level)
    rows = [(number, *_one(release, attribute, found, number, where, level)) for number in wanted]
    table = pd.DataFrame(rows, columns=["q", "value", "low", "high", "note"])
    table.attrs["method"] = INVERSION
    return table


def median(release: Release, attribute: str, where: str | None = None, level: float = 0.95) -> Estimate:
    """See `Release.median`. It has no standard error: where in its bin the median lies is not a matter of noise."""
    row = quantiles(release, attribute, [0.5], where, level).iloc[0]
    value, low, high = (float(row[column]) for column in ("value", "low", "high"))
    return Estimate(value, None, low, high, level, f"{INVERSION}; {row['note']}")


def _one(
    release: Release, attribute: str, found: Numeric, q: float, where: str | None, level: float
) -> tuple[float, float, float, str]:
    """(quantile, low, high, note)."""
    edges = found.edges
    n = len(edges) - 1
    # Row k is D at edge k: what is below it, less q times everything.
    rows = np.tril(np.ones((n + 1, n)), -1) - q
    answers = release.ask(along(release.plan.domain, attribute, rows, where), level)
    D = answers["answer"].to_numpy()
    half = (answers["high"] - answers["low"]).to_numpy() / 2
    bin_, value = _crossing(edges, D)
    not_below, not_above = np.flatnonzero(D + half > -ONE_RECORD), np.flatnonzero(D - half < ONE_RECORD)
    first = min(bin_, max(0, int(not_below[0]) - 1 if not_below.size else n - 1))
    last = max(bin_ + 1, min(n, int(not_above[-1]) + 1 if not_above.size else 1))
    clipped = found.outside == "clip"
    low = -inf if clipped and first == 0 else float(edges[first])
    high = inf if clipped and last == n else float(edges[last])
    return (
        value,
        low,
        high,
        f"interpolated within [{found.format(edges[bin_])}, {found.format(edges[bin_ + 1])})",
    )


def _crossing(edges: Vector, D: Vector) -> tuple[int, float]:
    """The bin in which D rises to zero, and where in it if it rises evenly."""
    # Noise may make D fall here and there; between its upper and lower hulls it rises.
    rising = (np.maximum.accumulate(D) + np.minimum.accumulate(D[::-1])[::-1]) / 2
    n = len(edges) - 1
    bin_ = min(max(int(np.searchsorted(rising, 0.0)) - 1, 0), n - 1)
    step = rising[bin_ + 1] - rising[bin_]
    share = min(max(-rising[bin_] / step, 0.0), 1.0) if step > 0 else 0.5
    return bin_, float((1 - share) * edges[bin_] + share * edges[bin_ + 1])


def _positive_total(release: Release, attribute: str, where: str | None, level: float) -> float:
    """The noisy number of records, which must be positive."""
    every = np.ones((1, len(numeric(release.plan.domain, attribute).edges) - 1))
    row = release.ask(along(release.plan.domain, attribute, every, where), level).iloc[0]
    whole = float(row["answer"])
    if whole <= 0:
        raise InvalidInput(
            f"the noisy number of records{'' if where is None else ' where ' + where} is {whole:.4g} ± "
            f"{float(row['high'] - row['low']) / 2:.4g}: without records there is no distribution; ask about more"
        )
    return whole


def checked_quantiles(domain: Domain, attribute: str, q: Sequence[float]) -> tuple[Numeric, list[float]]:
    """A numeric attribute, and quantiles strictly between 0 and 1."""
    found = numeric(domain, attribute)
    try:
        numbers = [float(number) for number in q]
    except (TypeError, ValueError):
        raise InvalidInput("expected a list of quantiles such as [0.25, 0.5, 0.75]") from None
    if not numbers or not all(0 < number < 1 for number in numbers):
        raise InvalidInput("expected quantiles strictly between 0 and 1, such as [0.25, 0.5, 0.75]")
    return found, numbers
