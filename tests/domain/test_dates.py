"""Dates: cells, labels, zones, saving, refusal."""

from __future__ import annotations

import copy
import datetime as dt

import numpy as np
import pytest

from rowspace.domain import Dates, DayOfWeek, Domain, HourOfDay, Numeric
from rowspace.domain.calendar import DATE_PARTS, clock_changes, read_period, write_time
from rowspace.exceptions import InvalidDomain, TooLarge


@pytest.mark.parametrize(
    ("every", "start", "end", "labels"),
    [
        ("year", "2023", "2025", ["2023", "2024"]),
        ("quarter", "2024-01-01", "2024-07-01", ["2024-Q1", "2024-Q2"]),
        ("month", "2024-02", "2024-04", ["2024-02", "2024-03"]),
        ("week", "2024-12-30", "2025-01-13", ["2025-W01", "2025-W02"]),
        ("week", "2024-01-03", "2024-01-10", ["[2024-01-03, 2024-01-10)"]),
        ("day", "2024-02-28", "2024-03-01", ["2024-02-28", "2024-02-29"]),
        ("hour", "2024-02-28 22:00", "2024-02-29", ["2024-02-28 22:00", "2024-02-28 23:00"]),
    ],
)
def test_cells_are_periods_with_names(every, start, end, labels):
    attribute = Dates(start, end, every=every)
    assert attribute.labels() == labels
    assert attribute.times is (every == "hour")


def test_edges_of_any_length_take_text_and_dates():
    attribute = Dates(edges=["2024-01-01", dt.date(2024, 1, 8), dt.datetime(2024, 3, 1)])
    assert attribute.labels() == ["2024-W01", "[2024-01-08, 2024-03-01)"]
    assert attribute == Dates(edges=["2024-01-01", "2024-01-08", "2024-03-01"])
    assert Dates("2024-01-01", "2024-01-03", every="day") == Dates(
        edges=["2024-01-01", "2024-01-02", "2024-01-03"]
    )


def test_a_bound_with_a_zone_is_read_on_the_attributes_clock():
    assert Dates(
        "2024-01-01T23:00Z", "2024-01-03T00:00+01:00", every="day", zone="Europe/Berlin"
    ).labels() == ["2024-01-02"]


@pytest.mark.parametrize(
    "attribute",
    [
        Dates("2024-01-01", "2025-01-01", every="month"),
        Dates(
            "2024-01-01",
            "2024-01-02",
            every="hour",
            column="arrival",
            zone="America/New_York",
            outside="clip",
        ),
        Dates(edges=["2024-01-01", "2024-01-08 12:30:15", "2024-03-01"], times=True),
        HourOfDay("arrival", zone="Asia/Tokyo"),
        DayOfWeek(),
    ],
)
def test_attributes_are_saved_and_told_apart(attribute):
    domain = Domain(when=attribute)
    again = Domain.from_dict(domain.to_dict())["when"]
    assert again == attribute
    assert hash(again) == hash(attribute)
    assert type(again) is type(attribute)
    assert copy.deepcopy(attribute) == attribute
    assert again.labels() == attribute.labels()
    assert attribute.zone in str(attribute)
    assert attribute != type(attribute).from_dict({**attribute.to_dict(), "column": "other"})
    assert attribute != type(attribute).from_dict({**attribute.to_dict(), "zone": "Europe/Rome"})


def test_dates_are_no_numbers():
    seconds = [0, 86_400, 2 * 86_400]
    assert Dates("1970-01-01", "1970-01-03", every="day") != Numeric(edges=seconds, integer=True)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Dates("2024-01-01", "2025-01-01"), "need start, end and every"),
        (lambda: Dates("2024-01-01", "2025-01-01", every="fortnight"), "every must be a length of time"),
        (lambda: Dates("2024-01-15", "2025-01-01", every="month"), "first day of a month"),
        (lambda: Dates("2024-02-01", "2025-02-01", every="quarter"), "first day of a quarter"),
        (lambda: Dates("2024-01-01", "2024-01-10", every="week"), "whole weeks between start and end"),
        (lambda: Dates("2024-01-01 12:00", "2024-01-03 12:00", every="day"), "whole days"),
        (lambda: Dates("2025-01-01", "2024-01-01", every="day"), "start must be before end"),
        (lambda: Dates("2024-02-30", "2025-01-01", every="day"), "'2024-02-30' does not exist"),
        (lambda: Dates("1.2.2024", "2025-01-01", every="day"), "expected a date such as"),
        (lambda: Dates(20240101, "2025-01-01", every="day"), "start must be a date"),
        (lambda: Dates("0001-01-01", "9999-12-31", every="hour"), "bins must be between"),
        (lambda: Dates("2024-01-01", "2025-01-01", every="day", zone="Mars/Olympus"), "unknown time zone"),
        (
            lambda: Dates("2024-01-01", "2025-01-01", every="day", zone="../../etc/passwd"),
            "unknown time zone",
        ),
        (lambda: Dates("2024-01-01", "2025-01-01", every="day", column=3), "column must be the name"),
        (lambda: Dates("2024-01-01", "2025-01-01", every="day", edges=["2024-01-01"]), "got both"),
        (lambda: Dates(edges=["2024-01-02", "2024-01-01"]), "edges must increase"),
        (lambda: Dates(edges="2024"), "edges must be a list of dates"),
        (lambda: Dates(edges=["2024-01-01 00:00:00.5", "2024-01-02"]), "whole second"),
        (lambda: Dates.from_dict({"kind": "dates", "begin": "2024"}), "has no field 'begin'"),
    ],
)
def test_impossible_dates_are_refused(make, message):
    with pytest.raises(InvalidDomain, match=message):
        make()


@pytest.mark.parametrize("part", DATE_PARTS)
def test_parts_are_those_of_the_calendar(part):
    attribute = Dates("1999-12-01", "2001-03-01", every="day") if part not in ("hour", "minute") else None
    attribute = attribute or Dates("2000-02-28", "2000-03-02", every="hour")
    known = {
        "year": lambda at: at.year,
        "quarter": lambda at: (at.month + 2) // 3,
        "month": lambda at: at.month,
        "week": lambda at: at.isocalendar().week,
        "day": lambda at: at.day,
        "dow": lambda at: at.isoweekday() % 7,
        "isodow": lambda at: at.isoweekday(),
        "doy": lambda at: at.timetuple().tm_yday,
        "hour": lambda at: at.hour,
        "minute": lambda at: at.minute,
    }[part]
    first, _ = DATE_PARTS[part].spans(attribute)
    times = [dt.datetime.fromisoformat(write_time(edge)) for edge in attribute.edges[:-1]]
    assert DATE_PARTS[part].value(first).tolist() == [known(at) for at in times]


def test_clocks_change_when_they_do():
    start, end = (int(read_period(text).start) for text in ("2024-01-01", "2025-01-01"))
    changes = clock_changes("Europe/Berlin", start, end)
    assert [(write_time(at), ahead) for at, ahead in changes] == [
        ("2024-01-01", 3600),
        ("2024-03-31 01:00", 7200),
        ("2024-10-27 01:00", 3600),
    ]
    with pytest.raises(TooLarge, match="change more than 512 times"):
        clock_changes("Europe/Berlin", start, start + 400 * 366 * 86_400)


def test_a_century_of_hours_costs_little():
    attribute = Dates("1950-01-01", "2050-01-01", every="hour")
    assert attribute.size == 876_600
    assert attribute.label(attribute.size - 1) == "2049-12-31 23:00"
    assert np.all(np.diff(attribute.edges) == 3600)
