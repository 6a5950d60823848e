"""Instalment: what has been published of a plan over periods after one of them. It is a release like any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rowspace.domain import first_periods
from rowspace.exceptions import FileError, InvalidInput, PredicateError, UnsupportedWorkload
from rowspace.files import Arrays, archive_bytes
from rowspace.notebook import one_line
from rowspace.planning import Plan, period_labels, period_number, plan_until
from rowspace.workload import Workload
from rowspace.workload.ended import ended
from rowspace.workload.texts import asked

from .release import _KIND, RELEASE_VERSION, Release

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
        from .series import series

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
        from .series import plot_series

        return plot_series(self, kind, measure=measure, periods=periods, level=level, ax=ax)

    def __repr__(self) -> str:
        return one_line(f"<Instalment {self.period} of {self.plan.workload.size:,} answers so far>")

    def to_bytes(self) -> bytes:
        """What `save` writes: the same bytes every time."""
        body, arrays = self.horizon.encode()
        kept = arrays | {"noisy_answers": self.noisy_answers}
        return archive_bytes(_KIND, RELEASE_VERSION, body | {"period": self.period}, kept)


def decoded(body: dict[str, Any], arrays: Arrays, noisy: npt.NDArray[np.int64]) -> Instalment:
    """The instalment of a file, trusting nothing in it."""
    horizon = Plan.decode(body, arrays)
    try:
        return Instalment.of(horizon, body["period"], noisy)
    except InvalidInput:
        raise FileError("damaged release: its period or its noisy answers do not fit its plan") from None
