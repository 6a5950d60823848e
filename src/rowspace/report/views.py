"""What templates are given: small frozen values with everything computed, so that a template only writes it down.

A chart's `macro` names the macro of templates/charts.html that draws it. Coordinates are in the units of the area
(`scales.EXTENT`), as texts. `description` is the chart in a sentence, for those who cannot see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from markupsafe import Markup

from .scales import Tick

_FIT_A_PHONE = 30
"""Characters of labels, with gaps of two, that fit below an area on a phone."""


@dataclass(frozen=True)
class Tile:
    """What a figure is, the figure, and a remark."""

    name: str
    value: str
    remark: str


@dataclass(frozen=True)
class Link:
    """A link to a part of the page, or where one leads."""

    anchor: str
    words: str


@dataclass(frozen=True)
class Page:
    """What every page has, whatever it shows. skip: the first link, for keyboards. heading: the title, unless given."""

    title: str
    kicker: str
    leads: tuple[Markup | str, ...]
    tiles: tuple[Tile, ...]
    links: tuple[Link, ...]
    skip: Link
    heading: str = ""


@dataclass(frozen=True)
class PageTable:
    """A table of texts. chosen: the row that stands out. codes: whether the last column holds digests."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    chosen: int | None = None
    codes: bool = False


@dataclass(frozen=True)
class Labels:
    """Labels below a chart. upright: names, which are written upwards so that long ones do not touch."""

    ticks: tuple[Tick, ...]
    upright: bool = False

    @property
    def dense(self) -> bool:
        """Whether only every second label fits on a phone."""
        return not self.upright and sum(len(tick.label) + 2 for tick in self.ticks) > _FIT_A_PHONE


@dataclass(frozen=True)
class HistogramColumn:
    """A column of a histogram: its place, that of its interval, and words for who points at it."""

    words: str
    left: str
    room: str
    x: str
    y: str
    width: str
    height: str
    middle: str
    low: str
    high: str


@dataclass(frozen=True)
class Trace:
    """A line through some points, or the area that they enclose."""

    points: str
    kind: str
    filled: bool = False


@dataclass(frozen=True)
class Rule:
    """A line across the whole area."""

    height: str
    kind: str


@dataclass(frozen=True)
class Plot:
    """Shapes between two axes; `key` names the curves."""

    macro: ClassVar = "plot"
    title: str
    description: str
    across: Labels
    up: tuple[Tick, ...]
    columns: Sequence[HistogramColumn] = ()
    traces: Sequence[Trace] = ()
    rules: Sequence[Rule] = ()
    key: Sequence[str] = ()


@dataclass(frozen=True)
class Bar:
    """One row: a bar from zero, its interval, and the figure in words."""

    label: str
    figure: str
    x: str
    width: str
    low: str | None
    high: str | None


@dataclass(frozen=True)
class Bars:
    """Labelled rows, each with an area of its own so that a long label may take two lines."""

    macro: ClassVar = "bars"
    description: str
    rows: Sequence[Bar]
    zero: str
    reference: str | None
    reference_name: str


@dataclass(frozen=True)
class Cell:
    """A cell of a table of two attributes; shade: from 0 for zero or less to 1 for the largest answer."""

    words: str
    answer: str
    error: str
    shade: float


@dataclass(frozen=True)
class Shaded:
    """A table of figures: to be read, copied and spoken like any other."""

    macro: ClassVar = "shaded"
    description: str
    corner: str
    headings: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]


@dataclass(frozen=True)
class HeatMap:
    """A map of coloured cells with a key that ends at the largest answer."""

    macro: ClassVar = "heat_map"
    title: str
    description: str
    across: Labels
    up: tuple[Tick, ...]
    rows: Sequence[Sequence[Cell]]
    largest: str


@dataclass(frozen=True)
class Figure:
    """A chart under its title. wide: it takes the whole width of the page."""

    title: str
    subtitle: str
    chart: Plot | Bars | Shaded | HeatMap
    wide: bool = False
