"""The same strategy at another ε: errors for real noise, without planning again.

All errors of a strategy scale together; what changes with ε is the noise. So a curve of error against ε costs one look
at the plan's error and one calibration for each ε. A strategy that is good at one ε is good at every other while the
noise is larger than single counts; beyond that another may be better, and the certificate says how much at most.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, inf, log10, sqrt
from typing import Any

from rowspace.exceptions import InvalidInput
from rowspace.privacy import Privacy
from rowspace.strategy import asked_of_parts, step_over, to_integers

from .groups import GroupError
from .plan import Plan

LEAST_RATIO = 1e-3
"""What stands for a ratio of 0: an interval of ±0 does not tell how much less would do."""


@dataclass(frozen=True)
class WhatIf:
    """The error of every group at one value of ε (or of ρ, for a plan that states ρ)."""

    epsilon: float
    rmse: float
    groups: tuple[GroupError, ...]

    def to_dict(self) -> dict[str, Any]:
        """The figures, JSON-safe."""
        return dataclasses.asdict(self)

    def __repr__(self) -> str:
        return f"<WhatIf at {self.epsilon:g}: rmse {self.rmse:.4g}, {len(self.groups)} groups>"


def whatif(plan: Plan, epsilons: Iterable[float]) -> list[WhatIf]:
    """What every group's error would be at other values of ε (or ρ), with the plan's strategy and real noise.

    >>> import rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 16, bins=16))
    >>> p = rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(1.0), effort="fast")
    >>> half, one = whatif(p, [0.5, 1.0])
    >>> 1.9 < half.rmse / one.rmse < 2.1          # not exactly 2: the noise is on the integers
    True
    """
    if plan.given:
        raise InvalidInput(
            "the errors of a plan beside earlier releases do not scale with epsilon; plan again"
        )
    if isinstance(epsilons, str | bytes) or not isinstance(epsilons, Iterable):
        raise InvalidInput("expected a list of values of epsilon such as [0.1, 0.5, 1, 2]")
    groups, base = plan.group_errors(), _noise_per_sensitivity(plan)
    found = []
    for epsilon in epsilons:
        other = recalibrated(plan, with_budget(plan.privacy, epsilon))
        factor = sqrt(_noise_per_sensitivity(other) / base)
        scaled = tuple(
            dataclasses.replace(
                group,
                rmse=factor * group.rmse,
                largest_std_error=None
                if group.largest_std_error is None
                else factor * group.largest_std_error,
            )
            for group in groups
        )
        found.append(WhatIf(budget(other.privacy), factor * plan.rmse, scaled))
    return found


def recalibrated(plan: Plan, privacy: Privacy) -> Plan:
    """The plan's strategy under another guarantee of the same norm, with the noise that guarantee needs.

    Guarantees
    - The noise is calibrated by the same code as every plan's, to the exact integer sensitivity
      (tests/planning/test_whatif.py::test_recalibrated_plans_are_as_private_as_they_say).
    """
    if privacy.norm != plan.privacy.norm:
        raise InvalidInput("a strategy for one kind of noise is not a strategy for another; plan again")
    strategy, noise = to_integers(
        asked_of_parts(plan.strategy, plan.domain.parts), privacy, plan.domain.parts, plan.horizon
    )
    other = dataclasses.replace(plan, privacy=privacy, strategy=strategy, noise=noise)
    factor = _noise_per_sensitivity(other) / _noise_per_sensitivity(plan)
    least = privacy.least_variance / (plan.privacy.least_variance or inf)
    candidates = tuple(
        dataclasses.replace(
            candidate,
            total_error=factor * candidate.total_error,
            ratio=None if candidate.ratio is None or not least else factor / least * candidate.ratio,
            max_error=None if candidate.max_error is None else factor * candidate.max_error,
        )
        for candidate in plan.candidates
    )
    if plan.given:  # what the evidence knows does not scale: nothing is proved at another budget
        least, candidates = 0.0, ()
    return dataclasses.replace(
        other,
        lower_bound=least * plan.lower_bound,
        max_lower_bound=least * plan.max_lower_bound,
        candidates=candidates,
    )


def budget_name(privacy: Privacy) -> str:
    """What a guarantee calls its budget: epsilon or rho."""
    return "epsilon" if hasattr(privacy, "epsilon") else "rho"


def budget(privacy: Privacy) -> float:
    """The ε or ρ of a guarantee."""
    return float(getattr(privacy, budget_name(privacy)))


def with_budget(privacy: Privacy, value: float) -> Privacy:
    """The same kind of guarantee at another ε or ρ; `InvalidPrivacy` unless it is positive and finite."""
    return dataclasses.replace(privacy, **{budget_name(privacy): value})  # type: ignore[type-var]


def budget_for(privacy: Privacy, ratio: float) -> float:
    """The budget whose noise is smaller by a ratio, by bisection: the noise falls as the budget grows."""
    wanted = privacy.unit_variance / (ratio or LEAST_RATIO) ** 2
    low, high = budget(privacy) * 1e-6, budget(privacy) * 1e6
    for _ in range(60):
        middle = sqrt(low * high)
        if with_budget(privacy, middle).unit_variance > wanted:
            low = middle
        else:
            high = middle
        if high <= 1.00001 * low:
            break
    return high


def rounded_up(value: float) -> float:
    """A budget with four digits, not smaller."""
    step = 10.0 ** (floor(log10(value)) - 3)
    return float(f"{ceil(value / step) * step:.4g}")


def _noise_per_sensitivity(plan: Plan) -> float:
    """Variance of the integer noise per squared unit of sensitivity: what all errors are proportional to."""
    squared = step_over(plan.strategy, plan.privacy, plan.horizon) ** (2 if plan.privacy.norm == 1 else 1)
    return plan.noise.variance / max(1, squared)
