"""Charts, computed: each function makes the view that a macro of templates/charts.html writes down.

    columns   one attribute in many cells: a histogram with intervals
    bars      few labelled answers: a bar with its interval each
    curves    several series over a numeric attribute, each with its band
    heat      a table of two attributes: with figures where they fit, else as a map of cells
    steps     spending against a limit

Texts are HTML at their own size; only the shapes between the axes stretch with the page. Colours are CSS variables, so
every chart follows the theme. Each chart is one image to a screen reader; the tables of the page hold the figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

from rowspace.releases import ChartAxis, ChartTable, Estimates

from .numbers import counts
from .scales import EXTENT, Scale, Tick, axis_ticks, coordinate, covering, number_ticks, shortened
from .views import Bar, Bars, Cell, HeatMap, HistogramColumn, Labels, Plot, Rule, Shaded, Trace

MOST_SERIES = 4
_GAP = 0.16
_MOST_GAPS = 150
_MOST_ROWS, _MOST_COLUMNS = 24, 10
_MINUTE, _HALF_AN_HOUR, _DAY = 60.0, 1800.0, 86400.0


def sentences(data: Estimates) -> list[str]:
    """Each answer in words: ``18: 512.3 (498.1 to 526.5)``; the caption states the level."""
    answer, low, high = (counts(values, data.std_error) for values in (data.answer, data.low, data.high))
    return [
        f"{label}: {middle} ({bottom} to {top})"
        for label, middle, bottom, top in zip(data.labels, answer, low, high, strict=True)
    ]


def columns(data: Estimates, axis: ChartAxis, description: str) -> Plot:
    """Columns of equal width from zero to the answer; a thin line from the low to the high end of its interval."""
    scale = covering([*data.low, *data.high, *data.answer])
    width = EXTENT / len(data)
    gap = _GAP * width if len(data) <= _MOST_GAPS else 0.0
    drawn = []
    for index, (answer, low, high, words) in enumerate(
        zip(data.answer, data.low, data.high, sentences(data), strict=True)
    ):
        top, bottom = (EXTENT * (1 - scale.share(value)) for value in (max(answer, 0.0), min(answer, 0.0)))
        drawn.append(
            HistogramColumn(
                words,
                left=coordinate(index * width),
                room=coordinate(width),
                x=coordinate(index * width + gap / 2),
                y=coordinate(top),
                width=coordinate(width - gap),
                height=coordinate(max(0.0, bottom - top)),
                middle=coordinate((index + 0.5) * width),
                low=scale.up(low),
                high=scale.up(high),
            )
        )
    labels, zero = Labels(axis_ticks(axis)), Rule(scale.up(0.0), "zero")
    return Plot(axis.name, description, labels, number_ticks(scale), columns=drawn, rules=[zero])


def bars(
    labels: Sequence[str],
    values: Sequence[float],
    figures: Sequence[str],
    description: str,
    *,
    intervals: Sequence[tuple[float, float]] | None = None,
    reference: float | None = None,
    reference_name: str = "",
) -> Bars:
    """Horizontal bars of `values`; `figures` stand at the ends of the rows, `reference` is a line across them."""
    ends = [end for interval in intervals or () for end in interval]
    scale = covering([*values, *ends, *(() if reference is None else (reference,))])
    rows = []
    for row, (label, value, figure) in enumerate(zip(labels, values, figures, strict=True)):
        left, right = sorted((EXTENT * scale.share(0.0), EXTENT * scale.share(value)))
        low, high = (None, None) if intervals is None else map(scale.across, intervals[row])
        rows.append(Bar(label, figure, coordinate(left), coordinate(right - left), low, high))
    line = None if reference is None else scale.across(reference)
    return Bars(description, rows, scale.across(0.0), line, reference_name)


def curves(
    series: Sequence[tuple[str, Estimates]], axis: ChartAxis, description: str, *, steps: bool
) -> Plot:
    """Up to four named curves. steps: each answer is about a whole cell; else about all cells up to its right edge."""
    scale = covering([value for _, data in series for value in (*data.low, *data.high)])
    traces = []
    for number, (_, data) in enumerate(series[:MOST_SERIES], start=1):
        upper, lower, middle = (
            _corners(values, scale, steps=steps) for values in (data.high, data.low, data.answer)
        )
        traces += [
            Trace(" ".join([*upper, *reversed(lower)]), f"band series{number}", filled=True),
            Trace(" ".join(middle), f"curve series{number}"),
        ]
    key = [name for name, _ in series[:MOST_SERIES]] if len(series) > 1 else ()
    labels = Labels(axis_ticks(axis))
    return Plot(axis.name, description, labels, number_ticks(scale), traces=traces, key=key)


def heat(table: ChartTable, description: str) -> Shaded | HeatMap:
    """A table with figures where they fit, else a map."""
    data, rows, columns = table.data, table.rows, table.columns
    answers, errors = counts(data.answer, data.std_error), counts(data.half_width, data.std_error)
    largest = max(data.answer)
    shades = [max(0.0, value) / largest if largest > 0 else 0.0 for value in data.answer]
    cells = [Cell(*cell) for cell in zip(sentences(data), answers, errors, shades, strict=True)]
    width = len(columns.labels)
    lines = [cells[start : start + width] for start in range(0, len(cells), width)]
    if written_out(table):
        corner = f"{rows.name} \\ {columns.name}"
        return Shaded(description, corner, columns.labels, list(zip(rows.labels, lines, strict=True)))
    below = tuple(Tick(tick.share, shortened(tick.label)) for tick in axis_ticks(columns))
    left = tuple(Tick(1 - tick.share, shortened(tick.label)) for tick in axis_ticks(rows))
    labels = Labels(below, upright=columns.numeric is None)
    top = counts([largest], [min(data.std_error)])[0]
    return HeatMap(columns.name, description, labels, left, lines, top)


def written_out(table: ChartTable) -> bool:
    """Whether a table is drawn as figures."""
    return len(table.rows.labels) <= _MOST_ROWS and len(table.columns.labels) <= _MOST_COLUMNS


def steps(
    times: Sequence[datetime], totals: Sequence[float], limit: float, title: str, description: str
) -> Plot:
    """A line that rises at every charge, and the limit; `totals` are what was spent after each."""
    scale = covering([limit, *totals])
    places = [time.timestamp() for time in times]
    span = places[-1] - places[0]
    if span < _MINUTE:
        # Charges too close in time to tell apart are drawn by their number.
        title, places = "charge", [number + 1.0 for number in range(len(totals))]
        axis, every = Scale(0.5, len(totals) + 0.9), math.ceil(len(totals) / 8)
        across = tuple(Tick(axis.share(number), f"{number:g}") for number in places[::every])
    else:
        # Room before the first charge, where nothing was spent, and after the last, where nothing changed since.
        axis = Scale(places[0] - 0.08 * span, places[-1] + 0.08 * span)
        across = _dates(axis, span)
    heights = [scale.up(total) for total in (0.0, *totals)]
    corners = [f"0,{heights[0]}"]
    for place, before, after in zip(map(axis.across, places), heights[:-1], heights[1:], strict=True):
        corners += [f"{place},{before}", f"{place},{after}"]
    outline = " ".join([*corners, f"{EXTENT},{heights[-1]}"])
    traces = [
        Trace(f"{outline} {EXTENT},{heights[0]} 0,{heights[0]}", "band series1", filled=True),
        Trace(outline, "curve series1"),
    ]
    limits = [Rule(scale.up(limit), "reference")]
    return Plot(title, description, Labels(across), number_ticks(scale), traces=traces, rules=limits)


def _corners(values: Sequence[float], scale: Scale, *, steps: bool) -> list[str]:
    """The corners of one line; a cumulative one has a point for each answer."""
    width = EXTENT / len(values)
    if steps:
        return [
            f"{coordinate(at * width)},{scale.up(value)}"
            for index, value in enumerate(values)
            for at in (index, index + 1)
        ]
    points = [f"{coordinate((index + 1) * width)},{scale.up(value)}" for index, value in enumerate(values)]
    # Nothing lies before the first cell, exactly.
    return [f"0,{scale.up(0.0)}", *points]


def _dates(axis: Scale, span: float) -> tuple[Tick, ...]:
    """A few moments along the axis, as fine as the span needs."""
    form = "%Y-%m-%d" if span > 3 * _DAY else "%m-%d %H:%M" if span > _HALF_AN_HOUR else "%H:%M:%S"
    moments = ((share, axis.low + share * (axis.high - axis.low)) for share in (0.1, 0.5, 0.9))
    return tuple(Tick(share, f"{datetime.fromtimestamp(moment, UTC):{form}}") for share, moment in moments)
