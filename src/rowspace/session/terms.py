"""The terms of a purchase: what a goal costs somebody now, and what is said where that is more than there is."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rowspace.exceptions import BudgetExceeded
from rowspace.ledger import Budget, Spender, at_least, at_most
from rowspace.notebook import shown_above
from rowspace.planning import Plan

from .buying import Goal, Shop
from .knowledge import Knowledge
from .purse import Purse


@dataclass(frozen=True)
class Terms:
    """What a shop sells for what is in a purse, to somebody in whose name it is charged."""

    shop: Shop
    purse: Purse
    spender: Spender | None

    def room(self, left: Budget) -> Fraction:
        """What may be spent."""
        return self.purse.room(left, self.spender)

    def offer(self, goal: Goal, known: Knowledge, left: Budget) -> Plan:
        """What to buy for a goal; one that can be afforded, if any can. `BudgetExceeded` where no budget is enough."""
        found = self.shop.offer(goal, known, lambda plan: self.purse.is_affordable(plan, self.spender))
        if found is None:
            raise BudgetExceeded(
                "no budget is enough for this accuracy beside what is known; nothing was released"
                f"{self._instead(goal, known, left)}"
            )
        return found

    def amount(self, plan: Plan) -> Fraction:
        """What a plan costs, in the budget's unit."""
        return self.purse.amount(self.purse.filter.cost_of(plan))

    def best(self, goal: Goal, known: Knowledge, left: Budget) -> float | None:
        """A half-width that no interval exceeds if all that may be spent is spent."""
        most = self.purse.whole(self.room(left))
        return None if most is None else self.shop.best(goal, known, most) * float(np.max(goal.within))

    def agreed(self, goal: Goal, known: Knowledge, left: Budget, most: float | None) -> Plan:
        """What to buy for a goal; `BudgetExceeded` where it costs more than `most`, or than may be spent."""
        self._require_possible(goal, known, left)
        offered = self.offer(goal, known, left)
        amount = self.amount(offered)
        if most is not None and amount > most:
            raise BudgetExceeded(
                f"this costs {at_least(amount)} {left.unit} now, more than the {most:g} that was agreed to; "
                "nothing was released"
            )
        try:
            self.purse.ledger.check(offered, left.dataset, spender=self.spender)
        except BudgetExceeded as error:
            raise BudgetExceeded(f"{error}{self._instead(goal, known, left)}") from None
        return offered

    def _require_possible(self, goal: Goal, known: Knowledge, left: Budget) -> None:
        """Refuse at once, without a plan, what no plan could fit into what is left."""
        if left.unit != "rho":
            return
        half_widths, room = known.error_bars(goal.queries, goal.level)[1], self.room(left)
        least = self.shop.at_least(goal, half_widths, float(left.spent))
        if least > room:
            said = f"{at_most(room)} rho is left to spend, and this would cost at least {at_most(Fraction(least))}"
            raise BudgetExceeded(f"{said}; nothing was released{self._instead(goal, known, left)}")

    def _instead(self, goal: Goal, known: Knowledge, left: Budget) -> str:
        """What all that is left would buy, in words."""
        best = self.best(goal, known, left)
        price = f"for all that is left, {at_most(self.room(left))} {left.unit}"
        return "" if best is None else f"; {price}, the best that can be had is ±{shown_above(best, 4)}"
