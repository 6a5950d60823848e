"""What was spent of a budget, charge by charge, against what may be spent in all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

from rowspace.markup import Markup, element

from ..scales import EXTENT, Scale, coordinate, covering
from .frame import Tick, frame, number_ticks

_MINUTE = 60.0
_DAY = 86400.0


def steps(
    times: Sequence[datetime], totals: Sequence[float], limit: float, title: str, description: str
) -> Markup:
    """A line that rises at every charge; `totals` are what was spent after each."""
    scale = covering([limit, *totals])
    seconds = [time.timestamp() for time in times]
    span = seconds[-1] - seconds[0]
    if span < _MINUTE:
        return _by_number(totals, limit, description)
    # Room before the first charge, where nothing was spent, and after the last, where nothing changed since.
    axis = Scale(seconds[0] - 0.08 * span, seconds[-1] + 0.08 * span)
    return frame(
        _staircase(scale, axis, seconds, totals, limit),
        across=_dates(axis, span),
        up=number_ticks(scale),
        across_title=title,
        description=description,
    )


def _by_number(totals: Sequence[float], limit: float, description: str) -> Markup:
    """The same over the number of the charge, for charges too close in time to tell apart."""
    scale, axis = covering([limit, *totals]), Scale(0.5, len(totals) + 0.9)
    numbers = [number + 1.0 for number in range(len(totals))]
    every = math.ceil(len(totals) / 8)
    return frame(
        _staircase(scale, axis, numbers, totals, limit),
        across=[Tick(axis.share(number), f"{number:g}") for number in numbers[::every]],
        up=number_ticks(scale),
        across_title="charge",
        description=description,
    )


def _staircase(
    scale: Scale, axis: Scale, places: Sequence[float], totals: Sequence[float], limit: float
) -> list[Markup]:
    """The rising line, the area below it, and the limit."""
    corners = [("0", scale.up(0.0))]
    spent = 0.0
    for place, total in zip(places, totals, strict=True):
        corners += [(axis.across(place), scale.up(spent)), (axis.across(place), scale.up(total))]
        spent = total
    corners.append((coordinate(EXTENT), scale.up(spent)))
    outline = " ".join(f"{x},{y}" for x, y in corners)
    floor = scale.up(0.0)
    height = scale.up(limit)
    return [
        element("polygon", points=f"{outline} {coordinate(EXTENT)},{floor} 0,{floor}", class_="band series1"),
        element("polyline", points=outline, class_="curve series1"),
        element("line", x1="0", x2=f"{EXTENT:g}", y1=height, y2=height, class_="reference"),
    ]


def _dates(axis: Scale, span: float) -> list[Tick]:
    """A few moments along the axis, as fine as the span needs."""
    form = "%Y-%m-%d" if span > 3 * _DAY else "%m-%d %H:%M" if span > 1800 else "%H:%M:%S"
    shares = (0.1, 0.5, 0.9)
    moments = [axis.low + share * (axis.high - axis.low) for share in shares]
    return [
        Tick(share, f"{datetime.fromtimestamp(moment, UTC):{form}}")
        for share, moment in zip(shares, moments, strict=True)
    ]
