"""A histogram: one column for each cell, with its interval."""

from __future__ import annotations

from collections.abc import Sequence

from rowspace.markup import Markup, element

from ..estimates import Estimates
from ..scales import EXTENT, Scale, coordinate, covering
from .frame import Tick, frame, number_ticks

_GAP = 0.16
_MOST_TICKS = 6


def columns(data: Estimates, across: Sequence[Tick], title: str, description: str) -> Markup:
    """Columns of equal width from zero to the answer; a thin line from the low to the high end of its interval."""
    scale = covering([*data.low, *data.high, *data.answer])
    shapes = [
        _column(scale, len(data), *values)
        for values in zip(range(len(data)), data.answer, data.low, data.high, data.sentences(), strict=True)
    ]
    return frame(
        [*shapes, _zero(scale)],
        across=across,
        up=number_ticks(scale, _MOST_TICKS),
        across_title=title,
        description=description,
    )


def _column(
    scale: Scale, number: int, index: int, answer: float, low: float, high: float, words: str
) -> Markup:
    """One column, its interval, and words for who points at it."""
    width = EXTENT / number
    gap = _GAP * width if number <= 150 else 0.0
    top, bottom = (EXTENT * (1 - scale.share(value)) for value in (max(answer, 0.0), min(answer, 0.0)))
    rectangle = element(
        "rect",
        x=coordinate(index * width + gap / 2),
        y=coordinate(top),
        width=coordinate(width - gap),
        height=coordinate(max(0.0, bottom - top)),
        class_="bar",
    )
    middle = coordinate((index + 0.5) * width)
    interval = element("line", x1=middle, x2=middle, y1=scale.up(low), y2=scale.up(high), class_="interval")
    # An empty column is hard to point at: an invisible one of full height takes the pointer.
    target = element(
        "rect",
        x=coordinate(index * width),
        y="0",
        width=coordinate(width),
        height=f"{EXTENT:g}",
        class_="target",
    )
    return element("g", element("title", words), rectangle, interval, target)


def _zero(scale: Scale) -> Markup:
    """The line that columns stand on."""
    height = scale.up(0.0)
    return element("line", x1="0", x2=f"{EXTENT:g}", y1=height, y2=height, class_="zero")
