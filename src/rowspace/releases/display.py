"""A release in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowspace.exceptions import TooLarge
from rowspace.markup import element, fragment, notebook_table
from rowspace.workload import Workload

if TYPE_CHECKING:
    from .release import Release

_ROWS_SHOWN = 10
# Asking costs what the whole part costs; of a larger one nothing is shown.
_LARGEST_PART = 2**16


def release_html(release: Release) -> str:
    """The first answers with their intervals, and the promise."""
    workload = release.plan.workload
    caption = fragment(element("strong", "Release"), f" of {workload.size:,} answers")
    headings = ["query", "answer", "std. error", "95 % interval"]
    shown = min(_ROWS_SHOWN, workload.size)
    return notebook_table(caption, headings, _rows(release, shown), release.statement)


def _rows(release: Release, number: int) -> list[list[str]]:
    """The first answers in words; none where even they would take too long."""
    first = release.plan.workload.parts[0]
    if first.size > _LARGEST_PART:
        return []
    queries = Workload(release.plan.domain, [first])
    try:
        answers = release.ask(queries)
    except TooLarge:
        return []
    number = min(number, first.size)
    columns = (answers[name].tolist()[:number] for name in ("answer", "std_error", "low", "high"))
    return [
        [label, f"{answer:,.1f}", f"{error:,.1f}", f"{low:,.1f} to {high:,.1f}"]
        for label, answer, error, low, high in zip(queries.labels(0, number), *columns, strict=True)
    ]
