"""plan(strategy=…): a strategy of the caller's own, in place of a search for one. Data-blind."""

from __future__ import annotations

import time
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from rowspace.exceptions import InvalidInput
from rowspace.operators import Extended, Operator, as_operator
from rowspace.privacy import Privacy
from rowspace.strategy import (
    Strategy,
    best_lower_bound,
    calibrated_noise,
    spread_optimum,
    to_integers,
)
from rowspace.threads import one_thread_if_small
from rowspace.workload import Workload

from .candidate import Candidate
from .known import is_known_operator
from .people import values_of_measures
from .places import asked_beside
from .plan import Plan

BOUND_LIMIT = 10**8
"""Most cells over which a workload is written as a matrix, to bound what any strategy can do."""

LARGEST_ENTRIES = 1e100
"""Larger ones, and smaller than its inverse, have squares that floats do not hold."""

NAME = "your strategy"


def plan_given(workload: Workload, privacy: Privacy, strategy: Any) -> Plan:
    """The plan that asks this strategy of the data: rounded to integers, with noise for its own sensitivity.

    Guarantees
    - The noise is that of the integers which are asked, whatever the strategy claims to be: own subclasses of
      `Operator`, whose sensitivity nobody has proved, are refused
      (tests/planning/test_given_strategy.py::test_noise_is_for_what_is_asked, ::test_own_operators_are_refused).

    Raises:
        InvalidInput: It is no matrix over the cells of the workload's attributes.
        UnsupportedWorkload: A query of the workload does not follow from its answers.
    """
    started = time.perf_counter()
    reduced = workload.reduced()
    counted = reduced.over(reduced.domain.with_places())
    A = _over_the_cells(as_operator(strategy), counted)
    with one_thread_if_small(min(counted.domain.size, BOUND_LIMIT)):
        # Before rounding, which may tilt the row space of a real matrix and would hide that it supports too little.
        Strategy.of(A).trace(counted.products())
        integers, noise = to_integers(A.of if isinstance(A, Extended) else A, privacy, counted.domain.parts)
        if isinstance(A, Extended):
            integers = asked_beside(integers, A.sizes, A.box, privacy, counted.domain.parts)
            noise = calibrated_noise(integers, privacy)
        bounded = counted.domain.size <= BOUND_LIMIT
        W = counted.weighted_operator() if bounded else None
        unit_bound = (
            0.0
            if W is None
            else max(
                best_lower_bound(W, privacy),
                spread_optimum(W, privacy, values_of_measures(counted.domain))[1],
            )
        )
    lower_bound = privacy.least_variance * unit_bound
    plan = Plan(reduced, privacy, integers, noise, lower_bound, (), places=counted.domain.places)
    ratio = plan.ratio if lower_bound > 0 else None
    seconds = time.perf_counter() - started
    return replace(plan, candidates=(Candidate(NAME, plan.total_error, ratio, seconds),))


def _over_the_cells(A: Operator, workload: Workload) -> Operator:
    """A strategy that can be asked of the cells of a domain, made of structures whose sensitivity is known."""
    if not is_known_operator(A):
        raise InvalidInput(
            f"expected a strategy made of rowspace's own operators, whose sensitivity is proved, got "
            f"{type(A).__name__}; give it as an array: strategy.to_dense()"
        )
    with np.errstate(over="ignore"):
        largest = A.max_column_norm(1)
    if largest and not 1 / LARGEST_ENTRIES <= largest <= LARGEST_ENTRIES:
        raise InvalidInput(
            f"expected a strategy with entries from {1 / LARGEST_ENTRIES:g} to {LARGEST_ENTRIES:g}, got others; its "
            "scale makes no difference: divide it by its largest"
        )
    domain = workload.domain
    known = prod(domain.known_shape)
    tables = Strategy.of(A).tables
    if tables is not None:
        if tables.sizes == domain.shape:
            return A
        if tables.all_cells_alike and tables.sizes == domain.known_shape:
            return tables.over_sizes(domain.shape)
    elif A.shape[1] == domain.size:
        return A
    elif A.shape[1] == known:
        # A cell of a missing value is asked by itself, as much as the strategy asks of any cell.
        return Extended(A, domain.shape, domain.known_shape, 1.0)
    raise InvalidInput(
        f"expected a strategy over the {known:,} cells of {' × '.join(domain.names)} (the last attribute changes "
        f"fastest), got {A.shape[1]:,} columns"
    )
