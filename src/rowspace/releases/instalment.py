"""Instalment: what has been published of a plan over periods after one of them. It is a release like any other.

Answers over time by period, cumulative, to date, in windows, their changes and growth, with error bars.

They are counts, or sums of a measure. All but growth are linear queries, so that noise which they share is taken into
account as in every answer, and all periods agree with one another. Growth is a ratio of two of them less one, as
`derived.ratio` has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product as combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy

from rowspace.domain import Dates, Domain, first_periods
from rowspace.exceptions import FileError, InvalidInput, PredicateError, UnsupportedWorkload
from rowspace.files import Arrays
from rowspace.notebook import one_line
from rowspace.operators import Dense, Identity, Operator, Prefix, Sparse, WidthRanges
from rowspace.planning import Plan, period_labels, period_number, plan_until
from rowspace.workload import Workload, asked, ended, product, sum

from .derived import ratio
from .release import Release

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Instalment(Release):
    """All answers whose periods are over, and any other query about them.

    Later instalments have the same rows and more. Rows are independent, so that what a query about earlier periods is
    answered from does not change: its answer stays as it was published, and no later noise could improve it.

    plan: what was measured so far. noisy_answers: the integers measured so far. horizon: the plan of all periods, which
    was charged once. period: the label of the last one measured.

    Guarantees
    - A file holds the horizon's plan, whose noise is checked as that of any plan, and noisy answers of the periods that
      are over (tests/releases/test_instalment.py::test_a_damaged_instalment_is_refused).
    - Answers of earlier periods stay as they are (tests/releases/test_instalment.py::test_answers_stay).
    """

    horizon: Plan
    period: str

    @classmethod
    def of(cls, horizon: Plan, period: str, noisy_answers: npt.NDArray[np.int64]) -> Instalment:
        """The instalment of a period, from the noisy answers of all periods so far."""
        own = plan_until(horizon, period_number(horizon, period) + 1)
        return cls(own, noisy_answers, horizon, period)

    @property
    def number(self) -> int:
        """The number of the period, from 0."""
        return period_number(self.horizon, self.period)

    @property
    def statement(self) -> str:
        """What was promised, and for how long."""
        return f"{super().statement} {self.part_of}"

    @property
    def part_of(self) -> str:
        """Which instalment it is, of what, and that later ones change nothing."""
        labels = period_labels(self.horizon)
        return (
            f"This is instalment {self.number + 1} of {len(labels)} ({self.period}): the promise is one for all "
            f"periods of {self.horizon.over} from {labels[0]} to {labels[-1]}. Later instalments add answers and "
            "change none."
        )

    def ask(self, queries: Workload | str | Sequence[str], level: float = 0.95) -> pd.DataFrame:
        """As for any release; a workload may be over all periods, and what is about later ones is left out.

        queries: a workload, or one or several texts. level: the confidence level of the intervals.

        >>> import rowspace as rs
        >>> domain = rs.Domain(month=rs.Dates("2024-01-01", "2025-01-01", every="month"))
        >>> plan = rs.plan(rs.workload.prefixes(domain, "month"), rs.ZCDP(0.5), over="month")
        >>> first = rs.instalment(plan, [100] * 12, period="2024-01")
        >>> first.ask(rs.workload.identity(domain))["month"].tolist()
        ['2024-01']
        """
        if isinstance(queries, Workload):
            return super().ask(self._so_far(queries), level)
        try:
            return super().ask(queries, level)
        except PredicateError:
            asked(self.horizon.domain, queries)  # raises anew what is wrong with the text itself
        raise self._not_yet()

    def _so_far(self, queries: Workload) -> Workload:
        """The queries about periods that are over, where they are over all periods of the horizon."""
        over = self.horizon.over
        if over not in queries.attributes or queries.domain[over] == self.plan.domain[over]:
            return queries
        whole = queries.domain.dimension(over)
        if first_periods(whole, whole.size) != self.horizon.domain[over]:
            return queries
        found = ended(queries, over, self.number + 1, so_far=True)
        if found is None:
            raise self._not_yet()
        return found

    def _not_yet(self) -> UnsupportedWorkload:
        return UnsupportedWorkload(
            f"this is about periods of {self.horizon.over} after {self.period}, which are not released yet"
        )

    def series(
        self,
        kind: str = "period",
        by: Sequence[str] = (),
        *,
        measure: str | None = None,
        periods: int = 1,
        level: float = 0.95,
        revised: bool = False,
    ) -> pd.DataFrame:
        """Figures over the periods so far, with error bars; free, as all answers.

        kind: "period", "cumulative", "year to date", "window" (of so many `periods`), "change" or "growth" (from so
        many `periods` before). by: attributes whose cells have rows of their own. measure: what is summed; left out,
        records are counted. level: of the intervals. revised: whether figures of earlier periods may be improved by
        what was measured since; they are the same either way, since nothing measured later says more about them.

        >>> import rowspace as rs
        >>> domain = rs.Domain(month=rs.Dates("2024-01-01", "2025-01-01", every="month"))
        >>> plan = rs.plan(rs.workload.prefixes(domain, "month"), rs.ZCDP(0.5), over="month")
        >>> first = rs.instalment(plan, [100] * 12, period="2024-01")
        >>> first.series("cumulative").columns.tolist()
        ['month', 'answer', 'std_error', 'low', 'high']
        """
        from .instalment import series

        return series(self, kind, by, measure=measure, periods=periods, level=level)

    def plot_series(
        self,
        kind: str = "period",
        *,
        measure: str | None = None,
        periods: int = 1,
        level: float = 0.95,
        ax: Axes | None = None,
    ) -> Axes:
        """Figures over the periods so far as a line with a band; the arguments are those of `series`."""
        from .instalment import plot_series

        return plot_series(self, kind, measure=measure, periods=periods, level=level, ax=ax)

    def __repr__(self) -> str:
        return one_line(f"<Instalment {self.period} of {self.plan.workload.size:,} answers so far>")

    def _encode(self) -> tuple[dict[str, Any], Arrays]:
        body, arrays = self.horizon.encode()
        return body | {"period": self.period}, arrays | {"noisy_answers": self.noisy_answers}


def decoded(body: dict[str, Any], arrays: Arrays, noisy: npt.NDArray[np.int64]) -> Instalment:
    """The instalment of a file, trusting nothing in it."""
    horizon = Plan.decode(body, arrays)
    try:
        return Instalment.of(horizon, body["period"], noisy)
    except InvalidInput:
        raise FileError("damaged release: its period or its noisy answers do not fit its plan") from None


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
    """See `Instalment.series`: a row for every period and combination of the attributes `by` whose figure is known."""
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
