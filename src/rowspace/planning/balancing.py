"""The least budget at which several errors are small enough: a weight per group, raised where a group is behind.

With ratios r_g = half-width / demanded half-width at any one budget, the price of a plan is a function of its largest
ratio alone, so the plan of least max_g r_g is the cheapest. For Gaussian noise that is a convex problem, solved at once
by `plan_for_demands`: answers times (quantile / demanded half-width), least largest error, with its certificate.

For any noise, and for planners that know only totals: shares μ_g ≥ 0 with Σμ = 1 make the total of group g count
μ_g / (its queries · its demand²). The largest r² is at least the mean of r² with any shares, and equals it when only
groups that are furthest behind have shares; a group behind gets more, one ahead less, until the two meet. Where groups
shared nothing their ratios would fall with the third root of a share (Laplace noise) or the fourth (Gaussian), so the
power 3 settles soonest; a step that makes the price worse is retried at half the power from the best shares.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np

from rowspace.domain import Domain
from rowspace.notebook import one_line
from rowspace.operators import DECOMPOSITION_LIMIT, Identity, Vector
from rowspace.privacy import Privacy
from rowspace.workload import Part, Workload

from .choosing import Effort, certified_further, plan_for_demands, plan_for_weights
from .given import plan_given
from .plan import Plan
from .target_text import Target
from .whatif import LEAST_RATIO, budget, budget_for, with_budget

MET = 1.01
"""Largest squared ratio over the mean with the shares, at which the search is over."""

NEARLY = 1.04
"""The same after a step that gained nothing: no shares gain more than 2 %, and planning is a search of its own."""

LOOSE = 100.0
"""How much worse than in a plan for the workload as it is an answer may be whose group has no target."""

MUCH = 4.0
"""How much smaller than the budget that a plan was made for the one that it needs must be for another plan."""

ROUNDING = 1e-9
"""By how much, relatively, rounding errors may move a half-width."""

_CERTIFIED = 1.01
_POWER, _LEAST_POWER = 3.0, 0.5
_LEAST_SHARE = 1e-7


@dataclass(frozen=True)
class Balanced:
    """A plan, the weights of the groups it was made with, and every group's ratio."""

    plan: Plan
    weights: Mapping[str, float]
    ratios: Mapping[str, float]

    @property
    def worst(self) -> float:
        """What the price depends on."""
        return max(self.ratios.values())


def balance(
    demands: Mapping[str, float],
    sizes: Mapping[str, int],
    planner: Callable[[Mapping[str, float]], Plan],
    judge: Callable[[Plan], Mapping[str, float]],
    rounds: int,
) -> Balanced:
    """The best plan found for half-widths demanded of groups; `planner`: from weights of the groups to a plan."""
    shares = {group: 1 / len(demands) for group in demands}
    best: Balanced | None = None
    best_shares, power = shares, _POWER
    for _ in range(max(1, rounds)):
        raw = {group: sqrt(shares[group] / sizes[group]) / demand for group, demand in demands.items()}
        weights = {group: weight / max(raw.values()) for group, weight in raw.items()}
        made = planner(weights)
        seen = Balanced(made, weights, judge(made))
        met = MET
        if best is None or seen.worst < best.worst:
            best, best_shares = seen, shares
        else:
            power, met = power / 2, NEARLY
        mean = sum(best_shares[group] * ratio**2 for group, ratio in best.ratios.items())
        if best.worst**2 <= met * mean or power < _LEAST_POWER:
            break
        shares = _stepped(best_shares, best, power)
    assert best is not None
    return best


def _stepped(shares: Mapping[str, float], seen: Balanced, power: float) -> dict[str, float]:
    raised = {group: share * (seen.ratios[group] / seen.worst) ** power for group, share in shares.items()}
    total = sum(raised.values())
    floored = {group: max(share / total, _LEAST_SHARE) for group, share in raised.items()}
    return {group: share / sum(floored.values()) for group, share in floored.items()}


@dataclass(frozen=True)
class BalancingSearch:
    """Standard errors demanded of every group, at the budget at which a first plan meets them."""

    workload: Workload
    demands: Mapping[str, list[Target]]
    wanted: Mapping[str, float]
    first: Balanced
    privacy: Privacy
    effort: Effort

    @classmethod
    def of(
        cls,
        first: Plan,
        workload: Workload,
        demands: Mapping[str, list[Target]],
        most: Privacy,
        effort: Effort,
    ) -> BalancingSearch:
        """What groups get in the plan for the workload as it is tells what the others may be held to."""
        errors = worst_errors(first)
        behind = max(met.ratio for met in judged(first, demands)) or LEAST_RATIO
        wanted = {group: LOOSE * error / behind for group, error in errors.items()}
        for group, targets in demands.items():
            wanted[group] = min(
                wanted[group],
                *(target.half_width / NormalDist().inv_cdf(0.5 + target.level / 2) for target in targets),
            )
        privacy = with_budget(most, min(budget(most), budget_for(first.privacy, behind)))
        weights = {part.group: part.weight for part in workload.parts}
        ratio = behind * sqrt(privacy.unit_variance / first.privacy.unit_variance)
        return cls(workload, demands, wanted, Balanced(first, weights, {"": ratio}), privacy, effort)

    def best(self, rounds: int) -> tuple[Balanced, float]:
        """The cheapest plan found, made for what it costs, and the bound on the largest squared ratio at unit noise."""
        found, bound, planner = self.first, 0.0, self._for_total
        if self.privacy.norm == 2:
            scale = min(self.wanted.values())
            weights = {group: scale / error for group, error in self.wanted.items()}
            made, largest = plan_for_demands(self._weighted(weights), self.privacy, self.effort)
            seen, bound = Balanced(made, weights, self._ratios(made)), largest / scale**2
            if seen.worst < found.worst:
                found, planner = seen, self._for_demands
        if found.worst**2 > _CERTIFIED * bound * self.privacy.unit_variance:
            sizes: dict[str, int] = {}
            for part in self.workload.parts:
                sizes[part.group] = sizes.get(part.group, 0) + part.size
            seen = balance(
                self.wanted,
                sizes,
                lambda weights: self._for_total(weights, self.privacy),
                self._ratios,
                rounds,
            )
            if seen.worst < found.worst:
                found, planner = seen, self._for_total
        least = min(budget(self.privacy), budget_for(self.privacy, found.worst))
        made = found.plan
        if found is not self.first and least < budget(self.privacy) / MUCH:
            # Integers that suit the noise of one budget may leave no room for that of a much smaller one.
            made = planner(found.weights, with_budget(self.privacy, least))
        return dataclasses.replace(found, plan=certified_further(made)), bound

    def plain(self) -> list[Balanced]:
        """Plain counts, unless cells are many."""
        cells = self.workload.reduced().domain.with_places().size
        if cells > DECOMPOSITION_LIMIT:
            return []
        return [Balanced(plan_given(self.workload, self.privacy, Identity(cells)), self.first.weights, {})]

    @property
    def all_demands(self) -> dict[str, list[Target]]:
        """Targets for groups without one, too."""
        return {
            group: list(self.demands.get(group, [Target(error * NormalDist().inv_cdf(0.975))]))
            for group, error in self.wanted.items()
        }

    def _for_total(self, weights: Mapping[str, float], privacy: Privacy) -> Plan:
        return plan_for_weights(self._weighted(weights), privacy, self.effort)

    def _for_demands(self, weights: Mapping[str, float], privacy: Privacy) -> Plan:
        return plan_for_demands(self._weighted(weights), privacy, self.effort)[0]

    def _weighted(self, weights: Mapping[str, float]) -> Workload:
        """The workload with the groups' weights in place of its own."""
        parts = [dataclasses.replace(part, weight=weights[part.group]) for part in self.workload.parts]
        return Workload(self.workload.domain, parts)

    def _ratios(self, made: Plan) -> dict[str, float]:
        """How far every group is from what is wanted of it: by half-widths where there are targets."""
        errors = worst_errors(made)
        ratios = {
            group: errors[group] / wanted
            for group, wanted in self.wanted.items()
            if group not in self.demands
        }
        for met in judged(made, self.demands):
            ratios[met.group] = max(met.ratio, ratios.get(met.group, 0.0))
        return ratios


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
        ratio = self.half_width / self.target.half_width
        # A multiple of a step that was found in floating point: 10.000000000000002 does for ±10.
        return 1.0 if abs(ratio - 1) <= ROUNDING else ratio

    def to_dict(self) -> dict[str, Any]:
        """The figures, JSON-safe."""
        return {
            "group": self.group,
            "queries": self.queries,
            "half_width": self.target.half_width,
            "level": self.target.level,
            "reached": self.half_width,
        }

    def __repr__(self) -> str:
        return one_line(f"<Met {self.target}: reached ±{self.half_width:.4g}, {self.group!r}>")


class Judged(Protocol):
    """Queries with error bars: a plan, or what is known without one."""

    @property
    def workload(self) -> Workload:
        """The queries."""
        ...

    @property
    def domain(self) -> Domain:
        """The attributes that are counted."""
        ...

    def error_bars(self, level: float, queries: Workload) -> tuple[Vector, Vector]:
        """(standard errors, half-widths) of some of them."""
        ...


def judged(made: Judged, demands: Mapping[str, list[Target]]) -> list[Met]:
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


def largest_coefficient(parts: Sequence[Part], domain: Domain) -> float:
    """The largest coefficient of any query, in magnitude: no step of its answers that integer noise makes is wider."""
    queries = Workload(domain, parts).products()
    largest = [piece.operator.largest_entry() for piece in queries.pieces]
    return max(prod(largest[number] for number in own) for own in queries.parts)


def worst_errors(made: Plan) -> dict[str, float]:
    """The largest standard error of every group, or the typical one where there are too many answers to look at."""
    groups = made.group_errors()
    return {
        group.group: group.rmse if group.largest_std_error is None else group.largest_std_error
        for group in groups
    }
