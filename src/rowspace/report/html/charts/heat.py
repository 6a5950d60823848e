"""A table of two attributes, shaded by its answers: with figures where they fit, else as a map of cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rowspace.markup import Markup, element, fragment

from ...numbers import counts
from ..estimates import Estimates
from .frame import Tick, labels_across, labels_up, shortened

MOST_FIGURES = (24, 10)
"""Most rows and columns that are written out as figures."""


@dataclass(frozen=True)
class Axis:
    """One attribute of a table: its name, the labels of its cells, and which of them to write on a map.

    names: whether the labels are names rather than numbers.
    """

    name: str
    labels: Sequence[str]
    ticks: Sequence[Tick]
    names: bool = False


def written_out(rows: int, columns: int) -> bool:
    """Whether a table of this size is drawn as figures."""
    return rows <= MOST_FIGURES[0] and columns <= MOST_FIGURES[1]


def heat(data: Estimates, rows: Axis, columns: Axis, description: str) -> Markup:
    """Answers in row-major order over the two axes."""
    if written_out(len(rows.labels), len(columns.labels)):
        return _figures(data, rows, columns, description)
    return _map(data, rows, columns, description)


def _shades(values: Sequence[float]) -> list[float]:
    """From 0 for zero or less to 1 for the largest answer."""
    largest = max(values, default=0.0)
    return [max(0.0, value) / largest if largest > 0 else 0.0 for value in values]


def _figures(data: Estimates, rows: Axis, columns: Axis, description: str) -> Markup:
    """An HTML table: to be read, copied and spoken like any other."""
    width = len(columns.labels)
    answers, errors = counts(data.answer, data.std_error), counts(data.half_width, data.std_error)
    shades, words = _shades(data.answer), data.sentences()
    head = element(
        "tr",
        element("th", f"{rows.name} \\ {columns.name}", scope="col"),
        *(element("th", label, scope="col") for label in columns.labels),
    )
    body = [
        element(
            "tr",
            element("th", label, scope="row"),
            *(
                element(
                    "td",
                    answers[at],
                    element("small", f" ± {errors[at]}"),
                    title=words[at],
                    style=f"--shade:{100 * shades[at]:.0f}%",
                )
                for at in range(row * width, (row + 1) * width)
            ),
        )
        for row, label in enumerate(rows.labels)
    ]
    table = element(
        "table",
        element("caption", description, class_="hidden"),
        element("thead", head),
        element("tbody", *body),
        class_="heat",
    )
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label=description)


def _map(data: Estimates, rows: Axis, columns: Axis, description: str) -> Markup:
    """A map of coloured cells with a key."""
    width, height = len(columns.labels), len(rows.labels)
    shades, words = _shades(data.answer), data.sentences()
    cells = [
        element(
            "rect",
            element("title", words[at]),
            x=str(at % width),
            y=str(at // width),
            width="1",
            height="1",
            fill_opacity=f"{shades[at]:.3f}",
        )
        for at in range(width * height)
    ]
    area = element(
        "svg",
        *cells,
        class_="area map",
        viewBox=f"0 0 {width} {height}",
        preserveAspectRatio="none",
        # Edges between pixels would show as seams: cells are translucent and must neither overlap nor gape.
        shape_rendering="crispEdges",
        aria_hidden="true",
        focusable="false",
    )
    left = labels_up([Tick(1 - tick.share, shortened(tick.label)) for tick in rows.ticks])
    below = labels_across(
        [Tick(tick.share, shortened(tick.label)) for tick in columns.ticks], upright=columns.names
    )
    title = element("div", columns.name, class_="axis-title")
    top = counts([max(data.answer)], [min(data.std_error)])[0]
    key = element("p", "0 or less ", element("i", class_="ramp", aria_hidden="true"), f" {top}", class_="key")
    plot = element("div", left, area, below, title, class_="plot", role="img", aria_label=description)
    return fragment(key, plot)
