"""What a session tells: prices and answers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rowspace.exceptions import KeyReused, TooLarge, UnsupportedWorkload
from rowspace.ledger import Budget, Charge, Request, float_above
from rowspace.notebook import one_line, shown_above
from rowspace.operators import Vector
from rowspace.releases import TABLE_LIMIT, AnswerRows, Columns

from .buying import Goal
from .knowledge import Knowledge
from .purse import Purse

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Price:
    """What an answer of some accuracy costs now.

    amount: in `unit`, "epsilon" or "rho"; zero where what is known suffices.
    remaining: the budget that pays.
    reached: the widest half-width of the intervals without paying; infinite where nothing is known.
    affordable: whether the budget has room for it.
    best: the half-width that all of the remaining budget would buy, where the price is beyond it.
    """

    amount: float
    unit: str
    remaining: Budget
    reached: float
    affordable: bool
    best: float | None = None

    @property
    def free(self) -> bool:
        """Whether nothing need be paid."""
        return self.amount == 0

    def __repr__(self) -> str:
        return one_line(f"<Price {self}>")

    def __str__(self) -> str:
        if self.free:
            return f"free: known within ±{shown_above(self.reached, 4)}"
        text = f"{shown_above(self.amount, 6)} {self.unit}, {self.remaining}"
        if self.affordable:
            return text
        return f"{text}: not enough" + (
            "" if self.best is None else f", it buys ±{shown_above(self.best, 4)}"
        )


@dataclass(frozen=True)
class Answered:
    """Answers with their intervals, what they cost, and how much of them was known before.

    rows: the figures of the answers, and what goes with them. cost: in `unit`; zero for a free answer. charge: its
    number in the ledger.
    known_before: the share of the least precise answer's information that was there before it was paid for.
    remaining: the budget after it.
    """

    rows: AnswerRows
    cost: float
    unit: str
    charge: int | None
    known_before: float
    remaining: Budget

    @cached_property
    def table(self) -> pd.DataFrame:
        """The answers as `Release.ask` returns them."""
        return self.rows.frame()

    @property
    def answer(self) -> float:
        """The first answer."""
        return float(self.rows.figures["answer"][0])

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the first answer."""
        return float(self.rows.figures["low"][0]), float(self.rows.figures["high"][0])

    def to_dict(self) -> dict[str, Any]:
        """Everything but the remaining budget, JSON-safe: a retried request gives the same."""
        return {
            "answers": self.table.to_dict(orient="records"),
            "cost": self.cost,
            "unit": self.unit,
            "charge": self.charge,
            "known_before": self.known_before,
            **self.rows.notes,
        }

    def __repr__(self) -> str:
        return one_line(f"<Answered: {self.rows.queries.size:,} answers, {self.paid}>")

    def __str__(self) -> str:
        return f"{self.table.to_string(index=False)}\n{self.paid}; {self.remaining}"

    def _repr_html_(self) -> str:
        return f"{self.table.to_html(index=False)}<p>{self.paid}; {self.remaining}</p>"

    @property
    def paid(self) -> str:
        """What it cost, in words."""
        if not self.cost:
            return "free: known before"
        return f"paid {shown_above(self.cost, 6)} {self.unit}, {100 * self.known_before:.0f} % of it was known before"


def told(goal: Goal, known: Knowledge, columns: Columns, left: Budget) -> Answered:
    """A free answer, from what is known."""
    return Answered(_rows(goal, known, columns), 0.0, left.unit, None, 1.0, left)


def told_for(
    cost: Fraction, goal: Goal, before: Vector, known: Knowledge, charge: Charge, left: Budget
) -> Answered:
    """The answer after a charge; `before`: the standard errors without it."""
    columns = known.columns(goal.queries, goal.level)
    now = columns[1]
    share = float(np.min(np.divide(now, before, out=np.zeros_like(now), where=before > 0) ** 2))
    return Answered(_rows(goal, known, columns), float_above(cost), left.unit, charge.id, share, left)


def told_again(
    purse: Purse, known: Knowledge, kept: Request, about: str, goal: Goal, left: Budget
) -> Answered:
    """The answer to a request that was answered before. known: what is known now."""
    if kept.about != about:
        raise KeyReused(f"the key {kept.key!r} was used for another question; give each its own")
    then = purse.upto(kept.charge, known)
    if not kept.paid:
        return told(goal, then, then.columns(goal.queries, goal.level), left)
    charge = purse.charge(kept.charge)
    before = purse.upto(kept.charge - 1, known).error_bars(goal.queries, goal.level)[0]
    return told_for(purse.amount(charge.cost), goal, before, then, charge, left)


def _rows(goal: Goal, known: Knowledge, columns: Columns) -> AnswerRows:
    """Answers from what is known."""
    if not known.number:
        raise UnsupportedWorkload("nothing is known yet; say within= what accuracy may be paid for")
    if not np.isfinite(columns[1]).all():
        raise UnsupportedWorkload(
            "what is known says nothing about this; say within= what accuracy may be paid for"
        )
    if goal.queries.size > TABLE_LIMIT:
        raise TooLarge(
            f"a table of {goal.queries.size:,} answers exceeds {TABLE_LIMIT:,} rows; ask for a part"
        )
    return known.rows(goal.queries, goal.level, columns)
