"""Answers with their error bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rowspace.workload import Workload

from .numbers import counts, whole
from .plans import table

if TYPE_CHECKING:
    import pandas as pd

_NARROW = 72
_TRUTH_COLUMN = 20


@dataclass(frozen=True)
class AnswerRow:
    """One answer. `truth` is for invented data only."""

    query: str
    answer: float
    std_error: float
    low: float
    high: float
    truth: int | None = None


@dataclass(frozen=True)
class AnswerGroup:
    """Some answers of a group, and how many the group has; no name for answers that need none."""

    name: str | None
    size: int
    rows: tuple[AnswerRow, ...]


def first_answers(
    workload: Workload, answers: pd.DataFrame, *, per_group: int = 3, groups: int = 12
) -> list[AnswerGroup]:
    """The first answers of every group, in the order of the workload; groups of the same name together.

    What is left out is counted by a last group without answers.

    answers: those of the workload, or as many of the first ones as there are to show.
    """
    found: dict[str, tuple[int, list[AnswerRow]]] = {}
    start = 0
    for part in workload.parts:
        size, rows = found.get(part.group, (0, []))
        if part.group in found or (len(found) < groups and start < len(answers)):
            end = start + min(part.size, max(0, per_group - len(rows)))
            shown = range(start, min(end, len(answers)))
            rows += answer_rows(answers, list(shown), [workload.label(index) for index in shown])
            found[part.group] = (size + part.size, rows)
        start += part.size
    shown_groups = [AnswerGroup(name, size, tuple(rows)) for name, (size, rows) in found.items()]
    left_out = len({part.group for part in workload.parts}) - len(found)
    more = f"… and {left_out:,} more group{'s' * (left_out != 1)}"
    return [*shown_groups, AnswerGroup(more, 0, ())] if left_out else shown_groups


def answer_rows(
    answers: pd.DataFrame, indices: Sequence[int], queries: Sequence[str], truth: Sequence[int] | None = None
) -> list[AnswerRow]:
    """Rows of a table of answers, under the given words."""
    at = list(indices)
    answer, std_error, low, high = (
        answers[field].to_numpy()[at].tolist() for field in ("answer", "std_error", "low", "high")
    )
    truths = truth if truth is not None else [None] * len(at)
    return [AnswerRow(*row) for row in zip(queries, answer, std_error, low, high, truths, strict=True)]


def answers_view(
    groups: Sequence[AnswerGroup], level: float, *, width: int = 80, truth: str | None = None
) -> Table:
    """A table of answers, without the standard errors (which the intervals tell too) where the width is short.

    truth: the heading of the column of true values, when they may be shown.
    """
    narrow = width < _NARROW + (_TRUTH_COLUMN if truth is not None else 0)
    view = table()
    view.add_column("query", overflow="fold")
    view.add_column("answer", justify="right", no_wrap=True)
    if not narrow:
        view.add_column("std. error", justify="right", no_wrap=True)
    view.add_column(f"{100 * level:g} % interval", justify="right", no_wrap=True)
    if truth is not None:
        view.add_column(truth, justify="right", style="dim")
    rows = [row for group in groups for row in group.rows]
    cells = iter(_cells(rows, with_bars=not narrow, with_truth=truth is not None))
    for number, group in enumerate(groups):
        indent = 0
        if group.name is not None:
            indent = 2
            view.add_row(_heading(group), end_section=False)
        for position, row in enumerate(group.rows):
            last = position == len(group.rows) - 1 and number < len(groups) - 1
            query = Padding(
                Text(row.query), (0, 0, 0, indent)
            )  # padded, so that a second line is indented too
            view.add_row(query, *next(cells), end_section=last)
    return view


def quantiles_view(found: pd.DataFrame, level: float) -> Table:
    """A table of quantiles, as `Release.quantiles` has them."""
    view = table()
    for name in ("quantile", "value", f"{100 * level:g} % interval"):
        view.add_column(name, justify="right", no_wrap=True)
    view.add_column("", style="dim")
    for row in found.to_dict(orient="records"):
        interval = f"{row['low']:.6g} to {row['high']:.6g}"
        view.add_row(f"{row['q']:g}", f"{row['value']:.6g}", interval, row["note"])
    return view


def _heading(group: AnswerGroup) -> Text:
    """The name of a group, and how much of it is shown."""
    text = Text(group.name or "", style="bold")
    if len(group.rows) < group.size:
        text.append(f"  {len(group.rows)} of {whole(group.size)}", style="dim")
    return text


def _cells(rows: Sequence[AnswerRow], *, with_bars: bool, with_truth: bool) -> list[list[str]]:
    """The figures of all rows, aligned over the whole table."""
    errors = [row.std_error for row in rows]
    answers, bars, lows, highs = (
        counts([getattr(row, field) for row in rows], errors)
        for field in ("answer", "std_error", "low", "high")
    )
    width = max((len(text) for text in highs), default=0)
    cells = [
        [answer, *([bar] if with_bars else []), f"{low} to {high:>{width}}"]
        for answer, bar, low, high in zip(answers, bars, lows, highs, strict=True)
    ]
    if with_truth:
        for row, cell in zip(rows, cells, strict=True):
            cell.append("" if row.truth is None else whole(row.truth))
    return cells
