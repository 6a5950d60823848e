"""The frame of a chart with two axes: labels in HTML around an area in SVG that fills whatever room there is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rowspace.markup import Markup, element

from ..scales import EXTENT, Scale, coordinate, tick_labels, ticks

_END = 0.97


@dataclass(frozen=True)
class Tick:
    """A label at a place along an axis, from 0 to 1."""

    share: float
    label: str


def number_ticks(scale: Scale, most: int = 6) -> list[Tick]:
    """Round numbers along a scale."""
    values = ticks(scale, most)
    return [Tick(scale.share(value), label) for value, label in zip(values, tick_labels(values), strict=True)]


def frame(
    shapes: Iterable[Markup],
    *,
    across: Sequence[Tick],
    up: Sequence[Tick],
    across_title: str,
    description: str,
) -> Markup:
    """Shapes between two axes. `description` says to those who cannot see it what the chart shows."""
    grid = [_line(tick.share) for tick in up]
    area = element(
        "svg",
        *grid,
        *shapes,
        class_="area",
        viewBox=f"0 0 {EXTENT:g} {EXTENT:g}",
        preserveAspectRatio="none",
        aria_hidden="true",
        focusable="false",
    )
    widest = max((len(tick.label) for tick in up), default=1)
    left = element(
        "div",
        *(element("span", tick.label, style=f"bottom:{100 * tick.share:.2f}%") for tick in up),
        class_="up",
        style=f"width:{widest + 1}ch",
    )
    below = labels_across(across)
    title = element("div", across_title, class_="axis-title")
    return element("div", left, area, below, title, class_="plot", role="img", aria_label=description)


def labels_across(ticks: Iterable[Tick]) -> Markup:
    """Labels below an area; one at its end leans inwards, or a long one would leave the card."""
    return element(
        "div",
        *(
            element(
                "span",
                tick.label,
                style=f"left:{100 * tick.share:.2f}%",
                class_="last" if tick.share > _END else None,
            )
            for tick in ticks
        ),
        class_="across",
    )


def _line(share: float) -> Markup:
    """A line of the grid; the one at the bottom is the axis."""
    height = coordinate(EXTENT * (1 - share))
    return element("line", x1="0", x2=f"{EXTENT:g}", y1=height, y2=height, class_="grid")
