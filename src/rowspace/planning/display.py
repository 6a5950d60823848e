"""Plans as text and in a notebook."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from rowspace.exceptions import TooLarge
from rowspace.notebook import notebook_table

from .considered import considered
from .remarks import SAYS_NOTHING

if TYPE_CHECKING:
    from .plan import Plan
    from .targets import TargetPlan

_GROUPS_SHOWN = 12
# Every group is a trace over the cells; a notebook shows a value each time it is named.
_MOST_GROUPS = 60


def plan_text(plan: Plan) -> str:
    """What was promised, what to expect, what is left out, and the strategies considered, best first."""
    lines = [
        f"Plan for {plan.workload.size:,} queries on {plan.workload.domain.size:,} cells under {plan.privacy}",
        f"  predicted RMSE of an answer   {plan.rmse:.4g}{_unit(plan)}",
        f"  total squared error           {plan.total_error:.6g}",
        f"  no strategy can go below      {plan.lower_bound:.6g}",
    ]
    if plan.objective == "max":
        lines += [
            f"  worst squared error           {_worst_in_words(plan)}",
            f"  no strategy can go below      {plan.max_lower_bound:.6g}",
        ]
    lines[-1] += f"   {plan.certificate}"
    lines += [f"  {remark}" for remark in plan.remarks]
    if plan.population:
        lines.append(f"  {plan.population}")
    judged = considered(plan)
    lines.append(f"  candidates, {judged.name}")
    width = max((len(c.name) for c in plan.candidates), default=0)
    for c, error, ratio in zip(plan.candidates, judged.errors, judged.ratios, strict=True):
        figure = "–" if error is None else f"{error:.6g}"
        far = "" if ratio is None or ratio > SAYS_NOTHING else f"squared, {ratio:.4g} × the bound"
        lines.append(f"    {c.name:<{width}}  {figure:<10}  {far:<26}  {c.seconds:.2f} s")
    return "\n".join(lines)


def plan_html(plan: Plan) -> str:
    """What was promised, what to expect of each group, and the strategies considered, best first."""
    caption = Markup(
        "<strong>Plan</strong> for {:,} queries under {}: a typical answer has a standard error of "
        "<strong>{}</strong>{} (root mean square), {}. {}"
    ).format(
        plan.workload.size,
        plan.privacy,
        _figure(plan.rmse),
        _unit(plan),
        plan.certificate,
        " ".join((*plan.remarks, plan.population)),
    )
    judged = considered(plan)
    rows = [
        [
            candidate.name,
            "–" if error is None else _figure(error),
            "–" if ratio is None or ratio > SAYS_NOTHING else _figure(ratio),
            f"{candidate.seconds:.2f}",
        ]
        for candidate, error, ratio in zip(plan.candidates, judged.errors, judged.ratios, strict=True)
    ]
    headings = ["strategy", judged.name, "squared, × bound", "seconds"]
    return notebook_table(caption, headings, rows) + _groups(plan)


def target_plan_html(found: TargetPlan) -> str:
    """What each target has become, and the budget that it takes."""
    caption = Markup("<strong>{:g}</strong> meets every target: {}.").format(
        found.epsilon, found.plan.privacy
    )
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
    rows += [[g, "", "none", f"±{_figure(w)}", ""] for g, w in list(found.others.items())[:_GROUPS_SHOWN]]
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
            _figure(group.rmse),
            "–" if group.largest_std_error is None else _figure(group.largest_std_error),
        ]
        for group in plan.group_errors()[:_GROUPS_SHOWN]
    ]
    note = f"… and {number - len(rows)} more: plan.group_errors()" if len(rows) < number else ""
    return notebook_table("", ["queries about", "number", "standard error", "worst"], rows, note)


def _unit(plan: Plan) -> str:
    """What the errors are in, where that is not plain counts."""
    return f" {plan.error_unit}" if plan.domain.measures else ""


def _worst_in_words(plan: Plan) -> str:
    try:
        return f"{plan.max_error:.6g}"
    except TooLarge:
        return "too many answers to look at"


def _figure(value: float) -> str:
    """Four digits, thousands apart."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def plan_figures(plan: Plan) -> dict[str, Any]:
    """The figures, JSON-safe."""
    return {
        "queries": plan.workload.size,
        "cells": plan.domain.size,
        "privacy": plan.privacy.to_dict(),
        "statement": str(plan.privacy),
        "population": plan.population,
        "noise": plan.noise.to_dict(),
        "rmse": plan.rmse,
        "total_error": plan.total_error,
        "lower_bound": plan.lower_bound,
        "objective": plan.objective,
        **({"max_lower_bound": plan.max_lower_bound} if plan.objective == "max" else {}),
        "ratio": plan.ratio if plan.ratio < inf else None,
        "certificate": plan.certificate,
        "remarks": list(plan.remarks),
        "candidates": [vars(c) for c in plan.candidates],
        "groups": [vars(group) for group in plan.group_errors()],
    }
