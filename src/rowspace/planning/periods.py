"""plan(over=…): one promise for a whole horizon, measured and published period by period. Data-blind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from rowspace.domain import Dimension, until_period, with_periods
from rowspace.error import noise_level
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.privacy import Privacy
from rowspace.strategy import (
    STORED_PERIODS,
    Horizon,
    IdentityStrategy,
    IntegerCandidate,
    Select,
    WorstQueryResult,
    as_asked,
    best_lower_bound,
    calibrated_noise,
    causal_results,
    dropped_bits,
    judged,
    periods_of_rows,
    recurring_bound,
    until,
)
from rowspace.tables import ProductWorkload
from rowspace.threads import one_thread_if_small
from rowspace.workload import Workload, ended, total

from .candidate import Candidate
from .places import without_unseen
from .plan import Plan

MOST_PERIODS = 2**20
"""Most periods of a horizon."""

MOST_CELLS = 2**22
"""Most cells of all periods together."""


def plan_periods(
    workload: Workload, privacy: Privacy, over: str, select: Select, rng: np.random.Generator | None
) -> Plan:
    """The plan of least error among those that need no cell of a later period for what they have measured so far.

    Guarantees
    - Every row needs cells up to its own period only, and every query is answered by rows of its own periods or earlier
      ones, with the error that the plan states (tests/planning/test_periods.py::test_errors_at_publication).
    - The bound is that of all strategies, also of those that wait until the end
      (tests/planning/test_periods.py::test_time_costs_nothing).
    """
    if privacy.unit is not None and privacy.unit.periods is None:
        raise InvalidInput(
            "expected a privacy unit that says in how many periods it is counted, such as "
            f"PrivacyUnit({privacy.unit.column!r}, rows={privacy.unit.rows}, periods=12), whose rows are those of one "
            "period"
        )
    own_workload = over_periods(workload, over)
    domain = own_workload.domain
    counted = own_workload.over(domain.with_places())
    once = privacy.unit is None or privacy.unit.periods == 1
    most = MOST_PERIODS if privacy.norm == 2 and once else STORED_PERIODS
    if domain[over].size > most:
        why = "" if most == MOST_PERIODS else " with Laplace noise, or for units in several periods"
        raise TooLarge(f"expected at most {most:,} periods{why}, got {domain[over].size:,}; use longer ones")
    if counted.domain.size > MOST_CELLS:
        raise TooLarge(
            f"expected at most {MOST_CELLS:,} cells of all periods together, got {counted.domain.size:,}; ask for "
            "fewer attributes, coarser bins or longer periods"
        )
    own = without_unseen(counted)
    axis = domain.position(over)
    with one_thread_if_small(counted.domain.size):
        cells, counts = own.products(), counted.products()
        if select.objective == "max":
            cells, counts = alike(own), alike(counted)
        W = cells.weighted_operator()
        if privacy.norm == 2:
            results = select.candidates(cells, privacy, rng, cells)
            unit_bound = max(result.lower_bound for result in results) / privacy.unit_variance
        else:
            results, unit_bound = [IdentityStrategy().optimize(W, privacy)], best_lower_bound(W, privacy)
        unit_bound = max(unit_bound, recurring_bound(W, cells.sizes, axis, privacy))
        proved = [r.max_lower_bound for r in results if isinstance(r, WorstQueryResult)]
        worst = max(unit_bound / W.shape[0], *(b / privacy.unit_variance for b in proved), 0.0)
        found = causal_results(results, cells, counts, privacy, select, axis)
        unit_bound = max(unit_bound, *(result.lower_bound / privacy.unit_variance for result in found))
        weighted = counted.weighted_operator()
        if select.objective == "max" and counts is not counted.products():
            unit_bound = best_lower_bound(weighted, privacy)
            found = [
                judged(r.name, r.strategy, weighted, privacy, replace(r, lower_bound=0.0)) for r in found
            ]
        alone = _in_one_period(privacy)
        asked = as_asked(found, weighted, counted.products(), alone, select.objective, counted.domain.parts)
        asked = [one for one in asked if not dropped_bits(one.integers)]  # rounding would differ by period
        asked = _by_noise(asked, privacy, Horizon(counted.domain.shape, axis), select.objective)
    bound = privacy.least_variance * unit_bound
    best, places = asked[0], counted.domain.places
    largest = privacy.least_variance * worst if select.objective == "max" else 0.0
    periods_of_rows(best.integers, counted.domain.shape, axis)  # raises unless it can be measured by period
    candidates = tuple(_candidate(one, bound) for one in asked)
    figures = (best.noise, bound, candidates, select.objective, largest, places)
    return Plan(own_workload, privacy, best.integers, *figures, over=over)


def _in_one_period(privacy: Privacy) -> Privacy:
    """The promise to units that are in one period only: what candidates are rounded for."""
    if privacy.unit is None:
        return privacy
    return replace(privacy, unit=replace(privacy.unit, periods=None, apart=1))  # type: ignore[type-var]


def _by_noise(
    asked: list[IntegerCandidate], privacy: Privacy, horizon: Horizon, objective: str
) -> list[IntegerCandidate]:
    """The candidates with the noise that they need for what a unit moves in all its periods, best first."""
    if privacy.unit is None:
        return asked
    drawn = []
    for one in asked:
        noise = calibrated_noise(one.integers, privacy, horizon)
        # At enormous budgets no noise is left to compare with.
        before = one.noise.variance or noise_level(one.result.strategy, privacy)
        error = (one.total_error if one.noise.variance else one.result.total_error) * noise.variance / before
        drawn.append(replace(one, noise=noise, total_error=error))
    return sorted(drawn, key=lambda one: one.total_error if objective == "total" else one.worst or 0.0)


def _candidate(one: IntegerCandidate, bound: float) -> Candidate:
    """A candidate as a plan lists it."""
    ratio = one.total_error / bound if bound > 0 else None
    return Candidate(one.result.name, one.total_error, ratio, one.result.seconds, one.worst)


def alike(workload: Workload) -> ProductWorkload:
    """The queries, all equally important."""
    return workload.alike.products() if workload.domain.measures else workload.products().unweighted()


def over_periods(workload: Workload, over: str) -> Workload:
    """The workload over the attributes it is about and its periods; records without a known period are not counted."""
    known = workload.domain
    if not isinstance(over, str) or over not in known:
        raise InvalidInput(
            f"expected over= to be one of the attributes {', '.join(known.names)}, got {over!r}"
        )
    own = known.subset([name for name in known.names if name == over or name in workload.attributes])
    return workload.about(own).over(with_periods(own, over))


def plan_until(plan: Plan, periods: int) -> Plan:
    """What of a plan can be measured and answered after its first periods: a plan of its own, with the same noise.

    Its queries are those whose periods are over; where there are none yet, all records so far.
    """
    axis, sizes = plan.domain.position(plan.over), plan.domain.shape
    if periods == sizes[axis]:
        return plan
    workload = ended(plan.workload, plan.over, periods)
    if workload is None:
        workload = total(until_period(plan.workload.domain, plan.over, periods))
    strategy = until(plan.strategy, sizes, axis, periods)
    return replace(plan, workload=workload, strategy=strategy, lower_bound=0.0, max_lower_bound=0.0)


def period_number(plan: Plan, period: str) -> int:
    """The number of a period, from 0, by its label."""
    if not plan.over:
        raise InvalidInput(
            "expected a plan over periods, as rs.plan(workload, privacy, over='month') makes it"
        )
    labels = period_labels(plan)
    if not isinstance(period, str) or period not in labels:
        raise InvalidInput(
            f"expected period= to be one of the plan's {len(labels)} periods, from {labels[0]!r} to {labels[-1]!r}"
        )
    return labels.index(period)


def period_labels(plan: Plan) -> Sequence[str]:
    """What the periods of a plan are called, the first one first."""
    return _labels(plan.workload.domain[plan.over])


@lru_cache(maxsize=2)
def _labels(attribute: Dimension) -> tuple[str, ...]:
    return tuple(attribute.label(number) for number in range(attribute.size))
