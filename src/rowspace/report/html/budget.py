"""The budget on the page: what was promised in all, what is spent, and by which releases."""

from __future__ import annotations

from dataclasses import dataclass

from rowspace.ledger import Budget, Charge, at_least, at_most

from ..charts import steps
from ..numbers import whole
from ..views import Figure, PageTable

_MOST_CHARGES = 100
_DIGEST_SHOWN = 12


@dataclass(frozen=True)
class Spending:
    """A budget with its charges, oldest first."""

    budget: Budget
    charges: tuple[Charge, ...]


@dataclass(frozen=True)
class BudgetView:
    """The state of a budget, spending over time, and the charges."""

    words: str
    state: str
    figure: Figure | None
    charges: PageTable | None


def budget_view(spending: Spending, digest: str) -> BudgetView:
    """A budget as the page of the release with this digest shows it."""
    budget = spending.budget
    own = next((charge for charge in spending.charges if charge.digest == digest), None)
    paid = (
        f"This release is charge {own.id}, of {own.time:%Y-%m-%d %H:%M} UTC: {own.cost}."
        if own is not None
        else "This release is not among the charges of this budget."
    )
    words = f"All releases about {budget.dataset} together promise {budget.guarantee}. {paid}"
    if not spending.charges:
        return BudgetView(words, f"{budget}.", None, None)
    return BudgetView(words, f"{budget}.", _figure(spending), _charges(spending.charges, own))


def _figure(spending: Spending) -> Figure:
    """Spending over time."""
    budget = spending.budget
    times, totals = budget.spending(spending.charges)
    spent = f"{at_least(budget.spent)} of {at_most(budget.limit)} {budget.unit} spent"
    chart = steps(
        times[-_MOST_CHARGES:],
        totals[-_MOST_CHARGES:],
        float(budget.limit),
        "time of the charge (UTC)",
        f"{whole(len(totals))} charges, {spent}.",
    )
    subtitle = f"In {budget.unit}; the dashed line is what may be spent in all"
    return Figure("Spent over time", subtitle, chart, wide=True)


def _charges(charges: tuple[Charge, ...], own: Charge | None) -> PageTable:
    """The charges, newest last; the one of this release stands out."""
    shown = charges[-_MOST_CHARGES:]
    left_out = "" if len(shown) == len(charges) else f", the last {len(shown)} of {whole(len(charges))}"
    return PageTable(
        f"Charges{left_out}" + ("" if own is None else "; this release in bold"),
        # Who charged it is in the ledger, for those who keep it; a page is for everybody.
        ("charge", "time (UTC)", "cost", "release (SHA-256)"),
        tuple(
            (str(charge.id), f"{charge.time:%Y-%m-%d %H:%M}", str(charge.cost), charge.digest[:_DIGEST_SHOWN])
            for charge in shown
        ),
        chosen=next((at for at, charge in enumerate(shown) if charge is own), None),
        codes=True,
    )
