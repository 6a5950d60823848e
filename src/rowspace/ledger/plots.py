"""Spending over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowspace.exceptions import InvalidInput

from .ledger import Ledger

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_spending(ledger: Ledger, dataset: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw what was spent of a budget after every charge, and the most that may be spent."""
    from rowspace.drawing import staircase

    budget, charges = ledger.budget(dataset), ledger.history(dataset)
    if not charges:
        raise InvalidInput("expected a budget with charges; there is nothing to draw")
    ax = staircase(*budget.spending(charges), limit=float(budget.limit), ax=ax)
    ax.set_xlabel("time (UTC)")
    ax.set_ylabel(f"{budget.unit} spent")
    return ax
