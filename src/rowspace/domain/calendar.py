"""Times as whole seconds since 1970 on the clock of one zone: reading and writing them, and the parts of a date."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from rowspace.domain.suggestions import did_you_mean
from rowspace.exceptions import InvalidDomain, TooLarge

if TYPE_CHECKING:
    from rowspace.domain.numeric import Numeric

Indices = npt.NDArray[np.int64]

DAY = 86_400
_EPOCH = datetime(1970, 1, 1)
_LONGEST = 40
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d(:?\d\d)?)?", re.ASCII | re.IGNORECASE
)
_PERIOD = re.compile(r"(\d{4})(?:-(?:(\d\d)(?:-(\d\d))?|Q([1-4])|W(\d\d)))?", re.ASCII)
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_SECONDS = {"hour": 3600, "day": DAY, "week": 7 * DAY}

#: Most changes of the clocks of a zone that are followed: two centuries of summer time.
MAX_CHANGES = 512
#: How long the cells of dates can be.
STEPS = (*_SECONDS, *_MONTHS)


class Period(NamedTuple):
    """From a time to before another, in seconds; an instant ends where it starts."""

    start: float
    end: float


def zone_of(name: object) -> tzinfo:
    """The time zone of a name such as ``Europe/Berlin``."""
    if isinstance(name, str) and name == "UTC":
        return UTC  # needs no database of zones
    if not isinstance(name, str) or not name or len(name) > 100:
        raise InvalidDomain('zone must be the name of a time zone such as "UTC" or "Europe/Berlin"')
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise InvalidDomain(
            f"unknown time zone {name!r}; write for example 'UTC' or 'Europe/Berlin'"
        ) from None


def seconds_of(value: date | datetime, zone: str = "UTC") -> float:
    """The seconds of a date or time on the clock of a zone; a time that has a zone of its own is converted."""
    if not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if value.tzinfo is not None:
        value = value.astimezone(zone_of(zone)).replace(tzinfo=None)
    since = value - _EPOCH
    return since.days * DAY + since.seconds + (since.microseconds / 1e6 if since.microseconds else 0)


def read_period(text: str, zone: str = "UTC") -> Period:
    """The time that a text stands for: a year, quarter, month, week or day, or an instant.

    >>> read_period("1970-02").end, read_period("1970-01-01 00:01").start
    (5097600, 60)

    Raises:
        InvalidDomain: It is no such text, or there is no such day.
    """
    shown = repr(text[:_LONGEST])
    try:
        if _TIME.fullmatch(text):
            at = seconds_of(datetime.fromisoformat(text.upper()), zone)
            return Period(at, at)
        if match := _PERIOD.fullmatch(text):
            year, month, day, quarter, week = (int(group) if group else None for group in match.groups())
            return _period(year or 0, month, day, quarter, week)
    except (ValueError, OverflowError):
        raise InvalidDomain(f"{shown} does not exist: there is no such date or time") from None
    raise InvalidDomain(
        f"expected a date such as '2024-03-01', a month '2024-03' or a time '2024-03-01 14:00', got {shown}"
    )


def _period(year: int, month: int | None, day: int | None, quarter: int | None, week: int | None) -> Period:
    """The calendar period of some numbers; `ValueError` where there is none."""
    if week is not None:
        start = int(seconds_of(date.fromisocalendar(year, week, 1)))
        return Period(start, start + 7 * DAY)
    if day is not None:
        start = int(seconds_of(date(year, month or 1, day)))
        return Period(start, start + DAY)
    first = date(year, month or (3 * quarter - 2 if quarter else 1), 1)
    length = 1 if month else 3 if quarter else 12
    return Period(int(seconds_of(first)), _after(first, length))


def _after(first: date, months: int) -> int:
    """Where the month begins that comes so many months after the one of a date."""
    return int((np.datetime64(first, "M") + months).astype("datetime64[s]").astype(np.int64))


def write_time(seconds: float) -> str:
    """A time as people write it: a day where it begins one."""
    at = _EPOCH + timedelta(seconds=seconds)
    if at.time() == time():
        return at.date().isoformat()
    return at.isoformat(" ", "minutes" if at.second == at.microsecond == 0 else "auto")


def write_period(start: float, end: float) -> str | None:
    """The name of a calendar period, or None where it is none.

    >>> write_period(0, 31 * DAY), write_period(0, DAY), write_period(0, 3600), write_period(0, 5)
    ('1970-01', '1970-01-01', '1970-01-01 00:00', None)
    """
    at = _EPOCH + timedelta(seconds=start)
    if start % 3600 == 0 and end - start == 3600:
        return at.isoformat(" ", "minutes")
    if start % DAY:
        return None
    day = at.date()
    if end - start == DAY:
        return day.isoformat()
    if end - start == 7 * DAY and day.weekday() == 0:
        year, week, _ = day.isocalendar()
        return f"{year:04}-W{week:02}"
    if day.day == 1:
        if end == _after(day, 1):
            return f"{day.year:04}-{day.month:02}"
        if day.month % 3 == 1 and end == _after(day, 3):
            return f"{day.year:04}-Q{day.month // 3 + 1}"
        if day.month == 1 and end == _after(day, 12):
            return f"{day.year:04}"
    return None


def equal_periods(start: int, end: int, every: str) -> int:
    """How many hours, days or weeks there are between two times: a whole number."""
    step = _SECONDS[every]
    if start % min(step, DAY) or (end - start) % step:
        raise InvalidDomain(
            f'every="{every}" needs whole {every}s between start and end; move one of them, or give edges=[...]'
        )
    return (end - start) // step


def calendar_edges(start: int, end: int, every: str) -> npt.NDArray[np.int64]:
    """The edges of the months, quarters or years between two times, which must be edges themselves."""
    months = _MONTHS[every]
    first, last = np.array([start, end], dtype="datetime64[s]").astype("datetime64[M]")
    found = np.arange(first, last + 1, months).astype("datetime64[s]").astype(np.int64)
    if found[0] != start or found[-1] != end or int(first.astype(np.int64)) % months:
        raise InvalidDomain(
            f'every="{every}" needs start and end to be the first day of a {every}; move them, or give edges=[...]'
        )
    return found


def has_equal_steps(every: object) -> bool:
    """Whether all periods of a length are equally long; refuses what is no length."""
    if not isinstance(every, str) or every not in STEPS:
        advice = did_you_mean(str(every)[:_LONGEST], STEPS, len(STEPS))
        raise InvalidDomain(f"every must be a length of time; {advice}, or give edges=[...]")
    return every in _SECONDS


@dataclass(frozen=True)
class DatePart:
    """A part of a date: periods are numbered by `index` (seconds → number), and `value` is the part of each.

    After `cycle` periods in a row the part has had all its values.
    """

    index: Callable[[Indices], Indices]
    value: Callable[[Indices], Indices]
    cycle: int

    def spans(self, attribute: Numeric) -> tuple[Indices, Indices]:
        """The number of the first and of the last period in each cell."""
        edges = attribute.edges.astype(np.int64)
        return self.index(edges[:-1]), self.index(edges[1:] - 1)


def _every(seconds: int, shift: int = 0) -> Callable[[Indices], Indices]:
    return lambda times: (times + shift) // seconds


def _calendar(unit: str) -> Callable[[Indices], Indices]:
    return lambda times: times.astype("datetime64[s]").astype(f"datetime64[{unit}]").astype(np.int64)


def _since(unit: str) -> Callable[[Indices], Indices]:
    """The number of a day within its month or year, from 1."""

    def number(days: Indices) -> Indices:
        at = days.astype("datetime64[D]")
        days_since: Indices = (at - at.astype(f"datetime64[{unit}]").astype("datetime64[D]")).astype(np.int64)
        return days_since + 1

    return number


def _iso_week(weeks: Indices) -> Indices:
    """The number of a week within its year: the year of its Thursday."""
    thursdays = weeks * 7  # week 0 has 1970-01-01, a Thursday
    return (_since("Y")(thursdays) - 1) // 7 + 1


#: Parts of a date by name, as EXTRACT has them; dow counts from Sunday = 0, isodow from Monday = 1.
DATE_PARTS = {
    "year": DatePart(_calendar("Y"), lambda n: n + 1970, 10_000),
    "quarter": DatePart(lambda times: _calendar("M")(times) // 3, lambda n: n % 4 + 1, 4),
    "month": DatePart(_calendar("M"), lambda n: n % 12 + 1, 12),
    "week": DatePart(_every(7 * DAY, 3 * DAY), _iso_week, 106),
    "day": DatePart(_every(DAY), _since("M"), 62),
    "dow": DatePart(_every(DAY), lambda n: (n + 4) % 7, 7),
    "isodow": DatePart(_every(DAY), lambda n: (n + 3) % 7 + 1, 7),
    "doy": DatePart(_every(DAY), _since("Y"), 732),
    "hour": DatePart(_every(3600), lambda n: n % 24, 24),
    "minute": DatePart(_every(60), lambda n: n % 60, 60),
}


@lru_cache(maxsize=64)
def clock_changes(zone: str, start: int, end: int) -> tuple[tuple[int, int], ...]:
    """When the clocks of a zone change between two times (seconds in UTC), and by how much they are ahead from then.

    The first is where the search begins. Found by looking once a day: no zone changes its clocks twice in one.
    """
    rules = zone_of(zone)

    def ahead(at: int) -> int:
        offset = datetime.fromtimestamp(0, UTC) + timedelta(seconds=at)
        return round((offset.astimezone(rules).utcoffset() or timedelta()).total_seconds())

    found = [(start, ahead(start))]
    for day in range(start, end, DAY):
        before, after = day, day + DAY
        if ahead(after) == found[-1][1]:
            continue
        while after - before > 1:
            middle = (before + after) // 2
            before, after = (middle, after) if ahead(middle) == found[-1][1] else (before, middle)
        found.append((after, ahead(after)))
        if len(found) > MAX_CHANGES:
            raise TooLarge(
                f"the clocks of {zone} change more than {MAX_CHANGES} times between start and end; declare a "
                "shorter time, or convert the column to UTC"
            )
    return tuple(found)


def period_around(at: float, unit: str) -> Period:
    """The year, quarter, month, week, day, hour or minute that a time lies in."""
    step = {**_SECONDS, "minute": 60}.get(unit)
    if step is not None:
        shift = 3 * DAY if unit == "week" else 0  # weeks begin on Monday, and 1970 did on Thursday
        start = int((at + shift) // step) * step - shift
        return Period(start, start + step)
    months = _MONTHS[unit]
    month = int(np.datetime64(int(at // 1), "s").astype("datetime64[M]").astype(np.int64)) // months * months
    ends = np.array([month, month + months], dtype="datetime64[M]").astype("datetime64[s]").astype(np.int64)
    return Period(int(ends[0]), int(ends[1]))
