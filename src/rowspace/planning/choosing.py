"""plan(): from a workload and a privacy guarantee to a Plan. Data-blind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.operators import Operator
from rowspace.privacy import NoiseModel, Privacy, integer_norm
from rowspace.strategy import Select, unit_lower_bound
from rowspace.threads import calm_threads
from rowspace.workload import Workload

from .integers import to_integers
from .plan import Candidate, Plan
from .taxonomies import taxonomy_trees

CELL_LIMIT = 10**8
"""Most cells of the attributes a workload touches: the counts must fit in memory as one vector."""

Effort = Literal["fast", "normal", "best"]
Objective = Literal["total", "max"]


def plan(
    workload: Workload,
    privacy: Privacy,
    *,
    effort: Effort = "normal",
    objective: Objective = "total",
    rng: np.random.Generator | None = None,
) -> Plan:
    """Choose what to ask of the data so that this workload's answers have the least error.

    Attributes the workload does not touch are summed out and cost nothing. The result is never worse than
    asking every cell (the identity strategy).

    effort: how many candidates are tried. objective: the sum of squared errors, or the largest one.
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
    reduced = workload.reduced()
    if reduced.domain.size > CELL_LIMIT:
        raise TooLarge(
            f"the workload touches {len(reduced.domain.names)} attributes with {reduced.domain.size} cells in all; "
            f"the limit is {CELL_LIMIT}: use fewer attributes or coarser bins"
        )
    W = reduced.operator()
    select = replace(select, taxonomies=taxonomy_trees(reduced.domain))
    with calm_threads(W.shape[1]):
        results = select.candidates(W, privacy, rng)
        strategy, noise = to_integers(results[0].strategy, privacy)
    per_unit = _noise_per_sensitivity(strategy, noise, privacy)
    unit_bound = max(r.lower_bound for r in results) / privacy.unit_variance
    bound = per_unit * max(unit_bound, unit_lower_bound(W, privacy))
    candidates = tuple(
        Candidate(r.name, r.total_error, r.ratio if r.lower_bound > 0 else None, r.seconds) for r in results
    )
    return Plan(reduced, privacy, strategy, noise, bound, candidates)


def _noise_per_sensitivity(strategy: Operator, noise: NoiseModel, privacy: Privacy) -> float:
    """Variance of the integer noise per squared unit of sensitivity.

    The bound is stated for noise of this quality, so that the ratio compares strategies and not samplers:
    on a coarse grid discrete Laplace noise has a little less variance than the continuous law.
    """
    squared = integer_norm(strategy, privacy) ** (2 if privacy.norm == 1 else 1)
    return noise.variance / max(1, squared)


def _check_kind(value: Any, kind: type, expected: str) -> None:
    if not isinstance(value, kind):
        raise InvalidInput(f"expected {expected}, got {type(value).__name__}")
