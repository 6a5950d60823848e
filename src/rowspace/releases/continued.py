"""Horizons that follow one another as one release: figures across them, with the error bars of the whole.

The last instalment of a year and those of the next are about different periods, and their noise is independent. So a
query's estimate is the sum of what each says of its own periods, and its variance the sum of theirs: that is least
squares on all of them, whatever the strategies are.

Guarantees
- Answers are those of least squares on all measurements together, with its errors
  (tests/releases/test_continued.py::test_least_squares_on_both).
- Only horizons that follow one another without a gap are taken together
  (tests/releases/test_continued.py::test_what_does_not_follow).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rowspace import operators as op
from rowspace.domain import Domain, one_after_another
from rowspace.exceptions import InvalidDomain, InvalidInput
from rowspace.planning import Plan
from rowspace.strategy import carried_by_one, widest
from rowspace.workload import Workload, among, within

from .combined_answers import Answers, Columns
from .evidence import measurement_of
from .release import Release


@dataclass(frozen=True, eq=False)
class ByHorizon(Answers):
    """Each horizon answers for its own periods, and what they say is added up.

    horizons: the releases with the number of the first period of each. over: the attribute of periods.
    """

    horizons: tuple[tuple[Release, int], ...]
    over: str

    method = "consistent with one another, by least squares on the periods of each horizon"

    @property
    def releases(self) -> tuple[Release, ...]:
        """The releases as they were made."""
        return tuple(release for release, _ in self.horizons)

    def table(self, queries: Workload, level: float) -> Columns:
        """Sums over the horizons."""
        answer, second = np.zeros(queries.size), np.zeros(queries.size)
        for release, first in self.horizons:
            own = within(queries, self.over, release.plan.domain, first)
            strategy, asked = release.plan._asked(own)
            answer += release._answer(own)
            second += release.plan.noise.variance * strategy.variances(asked)
        measured = [measurement_of(release) for release in self.releases]
        return answer, np.sqrt(second), widest(carried_by_one(second), measured, level)


def horizons_of(releases: Sequence[Release]) -> tuple[Domain, tuple[tuple[Release, int], ...]] | None:
    """The domain of all periods, and the releases with the first period of each; None unless they are of horizons.

    Raises:
        InvalidInput: They are of different periods that do not follow one another.
    """
    over = releases[0].plan.over if releases else ""
    if not over or any(release.plan.over != over for release in releases):
        return None
    domains = [release.plan.domain for release in releases]
    if all(domain == domains[0] for domain in domains):
        return None
    try:
        whole = one_after_another(domains, over)
    except InvalidDomain as error:
        raise InvalidInput(f"combining horizons, the earliest first: {error}") from None
    starts = np.cumsum([0, *(domain[over].size for domain in domains)]).tolist()
    return whole, tuple(zip(releases, starts, strict=False))


def over_all(plan: Plan, domain: Domain, first: int) -> Plan:
    """The plan of a horizon over all periods of several, those of the others not measured."""
    axis, own = domain.position(plan.over), plan.domain[plan.over].size
    cells = np.arange(domain.size).reshape(domain.shape)
    mine = np.take(cells, np.arange(first, first + own), axis=axis).ravel()
    order = np.concatenate([mine, np.setdiff1d(cells.ravel(), mine)])
    return replace(
        plan,
        workload=among(plan.counted, plan.over, domain, first),
        strategy=op.Permuted(op.Padded.right(plan.strategy, domain.size), order),
        lower_bound=0.0,
        max_lower_bound=0.0,
        over="",
    )
