"""The plan on the page: how accurate each group is, what was considered, and how close to the best possible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rowspace.planning import GroupError, Plan, considered

from ..charts import bars
from ..numbers import figures, whole
from ..views import Figure, PageTable

MOST_GROUPS = 60
_MOST_GROUPS_EXAMINED = 20 * MOST_GROUPS
_MOST_BARS = 16
_KINDS = {
    "RMSE": "Root mean square error of an answer",
    "weighted RMSE": "Weighted root mean square error of an answer",
    "worst error": "Standard error of the worst answer",
    "weighted worst error": "Standard error of the worst answer, times its weight",
}
_CLOSE = 2.0
"""Certified ratio from which on the page explains itself."""


@dataclass(frozen=True)
class Accuracy:
    """Expected error of every group; `note` stands for what is too many to list."""

    rmse: str
    unit: str
    note: str
    figure: Figure | None = None
    table: PageTable | None = None


@dataclass(frozen=True)
class Method:
    """What was considered, best first, against the bound that no strategy can beat."""

    certified: str
    close: bool
    explained: str
    figure: Figure
    table: PageTable


def accuracy(plan: Plan) -> Accuracy:
    """How accurate the answers are, known before any data was touched."""
    rmse = figures([plan.rmse])[0]
    number = len({part.group for part in plan.workload.parts})
    if number > _MOST_GROUPS_EXAMINED:
        return Accuracy(rmse, plan.error_unit, f"The groups are too many to list: {whole(number)}.")
    groups = plan.group_errors()
    shown = groups[:MOST_GROUPS]
    rmses, worsts = figures([g.rmse for g in shown]), figures([g.largest_std_error for g in shown])
    caption = (
        "Standard error of each group of queries"
        + (f", the first {len(shown)} of {whole(len(groups))}" if len(shown) < len(groups) else "")
        + ("; more below, scroll" if len(shown) > _MOST_BARS else "")
    )
    rows = tuple(
        (group.group, whole(group.queries), rmse, worst)
        for group, rmse, worst in zip(shown, rmses, worsts, strict=True)
    )
    return Accuracy(
        rmse,
        plan.error_unit,
        "",
        _group_figure(shown, rmses),
        PageTable(caption, ("queries about", "number", "standard error", "worst"), rows),
    )


def _group_figure(groups: Sequence[GroupError], rmses: Sequence[str]) -> Figure:
    """The first groups as bars."""
    shown = groups[:_MOST_BARS]
    description = (
        "Standard error of each group of queries: "
        + ", ".join(f"{group.group} {value}" for group, value in zip(groups[:6], rmses, strict=False))
        + ("." if len(groups) <= 6 else ", and more in the table.")
    )
    chart = bars([g.group for g in shown], [g.rmse for g in shown], rmses[:_MOST_BARS], description)
    more = f", the first {_MOST_BARS} groups" if len(groups) > _MOST_BARS else ""
    return Figure("Standard error by group", f"Root mean square over the group's answers{more}", chart)


def method(plan: Plan) -> Method:
    """The strategy taken among those considered."""
    judged = considered(plan)
    written = figures(judged.errors)
    kind = _KINDS.get(judged.name, judged.name)
    near = judged.near(_MOST_BARS)
    chart = bars(
        [plan.candidates[at].name for at, _ in near],
        [error for _, error in near],
        [written[at] for at, _ in near],
        f"{kind} of the {len(plan.candidates)} strategies considered; the one taken has {written[0]}."
        if plan.candidates
        else "No other strategy was considered.",
        reference=judged.bound,
        reference_name="no strategy can go below",
    )
    rows = tuple(
        (candidate.name, error, ratio, f"{candidate.seconds:.2f}")
        for candidate, error, ratio in zip(plan.candidates, written, figures(judged.ratios), strict=True)
    )
    return Method(
        plan.certificate if plan.ratio < math.inf else "the best that was found; no lower bound is known",
        plan.ratio < _CLOSE,
        _explained(plan),
        Figure(
            "Strategies considered",
            kind + ("; the table has more" if len(near) < len(judged.errors) else ""),
            chart,
        ),
        PageTable(
            "Strategies considered, best first; the first was taken",
            ("strategy", judged.name, "squared, × bound", "seconds"),
            rows,
            chosen=0,
        ),
    )


def _explained(plan: Plan) -> str:
    """What a large factor is in error bars, and who is to blame for it, as far as anyone knows."""
    bars = f"In error bars that is a factor {math.sqrt(plan.ratio):.3g}."
    return " ".join([bars, *plan.remarks] if _CLOSE <= plan.ratio < math.inf else plan.remarks)
