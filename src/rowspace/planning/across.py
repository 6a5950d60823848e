"""The plans of one workload at every budget, from one search or two.

Which real matrices are candidates does not depend on ε, but for one thing: where integer noise has noticeably less
variance than the continuous law (`Privacy.is_coarse`) plain counts are candidates always. Which of them is taken does
depend on it, through the integer noise that each would draw. So a search on either side of that border finds all
candidates, and at every ε those are compared as `plan` compares them: by the noise that is drawn there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt
from typing import Any

import numpy as np

from rowspace.error import Moments, half_widths
from rowspace.exceptions import IntegerOverflow
from rowspace.privacy import Privacy
from rowspace.strategy import Select, placed
from rowspace.workload import Workload

from .choosing import Effort, plan, plans_of_candidates
from .groups import GroupError
from .plan import Plan
from .remarks import certified
from .whatif import recalibrated

MOST_INTERVALS = 200_000
"""Most queries whose intervals are looked at for every budget."""


@dataclass(frozen=True)
class Point:
    """The plan at one budget. base: the same strategy at the budget it was found at; factor: between their errors."""

    plan: Plan
    base: Shape
    factor: float
    ratio: float

    @property
    def certificate(self) -> str:
        """How close to the best possible, in words."""
        return certified(self.ratio)

    def half_widths(self, level: float) -> list[float] | None:
        """Of the worst answer of every group; None where there are too many to look at."""
        return self.base.half_widths(self.plan, level)


@dataclass(frozen=True)
class Shape:
    """A strategy with what all budgets share: the errors of its groups, and what their intervals are made of."""

    plan: Plan

    @cached_property
    def groups(self) -> list[GroupError]:
        """The errors of the groups, at the budget of the plan."""
        if not self._is_small:
            return self.plan.group_errors()
        found = []
        for name, own in self._members.items():
            squares = self.plan.noise.variance * np.concatenate([self._moments.second[each] for each in own])
            found.append(GroupError(name, squares.size, sqrt(squares.mean()), sqrt(squares.max())))
        return found

    @cached_property
    def rmse(self) -> float:
        """That of all answers, at the budget of the plan."""
        if not self._is_small or self.plan.domain.measures:
            return self.plan.rmse
        return sqrt(self.plan.noise.variance * self._moments.second.mean())

    def half_widths(self, other: Plan, level: float) -> list[float] | None:
        """Of the worst answer of every group, under the noise of another budget."""
        if not self._is_small:
            return None
        if other.strategy is self.plan.strategy or other.strategy == self.plan.strategy:
            found = half_widths(self._moments, other.noise, level)
        else:  # other integers, since noise so wide or so narrow needs them
            found = other.error_bars(level)[1]
        return [max(float(found[each].max()) for each in own) for own in self._members.values()]

    @cached_property
    def own_half_widths(self) -> list[float] | None:
        """The same at the budget of the plan, at 95 %."""
        return self.half_widths(self.plan, 0.95)

    @property
    def _is_small(self) -> bool:
        return self.plan.workload.size <= MOST_INTERVALS and not self.plan.given

    @cached_property
    def _members(self) -> dict[str, list[slice]]:
        """Where the queries of every group stand among all."""
        at = 0
        found: dict[str, list[slice]] = {}
        for part, size in zip(self.plan.workload.parts, self.plan.asked[1].sizes_of_parts, strict=True):
            found.setdefault(part.group, []).append(slice(at, at + size))
            at += size
        return found

    @cached_property
    def _moments(self) -> Moments:
        """What all intervals are made of."""
        strategy, queries = self.plan.asked
        return strategy.moments(queries)


class Across:
    """Candidates for a workload, and at any budget the best of them.

    wishes: what `plan` is told besides. With facts or for believable tables the candidates depend on the budget itself;
    then there is the one plan, and it `is_exact` at its own budget alone.

    >>> import rowspace as rs
    >>> workload = rs.workload.ranges(rs.Domain(age=rs.Numeric(0, 16, bins=16)), "age")
    >>> across = Across(workload, rs.PureDP(1.0), "fast")
    >>> across.at(rs.PureDP(3.0)).plan.noise == rs.plan(workload, rs.PureDP(3.0), effort="fast").noise
    True
    >>> across.is_exact(rs.PureDP(3.0)), across.is_exact(rs.PureDP(0.01))     # plain counts were candidates, or not
    (True, False)
    """

    def __init__(self, workload: Workload, privacy: Privacy, effort: Effort, **wishes: Any) -> None:
        self._workload, self._effort = workload, effort
        self._own = None if set(wishes) <= {"purpose"} and wishes.get("purpose") != "tables" else privacy
        self._found: dict[bool, list[Shape]] = {}
        if self._own is None:
            self.search(privacy)
        else:
            made = [Shape(plan(workload, privacy, effort=effort, **wishes))]
            self._found = {False: made, True: made}

    def search(self, privacy: Privacy) -> bool:
        """Look for candidates on this side of the border too; whether that was still to be done."""
        if privacy.is_coarse in self._found:
            return False
        made = plans_of_candidates(self._workload, privacy, Select(effort=self._effort))
        self._found[privacy.is_coarse] = [Shape(one) for one in made]
        return True

    def is_exact(self, privacy: Privacy) -> bool:
        """Whether `at` is what `plan` would make."""
        return privacy.is_coarse in self._found if self._own is None else privacy == self._own

    def at(self, privacy: Privacy) -> Point:
        """The best candidate at a budget, by the noise that is drawn; `IntegerOverflow` where none can be drawn."""
        known = self._found.get(privacy.is_coarse) or next(iter(self._found.values()))
        points, refused = [], None
        for shape in known:
            try:
                points.append(_point(shape, privacy))
            except IntegerOverflow as reason:
                refused = refused or reason
        if not points and refused is not None:
            raise refused
        return min(
            points, key=lambda one: placed(_total(one), one.plan.strategy, one.plan.candidates[0].name)
        )


def _point(shape: Shape, privacy: Privacy) -> Point:
    made = shape.plan if privacy == shape.plan.privacy else recalibrated(shape.plan, privacy)
    total, before = made.candidates[0].total_error, shape.plan.candidates[0].total_error
    ratio = max(1.0, total / made.lower_bound) if made.lower_bound > 0 else inf
    return Point(made, shape, sqrt(total / before) if before else 1.0, ratio)


def _total(point: Point) -> float:
    return point.plan.candidates[0].total_error
