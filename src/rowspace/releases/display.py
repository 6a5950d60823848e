"""A release in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowspace.exceptions import TooLarge
from rowspace.markup import element, fragment, notebook_table
from rowspace.workload import Part, Workload

if TYPE_CHECKING:
    from .release import Release

_GROUPS_SHOWN = 6
_ROWS_OF_A_GROUP = 3
# Asking costs what the whole part costs; of a larger one nothing is shown.
_LARGEST_PART = 2**16


def release_html(release: Release) -> str:
    """The first answers of the first groups with their intervals, and the promise."""
    workload = release.plan.counted
    caption = fragment(element("strong", "Release"), f" of {workload.size:,} answers")
    headings = ["group", "query", "answer", "std. error", "95 % interval"]
    first: dict[str, Part] = {}
    for part in workload.parts:
        first.setdefault(part.group, part)
    rows = [row for part in list(first.values())[:_GROUPS_SHOWN] for row in _rows(release, part)]
    left_out = workload.size - len(rows)
    more = f"… and {left_out:,} more: release.answers(). " if rows and left_out else ""
    return notebook_table(caption, headings, rows, more + release.statement, words=2)


def _rows(release: Release, part: Part) -> list[list[str]]:
    """The first answers of a part in words; none where even they would take too long."""
    if part.size > _LARGEST_PART:
        return []
    queries = Workload(release.plan.domain, [part])
    try:
        answers = release.ask(queries)
    except TooLarge:
        return []
    number = min(_ROWS_OF_A_GROUP, part.size)
    columns = (answers[name].tolist()[:number] for name in ("answer", "std_error", "low", "high"))
    return [
        [
            part.group if at == 0 else "",
            label,
            f"{answer:,.1f}",
            f"{error:,.1f}",
            f"{low:,.1f} to {high:,.1f}",
        ]
        for at, (label, answer, error, low, high) in enumerate(
            zip(queries.labels(0, number), *columns, strict=True)
        )
    ]
