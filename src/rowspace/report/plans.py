"""A plan on one screen: what will be asked, what is promised, how accurate it will be, and what else was tried."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rowspace.planning import GroupError, Plan, considered

from .numbers import figures, whole
from .words import plain_privacy

_GROUPS_SHOWN = 20


def plan_view(plan: Plan, groups: Sequence[GroupError], title: str | None = None) -> RenderableType:
    """The whole plan; `groups` is `plan.group_errors()`, taken beforehand because it may need time."""
    return Group(
        Padding(_summary(plan, title), (0, 0, 0, 1)),
        _group_table(groups),
        _candidate_table(plan),
    )


def table() -> Table:
    """The one look of all tables: a rule under the header, nothing else."""
    return Table(box=box.SIMPLE_HEAD, header_style="bold", border_style="dim")


def _summary(plan: Plan, title: str | None) -> Table:
    """What, under which promise, how well."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    if title:
        grid.add_row("study", Text(title, style="bold"))
    about = ", ".join(plan.workload.attributes) or "all records"
    grid.add_row(
        "queries", Text(f"{whole(plan.workload.size)} about {about} ({whole(plan.domain.size)} cells)")
    )
    grid.add_row("privacy", Text(str(plan.privacy)))
    grid.add_row("", Text(plain_privacy(plan.privacy), style="dim"))
    rmse = figures([plan.rmse])[0]
    grid.add_row(
        "accuracy", Text(f"{rmse} standard error of an answer, {plan.error_unit} (root mean square)")
    )
    if plan.objective == "max" and plan.ratio < math.inf:
        worst = figures([math.sqrt(plan.max_error)])[0]
        grid.add_row("", Text(f"{worst} standard error of the worst answer, which this plan makes small"))
    grid.add_row("", Text(plan.certificate, style="bold green" if plan.ratio < 2 else "bold"))
    for remark in plan.remarks:
        grid.add_row("", Text(remark, style="dim"))
    if plan.population:
        grid.add_row("counted", Text(plan.population))
    return grid


def _candidate_table(plan: Plan) -> Table:
    """What was tried, best first; the first is taken. The bound is on squares: four times it is twice the error."""
    judged = considered(plan)
    view = table()
    view.add_column("strategy", overflow="fold")
    view.add_column(judged.name, justify="right", no_wrap=True)
    view.add_column("squared, × best", justify="right", no_wrap=True)
    view.add_column("seconds", justify="right", no_wrap=True)
    errors, ratios = figures(judged.errors), figures(judged.ratios)
    for number, (candidate, error, ratio) in enumerate(zip(plan.candidates, errors, ratios, strict=True)):
        name = Text(f"{'●' if number == 0 else ' '} {candidate.name}")
        view.add_row(name, error, ratio, f"{candidate.seconds:.2f}", style="" if number == 0 else "dim")
    return view


def _group_table(groups: Sequence[GroupError]) -> Table:
    """How accurate each group of queries will be."""
    view = table()
    view.add_column("queries about", overflow="fold")
    view.add_column("number", justify="right", no_wrap=True)
    view.add_column("RMSE", justify="right", no_wrap=True)
    view.add_column("worst", justify="right", no_wrap=True)
    shown = groups[:_GROUPS_SHOWN]
    rmses, worsts = figures([g.rmse for g in shown]), figures([g.largest_std_error for g in shown])
    for group, rmse, worst in zip(shown, rmses, worsts, strict=True):
        view.add_row(Text(group.group), whole(group.queries), rmse, worst)
    if len(groups) > _GROUPS_SHOWN:
        view.add_row(Text(f"… and {len(groups) - _GROUPS_SHOWN:,} more groups", style="dim"), "", "", "")
    return view
