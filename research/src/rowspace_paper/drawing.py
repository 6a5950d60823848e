"""Charts and matrices of a reproduction as markup for the page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from rowspace.report.pages import macro
from rowspace.report.scales import EXTENT, Scale, Tick, coordinate, covering, number_ticks
from rowspace.report.views import Labels, Plot, Trace

from .elements import element
from .record import Chart, Matrix, Series, number, superscript

_REACH = 1.1
"""Room around the curves of a chart with equal axes."""


def chart_card(chart: Chart) -> Markup:
    """A chart under its title, with a key."""
    drawn = _plane(chart) if chart.equal else _plot(chart)
    return macro("parts.html", "card")(chart.title, chart.caption, element("div", _key(chart.series), drawn))


def _key(series: Sequence[Series]) -> Markup:
    """Which line is which; the swatches are drawn as the lines are."""
    return element(
        "p",
        *(
            element(
                "span",
                element(
                    "svg",
                    element("line", x1="0", x2="28", y1="5", y2="5", class_=f"curve series{at}"),
                    class_="stroke",
                    viewBox="0 0 28 10",
                    aria_hidden="true",
                    focusable="false",
                ),
                one.name,
            )
            for at, one in enumerate(series, start=1)
        ),
        class_="key",
    )


def _plot(chart: Chart) -> Markup:
    """Lines between two axes, either of them logarithmic."""
    across = _axis([x for one in chart.series for x in one.x], log=chart.x_log, base=2)
    up = _axis([y for one in chart.series for y in one.y], log=chart.y_log, base=10)
    lines = [
        Trace(
            " ".join(
                f"{across.across(_place(x, chart.x_log))},{up.up(_place(y, chart.y_log))}"
                for x, y in zip(one.x, one.y, strict=True)
            ),
            f"curve series{at}",
        )
        for at, one in enumerate(chart.series, start=1)
    ]
    view = Plot(
        chart.x_title,
        f"{chart.title}. {chart.caption} Lines: {', '.join(one.name for one in chart.series)}.",
        Labels(_powers(across, 2) if chart.x_log else number_ticks(across)),
        _powers(up, 10) if chart.y_log else number_ticks(up),
        traces=lines,
    )
    return macro("charts.html", "plot")(view)


def _place(value: float, log: bool) -> float:
    return math.log10(value) if log else value


def _axis(values: Sequence[float], *, log: bool, base: int) -> Scale:
    """A scale of the values, or of their logarithms."""
    if not log:
        return covering(values)
    low, high = math.log10(min(values)), math.log10(max(values))
    return Scale(low, high) if base == 2 else Scale(math.floor(low), math.ceil(high))


def _powers(scale: Scale, base: int) -> tuple[Tick, ...]:
    """Powers of the base along a scale of decimal logarithms, at most eight of them."""
    step = math.log10(base)
    first, last = math.ceil(scale.low / step - 1e-9), math.floor(scale.high / step + 1e-9)
    every = max(1, math.ceil((last - first + 1) / 8))
    return tuple(
        Tick(
            scale.share(power * step),
            f"{base}{superscript(power)}" if power > 1 else str(base**power),
        )
        for power in range(first, last + 1, every)
    )


def _plane(chart: Chart) -> Markup:
    """Closed curves around the origin, both axes to one scale."""
    reach = _REACH * max(abs(value) for one in chart.series for value in (*one.x, *one.y))
    scale = Scale(-reach, reach)
    middle = coordinate(EXTENT / 2)
    axes = [
        element("line", x1="0", x2=f"{EXTENT:g}", y1=middle, y2=middle, class_="grid"),
        element("line", x1=middle, x2=middle, y1="0", y2=f"{EXTENT:g}", class_="grid"),
        element("line", x1="0", x2=f"{EXTENT:g}", y1=f"{EXTENT:g}", y2="0", class_="grid"),
    ]
    units = [
        mark
        for value in range(-int(reach), int(reach) + 1)
        if value
        for mark in (
            _unit(scale.across(value), scale.up(0.0), value),
            _unit(scale.across(0.0), scale.up(value), value),
        )
    ]
    curves = [
        element(
            "polyline",
            points=" ".join(f"{scale.across(x)},{scale.up(y)}" for x, y in zip(one.x, one.y, strict=True)),
            class_=f"curve series{at}",
        )
        for at, one in enumerate(chart.series, start=1)
    ]
    return element(
        "svg",
        *axes,
        *units,
        *curves,
        class_="plane",
        viewBox=f"0 0 {EXTENT:g} {EXTENT:g}",
        role="img",
        aria_label=f"{chart.title}. {chart.caption}",
    )


def _unit(x: str, y: str, value: int) -> Markup:
    """A number beside an axis."""
    return element("text", f"{value}".replace("-", "−"), x=x, y=y, dx="8", dy="30", class_="unit")


def matrix_card(matrix: Matrix) -> Markup:
    """A matrix between brackets."""
    cells = [element("span", number(entry, 4)) for row in matrix.entries for entry in row]
    grid = element(
        "span",
        *cells,
        class_="matrix",
        style=f"grid-template-columns:repeat({len(matrix.entries[0])},auto)",
        role="img",
        aria_label=f"{matrix.name}: "
        + "; ".join(" ".join(number(e, 4) for e in row) for row in matrix.entries),
    )
    return element(
        "figure",
        element("figcaption", element("strong", matrix.name), element("small", matrix.where)),
        element(
            "div", element("span", f"{matrix.factor} ") if matrix.factor else None, grid, class_="scaled"
        ),
        class_="matrix-card",
    )
