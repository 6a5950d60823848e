"""plan_for(): the least ε (or ρ) at which every answer is as accurate as demanded.

Two things are chosen. The importance of each group decides how the strategy divides its accuracy (`balancing`): the
plan is the cheapest for all demands together, with a certificate under Gaussian noise. Then ε: with a strategy fixed,
all intervals shrink together, so the least ε is found by a few steps of scaling, on the half-widths of the exact
integer noise. What is returned has been checked: the targets hold for the very plan that is returned.

Groups without a target stay answerable: no standard error exceeds `balancing.LOOSE` times what the plan for the
workload as it is, at a budget that meets the same targets, would give its group. That is one more demand, and it never
becomes looser when a target is added or tightened: so the price rises with the targets, to within the gap that is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any, overload

from rowspace.exceptions import IntegerOverflow, InvalidInput
from rowspace.notebook import one_line
from rowspace.privacy import Privacy, PureDP
from rowspace.workload import Workload

from .against import evidence_of
from .balancing import Balanced, BalancingSearch, Met, judged, largest_coefficient
from .choosing import Effort, plan_for_weights
from .plan import Plan
from .target_text import Target, targets_of_groups
from .targets_given import GivenSearch, MetAlready
from .whatif import LEAST_RATIO, budget, budget_for, budget_name, recalibrated, rounded_up, with_budget

CAP = 10.0
"""Largest ε (or ρ) that is considered, unless another is given."""

ROUNDS = 8
"""Most times that a strategy is chosen for new weights."""

_CLOSE = 1.002
_FINE = 10.0
"""Steps of an answer in the narrowest target, from which on a bound on standard errors says something of intervals."""

_NARROW = 50.0
"""Steps up to which plain counts, whose noise has steps of one, may meet a target that its spread does not meet yet."""

_COVERED = 1.005
"""By how much less than normal quantiles say intervals may cover so many steps (seen: 1.0024, at a level of 0.999)."""


@dataclass(frozen=True)
class TargetPlan:
    """A plan that meets its targets, with the weights of the groups that got there, and what each target has become.

    plan: the plan that meets the targets.
    weights: how important each group was made.
    met: each target with what was reached.
    others: the half-width (at 95 %) of the worst answer of every group without a target.
    lower_bound: no strategy meets the targets with a smaller ε (or ρ) and keeps the other groups answerable; 0 where
    nothing is known (Laplace noise, or half-widths below 10, where the steps of integer noise matter). It allows for
    half a step of that noise: 1/h of the budget for a half-width h.

    >>> import rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4))
    >>> found = rs.plan_for(rs.workload.ranges(domain, "age"), "±50", effort="fast")
    >>> found.met[0].half_width <= 50
    True
    """

    plan: Plan
    weights: Mapping[str, float]
    met: tuple[Met, ...]
    others: Mapping[str, float] = field(default_factory=dict)
    lower_bound: float = 0.0

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
        ['epsilon', 'least_possible', 'others', 'targets', 'weights']
        """
        return {
            budget_name(self.plan.privacy): self.epsilon,
            "least_possible": self.lower_bound,
            "weights": dict(self.weights),
            "others": dict(self.others),
            "targets": [met.to_dict() for met in self.met],
        }

    def __repr__(self) -> str:
        return one_line(f"<TargetPlan: {len(self.met)} targets met under {self.plan.privacy}>")

    def _repr_html_(self) -> str:
        from .display import target_plan_html  # here: only notebooks need it

        return target_plan_html(self)

    def __str__(self) -> str:
        width = max(len(group) for group in (*self.others, *(met.group for met in self.met)))
        lines = [
            f"{budget_name(self.plan.privacy)} = {self.epsilon:g} meets every target ({self.plan.privacy})"
        ]
        lines += [
            f"  {met.group:<{width}}  {met.target!s:>14}  reached ±{met.half_width:.4g}  "
            f"weight {self.weights[met.group]:.3g}"
            for met in self.met
        ]
        lines += [f"  {group:<{width}}  {'no target':>14}  ±{w:.4g} @95%" for group, w in self.others.items()]
        if self.lower_bound:
            name = budget_name(self.plan.privacy)
            lines.append(f"no strategy does with {name} below {self.lower_bound:.4g}")
        return "\n".join(lines)


@overload
def plan_for(
    workload: Workload,
    targets: Mapping[str, Target] | str | Sequence[str],
    kind: Privacy | None = None,
    *,
    cap: float = CAP,
    effort: Effort = "normal",
    rounds: int = ROUNDS,
) -> TargetPlan: ...


@overload
def plan_for(
    workload: Workload,
    targets: Mapping[str, Target] | str | Sequence[str],
    kind: Privacy | None = None,
    *,
    cap: float = CAP,
    effort: Effort = "normal",
    rounds: int = ROUNDS,
    given: Iterable[Any],
) -> TargetPlan | MetAlready: ...


def plan_for(
    workload: Workload,
    targets: Mapping[str, Target] | str | Sequence[str],
    kind: Privacy | None = None,
    *,
    cap: float = CAP,
    effort: Effort = "normal",
    rounds: int = ROUNDS,
    given: Iterable[Any] = (),
) -> TargetPlan | MetAlready:
    """The least ε (or ρ, or ε at a fixed δ) at which all targets are met, with the plan that meets them.

    targets: ``{"ranges of age": Target(50, 0.95)}``, or texts such as ``"ranges: ±50 @95%"``; without a group it is for
    every group. kind: a guarantee of the kind wanted, whose ε or ρ does not matter (pure ε unless given). Groups
    without a target stay answerable, at little cost to the others; see `TargetPlan.others`. cap: the largest ε (or ρ)
    that may be needed. effort: how many strategies are tried. rounds: how many times the importance of the groups is
    balanced anew, at most. given: earlier releases of the same table, whose answers count too: `combine` them with the
    new one. Where they meet all targets the result is a `MetAlready`, without a plan, and its `epsilon` is 0.

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
    search_given = None
    if not isinstance(given, tuple) or given:
        search_given = GivenSearch.of(workload, demands, *evidence_of(given), effort, rounds)
        reached = search_given.reached()
        if all(met.ratio <= 1 for met in reached):
            return MetAlready(tuple(reached))
    first = plan_for_weights(workload, with_budget(start, min(1.0, cap)), effort)
    search = BalancingSearch.of(first, workload, demands, most, effort)
    chosen, unit_bound = search.best(rounds)
    tried = [(chosen, demands)]
    if search_given is not None:
        tried = [(one, demands) for one in (*search_given.candidates(most), *search_given.beside(chosen))]
        unit_bound = 0.0
    elif _narrowest(workload, demands) < _NARROW:
        tried += [(plain, search.all_demands) for plain in search.plain()]
    found, chosen = _cheapest(tried, most)
    others = {
        name: max(met.half_width for met in judged(found, {name: [Target(1.0)]}))
        for name in names
        if name not in demands
    }
    least = min(budget(found.privacy), _least_possible(unit_bound, workload, demands, most))
    return TargetPlan(found, chosen.weights, tuple(judged(found, demands)), others, least)


def _least_possible(
    unit_bound: float, workload: Workload, demands: Mapping[str, list[Target]], most: Privacy
) -> float:
    """The budget below which no strategy meets the targets; 0 where the steps of noise say more than its spread.

    unit_bound: what the largest squared error, in units of its target's normal quantile, is at least at unit noise.

    Integer noise moves an answer in steps that divide all of the query's coefficients, and an interval of half-width h
    covers up to half a step more: a standard error of (h + step/2)/z may do (see `error.intervals`). And where the
    noise is a step or less it has less variance than the continuous law.
    """
    allowed = 1.0
    for group, own in demands.items():
        step = largest_coefficient([part for part in workload.parts if part.group == group], workload.domain)
        narrowest = min(target.half_width for target in own) / step
        if narrowest < _FINE:
            return 0.0
        allowed = max(allowed, _COVERED * (1 + 0.5 / narrowest))
    needed = unit_bound / allowed**2
    low, high = budget(most) * 1e-9, budget(most)
    if not unit_bound or with_budget(most, low).least_variance * needed <= 1:
        return 0.0
    while high > 1.0001 * low:  # the variance falls as the budget grows
        middle = sqrt(low * high)
        enough = with_budget(most, middle).least_variance * needed <= 1
        low, high = (low, middle) if enough else (middle, high)
    return low


def _narrowest(workload: Workload, demands: Mapping[str, list[Target]]) -> float:
    """The half-width of the narrowest target, in steps of its answers."""
    return min(
        min(target.half_width for target in own)
        / largest_coefficient([part for part in workload.parts if part.group == group], workload.domain)
        for group, own in demands.items()
    )


def _cheapest(
    tried: Sequence[tuple[Balanced, Mapping[str, list[Target]]]], most: Privacy
) -> tuple[Plan, Balanced]:
    """The strategy that meets its targets for the least, at that budget; `InvalidInput` where none does."""
    missed = []
    met: list[tuple[Plan, Balanced]] = []
    for one, demands in tried:
        behind = max(judged(recalibrated(one.plan, most), demands), key=lambda own: own.ratio)
        if behind.ratio > 1:
            missed.append(behind)
        else:
            met.append((_least(one.plan, demands, most), one))
    if met:
        return min(met, key=lambda own: budget(own[0].privacy))
    worst = min(missed, key=lambda own: own.ratio)
    name, cap = budget_name(most), budget(most)
    raise InvalidInput(
        f"no {name} up to {cap:g} meets {worst.group!r} {worst.target}: the best reachable is "
        f"±{worst.half_width:.4g} at {name} {cap:g}; allow more error, or raise the cap"
    )


def _least(chosen: Plan, demands: Mapping[str, list[Target]], most: Privacy) -> Plan:
    """The plan's strategy at the least budget that meets the targets, which `most` does."""
    met, missed = budget(most), 0.0
    trial, step, behind = budget(chosen.privacy), _CLOSE, False
    for _ in range(40):
        if met <= _CLOSE * missed:
            break
        try:
            made = recalibrated(chosen, with_budget(most, trial))
        except IntegerOverflow:  # noise so wide cannot be drawn for these integers
            missed, trial = trial, sqrt(trial * met)
            continue
        ratio = max(met_one.ratio for met_one in judged(made, demands))
        met, missed = (min(met, trial), missed) if ratio <= 1 else (met, max(missed, trial))
        # Where the noise is continuous this hits at once, and a little less misses. On a coarse lattice of answers
        # one half-width holds for a stretch of budgets: down in growing steps until it is missed, then halving.
        trial = budget_for(made.privacy, max(ratio, LEAST_RATIO) * 1.0005)
        if ratio <= 1 and trial > met / step:
            trial, step = met / step, step**2
        if not missed < trial < met or (ratio > 1 and behind):
            trial = sqrt(missed * met) if missed else met / 2
        behind = ratio > 1
    rounded = min(rounded_up(met), budget(most))
    found = recalibrated(chosen, with_budget(most, rounded))
    if max(met_one.ratio for met_one in judged(found, demands)) <= 1:
        return found
    return recalibrated(chosen, with_budget(most, met))
