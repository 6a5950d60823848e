"""Axes: where a number lies, and which labels stand beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rowspace.domain import Dates, Numeric
from rowspace.releases import ChartAxis

EXTENT = 1000
"""Width and height of the area of every chart, in its own units; the browser stretches it."""
_END = 0.97
_LONGEST = 16


@dataclass(frozen=True)
class Scale:
    """Numbers from `low` to `high`, spread evenly over an axis."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """How far along the axis a number lies, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)

    def across(self, value: float) -> str:
        """The same in the units of the area, from the left."""
        return coordinate(EXTENT * self.share(value))

    def up(self, value: float) -> str:
        """The same from the bottom; the area counts from the top."""
        return coordinate(EXTENT * (1 - self.share(value)))


@dataclass(frozen=True)
class Tick:
    """A label at a place along an axis, from 0 to 1."""

    share: float
    label: str

    @property
    def percent(self) -> str:
        """The place, for a style sheet."""
        return f"{100 * self.share:.2f}%"

    @property
    def height(self) -> str:
        """The place on an axis that goes up, in the units of the area."""
        return coordinate(EXTENT * (1 - self.share))

    @property
    def last(self) -> bool:
        """Whether it is at the end of the axis: a label there leans inwards, or it would leave the card."""
        return self.share > _END


def covering(values: Sequence[float]) -> Scale:
    """A scale that holds zero and all numbers, with a little room above.

    >>> covering([30.0, 50.0])
    Scale(low=0.0, high=52.0)
    >>> covering([])
    Scale(low=0.0, high=1.0)
    """
    finite = [0.0, *(float(value) for value in values if math.isfinite(value))]
    low, high = min(finite), max(finite)
    return Scale(low, high + 0.04 * (high - low)) if high > low else Scale(low, low + 1.0)


def ticks(scale: Scale, most: int = 6) -> list[float]:
    """Round numbers along a scale, at most so many.

    >>> ticks(Scale(0, 100))
    [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
    """
    step = _step(scale.high - scale.low, max(1, most - 1))
    first = math.ceil(scale.low / step - 1e-9)
    last = math.floor(scale.high / step + 1e-9)
    return [step * number + 0.0 for number in range(first, last + 1)]


def tick_labels(values: Sequence[float]) -> list[str]:
    """Ticks in words, all with one number of decimals.

    >>> tick_labels([0.0, 0.5, 1.0]), tick_labels([0.0, 20000.0])
    (['0', '0.5', '1'], ['0', '20,000'])
    """
    if any(abs(value) >= 1e7 for value in values):
        return [_short(value) for value in values]
    labels = [f"{value:,.6g}" if abs(value) < 1 else f"{value:,.10g}" for value in values]
    return [label.replace("-", "\u2212") for label in labels]


def number_ticks(scale: Scale) -> tuple[Tick, ...]:
    """Round numbers along a scale."""
    values = ticks(scale)
    return tuple(Tick(scale.share(v), label) for v, label in zip(values, tick_labels(values), strict=True))


def axis_ticks(axis: ChartAxis) -> tuple[Tick, ...]:
    """Labels along an axis: round numbers or edges of a numeric attribute, middles of the cells of another.

    Columns are drawn equally wide, whatever their bins are.
    """
    number, attribute = len(axis.labels), axis.numeric
    if attribute is None:
        every = math.ceil(number / 12)
        return tuple(Tick((at + 0.5) / number, axis.labels[at]) for at in range(0, number, every))
    if axis.equal_edges is not None:
        span = attribute.edge(attribute.size) - attribute.edge(0)
        shown = attribute.edge(0) + span * (number * axis.width / attribute.size)
        return number_ticks(Scale(attribute.low, shown))
    every = math.ceil((number + 1) / 6)
    return tuple(
        Tick(at / number, _edge_label(attribute, min(at * axis.width, attribute.size)))
        for at in range(0, number + 1, every)
    )


def shortened(label: str) -> str:
    """A name that leaves room for what it names; the beginning and the end tell most.

    >>> shortened("Transport-moving"), shortened("Outlying-US(Guam-USVI-etc)")
    ('Transport-moving', 'Outlying-U…-etc)')
    """
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 6]}…{label[-5:]}"


def coordinate(value: float) -> str:
    """A number of the area, short."""
    return f"{value:.1f}".removesuffix(".0")


def _edge_label(attribute: Numeric, index: int) -> str:
    edge = attribute.edge(index)
    return attribute.format(edge) if isinstance(attribute, Dates) else tick_labels([edge])[0]


def _step(span: float, parts: int) -> float:
    """1, 2 or 5 times a power of ten: the least that needs no more than so many parts."""
    rough = span / parts
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))


def _short(value: float) -> str:
    """A large number with its unit: ``20 M``."""
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if abs(value) >= size:
            return f"{value / size:,.4g} {unit}"
    return f"{value:,.10g}"
