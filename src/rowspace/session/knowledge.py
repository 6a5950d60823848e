"""What has been bought so far, as a ledger keeps it: measurements of one table over one domain.

Kept are sufficient statistics, not releases: measurements of one strategy as their average, and past a number of
strategies those with Gaussian noise that cost least as one triangular matrix, QᵗA of all of them stacked, which tells
least squares the same. So a question costs no more after ten thousand others. Charges are taken in one by one, in their
order: whoever reads the same ledger computes the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from rowspace.domain import Domain
from rowspace.exceptions import UnsupportedWorkload
from rowspace.operators import Dense, Vector
from rowspace.planning import Plan, budget, with_budget
from rowspace.privacy import Privacy, PrivacyUnit
from rowspace.reconstruct import Measurement, merged, whitened
from rowspace.releases import (
    AnswerRows,
    Answers,
    Columns,
    CombinedPlan,
    Evidence,
    Guarantees,
    Release,
    answer_rows,
    answers_from,
    combined_statement,
    measurement_of,
    rows_with_means,
)
from rowspace.strategy import CELLS_AT_ONCE, Measured
from rowspace.workload import Workload, total

if TYPE_CHECKING:
    import pandas as pd

MOST_APART, KEPT_APART = 24, 8
"""Strategies that are kept by themselves at most, and how many of them, by what they cost, stay so beyond it."""

GAUSSIAN = 1e-3
"""Largest excess kurtosis of noise that counts as Gaussian: a matrix times it has the tails it is taken to have."""


@dataclass(frozen=True, eq=False)
class Bought:
    """All that was measured by one strategy: the average, a plan that asked it, and what plans of its kind cost."""

    measurement: Measurement
    plan: Plan | None
    spent: float


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What is known up to one charge; immutable, a later one is made by `after`.

    unit: whose rows are capped, and how; releases that count others are about another population.
    mark: the digest of the last charge's release, by which a ledger is known again.
    number: how many releases it is made of. promises: what they cost together, one guarantee of each kind.
    largest: about the largest count behind the answers.
    """

    domain: Domain
    unit: PrivacyUnit | None
    bought: tuple[Bought, ...] = ()
    last: int = 0
    mark: str = ""
    number: int = 0
    promises: tuple[Privacy, ...] = ()
    largest: float = 0.0

    def after(self, charges: Iterable[tuple[int, Release | None, str]]) -> Knowledge:
        """What is known after more charges; other domains, other units and plans beside others are no evidence."""
        found = self
        for number, release, mark in charges:
            found = replace(found if release is None else found._with(release), last=number, mark=mark)
        return found

    def _with(self, release: Release) -> Knowledge:
        plan = release.plan
        if not self.takes(plan):
            return self
        new = Bought(measurement_of(release), plan, budget(plan.privacy))
        kept = list(self.bought)
        for place, own in enumerate(kept):
            if own.measurement.strategy == plan.strategy:
                (average,) = merged([own.measurement, new.measurement])
                # Sums are of amounts of one kind: an ε is no ρ.
                alike = own.plan is not None and type(own.plan.privacy) is type(plan.privacy)
                spent = own.spent + new.spent if alike else new.spent
                kept[place] = Bought(average, own.plan if alike else plan, spent)
                break
        else:
            kept.append(new)
        return replace(
            self,
            bought=_condensed(kept, self.domain.size),
            number=self.number + 1,
            promises=Guarantees((*self.promises, plan.privacy)).sums,
            largest=max(self.largest, release.largest_count),
        )

    def takes(self, plan: Plan) -> bool:
        """Whether a release by this plan is evidence here."""
        return (
            plan.domain == self.domain and plan.privacy.unit == self.unit and not (plan.given or plan.known)
        )

    def plan_for(self, workload: Workload, objective: str, kind: Privacy) -> Plan | None:
        """A plan that was bought before for the same queries, under a guarantee of the same kind."""
        plans = (own.plan for own in self.bought if own.plan is not None)
        return next(
            (
                p
                for p in plans
                if p.workload == workload
                and p.objective == objective
                and with_budget(p.privacy, budget(kind)) == kind
            ),
            None,
        )

    def spent_beside(self, expected: Plan) -> float:
        """What was spent on other strategies than this plan's, as the sum of those ε or ρ that are of its kind."""
        return sum(
            own.spent
            for own in self.bought
            if own.measurement.strategy != expected.strategy
            and (own.plan is None or type(own.plan.privacy) is type(expected.privacy))
        )

    def columns(self, queries: Workload, level: float) -> Columns:
        """(answers, standard errors, half-widths) from what is known; the errors infinite where it says nothing."""
        try:
            return self._answers.table(queries, level)
        except UnsupportedWorkload:
            return np.zeros(queries.size), *self._nothing(queries)

    def error_bars(
        self, queries: Workload, level: float, more: Measured | None = None
    ) -> tuple[Vector, Vector]:
        """(standard errors, half-widths) from what is known and, perhaps, one more measurement; see `columns`."""
        try:
            if more is None:
                return self._answers.error_bars(queries, level)
            # What its answers would be says nothing about their errors.
            new = Measurement(**vars(more), values=np.zeros(more.strategy.shape[0]))
            return self._answering([*self._measurements, new]).error_bars(queries, level)
        except UnsupportedWorkload:
            return self._nothing(queries)

    @staticmethod
    def _nothing(queries: Workload) -> tuple[Vector, Vector]:
        return np.full(queries.size, inf), np.full(queries.size, inf)

    @property
    def _measurements(self) -> list[Measurement]:
        return [own.measurement for own in self.bought]

    @cached_property
    def _answers(self) -> Answers:
        """What is found once about what is known, and used by every question."""
        return self._answering(self._measurements)

    def _answering(self, measurements: Sequence[Measurement]) -> Answers:
        if not measurements:
            raise UnsupportedWorkload("nothing is known")
        return answers_from(Evidence(total(self.domain).over(self.domain), tuple(merged(measurements))))

    def rows(self, queries: Workload, level: float, columns: Columns) -> AnswerRows:
        """Answers as they are told: columns with the ends of intervals and, where some are asked, means after them."""
        found = answer_rows(queries, columns, self.largest, self, level)
        return rows_with_means(self, found, level) if self.domain.measures else found

    def ask(self, queries: Workload, level: float) -> pd.DataFrame:
        """What is known about some queries, as a release answers them."""
        columns = self.columns(queries, level)
        return answer_rows(queries, columns, self.largest, self, level).frame()

    @cached_property
    def plan(self) -> CombinedPlan:
        """What others ask of a release's plan."""
        return CombinedPlan(total(self.domain).over(self.domain), Guarantees(self.promises))

    @cached_property
    def statement(self) -> str:
        """What was promised and how to read the numbers, as a release says it."""
        if self.number == 1 and (only := self.bought[0].plan) is not None:
            return Release(only, np.zeros(only.strategy.shape[0], dtype=np.int64)).statement
        return combined_statement(f"{self.number} releases", self.plan, self._answers.method)


def _condensed(bought: list[Bought], cells: int) -> tuple[Bought, ...]:
    """The same, where there are many: those that cost least and whose noise is Gaussian as one triangular matrix."""
    if len(bought) <= MOST_APART or cells > CELLS_AT_ONCE:
        return tuple(bought)
    dear = sorted(bought, key=lambda own: own.spent, reverse=True)[:KEPT_APART]
    few = [own for own in bought if own not in dear and abs(own.measurement.excess_kurtosis) <= GAUSSIAN]
    if len(few) < 2:
        return tuple(bought)
    A, values = whitened([own.measurement for own in few])
    R = np.asarray(np.linalg.qr(np.column_stack((A.to_dense(), values)), mode="r"))[: min(A.shape)]
    # Answers are made of noise in whole steps still, none larger than the largest of them.
    step = max((own.measurement.step or 1.0) / own.measurement.variance**0.5 for own in few)
    one = Measurement(Dense(R[:, :-1]), 1.0, 0.0, step, np.ascontiguousarray(R[:, -1]))
    rest = [own for own in bought if own not in few]
    return (*rest, Bought(one, None, sum(own.spent for own in few)))
