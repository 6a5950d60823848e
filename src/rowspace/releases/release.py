"""Release: noisy measurements turned into answers with error bars. Everything here is post-processing.

Guarantees
- A release holds the plan and the noisy integer answers, nothing else about the data
  (tests/releases/test_release.py::test_release_holds_no_counts).
- `ask` and every other method spend no budget: they are functions of the noisy answers
  (by construction: this room may not import `sources`, checked in CI).
- Intervals cover the true answer among the records that are counted (`Plan.population` says which are not) with at
  least the stated probability up to the accuracy stated in
  `rowspace.error.intervals` (tests/releases/test_coverage.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from rowspace._version import __version__
from rowspace.exceptions import FileError, InvalidInput, TooLarge, UnsupportedWorkload
from rowspace.files import Archived, Arrays
from rowspace.notebook import one_line
from rowspace.operators import Vector
from rowspace.planning import Plan
from rowspace.strategy import Reconstruction, dropped_bits, noisy_values
from rowspace.workload import Workload

from .answer_columns import answer_table, largest_value, portions, read_as
from .evidence import as_queries
from .methods import DerivedAnswers, means_portion, with_means

if TYPE_CHECKING:
    import pandas as pd

TABLE_LIMIT = 2**22
"""Most rows of a table of answers; ask for a part of the workload beyond that, or stream them."""

ESTIMATE_LIMIT = 10**8
"""Most cells that are estimated one by one."""


@dataclass(frozen=True)
class Release(DerivedAnswers, Archived):
    """The published result: consistent answers to the plan's workload and to any other query it supports.

    plan: what was measured, and under which guarantee.
    noisy_answers: the integers that were measured, with their noise.

    >>> from rowspace.sample import small_release
    >>> small_release()
    <Release of 18 answers under 200-differential privacy (add or remove one record)>
    """

    plan: Plan
    noisy_answers: npt.NDArray[np.int64]

    _archive: ClassVar[tuple[str, int]] = ("rowspace release", 1)

    def __post_init__(self) -> None:
        noisy = np.array(self.noisy_answers, dtype=np.int64)
        if noisy.shape != (self.plan.strategy.shape[0],):
            raise InvalidInput(
                f"expected {self.plan.strategy.shape[0]} noisy answers, got shape {noisy.shape}"
            )
        noisy.setflags(write=False)
        object.__setattr__(self, "noisy_answers", noisy)

    @cached_property
    def estimate(self) -> Vector:
        """x̂, the least-squares estimate of every cell's count; signed, unbiased, consistent with all answers."""
        if self.plan.domain.size > ESTIMATE_LIMIT:
            raise TooLarge(
                f"the attributes have {self.plan.domain.size} joint cells, too many to estimate one by one (limit "
                f"{ESTIMATE_LIMIT}); ask for tables of some attributes instead"
            )
        return self._estimated.cells()

    @cached_property
    def _estimated(self) -> Reconstruction:
        """The least-squares estimate, in the form its strategy leads to."""
        return self.plan.informed.estimate(noisy_values(self.plan.strategy, self.noisy_answers))

    @cached_property
    def largest_count(self) -> float:
        """About the largest count behind the answers: what their rounding errors are proportional to."""
        noisy, strategy = self.noisy_answers, self.plan.strategy
        largest = max(abs(int(noisy.max(initial=0))), abs(int(noisy.min(initial=0))))
        return float(np.ldexp(largest, dropped_bits(strategy)) / max(1.0, strategy.largest_entry()))

    def _answer(self, queries: Workload) -> Vector:
        """Answers to queries over the plan's domain."""
        return self._estimated.answers(queries.products())

    def answers(self, level: float = 0.95) -> pd.DataFrame:
        """The workload's answers: labels, answer, std_error and a confidence interval at `level`.

        The frame's ``attrs`` hold the statement, the level and, where records are left out, the population covered.
        Means come last, after the sums and the numbers of records that they are ratios of.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> release.answers().round(1)[["age", "sex", "answer"]].head(2)
          age sex  answer
        0   0   F    10.0
        1   0   M    20.0
        """
        return with_means(self, self.plan.counted, self._table(self.plan.counted, level), level)

    def ask(self, queries: Workload | str | Sequence[str], level: float = 0.95) -> pd.DataFrame:
        """Answers to other queries over the same attributes, for free; as text they are conditions or SQL.

        queries: a workload, or one or several texts.
        level: the confidence level of the intervals.

        `UnsupportedWorkload` for a query that the measured strategy cannot answer without bias.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> release.ask(["age >= 2 and sex = 'F'", "SELECT COUNT(*) FROM people"])["answer"].round().tolist()
        [120.0, 360.0]
        """
        within = as_queries(self.plan.domain, queries, [self.plan.privacy.unit])
        try:
            return with_means(self, within, self._table(within, level), level)
        except UnsupportedWorkload:
            if self.plan.given:
                raise
            about = ", ".join(within.attributes[:6]) + (", …" if len(within.attributes) > 6 else "")
        raise UnsupportedWorkload(
            f"this release has not measured {about or 'all records'} finely enough to answer this without bias; ask "
            "for sums of what its workload asked, or plan with these queries and release again"
        )

    def stream(self, rows: int = 2**18, level: float = 0.95) -> Iterator[pd.DataFrame]:
        """The workload's answers in portions of about so many rows, whole groups of queries at a time where they fit.

        rows: about how many at a time.
        level: the confidence level of the intervals.

        For releases of more answers than fit in memory; the columns are those of `answers`.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> sum(len(portion) for portion in release.stream(rows=10))
        18
        """
        for portion in portions(self.plan.counted, rows):
            yield self._table(portion, level, self.plan.workload.columns)
        yield from means_portion(self, self.plan.counted, level, self.plan.workload.columns)

    def _table(
        self, queries: Workload, level: float, attributes: Sequence[str] | None = None
    ) -> pd.DataFrame:
        if queries.size > TABLE_LIMIT:
            raise TooLarge(
                f"a table of {queries.size:,} answers exceeds {TABLE_LIMIT:,} rows; take them in portions with "
                "release.stream(), or release.ask a part of the workload"
            )
        if self.plan.given:
            raise UnsupportedWorkload(
                "this release was planned beside earlier ones, and its answers come from all of them: "
                "rs.combine([*earlier, release])"
            )
        columns = self._answer(queries), *self.plan.error_bars(level, queries)
        largest = self.largest_count * largest_value(queries)
        return answer_table(queries, columns, largest, self, level, attributes)

    @property
    def statement(self) -> str:
        """What was promised and how to read the numbers, in plain words; goes with every export."""
        plan = self.plan
        said = f"{plan.known.words} Answers keep to it. " if plan.known else ""
        reading = read_as(plan.population, plan.noise.name, plan.domain)
        return (
            f"Released by rowspace {__version__} under {plan.privacy}. {reading} {said}"
            "Any further computation on these numbers costs no privacy."
        )

    def __repr__(self) -> str:
        return one_line(f"<Release of {self.plan.workload.size:,} answers under {self.plan.privacy}>")

    def __str__(self) -> str:
        return f"Release of {self.plan.workload.size:,} answers\n  {self.statement}"

    def _encode(self) -> tuple[dict[str, Any], Arrays]:
        body, arrays = self.plan.encode()
        return body, arrays | {"noisy_answers": self.noisy_answers}

    @classmethod
    def _decode(cls, body: dict[str, Any], arrays: Arrays) -> Self:
        noisy = arrays.pop("noisy_answers", None)
        if noisy is None or noisy.dtype != np.int64:
            raise FileError("damaged release: its noisy answers are missing")
        if "period" in body:
            from .instalment import decoded  # which is built on this

            return cast("Self", decoded(body, arrays, noisy))
        plan = Plan.decode(body, arrays)
        if noisy.shape != (plan.strategy.shape[0],):
            raise FileError("damaged release: its noisy answers do not fit its plan")
        return cls(plan, noisy)
