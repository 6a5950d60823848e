"""Axes: where a number lies, and which numbers to write beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

EXTENT = 1000.0
"""Width and height of the area of every chart, in its own units; the browser stretches it."""


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


def coordinate(value: float) -> str:
    """A number of the area, short."""
    return f"{value:.1f}".removesuffix(".0")


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
