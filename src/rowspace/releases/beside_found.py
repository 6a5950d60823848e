"""Counts that a discovery showed, as evidence beside releases: what was paid for finding values is not paid again.

A shown count is too high on average, so least squares may not take it as it is. `error.beside_another` makes it
unbiased with the help of what the releases say about the same count, and that goes into least squares with weights that
depend on no noise. Errors are stated as if counts near the threshold, which the releases mostly carry, were not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rowspace.error import beside_another
from rowspace.exceptions import UnsupportedWorkload
from rowspace.operators import Vector
from rowspace.planning import counts_of, found_rows, measured_rows
from rowspace.privacy import TruncatedLaplace
from rowspace.reconstruct import Measurement
from rowspace.workload import Workload

from .combined_answers import Answers, Columns, answers_from
from .evidence import Evidence, as_queries

if TYPE_CHECKING:
    from .discovered import Discovery


@dataclass(frozen=True, eq=False)
class BesideFound(Answers):
    """Answers with all shown counts, and errors without those near the threshold."""

    answers: Answers
    errors: Answers

    @property
    def method(self) -> str:  # type: ignore[override]
        """How the answers were found, in words."""
        return f"{self.answers.method}, with the counts of what was found, made unbiased"

    def error_bars(self, queries: Workload, level: float) -> tuple[Vector, Vector]:
        """Those of the measurements that errors are stated for."""
        return self.errors.error_bars(queries, level)

    def table(self, queries: Workload, level: float) -> Columns:
        """Answers from all, errors from those."""
        return self.answers.table(queries, level)[0], *self.error_bars(queries, level)


def evidence_beside(alone: Evidence, found: Sequence[Discovery]) -> tuple[Evidence, Evidence]:
    """The evidence of releases together with discoveries: to answer from, and to state errors by.

    Raises:
        UnsupportedWorkload: The releases do not tell the counts of what was found by themselves.
    """
    every, certain = list(alone.measurements), list(alone.measurements)
    answers = answers_from(alone)
    for each in found:
        queries, noise = as_queries(alone.domain, counts_of(each, alone.domain), ()), each.plan.threshold
        assert isinstance(noise, TruncatedLaplace)
        try:
            other = answers.table(queries, 0.95)[0]
        except UnsupportedWorkload:
            raise UnsupportedWorkload(
                f"expected releases that count the values of {' and '.join(each.plan.columns)} that were found: a "
                "count that was shown for its noise is no evidence by itself; ask for them in the plan"
            ) from None
        values, as_shown = beside_another(noise, each.plan.least, each.noisy_counts, other)
        rows = found_rows(queries)
        every.append(Measurement(**vars(measured_rows(rows, noise)), values=values))
        if as_shown.any():
            certain.append(Measurement(**vars(measured_rows(rows[as_shown], noise)), values=values[as_shown]))
    return replace(alone, measurements=tuple(every)), replace(alone, measurements=tuple(certain))


def named(found: Sequence[Discovery]) -> str:
    """How many discoveries, in words."""
    return f" and {len(found)} {'discovery' if len(found) == 1 else 'discoveries'}" if found else ""
