"""Charts put numbers where they belong."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowspace.releases import ChartAxis, ChartTable, Estimates
from rowspace.report.charts import bars, columns, heat, steps
from rowspace.report.pages import macro
from rowspace.report.scales import Scale, covering, tick_labels, ticks

NUMBERS = st.floats(-1e12, 1e12, allow_nan=False).filter(lambda value: value == 0 or abs(value) > 1e-9)


def few(answers: list[float]) -> Estimates:
    labels = tuple(f"cell {at}" for at in range(len(answers)))
    return Estimates(
        labels,
        tuple(answers),
        tuple(1.0 for _ in answers),
        tuple(value - 2 for value in answers),
        tuple(value + 2 for value in answers),
    )


def written(chart: object) -> str:
    return str(macro("charts.html", "chart")(chart))


def axis(name: str, cells: int) -> ChartAxis:
    return ChartAxis(name, tuple(f"cell {at}" for at in range(cells)))


@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_a_scale_holds_zero_and_all_numbers(values: list[float]) -> None:
    scale = covering(values)
    assert all(-1e-9 <= scale.share(value) <= 1 + 1e-9 for value in (*values, 0.0))
    marks = ticks(scale)
    assert 1 <= len(marks) <= 6
    assert all(scale.low - 1e-6 * abs(scale.low) <= mark <= scale.high * (1 + 1e-6) for mark in marks)
    assert len(set(tick_labels(marks))) == len(marks)


def test_columns_stand_on_zero() -> None:
    drawn = written(columns(few([10.0, -5.0]), axis("x", 2), "two columns"))
    scale = covering([12.0, -7.0])
    tops = [
        float(found) for found in re.findall(r'y="([\d.]+)" width="420" height="[\d.]+" class="bar"', drawn)
    ]
    assert tops == [pytest.approx(float(scale.up(10.0))), pytest.approx(float(scale.up(0.0)))]


def test_bars_show_their_reference() -> None:
    chart = bars(["a", "b"], [1.0, 2.0], ["1", "2"], "two bars", reference=0.5, reference_name="a bound")
    drawn = written(chart)
    assert drawn.count('class="reference"') == 2
    assert "a bound" in drawn


@pytest.mark.parametrize(
    ("gap", "label"),
    [
        (timedelta(seconds=1), ">charge<"),
        (timedelta(minutes=5), r"\d\d:\d\d:\d\d"),
        (timedelta(hours=5), r"01-0\d \d\d:\d\d"),
        (timedelta(days=90), "2026-0"),
    ],
)
def test_spending_is_dated_as_finely_as_it_needs(gap: timedelta, label: str) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    times = [start, start + gap, start + 2 * gap]
    drawn = written(steps(times, [1.0, 1.5, 2.5], 3.0, "time", "three charges"))
    assert re.search(label, drawn)
    heights = re.search(r'points="([^"]+)" class="curve', drawn)
    assert heights is not None
    corners = [tuple(map(float, corner.split(","))) for corner in heights[1].split()]
    assert [y for _, y in corners] == sorted((y for _, y in corners), reverse=True)


def test_a_large_table_is_a_map() -> None:
    large = ChartTable(axis("row", 30), axis("column", 12), few([float(at) for at in range(30 * 12)]))
    assert written(heat(large, "a map")).count("<rect") == 360
    table = ChartTable(axis("r", 2), axis("c", 2), few([1.0, 2.0, 3.0, 4.0]))
    small = written(heat(table, "a table"))
    assert small.count("<td") == 4
    assert "--shade:100%" in small


def test_no_figures_are_no_trouble() -> None:
    assert covering([float("nan"), float("inf")]) == Scale(0.0, 1.0)
    assert "<svg" in written(columns(few([0.0]), axis("x", 1), "one empty column"))
