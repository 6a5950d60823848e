"""plan_for(given=…): the least ε (or ρ) that meets all targets together with what has been released already.

Where what is known meets them, nothing need be bought. Else the largest half-width over what is demanded falls with the
budget: its inverse square is about what is known plus a constant times the information bought, so a few plans find the
budget at which it is one. Two strategies are tried: the one that is best together with the evidence, with the groups'
importance balanced at that budget (`balancing`), and the one that `plan_for` finds without evidence, of which less is
bought: so evidence does not make the price higher. Each at the least budget that meets the targets, as they hold for
the very plan that is returned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from rowspace.domain import Domain
from rowspace.exceptions import UnsupportedWorkload
from rowspace.operators import Vector
from rowspace.privacy import Privacy
from rowspace.strategy import Measured, Pooled, Select
from rowspace.workload import Workload

from .against import over_evidence, plan_beside
from .balancing import Balanced, Met, balance, judged
from .choosing import Effort
from .plan import Plan
from .target_text import Target
from .whatif import budget, budget_for, with_budget

Demands = Mapping[str, list[Target]]

CLOSE = 0.02
"""How far the largest ratio may be from one at the budget that strategies are made for."""


@dataclass(frozen=True, eq=False)
class EarlierReleases:
    """What earlier releases say about the queries without a new one."""

    workload: Workload
    domain: Domain
    evidence: tuple[Measured, ...]

    def error_bars(self, level: float, queries: Workload) -> tuple[Vector, Vector]:
        """(standard errors, half-widths); infinite where they say nothing."""
        try:
            return Pooled(self.evidence).error_bars(queries.over(self.domain).products(), level)
        except UnsupportedWorkload:
            return np.full(queries.size, inf), np.full(queries.size, inf)


@dataclass(frozen=True)
class GivenSearch:
    """Targets, and what is known."""

    workload: Workload
    demands: Demands
    known: EarlierReleases
    effort: Effort
    rounds: int

    @classmethod
    def of(
        cls,
        workload: Workload,
        demands: Demands,
        evidence: tuple[Measured, ...],
        domain: Domain,
        effort: Effort,
        rounds: int,
    ) -> GivenSearch:
        """The search; `InvalidInput` unless the evidence is about the attributes of the workload."""
        own = over_evidence(workload, domain)
        return cls(own, demands, EarlierReleases(own, domain, evidence), effort, rounds)

    def reached(self) -> list[Met]:
        """What every target has become without buying anything."""
        return judged(self.known, self.demands)

    def candidates(self, most: Privacy) -> list[Balanced]:
        """Plans that may be the cheapest, at about the budget at which they meet the targets, or at `most`."""
        known = max(met.ratio for met in self.reached()) ** -2
        found: list[Balanced] = []
        privacy = with_budget(most, min(budget(most), 1.0))
        for _ in range(6):
            seen = self._balanced(privacy)
            found = [seen]
            gain = seen.worst**-2 - known
            if abs(seen.worst - 1) <= CLOSE or gain <= 0:
                break
            needed = min(budget(most), budget_for(privacy, sqrt(max(1 - known, 1e-9) / gain)))
            if abs(needed / budget(privacy) - 1) <= CLOSE:
                break
            privacy = with_budget(most, needed)
        return found

    def _balanced(self, privacy: Privacy) -> Balanced:
        """The best plan beside the evidence with the groups balanced, at one budget."""
        wanted: dict[str, float] = {}
        sizes: dict[str, int] = {}
        for part in self.workload.parts:
            sizes[part.group] = sizes.get(part.group, 0) + part.size
            wanted[part.group] = self._standard_error(part.group)
        select = Select(effort=self.effort)

        def planner(weights: Mapping[str, float]) -> Plan:
            own = self._weighted(weights)
            return plan_beside(own, privacy, self.known.evidence, self.known.domain, select, None)

        return balance(wanted, sizes, planner, self._ratios, self.rounds)

    def beside(self, blind: Balanced) -> list[Balanced]:
        """A plan that was made without the evidence, which its answers come from all the same; none of other cells."""
        if blind.plan.domain != self.known.domain:
            return []
        made = replace(
            blind.plan, given=self.known.evidence, lower_bound=0.0, max_lower_bound=0.0, candidates=()
        )
        return [Balanced(made, blind.weights, self._ratios(made))]

    @property
    def _groups(self) -> list[str]:
        return list(dict.fromkeys(part.group for part in self.workload.parts))

    def _standard_error(self, group: str) -> float:
        """What a group must reach; one without a target 100 times the loosest of the others."""
        each = {
            name: min(t.half_width / NormalDist().inv_cdf(0.5 + t.level / 2) for t in targets)
            for name, targets in self.demands.items()
        }
        return each.get(group, 100 * max(each.values()))

    def _weighted(self, weights: Mapping[str, float]) -> Workload:
        parts = [replace(part, weight=weights[part.group]) for part in self.workload.parts]
        return Workload(self.workload.domain, parts)

    def _ratios(self, made: Plan) -> dict[str, float]:
        """How far every group is from its target; those without one are not waited for."""
        ratios = dict.fromkeys(self._groups, 0.0)
        for met in judged(made, self.demands):
            ratios[met.group] = max(met.ratio, ratios[met.group])
        return ratios


@dataclass(frozen=True)
class MetAlready:
    """What earlier releases have measured meets every target: nothing need be bought.

    met: each target with what is reached.
    """

    met: tuple[Met, ...]
    plan: None = None
    epsilon: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """The figures, JSON-safe."""
        return {"epsilon": self.epsilon, "targets": [met.to_dict() for met in self.met]}

    def __repr__(self) -> str:
        return f"<MetAlready: {len(self.met)} targets, nothing to buy>"

    def __str__(self) -> str:
        lines = ["nothing to buy: what is known meets every target"]
        lines += [f"  {met.group}  {met.target}  reached ±{met.half_width:.4g}" for met in self.met]
        return "\n".join(lines)
