"""The budget on the page: what was promised in all, what is spent, and by which releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rowspace.ledger import Budget, Charge
from rowspace.ledger.amounts import at_least, at_most
from rowspace.markup import Markup, element, fragment

from ..numbers import whole
from .charts import steps
from .gallery import figure

_MOST_CHARGES = 100
_DIGEST_SHOWN = 12


@dataclass(frozen=True)
class Spending:
    """A budget with its charges, oldest first."""

    budget: Budget
    charges: tuple[Charge, ...]


def budget_words(spending: Spending, digest: str) -> Markup:
    """The state of a budget, spending over time, and the charges; `digest` is that of the release of this page."""
    budget = spending.budget
    own = next((charge for charge in spending.charges if charge.digest == digest), None)
    paid = (
        f"This release is charge {own.id}, of {own.time:%Y-%m-%d %H:%M} UTC: {own.cost}. "
        if own is not None
        else "This release is not among the charges of this budget. "
    )
    words = element(
        "p",
        f"All releases about {budget.dataset} together promise {budget.guarantee}. {paid}",
        element("strong", f"{budget}."),
    )
    totals = [float(total) for total in budget.spent_after(spending.charges)[-_MOST_CHARGES:]]
    chart = None
    if totals:
        description = (
            f"{whole(len(spending.charges))} charges, {at_least(budget.spent)} of "
            f"{at_most(budget.limit)} {budget.unit} spent."
        )
        drawn = steps(
            [charge.time for charge in spending.charges[-len(totals) :]],
            totals,
            float(budget.limit),
            "time of the charge (UTC)",
            description,
        )
        subtitle = f"In {budget.unit}; the dashed line is what may be spent in all"
        chart = figure("Spent over time", subtitle, drawn, wide=True)
    return fragment(words, element("div", chart, class_="cards"), _charges(spending.charges, own))


def _charges(charges: Sequence[Charge], own: Charge | None) -> Markup:
    """The charges, newest last; the one of this release stands out."""
    if not charges:
        return element("p", "Nothing has been charged yet.", class_="note")
    shown = charges[-_MOST_CHARGES:]
    rows = [
        element(
            "tr",
            element("th", str(charge.id), scope="row"),
            element("td", f"{charge.time:%Y-%m-%d %H:%M}"),
            element("td", str(charge.cost)),
            element("td", element("code", charge.digest[:_DIGEST_SHOWN])),
            class_="chosen" if charge is own else None,
        )
        for charge in shown
    ]
    left_out = "" if len(shown) == len(charges) else f", the last {len(shown)} of {whole(len(charges))}"
    caption = f"Charges{left_out}; this release in bold" if own is not None else f"Charges{left_out}"
    # Who charged it is in the ledger, for those who keep it; a page is for everybody.
    headings = ("charge", "time (UTC)", "cost", "release (SHA-256)")
    table = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *(element("th", text, scope="col") for text in headings))),
        element("tbody", *rows),
    )
    area = element("div", table, class_="scroll", tabindex="0", role="region", aria_label=caption)
    return element("div", area, class_="card")
