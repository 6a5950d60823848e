"""plan_for(): the least ε (or ρ) at which every answer is as accurate as demanded.

Two things are chosen. The importance of each group decides how the strategy divides its accuracy: groups that miss
their targets by most are made more important and the strategy is chosen anew, until the worst of them improves no more
(multiplicative updates; the best plan seen is kept). Then ε: with a strategy fixed, all intervals shrink together, so
the least ε is found by a few steps of scaling, on the half-widths of the exact integer noise. What is returned has been
checked: the targets hold for the very plan that is returned.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10, sqrt
from typing import Any

import numpy as np

from rowspace.exceptions import InvalidInput
from rowspace.lines import one_line
from rowspace.privacy import Privacy, PureDP
from rowspace.workload import Part, Workload

from .choosing import Effort, plan
from .plan import Plan
from .target_text import Target, targets_of_groups
from .whatif import budget, budget_name, recalibrated, with_budget

CAP = 10.0
"""Largest ε (or ρ) that is considered, unless another is given."""

ROUNDS = 6
"""Most times that a strategy is chosen for new weights."""

_UNTARGETED = 0.05
_CLOSE = 1.002
_EVEN = 1.03
_WORTHWHILE = 0.99
_POWER = 1.5
_DIGITS = 4


@dataclass(frozen=True)
class Met:
    """One target and the half-width of the worst answer of its group in the plan."""

    group: str
    queries: int
    target: Target
    half_width: float

    @property
    def ratio(self) -> float:
        """At most 1 where the target is met."""
        return self.half_width / self.target.half_width

    def __repr__(self) -> str:
        return one_line(f"<Met {self.target}: reached ±{self.half_width:.4g}, {self.group!r}>")


@dataclass(frozen=True)
class TargetPlan:
    """A plan that meets its targets, with the weights of the groups that got there, and what each target has become.

    plan: the plan that meets the targets.
    weights: how important each group was made.
    met: each target with what was reached.

    >>> import rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4))
    >>> found = rs.plan_for(rs.workload.ranges(domain, "age"), "±50", effort="fast")
    >>> found.met[0].half_width <= 50
    True
    """

    plan: Plan
    weights: Mapping[str, float]
    met: tuple[Met, ...]

    @property
    def epsilon(self) -> float:
        """The least ε (or ρ) found."""
        return budget(self.plan.privacy)

    def to_dict(self) -> dict[str, Any]:
        """The figures, JSON-safe.

        >>> import rowspace as rs
        >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4))
        >>> found = rs.plan_for(rs.workload.ranges(domain, "age"), "±50", effort="fast")
        >>> sorted(found.to_dict())
        ['epsilon', 'targets', 'weights']
        """
        return {
            budget_name(self.plan.privacy): self.epsilon,
            "weights": dict(self.weights),
            "targets": [
                {
                    "group": met.group,
                    "queries": met.queries,
                    "half_width": met.target.half_width,
                    "level": met.target.level,
                    "reached": met.half_width,
                }
                for met in self.met
            ],
        }

    def __repr__(self) -> str:
        return one_line(f"<TargetPlan: {len(self.met)} targets met under {self.plan.privacy}>")

    def _repr_html_(self) -> str:
        from .display import target_plan_html  # here: only notebooks need it

        return target_plan_html(self)

    def __str__(self) -> str:
        width = max(len(met.group) for met in self.met)
        lines = [
            f"{budget_name(self.plan.privacy)} = {self.epsilon:g} meets every target ({self.plan.privacy})"
        ]
        lines += [
            f"  {met.group:<{width}}  {met.target!s:>14}  reached ±{met.half_width:.4g}  "
            f"weight {self.weights[met.group]:.3g}"
            for met in self.met
        ]
        return "\n".join(lines)


def plan_for(
    workload: Workload,
    targets: Mapping[str, Target] | str | Sequence[str],
    kind: Privacy | None = None,
    *,
    cap: float = CAP,
    effort: Effort = "normal",
    rounds: int = ROUNDS,
) -> TargetPlan:
    """The least ε (or ρ, or ε at a fixed δ) at which all targets are met, with the plan that meets them.

    targets: ``{"ranges of age": Target(50, 0.95)}``, or texts such as ``"ranges: ±50 @95%"``; without a group it is for
    every group. kind: a guarantee of the kind wanted, whose ε or ρ does not matter (pure ε unless given). Groups
    without a target are answered with the accuracy that is left. cap: the largest ε (or ρ) that may be needed. effort:
    how many strategies are tried. rounds: how many times the importance of the groups is balanced anew, at most.

    `InvalidInput` when no ε up to `cap` will do; the message says the best reachable.

    >>> import rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 16, bins=16), sex=rs.Categorical(["F", "M"]))
    >>> w = rs.workload.ranges(domain, "age") + rs.workload.marginal(domain, "sex")
    >>> found = plan_for(w, ["ranges: ±100 @95%", "sex: ±20 @95%"], effort="fast")
    >>> found.plan.privacy.epsilon < 1 and all(met.ratio <= 1 for met in found.met)
    True
    """
    if not isinstance(workload, Workload):
        raise InvalidInput(f"expected a workload, got {type(workload).__name__}")
    start = PureDP(1.0) if kind is None else kind
    if not isinstance(start, Privacy):
        raise InvalidInput(f"expected a guarantee such as rs.PureDP(1.0), got {type(kind).__name__}")
    most = with_budget(start, cap)
    names = list(dict.fromkeys(part.group for part in workload.parts))
    demands = targets_of_groups(targets, names)
    chosen, weights = _balanced(workload, demands, with_budget(start, min(1.0, cap)), effort, rounds)
    best = recalibrated(chosen, most)
    missed = [met for met in _judged(best, demands) if met.ratio > 1]
    if missed:
        worst = max(missed, key=lambda met: met.ratio)
        raise InvalidInput(
            f"no {budget_name(start)} up to {cap:g} meets {worst.group!r} {worst.target}: the best reachable is "
            f"±{worst.half_width:.4g} at {budget_name(start)} {cap:g}; allow more error, or raise the cap"
        )
    found = _least(chosen, demands, most)
    return TargetPlan(found, weights, tuple(_judged(found, demands)))


def _balanced(
    workload: Workload, demands: Mapping[str, list[Target]], privacy: Privacy, effort: Effort, rounds: int
) -> tuple[Plan, dict[str, float]]:
    """The strategy, and the weights behind it, whose worst target ratio is least."""
    tightest = {group: min(target.half_width for target in own) for group, own in demands.items()}
    least = min(1 / width for width in tightest.values())
    names = dict.fromkeys(part.group for part in workload.parts)
    weights = {name: 1 / tightest[name] if name in tightest else _UNTARGETED * least for name in names}
    best: _Balanced | None = None
    for _ in range(max(1, rounds)):
        scale = max(weights.values())
        weights = {name: weight / scale for name, weight in weights.items()}
        seen = _balanced_by(weights, workload, demands, privacy, effort)
        worst, least_ratio = max(seen.ratios.values()), min(seen.ratios.values())
        settled = best is not None and worst > _WORTHWHILE * max(best.ratios.values())
        best = seen if best is None or worst < max(best.ratios.values()) else best
        if settled or worst <= _EVEN * least_ratio:
            break
        # Dearer by how far the group is behind; a group's error falls about as the square root of its weight or faster,
        # so a power between 1 and 2 settles soonest.
        weights = {
            name: weight * max(1e-3, seen.ratios[name] / worst) ** _POWER if name in seen.ratios else weight
            for name, weight in weights.items()
        }
    assert best is not None
    return best.plan, dict(best.weights)


@dataclass(frozen=True)
class _Balanced:
    """A plan for some weights, and the worst ratio of every group with a target."""

    plan: Plan
    weights: Mapping[str, float]
    ratios: Mapping[str, float]


def _balanced_by(
    weights: Mapping[str, float],
    workload: Workload,
    demands: Mapping[str, list[Target]],
    privacy: Privacy,
    effort: Effort,
) -> _Balanced:
    """Plan with some weights and look how far each group is from its targets."""
    made = plan(_weighted(workload, weights), privacy, effort=effort)
    ratios: dict[str, float] = {}
    for met in _judged(made, demands):
        ratios[met.group] = max(met.ratio, ratios.get(met.group, 0.0))
    return _Balanced(made, weights, ratios)


def _least(chosen: Plan, demands: Mapping[str, list[Target]], most: Privacy) -> Plan:
    """The plan's strategy at the least budget that meets the targets, which `most` does."""
    met, missed = budget(most), 0.0
    trial = budget(chosen.privacy)
    for _ in range(40):
        if met <= _CLOSE * missed:
            break
        made = recalibrated(chosen, with_budget(most, trial))
        ratio = max(met_one.ratio for met_one in _judged(made, demands))
        met, missed = (min(met, trial), missed) if ratio <= 1 else (met, max(missed, trial))
        if 1 / _CLOSE < ratio <= 1:
            break
        # Where the noise is continuous this hits at once; on a coarse lattice of answers it needs halving.
        trial = _scaled(made.privacy, max(ratio, 1e-3) * 1.0005)
        if not missed < trial < met:
            trial = sqrt(missed * met) if missed else met / 2
    rounded = min(_rounded_up(met), budget(most))
    found = recalibrated(chosen, with_budget(most, rounded))
    if max(met_one.ratio for met_one in _judged(found, demands)) <= 1:
        return found
    return recalibrated(chosen, with_budget(most, met))


def _scaled(privacy: Privacy, ratio: float) -> float:
    """The budget whose noise is smaller by a ratio, by bisection: the noise falls as the budget grows."""
    wanted = privacy.unit_variance / ratio**2
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


def _rounded_up(value: float) -> float:
    """A budget with few digits, not smaller."""
    step = 10.0 ** (floor(log10(value)) - _DIGITS + 1)
    return float(f"{ceil(value / step) * step:.{_DIGITS}g}")


def _judged(made: Plan, demands: Mapping[str, list[Target]]) -> list[Met]:
    """What every target has become: the half-width of the worst answer of its group."""
    parts: dict[str, list[Part]] = {}
    for part in made.workload.parts:
        parts.setdefault(part.group, []).append(part)
    found = []
    for group, targets in demands.items():
        own = Workload(made.domain, parts[group])
        for target in targets:
            half_widths = made.error_bars(target.level, own)[1]
            found.append(Met(group, own.size, target, float(np.max(half_widths))))
    return found


def _weighted(workload: Workload, weights: Mapping[str, float]) -> Workload:
    """The workload with the groups' weights in place of its own."""
    parts = [dataclasses.replace(part, weight=weights[part.group]) for part in workload.parts]
    return Workload(workload.domain, parts)
