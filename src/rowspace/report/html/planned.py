"""The plan on the page: how accurate each group is, what was considered, and how close to the best possible."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rowspace.markup import Markup, element, fragment
from rowspace.planning import GroupError, Plan

from ..numbers import figures, whole
from .charts import Reference, bars
from .gallery import figure

MOST_GROUPS = 60
_MOST_BARS = 16
_FAR = 8.0
_CLOSE = 2.0
"""Certified ratio from which on the page explains itself."""


def accuracy(plan: Plan, groups: Sequence[GroupError] | None) -> Markup:
    """Expected error of every group; `groups` is `plan.group_errors()`, None when there are too many to look at."""
    rmse = figures([plan.rmse])[0]
    words = element(
        "p",
        "Known before any data was touched: an answer is typically off by ",
        element("strong", f"±{rmse}"),
        " (root mean square over all queries). It depends on the queries and on the privacy promised, not on the data.",
    )
    if groups is None:
        note = f"The groups are too many to list: {whole(len({part.group for part in plan.workload.parts}))}."
        return fragment(words, element("p", note, class_="note"))
    shown = groups[:MOST_GROUPS]
    rmses, worsts = figures([g.rmse for g in shown]), figures([g.largest_std_error for g in shown])
    chart = bars(
        [group.group for group in shown[:_MOST_BARS]],
        [group.rmse for group in shown[:_MOST_BARS]],
        [f"±{value}" for value in rmses[:_MOST_BARS]],
        "Expected error of each group of queries: "
        + ", ".join(f"{group.group} {value}" for group, value in zip(shown[:6], rmses, strict=False))
        + ("." if len(shown) <= 6 else ", and more in the table."),
    )
    rows = [
        element(
            "tr",
            element("th", group.group, scope="row"),
            element("td", whole(group.queries)),
            element("td", f"±{rmse}"),
            element("td", f"±{worst}" if group.largest_std_error is not None else "–"),
        )
        for group, rmse, worst in zip(shown, rmses, worsts, strict=True)
    ]
    left_out = len(groups) - len(shown)
    table = _table(
        "Expected error of each group of queries"
        + (f", the first {len(shown)} of {whole(len(groups))}" if left_out else "")
        + ("; more below, scroll" if len(shown) > _MOST_BARS else ""),
        ("queries about", "number", "typical error", "worst"),
        rows,
    )
    return fragment(
        words,
        element(
            "div",
            figure(
                "Expected error by group",
                "Root mean square error of an answer"
                + (f", the first {_MOST_BARS} groups" if len(shown) > _MOST_BARS else ""),
                chart,
            ),
            element("div", table, class_="card tall"),
            class_="cards",
        ),
    )


def strategy(plan: Plan) -> Markup:
    """What was considered, best first, against the bound that no strategy can beat."""
    rmses = [math.sqrt(candidate.total_error / plan.workload.size) for candidate in plan.candidates]
    bound = math.sqrt(plan.lower_bound / plan.workload.size)
    written = figures(rmses)
    weighted = any(part.weight != 1 for part in plan.workload.parts)
    kind = "Weighted root mean square error" if weighted else "Root mean square error"
    # Far worse ones would press all others against the axis; the table has them.
    near = [at for at, rmse in enumerate(rmses) if rmse <= _FAR * rmses[0]][:_MOST_BARS]
    chart = bars(
        [plan.candidates[at].name for at in near],
        [rmses[at] for at in near],
        [f"±{written[at]}" for at in near],
        f"{kind} of the {len(plan.candidates)} strategies considered; the one taken has {written[0]}, the bound is "
        f"{figures([bound])[0]}."
        if plan.candidates
        else "No other strategy was considered.",
        reference=Reference(bound, "no strategy can go below") if bound > 0 else None,
    )
    ratios = figures([candidate.ratio for candidate in plan.candidates])
    rows = [
        element(
            "tr",
            element("th", candidate.name, scope="row"),
            element("td", f"±{rmse}"),
            element("td", ratio),
            element("td", f"{candidate.seconds:.2f}"),
            class_="chosen" if number == 0 else None,
        )
        for number, (candidate, rmse, ratio) in enumerate(zip(plan.candidates, written, ratios, strict=True))
    ]
    table = _table(
        "Strategies considered, best first; the first was taken",
        ("strategy", "weighted error" if weighted else "error", "squared, × bound", "seconds"),
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
                kind + " of an answer" + ("; the table has more" if len(near) < len(rmses) else ""),
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
