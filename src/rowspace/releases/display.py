"""Releases and what is derived from them, in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from rowspace.exceptions import TooLarge
from rowspace.notebook import notebook_table
from rowspace.workload import Part, Workload

if TYPE_CHECKING:
    from .consistent import Consistent
    from .derived import Estimate
    from .derived_tables import CrossTable
    from .release import Release

_GROUPS_SHOWN = 6
_ROWS_OF_A_GROUP = 3
_TABLE_ROWS_SHOWN = 30
_COLUMNS_SHOWN = 12
# Asking costs what the whole part costs; of a larger one nothing is shown.
_LARGEST_PART = 2**16


def release_html(release: Release) -> str:
    """The first answers of the first groups with their intervals, and the promise."""
    workload = release.plan.counted
    caption = Markup("<strong>Release</strong> of {:,} answers").format(workload.size)
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


def estimate_html(estimate: Estimate) -> str:
    """A derived number with its interval, and how it was found."""
    figures = {
        "estimate": estimate.value,
        "std. error": estimate.std_error,
        f"{100 * estimate.level:g} % low": estimate.low,
        "high": estimate.high,
    }
    known = {heading: f"{value:,.6g}" for heading, value in figures.items() if value is not None}
    note = estimate.method + (f". {estimate.population}" if estimate.population else "")
    return notebook_table(
        Markup("<strong>Estimate</strong>"), list(known), [list(known.values())], note, words=0
    )


def cross_table_html(table: CrossTable) -> str:
    """Counts with the half-width of each interval, the first rows of a long table."""
    columns = list(table.answer.columns)[:_COLUMNS_SHOWN]
    half = (table.high - table.low) / 2
    rows = [
        [str(name), *(f"{table.answer.loc[name, c]:,.1f} ± {half.loc[name, c]:,.1f}" for c in columns)]
        for name in _ends(list(table.answer.index), _TABLE_ROWS_SHOWN)
    ]
    rows_left, columns_left = len(table.answer) - len(rows), table.answer.shape[1] - len(columns)
    cut = f"{rows_left:,} rows and {columns_left:,} columns are left out: see .answer. "
    note = f"± is half of the {100 * table.level:g} % interval. {table.answer.attrs.get('population', '')}".rstrip()
    caption = Markup("<strong>Counts</strong> by {}").format(_axes(table))
    headings = [str(table.answer.index.name or ""), *map(str, columns)]
    return notebook_table(caption, headings, rows, (cut if rows_left or columns_left else "") + note)


def consistent_html(counts: Consistent) -> str:
    """The first counts, and that they are biased."""
    workload = counts.release.plan.workload
    caption = Markup("<strong>Consistent counts</strong>: {:,} answers").format(workload.size)
    shown = _first_counts(counts)
    left_out = workload.size - len(shown)
    more = f"… and {left_out:,} more: .answers(). " if shown and left_out else ""
    return notebook_table(caption, ["group", "query", "count"], shown, more + counts.statement, words=2)


def _first_counts(counts: Consistent) -> list[list[str]]:
    """The first counts of the first groups; none where even they would take too long."""
    workload = counts.release.plan.workload
    if workload.size > _LARGEST_PART:
        return []
    try:
        answer = counts.answers()["answer"].tolist()
    except TooLarge:
        return []
    rows: list[list[str]] = []
    start = 0
    seen: set[str] = set()
    for part in workload.parts:
        if part.group not in seen and len(seen) < _GROUPS_SHOWN:
            first = range(start, start + min(_ROWS_OF_A_GROUP, part.size))
            labels = workload.labels(first.start, first.stop)
            rows += [
                [part.group if at == start else "", label, f"{answer[at]:,.1f}".removesuffix(".0")]
                for at, label in zip(first, labels, strict=True)
            ]
        seen.add(part.group)
        start += part.size
    return rows


def _axes(table: CrossTable) -> str:
    """The attributes of a table."""
    names = [table.answer.index.name, table.answer.columns.name]
    return " and ".join(str(name) for name in names if name)


def _ends(items: list[Any], most: int) -> list[Any]:
    """All, or the first ones and the last: that is the total."""
    return items if len(items) <= most else [*items[: most - 1], items[-1]]
