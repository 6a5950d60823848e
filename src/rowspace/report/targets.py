"""Targets and what became of them, and errors at several budgets, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from rowspace.planning import TargetPlan, WhatIf

from .numbers import figures, whole
from .plans import table

_GROUPS_SHOWN = 20


def targets_view(found: TargetPlan) -> RenderableType:
    """Every target, what is reached, and the importance that got there."""
    view = table()
    view.add_column("queries about", overflow="fold")
    for heading in ("number", "target", "reached", "weight"):
        view.add_column(heading, justify="right", no_wrap=True)
    reached = figures([met.half_width for met in found.met])
    for met, width in zip(found.met, reached, strict=True):
        weight = f"{found.weights[met.group]:.3g}"
        view.add_row(Text(met.group), whole(met.queries), str(met.target), f"±{width}", weight)
    for group, half_width in list(found.others.items())[:_GROUPS_SHOWN]:
        view.add_row(Text(group), "", "none", f"±{figures([half_width])[0]}", "", style="dim")
    return view


def whatif_view(curve: Sequence[WhatIf], name: str) -> RenderableType:
    """RMSE of every group, one column for each budget; `name` is what the budget is called."""
    view = table()
    view.add_column("RMSE of queries about", overflow="fold")
    for point in curve:
        view.add_column(f"{name} {point.epsilon:g}", justify="right", no_wrap=True)
    columns = [figures([point.rmse, *(group.rmse for group in point.groups)]) for point in curve]
    names = ["all queries", *(group.group for group in curve[0].groups)]
    for number, label in enumerate(names[: _GROUPS_SHOWN + 1]):
        view.add_row(
            Text(label, style="bold" if number == 0 else ""), *(column[number] for column in columns)
        )
    if len(names) > _GROUPS_SHOWN + 1:
        more = f"… and {len(names) - _GROUPS_SHOWN - 1:,} more groups"
        view.add_row(Text(more, style="dim"), *("" for _ in curve))
    return view
