"""The plan on the page: how accurate each group is, what was considered, and how close to the best possible."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rowspace.markup import Markup, element, fragment
from rowspace.planning import GroupError, Plan, considered

from ..numbers import figures, whole
from .charts import Reference, bars
from .gallery import figure

MOST_GROUPS = 60
_MOST_BARS = 16
_FAR = 8.0
_KINDS = {
    "RMSE": "Root mean square error of an answer",
    "weighted RMSE": "Weighted root mean square error of an answer",
    "worst error": "Standard error of the worst answer",
    "weighted worst error": "Standard error of the worst answer, times its weight",
}
_CLOSE = 2.0
"""Certified ratio from which on the page explains itself."""


def accuracy(plan: Plan, groups: Sequence[GroupError] | None) -> Markup:
    """Expected error of every group; `groups` is `plan.group_errors()`, None when there are too many to look at."""
    rmse = figures([plan.rmse])[0]
    words = element(
        "p",
        "Known before any data was touched: the standard error of an answer is ",
        element("strong", rmse),
        " counts (root mean square over all queries). It depends on the queries and on the privacy promised, not on "
        "the data.",
    )
    if groups is None:
        note = f"The groups are too many to list: {whole(len({part.group for part in plan.workload.parts}))}."
        return fragment(words, element("p", note, class_="note"))
    shown = groups[:MOST_GROUPS]
    rmses, worsts = figures([g.rmse for g in shown]), figures([g.largest_std_error for g in shown])
    chart = bars(
        [group.group for group in shown[:_MOST_BARS]],
        [group.rmse for group in shown[:_MOST_BARS]],
        rmses[:_MOST_BARS],
        "Standard error of each group of queries: "
        + ", ".join(f"{group.group} {value}" for group, value in zip(shown[:6], rmses, strict=False))
        + ("." if len(shown) <= 6 else ", and more in the table."),
    )
    rows = [
        element(
            "tr",
            element("th", group.group, scope="row"),
            element("td", whole(group.queries)),
            element("td", rmse),
            element("td", worst),
        )
        for group, rmse, worst in zip(shown, rmses, worsts, strict=True)
    ]
    left_out = len(groups) - len(shown)
    table = _table(
        "Standard error of each group of queries"
        + (f", the first {len(shown)} of {whole(len(groups))}" if left_out else "")
        + ("; more below, scroll" if len(shown) > _MOST_BARS else ""),
        ("queries about", "number", "standard error", "worst"),
        rows,
    )
    return fragment(
        words,
        element(
            "div",
            figure(
                "Standard error by group",
                "Root mean square over the group's answers"
                + (f", the first {_MOST_BARS} groups" if len(shown) > _MOST_BARS else ""),
                chart,
            ),
            element("div", table, class_="card tall"),
            class_="cards",
        ),
    )


def strategy(plan: Plan) -> Markup:
    """What was considered, best first, against the bound that no strategy can beat."""
    judged = considered(plan)
    written = figures(judged.errors)
    kind = _KINDS.get(judged.name, judged.name)
    known = [(at, error) for at, error in enumerate(judged.errors) if error is not None]
    # Far worse ones would press all others against the axis; the table has them.
    near = [(at, error) for at, error in known if error <= _FAR * known[0][1]][:_MOST_BARS]
    chart = bars(
        [plan.candidates[at].name for at, _ in near],
        [error for _, error in near],
        [written[at] for at, _ in near],
        f"{kind} of the {len(plan.candidates)} strategies considered; the one taken has {written[0]}."
        if plan.candidates
        else "No other strategy was considered.",
        reference=Reference(judged.bound, "no strategy can go below") if judged.bound is not None else None,
    )
    rows = [
        element(
            "tr",
            element("th", candidate.name, scope="row"),
            element("td", error),
            element("td", ratio),
            element("td", f"{candidate.seconds:.2f}"),
            class_="chosen" if number == 0 else None,
        )
        for number, (candidate, error, ratio) in enumerate(
            zip(plan.candidates, written, figures(judged.ratios), strict=True)
        )
    ]
    table = _table(
        "Strategies considered, best first; the first was taken",
        ("strategy", judged.name, "squared, × bound", "seconds"),
        rows,
    )
    return fragment(
        element(
            "p",
            "The queries were not answered one by one. A smaller set of questions, the strategy, was asked of the data "
            "with noise, and all answers follow from it by least squares, so they agree with one another. Of all "
            "strategies with this kind of noise, this one is ",
            element("span", _certified(plan), class_="badge" if plan.ratio < _CLOSE else "strong"),
            ".",
            _why_far(plan),
        ),
        element(
            "div",
            figure(
                "Strategies considered",
                kind + ("; the table has more" if len(near) < len(judged.errors) else ""),
                chart,
            ),
            element("div", table, class_="card"),
            class_="cards",
        ),
    )


def _why_far(plan: Plan) -> str | None:
    """Who is to blame for a large factor, as far as anyone knows."""
    if not _CLOSE <= plan.ratio < math.inf:
        return None
    laplace = (
        " Under Laplace noise no strategy is known to reach the bound, so part of the factor is the bound's."
    )
    return f" In error bars that is a factor {math.sqrt(plan.ratio):.3g}." + (
        laplace if plan.privacy.norm == 1 else ""
    )


def _certified(plan: Plan) -> str:
    """The certificate as the end of a sentence."""
    return plan.certificate if plan.ratio < math.inf else "the best that was found; no lower bound is known"


def _table(caption: str, headings: Sequence[str], rows: Sequence[Markup]) -> Markup:
    """A table that scrolls sideways on a narrow screen."""
    head = element("tr", *(element("th", heading, scope="col") for heading in headings))
    table = element("table", element("caption", caption), element("thead", head), element("tbody", *rows))
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label=caption)
