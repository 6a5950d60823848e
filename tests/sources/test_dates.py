"""Dates and times are counted as pandas counts them, from columns of every type, in any zone; bad text is one line."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from rowspace.domain import Dates, DayOfWeek, Domain, HourOfDay
from rowspace.exceptions import SourceError
from rowspace.sources import count_cells

YEAR = ("2024-01-01", "2025-01-01")


def instants(rows: int = 3000) -> pd.Series:
    rng = np.random.default_rng(5)
    microseconds = rng.integers(0, 400 * 86_400 * 10**6, rows)
    return pd.Series(pd.Timestamp("2023-12-15") + pd.to_timedelta(microseconds, unit="us"))


def by_day(times: pd.Series) -> list[int]:
    inside = times[(times >= YEAR[0]) & (times < YEAR[1])]
    return inside.dt.day_of_year.value_counts().reindex(range(1, 367), fill_value=0).tolist()


def as_sqlite(frame: pd.DataFrame, folder: Path, kind: str) -> str:
    path = folder / "times.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE t (x {kind})")
        connection.executemany("INSERT INTO t VALUES (?)", [(str(value),) for value in frame["x"]])
    connection.close()
    return str(path)


@pytest.mark.parametrize(
    "kind", ["timestamp", "text", "csv", "csv with T", "duckdb", "sqlite TEXT", "sqlite TIMESTAMP"]
)
def test_times_without_a_zone_are_taken_as_they_are(kind, tmp_path):
    times = instants()
    frame, table = pd.DataFrame({"x": times}), None
    source: object = frame
    if kind == "text":
        source = pd.DataFrame({"x": times.astype(str)})
    elif kind.startswith("csv"):
        source = tmp_path / "times.csv"
        frame.to_csv(source, index=False, date_format="%Y-%m-%dT%H:%M:%S.%f" if kind.endswith("T") else None)
    elif kind == "duckdb":
        source, table = tmp_path / "times.duckdb", "t"
        with duckdb.connect(str(source)) as connection:
            connection.execute("SET TimeZone = 'Asia/Tokyo'")
            connection.register("given", frame)
            connection.execute("CREATE TABLE t AS SELECT * FROM given")
    elif kind.startswith("sqlite"):
        source, table = as_sqlite(frame, tmp_path, kind.split()[1]), "t"
    domain = Domain(day=Dates(*YEAR, every="day", column="x", zone="Europe/Berlin"))
    assert count_cells(source, domain, table=table).tolist() == by_day(times)


@pytest.mark.parametrize(
    ("kind", "zone"),
    [
        ("timestamp", "Europe/Berlin"),
        ("timestamp", "America/St_Johns"),
        ("text", "UTC"),
        ("text", "Europe/Berlin"),
        ("duckdb", "America/St_Johns"),
    ],
)
def test_times_with_a_zone_are_converted(kind, zone, tmp_path):
    times = instants().dt.tz_localize("UTC").dt.tz_convert("America/New_York")
    local = times.dt.tz_convert(zone).dt.tz_localize(None)
    frame, table = pd.DataFrame({"x": times}), None
    source: object = frame if kind == "timestamp" else pd.DataFrame({"x": [at.isoformat() for at in times]})
    if kind == "duckdb":
        source, table = tmp_path / "times.duckdb", "t"
        with duckdb.connect(str(source)) as connection:
            connection.execute("SET TimeZone = 'Asia/Tokyo'")
            connection.register("given", frame)
            connection.execute("CREATE TABLE t AS SELECT * FROM given")

    def counted(attribute: Dates | HourOfDay | DayOfWeek) -> list[int]:
        return count_cells(source, Domain(of=attribute), table=table).tolist()

    assert counted(Dates(*YEAR, every="day", column="x", zone=zone)) == by_day(local)
    hours = local.dt.hour.value_counts().reindex(range(24), fill_value=0)
    assert counted(HourOfDay("x", zone=zone)) == hours.tolist()
    days = local.dt.day_of_week.value_counts().reindex(range(7), fill_value=0)
    assert counted(DayOfWeek("x", zone=zone)) == days.tolist()
    near = local[(local >= "2024-03-30") & (local < "2024-04-01")]
    hourly = np.histogram((near - pd.Timestamp("2024-03-30")).dt.total_seconds() // 3600, np.arange(49))[0]
    assert counted(Dates("2024-03-30", "2024-04-01", every="hour", column="x", zone=zone)) == hourly.tolist()


def test_several_attributes_of_one_column_are_joint():
    frame = pd.DataFrame({"x": instants(), "seconds": 1})  # a column called like our own
    domain = Domain(quarter=Dates(*YEAR, every="quarter", column="x"), hour=HourOfDay("x"), x=DayOfWeek())
    inside = frame["x"][(frame["x"] >= YEAR[0]) & (frame["x"] < YEAR[1])]
    expected = np.zeros(domain.shape)
    np.add.at(expected, (inside.dt.quarter - 1, inside.dt.hour, inside.dt.day_of_week), 1)
    assert count_cells(frame, domain).reshape(domain.shape).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["2024-02-30"], "must hold dates that exist"),
        (["2023-02-29"], "must hold dates that exist"),
        (["2024-01-01 24:00"], "must hold dates that exist"),
        (["2024-1-1"], "must hold dates that exist"),
        (["01/02/2024"], "must hold dates that exist"),
        (["2024-01-01 "], "must hold dates that exist"),
        (["2024-01-01T00:00Z", "2024-01-02T00:00"], "mixes times with a zone and times without"),
        (["2024-01-01T00:00+01:00", "2024-01-02"], "mixes times with a zone and times without"),
    ],
)
@pytest.mark.parametrize("as_csv", [True, False])
def test_text_that_is_no_date_is_one_line_without_data(values, message, as_csv, tmp_path):
    frame: object = pd.DataFrame({"day": values})
    if as_csv:
        pd.DataFrame({"day": values}).to_csv(tmp_path / "a.csv", index=False)
        frame = tmp_path / "a.csv"
    with pytest.raises(SourceError, match=f"column 'day' {message}") as caught:
        count_cells(frame, Domain(day=Dates(*YEAR, every="day")))
    assert not any(value in str(caught.value) for value in values)
    assert "\n" not in str(caught.value)


def test_missing_times_are_outside():
    frame = pd.DataFrame({"day": ["2024-01-01", None, "2031-01-01"]})
    assert count_cells(frame, Domain(day=Dates(*YEAR, every="year"))).tolist() == [1]
    nothing = pd.DataFrame({"day": [None, None]})
    assert count_cells(nothing, Domain(day=Dates(*YEAR, every="year"))).tolist() == [0]


def test_a_column_of_another_type_is_refused_by_name():
    with pytest.raises(SourceError, match=r"column 'born' must hold dates.*got an integer"):
        count_cells(pd.DataFrame({"born": [1990]}), Domain(year=Dates(*YEAR, every="year", column="born")))


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize(
    ("change", "before", "after"), [("2024-03-31T01:00:00Z", 1, 3), ("2024-10-27T01:00:00Z", 2, 2)]
)
def test_the_clock_changes_at_the_very_second(change, before, after, as_text):
    """In Berlin 02:00 becomes 03:00 in March; in October 03:00 becomes 02:00, so that the hour of 2 comes twice."""
    moment = pd.Timestamp(change)
    for time, hour in ((moment - pd.Timedelta("1s"), before), (moment, after)):
        x = [time.isoformat().replace("+00:00", "Z")] if as_text else [time]
        rows = pd.DataFrame({"x": x})
        assert count_cells(rows, Domain(x=HourOfDay(zone="Europe/Berlin"))).nonzero()[0].tolist() == [hour]
        hourly = Dates(
            str(moment.date()), str((moment + pd.Timedelta("1D")).date()), every="hour", zone="Europe/Berlin"
        )
        assert count_cells(rows, Domain(x=hourly)).nonzero()[0].tolist() == [hour]
