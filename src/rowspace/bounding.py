"""bounds(): a range for a column of numbers, found privately, for those who know no public one.

    count over signed powers of two → plan all prefixes → release, charged like any other → the first and the last edge
    outside of which next to nothing seems to be

All but the release is post-processing, so privacy and charge are those of `rs.release`. Either end is at most a factor
of two from where it could be, and what the range leaves out is known only up to noise: a few records beyond it may go
unseen. How many there are has an interval, and since the edges were chosen by the same noise, the intervals are those
of all edges at once.

Guarantees
- `low` and `high` are functions of the release (tests/test_bounding.py::test_bounds_are_made_from_the_release).
- Intervals of what is clipped cover at the stated level, with the edges chosen as they are
  (tests/test_bounding.py::test_intervals_of_what_is_clipped_cover).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from .domain import Domain, Numeric
from .exceptions import InvalidInput, UnsupportedWorkload
from .mechanism import BudgetKeeper, release
from .noise import BitSource
from .notebook import one_line
from .operators import Vector
from .planning import plan
from .privacy import Privacy, PureDP
from .releases import Estimate, Release, along
from .workload import prefixes

if TYPE_CHECKING:
    from .sources import Source

SMALLEST, LARGEST, FARTHEST = -20, 64, 664
"""Powers of two: of the least and the largest edge, and where the last cell ends: beyond it a number is missing."""

_VISIBLE = 4.0
"""So many standard errors of a count are no evidence of records: with two, noise on one of 172 edges widened the range
in one run of fifty."""


@dataclass(frozen=True)
class Bounds:
    """A range of a column, and the release it was read from.

    release: prefixes over signed powers of two; `save` it, and `Bounds(Release.load(…))` is the same again.
    inside: the share of records that the range is to hold, half of the rest being allowed on either side.
    level: the confidence level of the intervals of what is clipped.

    >>> import rowspace as rs
    >>> from rowspace.bounding import signed_powers
    >>> domain = rs.Domain(income=signed_powers())
    >>> counts = [0] * 172
    >>> counts[86 + 20 + 10] = 10**6  # from 512 to below 1,024
    >>> made = rs.release(rs.plan(rs.workload.prefixes(domain, "income"), rs.PureDP(1.0)), counts)
    >>> found = Bounds(made)
    >>> found.low, found.high
    (512.0, 1024.0)
    """

    release: Release
    inside: float = 0.998
    level: float = 0.95

    def __post_init__(self) -> None:
        domain = self.release.plan.domain
        if len(domain) != 1 or domain[domain.names[0]] != signed_powers():
            raise InvalidInput(
                "expected a release of one column over signed powers of two, as rs.bounds makes it"
            )
        _check_share("inside", self.inside)
        _check_share("level", self.level)

    @property
    def column(self) -> str:
        """Which column it is about."""
        return self.release.plan.domain.names[0]

    @property
    def low(self) -> float:
        """The lower end: next to nothing seems to be below."""
        return float(self._edges[self._ends[0]])

    @property
    def high(self) -> float:
        """The upper end: next to nothing seems to be at it or above."""
        return float(self._edges[self._ends[1]])

    @property
    def below(self) -> Estimate:
        """How many records are below `low`, and would be clipped to it."""
        return self._clipped(slice(0, self._ends[0]))

    @property
    def above(self) -> Estimate:
        """How many records are at `high` or above, and would be clipped to it."""
        return self._clipped(slice(self._ends[1], None))

    @property
    def share_clipped(self) -> float:
        """About which share of the records lies outside: their noisy number over that of all records."""
        return max(0.0, self.below.value + self.above.value) / float(self._below[-1])

    @property
    def statement(self) -> str:
        """What was promised and how to read the numbers, in plain words."""
        return (
            f"{self.release.statement} The range is made of powers of two and was chosen by these noisy counts to hold "
            f"a share of {self.inside:g} of the records; fewer records than the noise hides may lie beyond it, and the "
            "intervals of how many do allow for the choice."
        )

    def __repr__(self) -> str:
        return one_line(f"<Bounds of {self.column}: from {self.low:g} to {self.high:g}>")

    def __str__(self) -> str:
        sides = ((f"those below {self.low:g}", self.below), (f"those from {self.high:g} on", self.above))
        clipped = (f"  {side} are clipped: {_about(own)}" for side, own in sides)
        title = f"Bounds of {self.column}: from {self.low:g} to {self.high:g}"
        return "\n".join([title, *clipped, f"  {self.statement}"])

    @property
    def _edges(self) -> Vector:
        return signed_powers().edges

    @cached_property
    def _below(self) -> Vector:
        """How many records seem to be below each edge but the first."""
        return self.release.answers()["answer"].to_numpy(dtype=float)

    @cached_property
    def _ends(self) -> tuple[int, int]:
        """Which edges bound the range."""
        whole = self._below[-1]
        if whole <= 0:
            raise UnsupportedWorkload(
                f"the noisy number of records that have {self.column!r} is not positive: there is nothing to bound; "
                "ask with a larger budget"
            )
        # Counts below an edge rise with it; noise does not know.
        rising = scipy.optimize.isotonic_regression(np.concatenate([[0.0], self._below])).x
        error = np.concatenate([[0.0], self.release.answers()["std_error"].to_numpy(dtype=float)])
        unseen = (1.0 - self.inside) / 2.0 * whole + _VISIBLE * error
        last = len(rising) - 1
        first = np.flatnonzero(rising <= np.minimum(unseen, whole / 2)).max(initial=0)
        end = np.flatnonzero(whole - rising <= np.minimum(unseen, whole / 2)).min(initial=last)
        first, end = int(first), int(end)
        return (first, end) if first < end else (min(first, last - 1), min(first, last - 1) + 1)

    def _clipped(self, cells: slice) -> Estimate:
        """The records of some outer cells, with an interval that holds for all edges and both sides at once."""
        size = len(self._edges) - 1
        row = np.zeros((1, size))
        row[0, cells] = 1.0
        if not row.any():
            return Estimate(0.0, 0.0, 0.0, 0.0, self.level, "no cell is outside")
        each = 1.0 - (1.0 - self.level) / (2.0 * size)
        own = self.release.ask(along(self.release.plan.domain, self.column, row, None), each).iloc[0]
        value, error, low, high = (float(own[name]) for name in ("answer", "std_error", "low", "high"))
        population = self.release.plan.population
        return Estimate(
            value, error, low, high, self.level, "for all edges at once, by Bonferroni", population
        )


def _about(records: Estimate) -> str:
    """A number of records, which is never negative, in words."""
    value, low, high = (max(0.0, number) for number in (records.value, records.low, records.high))
    return f"about {value:,.0f} records, from {low:,.0f} to {high:,.0f}"


def _check_share(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise InvalidInput(f"expected {name} to be a share strictly between 0 and 1, such as 0.95")


def signed_powers() -> Numeric:
    """…, −2, −1, −½, …, 0, …, ½, 1, 2, …: cells of numbers of the same size and sign.

    >>> signed_powers().size
    172
    """
    powers = [2.0**exponent for exponent in (*range(SMALLEST, LARGEST + 1), FARTHEST)]
    return Numeric(edges=[*(-power for power in reversed(powers)), 0.0, *powers], outside="drop")


def bounds(
    source: Source,
    column: str,
    privacy: Privacy | float,
    *,
    inside: float = 0.998,
    level: float = 0.95,
    ledger: BudgetKeeper | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    second_budget: bool = False,
    table: str | None = None,
    random: BitSource | None = None,
) -> Bounds:
    """A range that holds nearly all numbers of a column, and how many it leaves out.

    source, ledger, dataset, second_budget, table, random: as for `release`. column: of numbers; NULL, NaN and what is
    not finite is missing. privacy: a promise, or a number, the ε of `PureDP`. inside: the share of records that the
    range is to hold. level: the confidence level of the intervals of what is left out.

    >>> import pandas as pd, rowspace as rs
    >>> found = rs.bounds(pd.DataFrame({"income": [30_000.0] * 5_000 + [1e99] * 2}), "income", 1.0)
    >>> found.low, found.high
    (16384.0, 32768.0)
    """
    if not isinstance(column, str):
        raise InvalidInput(f"expected the name of one column, got {type(column).__name__}")
    _check_share("inside", inside)  # before anything is charged
    _check_share("level", level)
    promise: Any = privacy if isinstance(privacy, Privacy) else PureDP(privacy)
    domain = Domain([(column, signed_powers())])
    asked = plan(prefixes(domain, column), promise)
    kept = {"ledger": ledger, "dataset": dataset, "second_budget": second_budget}
    return Bounds(release(asked, source, table=table, random=random, **kept), inside, level)  # type: ignore[arg-type]
