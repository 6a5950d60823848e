"""Which charts a release gets, within limits: a page for 20,000 tables must still open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rowspace.markup import Markup, element
from rowspace.releases import Combined, Release
from rowspace.workload import Part
from rowspace.workload.factors import Cells, LevelCells
from rowspace.workload.intervals import Intervals

from ..numbers import counts, whole
from . import asking
from .charts import Series, bars, columns, curves, heat
from .charts.curves import MOST_SERIES
from .charts.heat import Axis as HeatAxis
from .charts.heat import written_out
from .estimates import Estimates

MOST_ATTRIBUTES = 12
MOST_TABLES = 12
MOST_LISTS = 6
_MOST_BARS = 30
_FEW_CELLS = 16
_FEW_COLUMNS = 3
"""Columns of a written table that fit into half the width of a page."""
_MOST_TABLE_CELLS = 120 * 120
_MOST_LISTED = 40


@dataclass(frozen=True)
class _Chart:
    """A chart, and whether it takes the whole width of the page."""

    drawn: Markup
    wide: bool


@dataclass(frozen=True)
class Block:
    """Charts of one kind: those that take the whole width, and the others."""

    wide: tuple[Markup, ...]
    narrow: tuple[Markup, ...]

    @classmethod
    def of(cls, charts: Iterator[_Chart]) -> Block:
        """The charts by their width."""
        all_ = list(charts)
        return cls(
            tuple(chart.drawn for chart in all_ if chart.wide),
            tuple(chart.drawn for chart in all_ if not chart.wide),
        )


@dataclass(frozen=True)
class Gallery:
    """The charts of a release, the simplest kind first, and what was left out."""

    blocks: tuple[Block, ...]
    remarks: tuple[str, ...]


def gallery(release: Release | Combined, level: float) -> Gallery:
    """Histograms of attributes, cumulative counts of those asked for in ranges, tables of two, lists of conditions."""
    workload = release.plan.workload
    names = workload.columns
    tables = [part for part in workload.parts if _is_table(part)]
    blocks = (
        Block.of(_attributes(release, names[:MOST_ATTRIBUTES], level)),
        Block.of(_tables(release, tables[:MOST_TABLES], level)),
        Block.of(_lists(release, level)),
    )
    remarks = []
    if len(names) > MOST_ATTRIBUTES:
        remarks.append(f"Charts are drawn for the first {MOST_ATTRIBUTES} of {whole(len(names))} attributes.")
    if len(tables) > MOST_TABLES:
        remarks.append(f"Charts are drawn for the first {MOST_TABLES} of {whole(len(tables))} tables of two.")
    return Gallery(blocks, tuple(remarks))


def figure(title: str, subtitle: str, chart: Markup, *, wide: bool = False) -> Markup:
    """A chart under its title."""
    caption = element("figcaption", element("h3", title), element("p", subtitle))
    return element("figure", caption, chart, class_="card wide" if wide else "card")


def _chart(title: str, subtitle: str, chart: Markup, *, wide: bool = False) -> _Chart:
    return _Chart(figure(title, subtitle, chart, wide=wide), wide)


def _attributes(release: Release | Combined, names: Sequence[str], level: float) -> Iterator[_Chart]:
    """One attribute at a time: a histogram, and its cumulative counts if ranges of it were asked for."""
    ranged = {
        factor.attributes[0]
        for part in release.plan.workload.parts
        if len(part.factors) == 1
        for factor in part.factors
        if isinstance(factor, Intervals)
    }
    for name in names:
        axis = asking.axis_of(release, name)
        found = asking.cells(release, axis, level)
        if found is not None:
            yield _histogram(axis, found, level)
        if name in ranged:
            running = asking.cumulative(release, axis, level)
            if running is not None:
                yield _cumulative(axis, running, level)


def _histogram(axis: asking.Axis, data: Estimates, level: float) -> _Chart:
    """Columns for many cells in order, labelled bars for a few."""
    bars_mean = f"lines are {_percent(level)} intervals"
    if axis.numeric is not None and len(data) > _FEW_CELLS:
        merged = "" if axis.width == 1 else f", {axis.width} cells to a column"
        chart = columns(data, axis.ticks, axis.name, _histogram_words(axis.name, data, level))
        return _chart(f"Records by {axis.name}", f"Histogram{merged}; {bars_mean}", chart, wide=True)
    shown = data.part(0, _MOST_BARS)
    left_out = "" if len(shown) == len(data) else f", the first {len(shown)} of {whole(len(data))}"
    words = _histogram_words(axis.name, shown, level)
    return _chart(f"Records by {axis.name}", f"Counts{left_out}; {bars_mean}", _listed(shown, words))


def _cumulative(axis: asking.Axis, data: Estimates, level: float) -> _Chart:
    """How many records lie below each value."""
    total = counts([data.answer[-1]], [data.std_error[-1]])[0]
    words = f"Cumulative number of records by {axis.name} with a {_percent(level)} band, rising from 0 to {total}."
    chart = curves([Series(axis.name, data)], axis.ticks, axis.name, words, steps=False)
    subtitle = f"Records below each value; the band is the {_percent(level)} interval of every point"
    return _chart(f"Cumulative distribution of {axis.name}", subtitle, chart, wide=True)


def _tables(release: Release | Combined, parts: Sequence[Part], level: float) -> Iterator[_Chart]:
    """Two attributes at a time: curves where one is long and the other short, else a heat map."""
    for part in parts:
        data = asking.answers_of(release, [part], level)
        if data is None:
            continue
        first, second = (asking.axis_of(release, factor.columns[0]) for factor in part.factors)
        if first.width > 1 or second.width > 1:
            continue
        if len(first.labels) < len(second.labels):
            first, second, data = second, first, _transposed(data, len(first.labels))
        few = len(second.labels)
        if first.numeric is not None and len(first.labels) > _FEW_CELLS and few <= MOST_SERIES:
            yield _overlaid(first, second, data, level)
        else:
            yield _heat(first, second, data, level)


def _overlaid(long: asking.Axis, short: asking.Axis, data: Estimates, level: float) -> _Chart:
    """One curve for each cell of the short attribute."""
    few = len(short.labels)
    series = [Series(f"{short.name} {label}", _every(data, at, few)) for at, label in enumerate(short.labels)]
    words = (
        f"Number of records by {long.name}, one curve with a {_percent(level)} band for each {short.name}."
    )
    chart = curves(series, long.ticks, long.name, words, steps=True)
    subtitle = f"Records in each cell; bands are {_percent(level)} intervals"
    return _chart(f"Records by {long.name} and {short.name}", subtitle, chart, wide=True)


def _heat(rows: asking.Axis, columns_: asking.Axis, data: Estimates, level: float) -> _Chart:
    """A shaded table."""
    words = f"Number of records by {rows.name} and {columns_.name}."
    chart = heat(
        data,
        HeatAxis(rows.name, rows.labels, rows.ticks),
        HeatAxis(columns_.name, columns_.labels, columns_.ticks, names=columns_.numeric is None),
        words,
    )
    largest = counts([max(data.half_width)], data.std_error)[0]
    subtitle = (
        "Answers; the stronger the colour, the more"
        if written_out(len(rows.labels), len(columns_.labels))
        else f"The stronger the colour, the more; an answer is known to ± {largest} at most"
    )
    title = f"Records by {rows.name} and {columns_.name}"
    wide = len(rows.labels) > _FEW_CELLS or len(columns_.labels) > _FEW_COLUMNS
    return _chart(title, subtitle, chart, wide=wide)


def _lists(release: Release | Combined, level: float) -> Iterator[_Chart]:
    """Short groups of other queries, one row each."""
    groups: dict[str, list[Part]] = {}
    for part in release.plan.workload.parts:
        if not _is_charted(part):
            groups.setdefault(part.group, []).append(part)
    short = [(name, parts) for name, parts in groups.items() if sum(p.size for p in parts) <= _MOST_LISTED]
    for name, parts in short[:MOST_LISTS]:
        data = asking.answers_of(release, parts, level)
        if data is not None:
            words = _histogram_words(name, data, level)
            subtitle = f"Answers as asked; lines are {_percent(level)} intervals"
            yield _chart(name[:1].upper() + name[1:], subtitle, _listed(data, words), wide=True)


def _listed(data: Estimates, words: str) -> Markup:
    """Labelled bars with intervals."""
    answers, errors = counts(data.answer, data.std_error), counts(data.half_width, data.std_error)
    written = [f"{answer} ± {error}" for answer, error in zip(answers, errors, strict=True)]
    intervals = list(zip(data.low, data.high, strict=True))
    return bars(data.labels, data.answer, written, words, intervals=intervals)


def _histogram_words(name: str, data: Estimates, level: float) -> str:
    """A chart in a sentence."""
    largest = max(range(len(data)), key=data.answer.__getitem__)
    return (
        f"Chart of {whole(len(data))} answers by {name} with {_percent(level)} intervals. "
        f"The largest is {data.sentences()[largest]}."
    )


def _is_table(part: Part) -> bool:
    return (
        len(part.factors) == 2
        and all(isinstance(factor, Cells | LevelCells) for factor in part.factors)
        and part.size <= _MOST_TABLE_CELLS
    )


def _is_charted(part: Part) -> bool:
    """Whether another kind of chart shows what a part asks."""
    one = len(part.factors) == 1 and isinstance(part.factors[0], Cells | LevelCells | Intervals)
    return one or _is_table(part)


def _every(data: Estimates, start: int, step: int) -> Estimates:
    return Estimates(*(column[start::step] for column in vars(data).values()))


def _transposed(data: Estimates, rows: int) -> Estimates:
    """The same table with its axes exchanged."""
    width = len(data) // rows
    order = [row * width + column for column in range(width) for row in range(rows)]
    return Estimates(*(tuple(column[at] for at in order) for column in vars(data).values()))


def _percent(level: float) -> str:
    return f"{100 * level:g} %"
