"""Dates and times on every engine: the months, hours and weekdays that pandas counts, by the clock of a zone."""

from __future__ import annotations

from typing import Any

import ibis
import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.sources import count_cells
from tests.engines.engines import Engine, Spark

ZONE = "America/New_York"
ROWS = 400


def instants() -> pd.Series[pd.Timestamp]:
    """Some before and after the year that is asked for, some at the changes of the clock."""
    seconds = np.random.default_rng(9).integers(0, 500 * 86_400, ROWS)
    drawn = pd.Timestamp("2023-11-01", tz="UTC") + pd.to_timedelta(seconds, unit="s")
    changes = pd.DatetimeIndex(
        ["2024-03-10 06:59:59", "2024-03-10 07:00:00", "2024-11-03 05:30:00", "2024-11-03 06:30:00"]
    )
    return pd.Series([*drawn, *changes.tz_localize("UTC")])


UTC = instants()
LOCAL = UTC.dt.tz_convert(ZONE).dt.tz_localize(None)
#: Column, its type, its values, and the time on the clock of the zone that each stands for.
COLUMNS = {
    "zoned": ("zoned time", [t.to_pydatetime() for t in UTC], LOCAL),
    "naive": ("time", [t.to_pydatetime() for t in LOCAL], LOCAL),
    "day": ("date", [t.date() for t in LOCAL], LOCAL.dt.normalize()),
    "written": ("text", [t.isoformat() for t in UTC], LOCAL),
    "plain": ("text", [t.isoformat(sep=" ") for t in LOCAL], LOCAL),
}


@pytest.fixture(scope="module")
def filled(engine: Engine) -> Engine:
    types = {name: kind for name, (kind, _, _) in COLUMNS.items()}
    rows = list(zip(*(values for _, values, _ in COLUMNS.values()), strict=True))
    engine.fill("times", types, [*rows, (None,) * len(types)])
    return engine


@pytest.mark.parametrize("column", COLUMNS)
def test_months_weekdays_and_hours_are_those_of_pandas(filled: Engine, column: str) -> None:
    _, _, clock = COLUMNS[column]
    month = rs.Dates("2024-01-01", "2025-01-01", every="month", column=column, zone=ZONE)
    weekday = rs.DayOfWeek(column=column, zone=ZONE)
    inside = clock[(clock >= "2024-01-01") & (clock < "2025-01-01")]
    found = count_cells(filled.source, rs.Domain(month=month), table="times")
    assert found.tolist() == np.bincount(inside.dt.month - 1, minlength=12).tolist()
    found = count_cells(filled.source, rs.Domain(weekday=weekday), table="times")
    assert found.tolist() == np.bincount(clock.dt.day_of_week, minlength=7).tolist()
    if column != "day":
        hours = rs.Domain(hour=rs.HourOfDay(column=column, zone=ZONE))
        found = count_cells(filled.source, hours, table="times")
        assert found.tolist() == np.bincount(clock.dt.hour, minlength=24).tolist()


def test_an_ibis_table_of_a_spark_session_keeps_its_zones(session: Any) -> None:
    engine = Spark(session)
    engine.fill("moments", {"zoned": "zoned time"}, [(t.to_pydatetime(),) for t in UTC])
    rows = ibis.pyspark.connect(session).table("moments")
    hours = count_cells(rows, rs.Domain(hour=rs.HourOfDay(column="zoned", zone=ZONE)))
    assert hours.tolist() == np.bincount(LOCAL.dt.hour, minlength=24).tolist()
