"""Which charts a release gets, within limits: a page for 20,000 tables must still open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from rowspace.exceptions import TooLarge, UnsupportedWorkload
from rowspace.planning import interval_words
from rowspace.releases import (
    ChartAxis,
    ChartTable,
    Combined,
    Estimates,
    Release,
    answers_of,
    chart_axis,
    chart_table,
    cumulative,
    histogram,
    missing_records,
)
from rowspace.workload import Cells, Intervals, LevelCells, Part

from ..charts import MOST_SERIES, bars, columns, curves, heat, sentences, written_out
from ..numbers import counts, whole
from ..views import Bars, Figure

MOST_ATTRIBUTES = 12
MOST_TABLES = 12
MOST_LISTS = 6
MOST_CELLS = 120
"""Most columns of a histogram; cells of a finer attribute are taken together."""
_MOST_BARS = 30
_FEW_CELLS = 16
_FEW_COLUMNS = 3
"""Columns of a written table that fit into half the width of a page."""
_MOST_TABLE_CELLS = 120 * 120
_MOST_LISTED = 40

_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Gallery:
    """The charts of a release, the simplest kind first, what their intervals mean, and what was left out."""

    left_out: str
    intervals: str
    blocks: tuple[tuple[Figure, ...], ...]
    remarks: tuple[str, ...]


def gallery(release: Release | Combined, level: float) -> Gallery:
    """Histograms of attributes, cumulative counts of those asked for in ranges, tables of two, lists of conditions."""
    workload = release.plan.workload
    names = [name for name in workload.columns if name not in workload.domain.measured]
    tables = [part for part in workload.parts if _is_table(part)]
    remarks = []
    if len(names) > MOST_ATTRIBUTES:
        remarks.append(f"Charts are drawn for the first {MOST_ATTRIBUTES} of {whole(len(names))} attributes.")
    if len(tables) > MOST_TABLES:
        remarks.append(f"Charts are drawn for the first {MOST_TABLES} of {whole(len(tables))} tables of two.")
    return Gallery(
        release.plan.population,
        interval_words(release.plan.population, level, workload.domain),
        (
            tuple(_attributes(release, names[:MOST_ATTRIBUTES], level)),
            tuple(_tables(release, tables[:MOST_TABLES], level)),
            tuple(_lists(release, level)),
        ),
        tuple(remarks),
    )


def known(ask: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T | None:
    """What a release answers; nothing where its strategy does not determine it or it would take too long."""
    try:
        return ask(*args, **kwargs)
    except (UnsupportedWorkload, TooLarge):
        return None


def _attributes(release: Release | Combined, names: Sequence[str], level: float) -> Iterator[Figure]:
    """One attribute at a time: a histogram, and cumulative counts of what ranges were asked of, and of periods."""
    over = getattr(release.plan, "over", "")
    ranged = {
        factor.attributes[0]
        for part in release.plan.workload.parts
        if len(part.factors) == 1
        for factor in part.factors
        if isinstance(factor, Intervals)
    }
    with_missing = {
        factor.columns[0]
        for part in release.plan.workload.parts
        for factor in part.factors
        if isinstance(factor, Cells | LevelCells) and factor.missing
    }
    for name in names:
        axis = chart_axis(release.plan.domain, name, MOST_CELLS)
        found = known(histogram, release, axis, level)
        missing = known(missing_records, release, name, level) if name in with_missing else None
        if found is not None:
            yield _histogram(axis, found, missing, level)
        adds_up = name in ranged or (name == over and axis.numeric is not None)
        running = known(cumulative, release, axis, level) if adds_up else None
        if running is not None:
            title = f"Records to date by {name}" if name == over else f"Cumulative distribution of {name}"
            yield _cumulative(title, axis, running, level)


def _histogram(axis: ChartAxis, data: Estimates, missing: Estimates | None, level: float) -> Figure:
    """Columns for many cells in order, labelled bars for a few; what is missing comes last, or is said."""
    title, bars_mean = f"Records by {axis.name}", f"lines are {_percent(level)} intervals"
    if axis.numeric is not None and len(data) > _FEW_CELLS:
        merged = "" if axis.width == 1 else f", {axis.width} cells to a column"
        if missing is not None:
            merged += f"; {axis.name} is missing in {_written(missing)[0]} records"
        chart = columns(data, axis, _in_words(axis.name, data, level))
        return Figure(title, f"Histogram{merged}; {bars_mean}", chart, wide=True)
    shown = data.take(range(min(_MOST_BARS, len(data))))
    if missing is not None:
        shown, data = shown.joined(missing), data.joined(missing)
    left_out = "" if len(shown) == len(data) else f", the first {len(shown)} of {whole(len(data))}"
    return Figure(title, f"Counts{left_out}; {bars_mean}", _listed(axis.name, shown, level))


def _cumulative(title: str, axis: ChartAxis, data: Estimates, level: float) -> Figure:
    """How many records lie below each value."""
    total = counts([data.answer[-1]], [data.std_error[-1]])[0]
    words = f"Cumulative number of records by {axis.name} with a {_percent(level)} band, rising from 0 to {total}."
    chart = curves([(axis.name, data)], axis, words, steps=False)
    subtitle = f"Records below each value; the band is the {_percent(level)} interval of every point"
    return Figure(title, subtitle, chart, wide=True)


def _tables(release: Release | Combined, parts: Sequence[Part], level: float) -> Iterator[Figure]:
    """Two attributes at a time: curves where one is long and the other short, else a heat map."""
    for part in parts:
        first, second = (factor.columns[0] for factor in part.factors)
        missing = any(isinstance(f, Cells | LevelCells) and f.missing for f in part.factors)
        table = known(chart_table, release, first, second, level, missing=missing)
        if table is None or _too_fine(table.rows) or _too_fine(table.columns):
            continue
        if len(table.rows.labels) < len(table.columns.labels):
            table = table.transposed()
        long = table.rows.numeric is not None and len(table.rows.labels) > _FEW_CELLS
        if long and len(table.columns.labels) <= MOST_SERIES:
            yield _overlaid(table, level)
        else:
            yield _heat(table)


def _too_fine(axis: ChartAxis) -> bool:
    return axis.numeric is not None and len(axis.labels) > MOST_CELLS


def _overlaid(table: ChartTable, level: float) -> Figure:
    """One curve for each column."""
    long, short, data = table.rows, table.columns, table.data
    few = len(short.labels)
    series = [
        (f"{short.name} {label}", data.take(range(at, len(data), few)))
        for at, label in enumerate(short.labels)
    ]
    words = (
        f"Number of records by {long.name}, one curve with a {_percent(level)} band for each {short.name}."
    )
    subtitle = f"Records in each cell; bands are {_percent(level)} intervals"
    chart = curves(series, long, words, steps=True)
    return Figure(f"Records by {long.name} and {short.name}", subtitle, chart, wide=True)


def _heat(table: ChartTable) -> Figure:
    """A shaded table."""
    rows, along, data = table.rows, table.columns, table.data
    chart = heat(table, f"Number of records by {rows.name} and {along.name}.")
    largest = counts([max(data.half_width)], data.std_error)[0]
    subtitle = (
        "Answers; the stronger the colour, the more"
        if written_out(table)
        else f"The stronger the colour, the more; an answer is known to ± {largest} at most"
    )
    wide = len(rows.labels) > _FEW_CELLS or len(along.labels) > _FEW_COLUMNS
    return Figure(f"Records by {rows.name} and {along.name}", subtitle, chart, wide=wide)


def _lists(release: Release | Combined, level: float) -> Iterator[Figure]:
    """Short groups of other queries, one row each."""
    groups: dict[str, list[Part]] = {}
    workload = release.plan.workload
    # Means first, and what they are made of not at all: the answers one by one have it.
    parts = [*(own.words for own in workload.means), *(part for part in workload.parts if part.mean is None)]
    for part in parts:
        if not _is_charted(part):
            groups.setdefault(part.group, []).append(part)
    short = [(name, parts) for name, parts in groups.items() if sum(p.size for p in parts) <= _MOST_LISTED]
    for name, parts in short[:MOST_LISTS]:
        data = known(answers_of, release, parts, level)
        data = data and data.answered()
        if data:
            subtitle = f"Answers as asked; lines are {_percent(level)} intervals"
            yield Figure(name[:1].upper() + name[1:], subtitle, _listed(name, data, level), wide=True)


def _listed(name: str, data: Estimates, level: float) -> Bars:
    """Labelled bars with intervals."""
    intervals = list(zip(data.low, data.high, strict=True))
    return bars(data.labels, data.answer, _written(data), _in_words(name, data, level), intervals=intervals)


def _written(data: Estimates) -> list[str]:
    """Answers with half their intervals."""
    answers, errors = counts(data.answer, data.std_error), counts(data.half_width, data.std_error)
    return [f"{answer} ± {error}" for answer, error in zip(answers, errors, strict=True)]


def _in_words(name: str, data: Estimates, level: float) -> str:
    """A chart in a sentence."""
    largest = max(range(len(data)), key=data.answer.__getitem__)
    return (
        f"Chart of {whole(len(data))} answers by {name} with {_percent(level)} intervals. "
        f"The largest is {sentences(data)[largest]}."
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


def _percent(level: float) -> str:
    return f"{100 * level:g} %"
