"""plan(): from a workload and a privacy guarantee to a Plan. Data-blind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy

from rowspace.error import noise_level
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.operators import DECOMPOSITION_LIMIT, Operator
from rowspace.privacy import Neighbours, Privacy
from rowspace.strategy import (
    ALMOST,
    GOOD_ENOUGH,
    SPREAD_CELLS,
    IdentityStrategy,
    IntegerCandidate,
    Result,
    Select,
    Strategy,
    WorstQueryResult,
    as_asked,
    best_lower_bound,
    in_several_cells,
    products_bound,
    spread_bound,
    spread_optimum,
)
from rowspace.tables import ProductWorkload, woven_entries
from rowspace.threads import one_thread_if_small
from rowspace.workload import Workload

from .against import plan_against
from .candidate import Candidate
from .facts import known_facts
from .given import plan_given
from .informed import plan_informed
from .people import values_of_measures
from .periods import alike, plan_periods
from .places import with_cells_beside, without_unseen
from .plan import Plan
from .purpose import Purpose, for_purpose
from .taxonomies import taxonomy_trees

CELL_LIMIT = 10**8
"""Most cells of the attributes a workload touches for strategies over the cells; strategies of tables need no limit."""

FEW_CELLS = 256
"""Cells up to which all candidates are tried for tables of counts as well, unless residuals are optimal."""

WOVEN_LIMIT = 2**25
"""Most entries of a matrix over the cells that queries which tie distant attributes need written out; beyond, only
strategies of tables are tried."""

TABLE_LIMIT = 2**28
"""Most cells of the tables that are measured: 2 GB of integers."""

Effort = Literal["fast", "normal", "best"]
Objective = Literal["total", "max"]


def plan(
    workload: Workload,
    privacy: Privacy,
    *,
    effort: Effort = "normal",
    objective: Objective = "total",
    purpose: Purpose = "answers",
    strategy: Operator | npt.ArrayLike | scipy.sparse.sparray | None = None,
    given: Iterable[Any] = (),
    over: str | None = None,
    known: Mapping[str, float] | None = None,
    impossible: Iterable[str] = (),
    rng: np.random.Generator | None = None,
) -> Plan:
    """Choose what to ask of the data so that this workload's answers have the least error.

    Attributes the workload does not touch are summed out and cost nothing. Candidates are compared by the integers that
    are asked and the noise that is drawn, so the result is never worse than asking every cell (the identity strategy).

    workload: what is asked. privacy: the guarantee.
    effort: how many candidates are tried. objective: the sum of squared errors, or the largest one; importance weights
    say how much an answer counts in the sum, and play no part in the largest (for unequal demands see `plan_for`).
    purpose: "answers" that are used as they are, or "tables" that `Release.estimate_tables` makes believable: then
    tables are weighted for that, and the certificate is for those weights.
    strategy: a matrix or operator of your own over the cells of the workload's attributes, instead of a search.
    given: earlier releases of the same table, and what `rs.discover` found there; the plan is best together with them,
    and its errors are those of `combine([*given, release])`.
    over: an attribute whose cells are periods, such as months: the plan is measured and published period by period, by
    `rs.instalment`, and its errors are those of each answer when its last period is over.
    known: public facts, as conditions (or "total") with their counts: every answer keeps to them, and those that they
    do not determine err less. impossible: conditions that no record satisfies: nothing is there, in every answer.
    rng: for optimizers that search at random; the same generator state gives the same plan.

    >>> import rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 64, bins=64))
    >>> p = rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(epsilon=1.0))
    >>> p.ratio >= 1 and p.total_error <= 2 * 45760          # the identity's error on all ranges
    True
    """
    _check_kind(workload, Workload, "a workload such as rs.workload.ranges(domain, 'age')")
    _check_kind(privacy, Privacy, "a privacy guarantee such as rs.PureDP(epsilon=1.0)")
    if over is None:
        _check_no_periods(privacy)
    workload = for_purpose(workload, privacy, purpose)
    select = Select(effort=effort, objective=objective)
    beside = not isinstance(given, tuple) or bool(given)
    facts = known_facts({} if known is None else known, impossible)
    if facts:
        if strategy is not None or over is not None or given != () or objective != "total":
            raise InvalidInput(
                "expected known= and impossible= without strategy=, given=, over= and objective=; leave those out"
            )
        return plan_informed(workload, privacy, facts, select, rng)
    if over is not None:
        if strategy is not None or beside:
            raise InvalidInput(
                "expected over= without strategy= and given=: its strategy is chosen by period, and noise in earlier "
                "periods has nothing to do with that in later ones; plan the next periods by themselves, and combine "
                "their instalments with the last one before"
            )
        return plan_periods(workload, privacy, over, select, rng)
    if beside and (strategy is not None or objective != "total"):
        raise InvalidInput(
            'expected given= without strategy= and with objective="total": beside evidence a strategy is chosen, by '
            "the sum of squared errors; leave those out, or weigh the queries that matter"
        )
    if strategy is not None:
        made = plan_given(workload, privacy, strategy)
        return made if objective == "total" else _judged_by_worst(made)
    if beside:
        return plan_against(workload, privacy, given, select, rng)
    return plan_over(workload.reduced(), privacy, select, rng)


def plan_over(
    workload: Workload, privacy: Privacy, select: Select, rng: np.random.Generator | None = None
) -> Plan:
    """The plan over all attributes of the workload's domain, also those it does not touch."""
    return _planned(workload, privacy, select, rng)[0][0]


def plans_of_candidates(workload: Workload, privacy: Privacy, select: Select) -> list[Plan]:
    """A plan for every candidate, the best first: it is what `plan` returns."""
    return _planned(workload.reduced(), privacy, select, None, most=None)[0]


def plan_for_demands(workload: Workload, privacy: Privacy, effort: Effort) -> tuple[Plan, float]:
    """The plan of least largest weighted error, and what that is at least, squared and at unit noise."""
    select = Select(effort=effort, objective="max")
    (made, *_), worst = _planned(workload.reduced(), privacy, select, None, weighted=True)
    return made, worst


def plan_for_weights(workload: Workload, privacy: Privacy, effort: Effort) -> Plan:
    """The plan of least total error with a bound that costs nothing; see `certified_further`."""
    _check_no_periods(privacy)
    (made, *_), _ = _planned(workload.reduced(), privacy, Select(effort=effort), None, bounded=False)
    return made


def certified_further(plan: Plan) -> Plan:
    """The plan with the bound that takes a second."""
    counted = plan.workload.over(plan.workload.domain.with_places())
    own = without_unseen(counted)
    if plan.ratio < GOOD_ENOUGH or own.domain.size > DECOMPOSITION_LIMIT:
        return plan
    bound = plan.privacy.least_variance * best_lower_bound(own.weighted_operator(), plan.privacy)
    return replace(plan, lower_bound=max(plan.lower_bound, bound))


def _planned(
    workload: Workload,
    privacy: Privacy,
    select: Select,
    rng: np.random.Generator | None,
    weighted: bool = False,
    most: int | None = 1,
    bounded: bool = True,
) -> tuple[list[Plan], float]:
    """The plans of the best candidates, and the bound on the largest error at unit noise.

    weighted: the error of answers times their weights. most: how many candidates; all unless given. bounded: whether
    the certificate is worth a second.
    """
    objective = select.objective
    counted = workload.over(workload.domain.with_places())
    products = counted.products()
    own = without_unseen(counted)
    with one_thread_if_small(min(own.domain.size, CELL_LIMIT)):
        tables = products.only_tables and own.domain.size > select.limits.gaussian_cells
        # Residuals are optimal in real numbers, where records are added or removed.
        exact = privacy.neighbours is Neighbours.ADD_REMOVE and not privacy.is_coarse
        tables |= products.only_cells and (exact or own.domain.size > FEW_CELLS)
        too_many = own.domain.size > CELL_LIMIT or woven_entries(own.products()) > WOVEN_LIMIT
        W = None
        cells, counts = own.products(), products
        if objective == "max" and not weighted:
            cells, counts = alike(own), alike(counted)
        if too_many or (privacy.norm == 2 and tables):
            # Nothing over the cells can be built, or need be: for marginals residuals are optimal, and nearly so
            # where their attributes have places that are not asked for.
            results, unit_bound = select.without_cells(counts, privacy, rng), 0.0
            if privacy.is_coarse and objective == "total" and not too_many:
                W = own.weighted_operator()
                results.append(IdentityStrategy().optimize(W, privacy))
        else:
            apart = bool(own.domain.places and own.domain.measures)
            select = replace(select, taxonomies=taxonomy_trees(own.domain), apart=apart)
            results = select.candidates(cells, privacy, rng, counts)
            W = own.weighted_operator()
            # Where a candidate is certified its bound is as good.
            near = GOOD_ENOUGH if own.domain.size <= DECOMPOSITION_LIMIT else ALMOST
            certified = results[0].ratio < near or not bounded
            unit_bound = 0.0 if certified else best_lower_bound(W, privacy)
        spread = 0.0
        if objective == "total" and in_several_cells(privacy):
            # Restricted to cells that are known; a unit has one value in a cell, so those of a measure are not alike.
            spread = 0.0 if workload.domain.measures else spread_bound(workload.products(), privacy)
        if objective == "total" and in_several_cells(privacy) and own.domain.size <= SPREAD_CELLS:
            W = own.weighted_operator()
            more, optimum = spread_optimum(W, privacy, values_of_measures(own.domain))
            spread = max(spread, optimum)
            results = results if more is None else [more, *results]
            if all(result.name != "identity" for result in results):
                results = [*results, IdentityStrategy().optimize(W, privacy)]
        results = _that_fit(results, workload)
        worst = _worst_bound(results, counts, privacy) if objective == "max" else 0.0
        if counts is not products:
            unit_bound = unit_bound or products_bound(products, privacy)
            results = [_reweighted(r, own.products(), products, privacy, unit_bound) for r in results]
        asked = as_asked(results, W, products, privacy, objective, counted.domain.parts)
    unit_bound = max(unit_bound, spread, max(r.lower_bound for r in results) / privacy.unit_variance)
    least = privacy.least_variance
    bound = least * unit_bound
    candidates = tuple(_candidate(one, bound) for one in asked)
    objective, largest = ("total", 0.0) if weighted else (objective, least * worst)
    made = []
    for number, one in enumerate(asked[:most]):
        integers, places = _beside(one.integers, own, counted, privacy)
        first = (candidates[number], *candidates[:number], *candidates[number + 1 :])
        made.append(Plan(workload, privacy, integers, one.noise, bound, first, objective, largest, places))
    return made, worst


def _beside(
    integers: Operator, own: Workload, counted: Workload, privacy: Privacy
) -> tuple[Operator, frozenset[str]]:
    """A strategy over all cells that are counted where that costs nothing, else over those it has, and their places."""
    if integers.shape[1] != counted.domain.size:
        extended = with_cells_beside(integers, own.domain, counted.domain, privacy)
        return (integers, own.domain.places) if extended is None else (extended, counted.domain.places)
    return integers, counted.domain.places


def _candidate(asked: IntegerCandidate, bound: float) -> Candidate:
    """The candidate as a plan lists it."""
    ratio = asked.total_error / bound if bound > 0 else None
    worst = asked.worst if asked.worst is not None and asked.worst < inf else None
    return Candidate(asked.result.name, asked.total_error, ratio, asked.result.seconds, worst)


def _worst_bound(results: Sequence[Result], queries: ProductWorkload, privacy: Privacy) -> float:
    """What no strategy's worst answer goes below at unit noise: the mean of all, or what an optimizer has proved."""
    found = [result.lower_bound / queries.queries for result in results]
    found += [result.max_lower_bound for result in results if isinstance(result, WorstQueryResult)]
    return max(found) / privacy.unit_variance


def _reweighted(
    result: Result, cells: ProductWorkload, tables: ProductWorkload, privacy: Privacy, unit_bound: float
) -> Result:
    """A result for queries that were all alike, with the total error and the bound of the weighted ones."""
    strategy = Strategy.of(result.strategy)
    trace = strategy.trace(cells if strategy.sizes is None else tables)
    total = noise_level(result.strategy, privacy) * trace
    return replace(result, total_error=total, lower_bound=min(privacy.unit_variance * unit_bound, total))


def _judged_by_worst(plan: Plan) -> Plan:
    """The same plan, certified for its worst answer by the bound on the total."""
    bound = plan.lower_bound / _importance(plan.workload)
    return replace(plan, objective="max", max_lower_bound=bound)


def _importance(workload: Workload) -> float:
    """The sum of all queries' squared weights, over those that make them equally important."""
    relative = workload.products().powers / alike(workload).powers
    return float(relative @ np.array(workload.products().sizes_of_parts, dtype=np.float64))


def _that_fit(results: list[Result], workload: Workload) -> list[Result]:
    """The candidates whose tables can be held in memory, or `TooLarge`."""
    fitting = [r for r in results if r.strategy.shape[0] <= TABLE_LIMIT]
    if results and not fitting:
        raise TooLarge(
            f"the workload is about {len(workload.domain.names)} attributes and needs tables of "
            f"{min(r.strategy.shape[0] for r in results)} cells in all; the limit is {TABLE_LIMIT}: ask for tables of "
            "fewer attributes, or use coarser bins"
        )
    return fitting


def _check_no_periods(privacy: Privacy) -> None:
    if privacy.unit is not None and privacy.unit.periods is not None:
        raise InvalidInput(
            "expected over= beside a privacy unit with periods=: it says which attribute's cells are the periods; or "
            "leave out periods= and say how many rows of each unit are counted in all"
        )


def _check_kind(value: Any, kind: type, expected: str) -> None:
    if not isinstance(value, kind):
        raise InvalidInput(f"expected {expected}, got {type(value).__name__}")
