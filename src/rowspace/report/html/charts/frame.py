"""The frame of a chart with two axes: labels in HTML around an area in SVG that fills whatever room there is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rowspace.markup import Markup, element

from ..scales import EXTENT, Scale, coordinate, tick_labels, ticks

_END = 0.97
_LONGEST = 16
_GAP = 2
_FIT_A_PHONE = 30
"""Characters of labels, with gaps, that fit below an area on a phone."""


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
    left = labels_up(up)
    below = labels_across(across)
    title = element("div", across_title, class_="axis-title")
    return element("div", left, area, below, title, class_="plot", role="img", aria_label=description)


def labels_up(ticks: Sequence[Tick]) -> Markup:
    """Labels left of an area, which is as wide as the longest of them."""
    return element(
        "div",
        *(element("span", tick.label, style=f"bottom:{100 * tick.share:.2f}%") for tick in ticks),
        _room(ticks),
        class_="up",
    )


def labels_across(ticks: Sequence[Tick], *, upright: bool = False) -> Markup:
    """Labels below an area; a number at its end leans inwards, or it would leave the card.

    upright: names, which are written upwards, so that long ones do not run into one another.
    """
    dense = sum(len(tick.label) + _GAP for tick in ticks) > _FIT_A_PHONE and not upright
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
        _room(ticks) if upright else None,
        class_="across" + " upright" * upright + " dense" * dense,
    )


def shortened(label: str) -> str:
    """A name that leaves room for what it names; the beginning and the end tell most.

    >>> shortened("Transport-moving"), shortened("Outlying-US(Guam-USVI-etc)")
    ('Transport-moving', 'Outlying-U…-etc)')
    """
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 6]}…{label[-5:]}"


def _room(ticks: Sequence[Tick]) -> Markup:
    """The labels again, unseen and on one spot: they make the room that labels at places of their own do not take."""
    return element("b", *(element("i", tick.label) for tick in ticks), class_="room", aria_hidden="true")


def _line(share: float) -> Markup:
    """A line of the grid; the one at the bottom is the axis."""
    height = coordinate(EXTENT * (1 - share))
    return element("line", x1="0", x2=f"{EXTENT:g}", y1=height, y2=height, class_="grid")
