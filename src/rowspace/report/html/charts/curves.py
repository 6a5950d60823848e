"""Curves over a numeric attribute, each with the band of its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rowspace.markup import Markup, element

from ..estimates import Estimates
from ..scales import EXTENT, Scale, coordinate, covering
from .frame import Tick, frame, number_ticks

MOST_SERIES = 4


@dataclass(frozen=True)
class Series:
    """One curve: its name and its answers, one for each cell."""

    name: str
    data: Estimates


def curves(
    series: Sequence[Series], across: Sequence[Tick], title: str, description: str, *, steps: bool
) -> Markup:
    """Up to four curves. steps: each answer is about a whole cell; else about all cells up to its right edge."""
    scale = covering([value for one in series for value in (*one.data.low, *one.data.high)])
    shapes = [
        shape
        for number, one in enumerate(series[:MOST_SERIES], start=1)
        for shape in _curve(one.data, scale, number, steps=steps)
    ]
    drawn = frame(shapes, across=across, up=number_ticks(scale), across_title=title, description=description)
    if len(series) < 2:
        return drawn
    key = element(
        "p",
        *(
            element("span", element("i", class_=f"swatch series{number}", aria_hidden="true"), one.name)
            for number, one in enumerate(series[:MOST_SERIES], start=1)
        ),
        class_="key",
    )
    return element("div", key, drawn)


def _curve(data: Estimates, scale: Scale, number: int, *, steps: bool) -> tuple[Markup, Markup]:
    """The band, then the line on it."""
    places = _places(len(data), steps=steps)
    upper = _trace(places, data.high, scale, steps=steps)
    lower = _trace(places, data.low, scale, steps=steps)
    middle = _trace(places, data.answer, scale, steps=steps)
    if not steps:
        # Nothing lies before the first cell, exactly.
        upper, lower, middle = ([("0", scale.up(0.0)), *points] for points in (upper, lower, middle))
    band = element("polygon", points=_points([*upper, *reversed(lower)]), class_=f"band series{number}")
    line = element("polyline", points=_points(middle), class_=f"curve series{number}")
    return band, line


def _places(number: int, *, steps: bool) -> list[tuple[float, float]]:
    """Where each answer begins and ends; a cumulative one is a single point."""
    width = EXTENT / number
    return [((index if steps else index + 1) * width, (index + 1) * width) for index in range(number)]


def _trace(
    places: Sequence[tuple[float, float]], values: Sequence[float], scale: Scale, *, steps: bool
) -> list[tuple[str, str]]:
    """The corners of one line."""
    corners = []
    for (begin, end), value in zip(places, values, strict=True):
        height = scale.up(value)
        corners.append((coordinate(begin), height))
        if steps:
            corners.append((coordinate(end), height))
    return corners


def _points(corners: Sequence[tuple[str, str]]) -> str:
    return " ".join(f"{x},{y}" for x, y in corners)
