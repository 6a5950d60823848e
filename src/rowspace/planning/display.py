"""A plan in a notebook."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from rowspace.markup import element, fragment, notebook_table

if TYPE_CHECKING:
    from .plan import Plan


def plan_html(plan: Plan) -> str:
    """What was promised, what to expect, and the strategies considered, best first."""
    caption = fragment(
        element("strong", "Plan"),
        f" for {plan.workload.size:,} queries under {plan.privacy}: an answer is typically off by ",
        element("strong", f"±{plan.rmse:.4g}"),
        f", {plan.certificate}.",
    )
    rows = [
        [
            candidate.name,
            f"{sqrt(candidate.total_error / plan.workload.size):.4g}",
            "–" if candidate.ratio is None else f"{candidate.ratio:.4g}",
            f"{candidate.seconds:.2f}",
        ]
        for candidate in plan.candidates
    ]
    return notebook_table(caption, ["strategy", "weighted RMSE", "× bound", "seconds"], rows)
