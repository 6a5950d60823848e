"""What to buy so that a question meets its accuracy, and for how much.

Two things can be bought. The *expected* strategy is the best for the worst of the questions that are expected; more of
it makes every such question more precise, and under Gaussian noise buying it in pieces costs the same as at once. So a
question like those expected buys as much of it as it needs: never more, in all, than someone pays who buys the accuracy
for every expected question at the start. A question that is unlike them, which the expected strategy answers worse than
any it was made for, is asked by itself, unless the expected strategy costs hardly more, or no more than what was spent
on such questions before: so they cost at most about twice what buying the expected strategy at once would have.

Under Laplace noise pieces cost more than the whole (precision goes with the square of ε: what is 1 % short costs 10 %
more), so what is bought makes the interval of the worst expected question as short as the one at hand may be. That is
not the question of the largest variance: an answer that is mostly one noisy number has the longer tails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt

import numpy as np
import scipy

from rowspace.exceptions import IntegerOverflow, InvalidInput, RowspaceError, TooLarge, UnsupportedWorkload
from rowspace.operators import Vector
from rowspace.planning import Plan, budget, budget_for, plan_over, recalibrated, rounded_up, with_budget
from rowspace.privacy import ZCDP, Neighbours, Privacy
from rowspace.strategy import Measured, Select
from rowspace.workload import Workload

from .knowledge import Knowledge

HARDLY_MORE = 1.5
"""How many times the price of a question alone the expected strategy may cost, which serves others too."""

MET = 1 + 1e-9
"""Half-widths over what is asked for up to which it is met: what is kept of purchases is rounded."""

CLOSE = 0.997
"""Share of the least price up to which it is searched for: a closer search is not worth its time."""

AIMED, TOO_MUCH, LITTLE = 1e-4, 6e-3, 1e-4
"""How much more than is missing the search aims at, how much more ends it, and what share of all is little to miss."""

ALIKE = 1 + 5e-7
"""Widths over those of the worst expected question up to which a question is like those expected."""

MOST_COEFFICIENTS = 2**24
"""Expected questions times rows of their strategy up to which all their intervals are looked at: about a second."""

FEW_CELLS, CERTIFIED = 256, 1.01
"""Beyond so many cells the expected strategy is first looked for at little effort, and kept if it is certified so."""

MANY_STEPS = 100.0
"""Half-widths from which half a step of the noise is at most 1 % of the price."""

COARSE_NOISE, LESS = 1.0, 0.99
"""Standard errors from which integer noise has the variance it is named by, and the share of a bound to rely on."""

SEEN = 1e-6
"""Share of what is known that a purchase must add so that more can be read off it: less may be a rounding error."""

MOST = 1e6
"""Largest ε or ρ that is looked at."""

MOST_LOOKS, STRIDE, EXACT = 60, 30.0, 1e-9
"""Amounts that are looked at, by how much one may exceed that before it while all are too small, and the least ratio of
half-widths that is told from 0."""


@dataclass(frozen=True, eq=False)
class Goal:
    """Questions, each with the half-width that its interval must not exceed."""

    queries: Workload
    within: Vector
    level: float

    def ratio(self, knowledge: Knowledge, more: Plan | None = None) -> float:
        """The worst half-width over what is asked for: at most one where the goal is met."""
        measured = None if more is None else Measured.of(more.strategy, more.noise)
        return self.missed(knowledge.error_bars(self.queries, self.level, measured)[1])

    def missed(self, half_widths: Vector) -> float:
        """The same for half-widths that are known."""
        return float(np.max(half_widths / self.within))


@dataclass(frozen=True)
class Shop:
    """What can be bought: the plan for what is expected, and plans for single questions.

    kind: a guarantee of the kind that is bought. expecting: public, over the session's domain. select: how its strategy
    is chosen: "max" where all are expected at one accuracy, "total" for the accuracies that a plan gives them.
    """

    kind: Privacy
    expecting: Workload
    select: Select
    _widest: dict[float, tuple[Plan, float]] = field(default_factory=dict, compare=False, repr=False)

    def expected(self, knowledge: Knowledge) -> Plan:
        """The plan for what is expected: as it was bought before, or made now."""
        found = knowledge.plan_for(self.expecting, self.select.objective, self.kind)
        return found if found is not None else self._expected

    @cached_property
    def _expected(self) -> Plan:
        if self.expecting.domain.size > FEW_CELLS:
            # The long searches for the worst answer gain next to nothing on what is certified already.
            quick = plan_over(self.expecting, self.kind, replace(self.select, effort="fast"))
            if quick.ratio <= CERTIFIED:
                return quick
        return plan_over(self.expecting, self.kind, self.select)

    def offer(self, goal: Goal, knowledge: Knowledge, affordable: Callable[[Plan], bool]) -> Plan | None:
        """The plan to buy where the goal is not met, one that can be afforded, if any can; None if no budget does."""
        expected = self.expected(knowledge)
        far = self._how_far(expected, goal)
        shared = None if far is None else least(expected, self._tightened(goal, far), knowledge)
        if shared is not None and far is not None and far <= ALIKE and affordable(shared):
            return shared
        alone = self._cheapest_alone(goal, knowledge)
        if alone is None or shared is None:
            return alone or shared
        spent = knowledge.spent_beside(expected)
        enough = max(HARDLY_MORE * budget(alone.privacy), spent)
        return shared if budget(shared.privacy) <= enough and affordable(shared) else alone

    def best(self, goal: Goal, knowledge: Knowledge, most: Privacy) -> float:
        """The widest half-width that a whole budget buys, in units of what is asked for."""
        found = [goal.ratio(knowledge)]
        for plan in (self.expected(knowledge), self._alone(goal, knowledge, "total")):
            found.append(goal.ratio(knowledge, recalibrated(plan, most)))
        return min(found)

    def _how_far(self, expected: Plan, goal: Goal) -> float | None:
        """How wide the widest interval is over that of the worst expected question; None if it cannot be answered."""
        if expected.domain != goal.queries.domain:
            return None
        try:
            by_width, worst = self._worst_expected(expected, goal.level)
            noisy = recalibrated(expected, self.kind) if by_width else expected
            return float(np.max(noisy.error_bars(goal.level, goal.queries)[by_width])) / worst
        except (UnsupportedWorkload, TooLarge):
            return None

    def _worst_expected(self, expected: Plan, level: float) -> tuple[bool, float]:
        """(True, the widest half-width of what is expected); (False, its largest standard error) where that will do.

        That is so under Gaussian noise. Beyond so many coefficients it has to do. Widths are those of fine noise: where
        it is mostly zero, so are they.
        """
        if self.kind.norm == 2 or expected.workload.size * expected.strategy.shape[0] > MOST_COEFFICIENTS:
            return False, sqrt(expected.max_error)
        kept, worst = self._widest.get(level, (None, 0.0))
        if kept is not expected:
            worst = float(np.max(recalibrated(expected, self.kind).error_bars(level)[1]))
            self._widest[level] = expected, worst
        return True, worst

    def _tightened(self, goal: Goal, far: float) -> Goal:
        if self.kind.norm == 2:
            return goal
        return Goal(goal.queries, goal.within * min(1.0, far), goal.level)

    def at_least(self, goal: Goal, half_widths: Vector, spent: float) -> float:
        """A ρ that no purchase meets the goal below; 0 where nothing can be said without a plan.

        half_widths: what is known. spent: the ρ of all that is known.

        With all cells but one known, an answer that counts that cell once has at most the information that is there
        about it: 2ρ for every ρ spent, by the sensitivity of what was measured. So its variance is at least 1/(2ρ),
        for the sum of all ρ (Cramér–Rao). Under Gaussian noise its interval reaches z standard errors, or half a step
        less where noise moves in steps: of one at most, since strategies are integers and the cell is counted once.
        """
        open_ = half_widths > 0  # an answer that is always 0 costs nothing
        if (
            not isinstance(self.kind, ZCDP)
            or self.kind.neighbours is not Neighbours.ADD_REMOVE
            or not open_.any()
        ):
            return 0.0
        if goal.queries.domain.measures or not all(f.operator.integral for f in goal.queries.factors):
            return 0.0
        z = float(scipy.stats.norm.ppf((1 + goal.level) / 2))
        sigma = (float(np.min(goal.within[open_])) + 0.5) / z
        return max(0.0, LESS / (2 * sigma**2) - spent) if sigma > COARSE_NOISE else 0.0

    def _cheapest_alone(self, goal: Goal, knowledge: Knowledge) -> Plan | None:
        """The questions by themselves, at the least budget that meets the goal; None if no budget does."""
        found = least(self._alone(goal, knowledge, "total"), goal, knowledge)
        if goal.queries.size > 1 or float(np.min(goal.within)) >= MANY_STEPS:
            return found
        # Where intervals are short, a strategy whose noise moves in smaller steps may cost less.
        finer = least(self._alone(goal, knowledge, "max"), goal, knowledge)
        both = [one for one in (found, finer) if one is not None]
        return min(both, key=lambda plan: budget(plan.privacy)) if both else None

    def _alone(self, goal: Goal, knowledge: Knowledge, objective: str) -> Plan:
        """The questions by themselves, at the nominal budget. objective: for one; several have a worst among them.

        For one question both objectives are the same, and for totals a search ends where it is certified.
        """
        own = goal.queries.about(knowledge.domain.without_places())
        chosen = objective if own.size == 1 else "max"
        made = plan_over(own, self.kind, Select(effort="fast", objective=chosen))
        if made.domain != knowledge.domain:
            raise InvalidInput("these attributes have too many cells to be asked together; ask about fewer")
        return made


def least(plan: Plan, goal: Goal, knowledge: Knowledge) -> Plan | None:
    """The plan's strategy at the least budget that meets the goal beside what is known; None if no budget does.

    1/ratio² is nearly a line over the precision of the noise, and the search fits one through the last two amounts.
    Not quite a line: beside what is known intervals have another shape than alone, however little is bought, and where
    noise is nearly always 0 they fall in steps. So amounts grow ever faster until one meets the goal, and from there
    every other one halves what is left between that and the largest that does not.
    """
    known = goal.ratio(knowledge) ** -2
    seen, missing = [(0.0, known)], max(1 - known, LITTLE)
    amount, missed, most, met = budget(plan.privacy), 0.0, MOST, None
    for look in range(MOST_LOOKS):
        try:
            tried = recalibrated(plan, with_budget(plan.privacy, amount))
        except RowspaceError as error:
            if isinstance(error, IntegerOverflow) and len(seen) == 1:
                missed, amount = amount, 2 * amount  # so little buys noise that 64 bits do not hold
            else:
                most, amount = amount, _between(missed, amount)  # more than noise is made for
            continue
        ratio = goal.ratio(knowledge, tried)
        reached = max(ratio, EXACT) ** -2
        seen.append((1 / tried.privacy.unit_variance, reached))
        if ratio <= 1:
            met = tried
        else:
            missed = amount
        best = most if met is None else budget(met.privacy)
        if 1 <= reached <= 1 + TOO_MUCH * missing or missed >= CLOSE * best:
            break
        guess = _fitted(tried.privacy, seen, 1 + AIMED * missing)
        if met is None:
            grown = missed * min(STRIDE, 1 + 5e-4 * 4.0 ** len(seen))
            guess = min(best, max(grown, STRIDE * missed if guess is None else guess))
            amount = guess if guess < best or best == MOST else _between(missed, best)
        else:
            fits = guess is not None and missed < guess < best and look % 2
            amount = guess if guess is not None and fits else _between(missed, best)
    return met


def _fitted(privacy: Privacy, seen: Sequence[tuple[float, float]], goal: float) -> float | None:
    """The budget where a line through the last two looks reaches a goal; None where they tell no slope.

    privacy: of the last look. seen: the precision of the noise and 1/ratio² at every look.
    """
    (before, low), (precision, share) = seen[-2:]
    if abs(share - low) <= SEEN * low or (share - low) * (precision - before) <= 0:
        return None
    wanted = precision + (goal - share) * (precision - before) / (share - low)
    return rounded_up(budget_for(privacy, sqrt(wanted / precision))) if wanted > 0 else None


def _between(missed: float, best: float) -> float:
    return sqrt(max(missed, 1e-3 * best) * best)
