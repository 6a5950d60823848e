"""Plans in a notebook."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from rowspace.markup import element, fragment, notebook_table

if TYPE_CHECKING:
    from .plan import Plan
    from .targets import TargetPlan

_GROUPS_SHOWN = 12
# Every group is a trace over the cells; a notebook shows a value each time it is named.
_MOST_GROUPS = 60


def plan_html(plan: Plan) -> str:
    """What was promised, what to expect of each group, and the strategies considered, best first."""
    caption = fragment(
        element("strong", "Plan"),
        f" for {plan.workload.size:,} queries under {plan.privacy}: an answer is typically off by ",
        element("strong", f"±{_figure(plan.rmse)}"),
        f", {plan.certificate}.",
    )
    weighted = any(part.weight != 1 for part in plan.workload.parts)
    rows = [
        [
            candidate.name,
            _figure(sqrt(candidate.total_error / plan.workload.size)),
            "–" if candidate.ratio is None else _figure(candidate.ratio),
            f"{candidate.seconds:.2f}",
        ]
        for candidate in plan.candidates
    ]
    headings = ["strategy", "weighted RMSE" if weighted else "RMSE", "squared, × bound", "seconds"]
    return notebook_table(caption, headings, rows) + _groups(plan)


def target_plan_html(found: TargetPlan) -> str:
    """What each target has become, and the budget that it takes."""
    caption = fragment(element("strong", f"{found.epsilon:g}"), f" meets every target: {found.plan.privacy}.")
    rows = [
        [
            met.group,
            f"{met.queries:,}",
            str(met.target),
            f"±{_figure(met.half_width)}",
            _figure(found.weights[met.group]),
        ]
        for met in found.met[:_MOST_GROUPS]
    ]
    left_out = len(found.met) - len(rows)
    note = f"… and {left_out} more: .met. " if left_out else ""
    headings = ["queries about", "number", "target", "reached", "weight"]
    return notebook_table(caption, headings, rows, f"{note}The plan itself: .plan")


def _groups(plan: Plan) -> str:
    """The error of the first groups; nothing where looking at all of them would take long."""
    number = len({part.group for part in plan.workload.parts})
    if not 1 < number <= _MOST_GROUPS:
        return ""
    rows = [
        [
            group.group,
            f"{group.queries:,}",
            f"±{_figure(group.rmse)}",
            "–" if group.largest_std_error is None else f"±{_figure(group.largest_std_error)}",
        ]
        for group in plan.group_errors()[:_GROUPS_SHOWN]
    ]
    note = f"… and {number - len(rows)} more: plan.group_errors()" if len(rows) < number else ""
    return notebook_table("", ["queries about", "number", "typical error", "worst"], rows, note)


def _figure(value: float) -> str:
    """Four digits, thousands apart."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
