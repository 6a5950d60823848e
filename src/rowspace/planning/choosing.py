"""plan(): from a workload and a privacy guarantee to a Plan. Data-blind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy

from rowspace.exceptions import IntegerOverflow, InvalidInput, RowspaceError, TooLarge
from rowspace.operators import Operator
from rowspace.privacy import NoiseModel, Privacy
from rowspace.strategy import Result, Select, Strategy, WorstQueryResult, to_integers, unit_lower_bound
from rowspace.tables import ProductWorkload
from rowspace.threads import one_thread_if_small
from rowspace.workload import Workload

from .given import noise_per_sensitivity, plan_given
from .places import with_cells_beside, without_unseen
from .plan import Candidate, Plan
from .taxonomies import taxonomy_trees

CELL_LIMIT = 10**8
"""Most cells of the attributes a workload touches for strategies over the cells; strategies of tables need no limit."""

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
    strategy: Operator | npt.ArrayLike | scipy.sparse.sparray | None = None,
    rng: np.random.Generator | None = None,
) -> Plan:
    """Choose what to ask of the data so that this workload's answers have the least error.

    Attributes the workload does not touch are summed out and cost nothing. The result is never worse than
    asking every cell (the identity strategy).

    workload: what is asked. privacy: the guarantee.
    effort: how many candidates are tried. objective: the sum of squared errors, or the largest one.
    strategy: a matrix or operator of your own over the cells of the workload's attributes, instead of a search.
    rng: for optimizers that search at random; the same generator state gives the same plan.

    >>> import rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 64, bins=64))
    >>> p = rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(epsilon=1.0))
    >>> p.ratio >= 1 and p.total_error <= 2 * 45760          # the identity's error on all ranges
    True
    """
    _check_kind(workload, Workload, "a workload such as rs.workload.ranges(domain, 'age')")
    _check_kind(privacy, Privacy, "a privacy guarantee such as rs.PureDP(epsilon=1.0)")
    select = Select(effort=effort, objective=objective)
    if strategy is not None:
        made = plan_given(workload, privacy, strategy)
        return made if objective == "total" else _judged_by_worst(made)
    reduced = workload.reduced()
    counted = reduced.over(reduced.domain.with_places())
    products = counted.products()
    own = without_unseen(counted)
    with one_thread_if_small(min(own.domain.size, CELL_LIMIT)):
        tables = products.only_tables and own.domain.size > select.limits.gaussian_cells
        if own.domain.size > CELL_LIMIT or (privacy.norm == 2 and (products.only_cells or tables)):
            # Nothing over the cells can be built, or need be: for marginals residuals are optimal, and nearly so
            # where their attributes have places that are not asked for.
            results, unit_bound = select.tables(products, privacy, rng), 0.0
        else:
            select = replace(select, taxonomies=taxonomy_trees(own.domain))
            results = select.candidates(own.products(), privacy, rng, products)
            unit_bound = unit_lower_bound(own.weighted_operator(), privacy)
        results = _that_fit(results, reduced)
        integers, noise = _in_integers(results, privacy)
    places = counted.domain.places
    if own is not counted and Strategy.of(integers).tables is None:
        extended = with_cells_beside(integers, own.domain, counted.domain, privacy)
        integers, places = (integers, own.domain.places) if extended is None else (extended, places)
    per_unit = noise_per_sensitivity(integers, noise, privacy)
    unit_bound = max(unit_bound, max(r.lower_bound for r in results) / privacy.unit_variance)
    candidates = tuple(
        Candidate(r.name, r.total_error, r.ratio if r.lower_bound > 0 else None, r.seconds, _worst(r))
        for r in results
    )
    worst = per_unit * _worst_bound(results, unit_bound, products, privacy) if objective == "max" else 0.0
    return Plan(
        reduced, privacy, integers, noise, per_unit * unit_bound, candidates, objective, worst, places
    )


def _worst(result: Result) -> float | None:
    """The worst answer's squared error, where it was looked at."""
    found = result.max_error if isinstance(result, WorstQueryResult) else None
    found = found if result.worst is None else result.worst
    return found if found is not None and found < inf else None


def _worst_bound(
    results: Sequence[Result], unit_bound: float, products: ProductWorkload, privacy: Privacy
) -> float:
    """What no strategy's worst answer goes below, importance aside, at unit noise.

    The weighted total is at most the worst error times the sum of squared weights. Optimizers for the worst answer may
    know better: those over cells of the answers times their weights, those of tables of the answers themselves.
    """
    found = [unit_bound / _importance(products)]
    for result in results:
        if isinstance(result, WorstQueryResult):
            weight = float(products.powers.max()) if result.weighted else 1.0
            found.append(result.max_lower_bound / privacy.unit_variance / weight)
    return max(found)


def _judged_by_worst(plan: Plan) -> Plan:
    """The same plan, certified for its worst answer by the bound on the total."""
    bound = plan.lower_bound / _importance(plan.workload.products())
    return replace(plan, objective="max", max_lower_bound=bound)


def _importance(products: ProductWorkload) -> float:
    """The sum of all queries' squared weights."""
    return float(products.powers @ np.array(products.sizes_of_parts, dtype=np.float64))


def _in_integers(results: Sequence[Result], privacy: Privacy) -> tuple[Operator, NoiseModel]:
    """The best strategy that fits integers of 64 bits, and its noise; products of many matrices may not."""
    refused: RowspaceError = TooLarge(
        "no strategy can handle this workload; use fewer or smaller sets of attributes"
    )
    for result in results:
        try:
            return to_integers(result.strategy, privacy)
        except IntegerOverflow as error:
            refused = refused if isinstance(refused, IntegerOverflow) else error
    raise refused


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


def _check_kind(value: Any, kind: type, expected: str) -> None:
    if not isinstance(value, kind):
        raise InvalidInput(f"expected {expected}, got {type(value).__name__}")
