"""Columns of Python objects: one record never decides how another is read."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rowspace.domain import Attribute, Categorical, Dates, DayOfWeek, Domain, HourOfDay, Numeric
from rowspace.exceptions import SourceError
from rowspace.privacy import PrivacyUnit
from rowspace.sources import contributions, count_cells
from rowspace.sources.objects import object_array
from rowspace.study import check

ZURICH = ZoneInfo("Europe/Zurich")
TIMES = [dt.datetime(2024, 7, 1, hour, 30) for hour in (0, 1, 5, 23)]

#: Every kind of value that a pandas column of objects may hold, with what means nothing.
KINDS: dict[str, list[Any]] = {
    "booleans": [True, False, np.True_, np.False_],
    "whole": [0, 1, 7, np.int8(7), np.int64(3), np.uint64(2), -1, 2**60, 2**60 + 1],
    "huge": [2**63, np.uint64(2**64 - 1), 2**64, -(2**70)],
    "floats": [0.3, 4.9, 1.0, np.float32(0.3), np.float64(7), np.float16(4.9), float("inf"), 2.0**60],
    "decimals": [Decimal("0.3"), Decimal(7), Decimal("4.9"), Decimal("0." + "3" * 30), Decimal(2**60 + 1)],
    "text": ["a", "7", "2024-07-01", "2024-07-01T01:30:00", "2024-07-01T01:30:00Z", np.str_("a"), "true", ""],
    "bytes": [b"a", bytearray(b"7")],
    "dates": [dt.date(2024, 7, 1), dt.date(2024, 7, 2)],
    "times": [
        *TIMES,
        pd.Timestamp("2024-07-01 03:30"),
        np.datetime64("2024-07-01T04:30"),
        dt.datetime(9999, 1, 1),
    ],
    "fine times": [
        pd.Timestamp("2024-07-01 03:30:00.000000001"),
        np.datetime64("2024-07-01", "D"),
        np.datetime64(9000, "Y"),
    ],
    "zoned": [
        *(time.replace(tzinfo=dt.UTC) for time in TIMES),
        *(time.replace(tzinfo=ZURICH) for time in TIMES),
        pd.Timestamp("2024-07-01 03:30", tz="America/New_York"),
    ],
    "clock": [dt.time(1, 30), dt.time(23, 30), dt.time(1, 30, tzinfo=dt.UTC)],
    "durations": [dt.timedelta(1), np.timedelta64(1, "D"), pd.Timedelta("1h")],
    "others": [
        1j,
        Fraction(1, 3),
        uuid.UUID(int=1),
        [1],
        {"a": 1},
        (1, 2),
        pd.Period("2024-07"),
        np.longdouble("0.3"),
    ],
    "nothing": [None, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN"), np.float32("nan")],
}
DOMAINS: dict[str, Attribute] = {
    "numbers": Numeric(0, 10, bins=20),
    "clipped": Numeric(0, 10, bins=20, outside="clip"),
    "integers": Categorical([0, 1, 7]),
    "large integers": Categorical([2**60, 2**60 + 1, 7]),
    "text": Categorical(["a", "7", "true", "2024-07-01"], other="else"),
    "booleans": Categorical([True, False]),
    "dates": Dates("2024-06-30", "2024-07-04", every="hour"),
    "hours": HourOfDay(zone="Europe/Zurich"),
    "days": DayOfWeek(zone="America/New_York"),
}
EVERYTHING = [value for values in KINDS.values() for value in values]


def frame(values: list[Any]) -> pd.DataFrame:
    """A frame of a column of these very objects."""
    column = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        column[place] = value
    return pd.DataFrame({"x": pd.Series(column, dtype=object), "y": ["a"] * len(values)})


def outcome(action: Callable[[], Any]) -> Any:
    """What it gives, or the text of its refusal."""
    try:
        return action()
    except SourceError as error:
        return str(error)


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[Any], Any, int]:
    """Values of one kind mostly, one more value of any kind, and its place."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    values = draw(st.lists(st.sampled_from([*KINDS[kind], *KINDS[kind], *KINDS["nothing"]]), max_size=12))
    if draw(st.integers(0, 4)) == 0:
        values += draw(st.lists(st.sampled_from(EVERYTHING), max_size=3))
    return (
        values,
        draw(st.sampled_from(EVERYTHING)),
        draw(st.sampled_from([0, len(values) // 2, len(values)])),
    )


@settings(max_examples=500, deadline=None)
@given(columns())
def test_a_value_is_read_the_same_whatever_the_others_are(column: tuple[list[Any], Any, int]) -> None:
    values, other, place = column
    before, after = (
        outcome(lambda rows=rows: object_array("x", rows).to_pylist())
        for rows in (values, [*values[:place], other, *values[place:]])
    )
    if not isinstance(before, str) and not isinstance(after, str):
        assert before == after[:place] + after[place + 1 :]


@settings(max_examples=60, deadline=None)
@given(columns(), st.sampled_from(sorted(DOMAINS)))
def test_one_record_moves_one_count_or_the_column_is_refused(
    column: tuple[list[Any], Any, int], name: str
) -> None:
    values, other, place = column
    domain = Domain(x=DOMAINS[name])
    more = [*values[:place], other, *values[place:]]
    before, after = (outcome(lambda rows=rows: count_cells(frame(rows), domain)) for rows in (values, more))
    if not isinstance(before, str) and not isinstance(after, str):
        assert np.abs(after - before).sum() <= 1
    assert check(domain, frame(more)).accepted == (not isinstance(after, str))


@settings(max_examples=40, deadline=None)
@given(columns())
@example(([2**63] * 3, Decimal("0.3"), 3))
@example(([Decimal("0.3")] * 3, Decimal("0.123456789"), 3))
def test_one_unit_changes_at_most_its_rows(column: tuple[list[Any], Any, int]) -> None:
    values, other, place = column
    rows = frame([*values, *values, *values])
    rows["age"] = [number % 4 for number in range(len(rows))]
    added = frame([other]).assign(age=3)
    at = place * 3
    more = pd.concat(
        [rows[:at].astype(object), added.astype(object), rows[at:].astype(object)], ignore_index=True
    )
    more["age"] = more["age"].astype(int)
    domain, unit = Domain(age=Numeric(0, 4, bins=4)), PrivacyUnit("x", 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contributions.secrets, "token_hex", lambda size: "the same key")
        before, after = (
            outcome(lambda source=source: count_cells(source, domain, unit=unit)) for source in (rows, more)
        )
    if not isinstance(before, str) and not isinstance(after, str):
        known = any(
            type(value) not in (list, dict) and not pd.isna(value) and same(value, other) for value in values
        )
        assert np.abs(after - before).sum() <= (2 if known else 1)
    assert check(domain, more, unit=unit).accepted == (not isinstance(after, str))


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, as far as Python can say."""
    try:
        with np.errstate(over="ignore"):
            return bool(one == other)
    except (TypeError, ValueError):
        return False


@pytest.mark.parametrize(
    "first",
    [dt.date(2024, 7, 2), TIMES[0].replace(tzinfo=dt.UTC), np.float32(1), True, "a"],
    ids=repr,
)
def test_one_value_in_front_does_not_read_all_others(first: object) -> None:
    """It moved 1,501 counts of 1,000 records, or crashed."""
    domain = Domain(x=HourOfDay(zone="Europe/Zurich"))
    assert count_cells(frame(TIMES * 250), domain).sum() == 1000
    with pytest.raises(SourceError, match=r"column 'x' mixes .* and "):
        count_cells(frame([first, *TIMES * 250]), domain)


def test_times_of_python_pandas_and_numpy_are_one_kind() -> None:
    rows = frame(
        [TIMES[2], pd.Timestamp("2024-07-01 06:30"), np.datetime64("2024-07-01T07:30"), dt.datetime(1, 1, 1)]
    )
    assert count_cells(rows, Domain(x=HourOfDay())).nonzero()[0].tolist() == [0, 5, 6, 7]


def test_times_of_several_zones_are_one_kind() -> None:
    rows = frame([TIMES[2].replace(tzinfo=dt.UTC), pd.Timestamp("2024-07-01 06:30", tz="Asia/Tokyo")])
    assert count_cells(rows, Domain(x=HourOfDay(zone="Europe/Zurich"))).nonzero()[0].tolist() == [7, 23]


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(EVERYTHING), min_size=2, max_size=5), st.randoms())
def test_a_refusal_does_not_depend_on_the_order(values: list[Any], random: Any) -> None:
    shuffled = random.sample(values, len(values))
    one, other = (outcome(lambda rows=rows: object_array("x", rows).type) for rows in (values, shuffled))
    assert one == other


@pytest.mark.parametrize("order", [1, -1])
def test_a_refusal_names_the_column_and_the_kinds(order: int) -> None:
    said = outcome(lambda: count_cells(frame([4.9, 4.9, True][::order]), Domain(x=Numeric(0, 10, bins=5))))
    assert said.startswith("column 'x' mixes booleans and floating-point numbers, ")


def test_categories_that_are_objects() -> None:
    """They are what the values are; unused ones, too."""
    domain = Domain(x=Dates("2024-07-01", "2024-07-04", every="day"))
    dates = pd.DataFrame(
        {"x": pd.Categorical([dt.date(2024, 7, 2), None, dt.date(2024, 7, 2), dt.date(2024, 7, 1)])}
    )
    assert count_cells(dates, domain).tolist() == [1, 2, 0]
    mixed = pd.DataFrame(
        {"x": pd.Categorical.from_codes([0, 1, -1], pd.Index([dt.date(2024, 7, 2), TIMES[0]], dtype=object))}
    )
    with pytest.raises(SourceError, match="mixes times without a zone and dates"):
        count_cells(mixed, domain)
