"""Budgets and what was spent of them, on one screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from rowspace.ledger import Budget, Charge, at_least, at_most

from .plans import table

_DIGEST_SHOWN = 12


def budgets_view(budgets: Sequence[Budget]) -> RenderableType:
    """Every dataset with what is promised in all, spent and left."""
    view = table()
    view.add_column("dataset", overflow="fold")
    view.add_column("promised in all", overflow="fold")
    for heading in ("spent", "left", "releases"):
        view.add_column(heading, justify="right", no_wrap=True)
    for budget in budgets:
        spent = f"{at_least(budget.spent)} {budget.unit}"
        left = Text(at_most(budget.remaining), style="bold" if budget.remaining else "bold red")
        view.add_row(Text(budget.dataset), Text(str(budget.guarantee)), spent, left, str(budget.charges))
    return view


def evidence_view(evidence: Sequence[Mapping[str, Any]]) -> RenderableType:
    """What each release is about, and how precise it is by itself."""
    view = table()
    view.add_column("charge", justify="right", no_wrap=True)
    view.add_column("version", overflow="fold")
    view.add_column("covers", overflow="fold")
    view.add_column("queries", justify="right", no_wrap=True)
    view.add_column("typical error", justify="right", no_wrap=True)
    for row in evidence:
        version, covers = Text(row["version"] or "–"), Text(" × ".join(row["attributes"]))
        error = "–" if row["typical_error"] is None else f"{row['typical_error']:.4g}"
        view.add_row(str(row["charge"]), version, covers, f"{row['queries']:,}", error)
    return view


def history_view(charges: Sequence[Charge]) -> RenderableType:
    """Every charge, oldest first."""
    view = table()
    view.add_column("charge", justify="right", no_wrap=True)
    view.add_column("time (UTC)", no_wrap=True)
    view.add_column("who", overflow="fold")
    view.add_column("cost", overflow="fold")
    view.add_column("plan", no_wrap=True)
    view.add_column("release", no_wrap=True)
    for charge in charges:
        view.add_row(
            str(charge.id),
            f"{charge.time:%Y-%m-%d %H:%M:%S}",
            Text(charge.who),
            str(charge.cost),
            Text(charge.plan[:_DIGEST_SHOWN], style="dim"),
            Text(charge.digest[:_DIGEST_SHOWN], style="dim"),
        )
    return view
