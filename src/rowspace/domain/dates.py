"""Dates and times cut into periods, and the hour of day and day of week of a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

import numpy as np

from rowspace.domain.calendar import (
    DAY,
    calendar_edges,
    equal_periods,
    has_equal_steps,
    read_period,
    seconds_of,
    write_period,
    write_time,
    zone_of,
)
from rowspace.domain.categorical import Categorical
from rowspace.domain.numeric import Cells, Numeric, Outside
from rowspace.exceptions import InvalidDomain

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

Time = str | date


class Dates(Numeric):
    """Dates or times cut into periods, each with its start and without its end: hours, days, weeks, months, any.

    Give `start`, `end` and `every`, or all `edges`: text such as ``"2024-01-01"``, or Python dates. `end` is where the
    last period ends, so a whole year ends with the next one's first day.

    The attribute holds *days*: a time in the data counts by its day, and ``when <= '2024-03-31'`` includes all of the
    31st. It holds *times* where cells are shorter than a day, or with ``times=True``: then a date is its first instant,
    as SQL compares timestamps, and ``<=``, which would cut one instant out of a cell, is refused.

    A time without a zone is taken as it is; one with a zone is converted to the clock of `zone`, which the edges are
    times of, too. The hour that a clock shows twice in autumn is one hour here.

    Args:
        start: Where the first period starts.
        end: Where the last period ends.
        every: ``"hour"``, ``"day"``, ``"week"`` (from `start` on), ``"month"``, ``"quarter"`` or ``"year"``.
        edges: All edges instead, increasing: one more than there are periods; whole seconds.
        column: The column of the data, where it is not called like the attribute.
        zone: Whose clock the edges are on.
        times: Whether the attribute holds times of the day, not days only.
        outside: As for `Numeric`.

    >>> month = Dates("2024-01-01", "2025-01-01", every="month")
    >>> month.size, month.label(2), month.span_label(2, 4)
    (12, '2024-03', '[2024-03-01, 2024-06-01)')
    >>> print(month)
    dates in [2024-01-01, 2025-01-01), 12 months, zone UTC, others missing
    """

    every: str | None
    column: str | None
    zone: str
    times: bool

    def __init__(
        self,
        start: Time | None = None,
        end: Time | None = None,
        *,
        every: str | None = None,
        edges: Iterable[Time] | None = None,
        column: str | None = None,
        zone: str = "UTC",
        times: bool = False,
        outside: Outside = "missing",
    ) -> None:
        zone_of(zone)
        if not isinstance(times, bool):
            raise InvalidDomain(f"times must be True or False, got {type(times).__name__}")
        if edges is None:
            if start is None or end is None or every is None:
                raise InvalidDomain(
                    'dates need start, end and every, as in Dates("2024-01-01", "2025-01-01", every="month"), '
                    "or edges=[...]"
                )
            first, last = _seconds(start, "start", zone), _seconds(end, "end", zone)
            if not first < last:
                raise InvalidDomain("start must be before end")
            if has_equal_steps(every):
                super().__init__(
                    first, last, bins=equal_periods(first, last, every), integer=True, outside=outside
                )
            else:
                super().__init__(edges=calendar_edges(first, last, every), integer=True, outside=outside)
        elif start is None and end is None and every is None:
            if isinstance(edges, str | bytes | Mapping) or not isinstance(edges, Iterable):
                raise InvalidDomain(f"edges must be a list of dates, got {type(edges).__name__}")
            found = [_seconds(edge, f"edge {at}", zone) for at, edge in enumerate(edges)]
            super().__init__(edges=found, integer=True, outside=outside)
        else:
            raise InvalidDomain("give either start, end and every, or edges; got both")
        object.__setattr__(self, "every", every)
        object.__setattr__(self, "zone", zone)
        object.__setattr__(self, "column", check_column(column))
        object.__setattr__(self, "times", times or self._cuts_days)

    def span_labels(self, first: Cells, last: Cells) -> list[str]:
        """Return the readable names of many spans at once: a period of the calendar by itself is called by its name.

        first, last: the periods where each begins and ends, both included.

        >>> Dates("2024-01-01", "2025-01-01", every="month").span_labels(np.array([0, 2]), np.array([2, 2]))
        ['[2024-01-01, 2024-04-01)', '2024-03']
        """
        found = super().span_labels(first, last)
        for at in np.flatnonzero(first == last).tolist():
            period = int(first[at])
            found[at] = write_period(self.edge(period), self.edge(period + 1)) or found[at]
        return found

    def format(self, value: float) -> str:
        """Write an edge, a `value` in seconds since 1970, as people do: ``2024-03-01``, or ``2024-03-01 14:00``.

        >>> Dates("2024-01-01", "2025-01-01", every="month").format(0)
        '1970-01-01'
        """
        return write_time(value)

    def __str__(self) -> str:
        kind = "times" if self.times else "dates"
        cells = f"{self.size:,} {self.every or 'period'}{'' if self.size == 1 else 's'}"
        policy = {"missing": "missing", "clip": "clipped", "drop": "dropped"}[self.outside]
        return f"{kind} in {self._whole()}, {cells}, zone {self.zone}, others {policy}"

    def __repr__(self) -> str:
        fields = {key: value for key, value in self.to_dict().items() if key not in ("kind", "edges")}
        if self.every is None:
            fields = {"edges": [*map(self.format, self.edges[:4].tolist()), ...], **fields}
        return f"Dates({', '.join(f'{key}={value!r}' for key, value in fields.items() if value is not None)})"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON-safe form.

        >>> Dates("2024-01-01", "2025-01-01", every="month").to_dict()["zone"]
        'UTC'
        """
        shape: dict[str, Any] = (
            {"edges": [self.format(edge) for edge in self.edges.tolist()]}
            if self.every is None
            else {"start": self.format(self.low), "end": self.format(self.high), "every": self.every}
        )
        place = {"column": self.column, "zone": self.zone, "times": self.times}
        return {"kind": "dates", **shape, **place, "outside": self.outside}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Dates:
        """Rebuild from the `data` of `to_dict`, checking everything: the file may come from anyone.

        >>> months = Dates("2024-01-01", "2025-01-01", every="month")
        >>> Dates.from_dict(months.to_dict()) == months
        True
        """
        return cls(**fields_of(data, "start", "end", "every", "edges", "column", "zone", "times", "outside"))

    @property
    def _cuts_days(self) -> bool:
        """Whether some edge is not at midnight."""
        if self._given_edges is None:
            return bool(self.low % DAY or (self.edge(1) - self.low) % DAY)
        return bool(np.any(self._given_edges % DAY))

    def _key(self) -> tuple[object, ...]:
        return (*super()._key(), "dates", self.column, self.zone, self.times)


class HourOfDay(Numeric):
    """The hour of a time, 0 to 23, on the clock of a zone.

    Args:
        column: The column of times, where it is not called like the attribute.
        zone: Whose clock: times that have a zone are converted to it.
        outside: As for `Numeric`.

    >>> HourOfDay("departure").labels(6, 9)
    ['6', '7', '8']
    """

    column: str | None
    zone: str

    def __init__(self, column: str | None = None, *, zone: str = "UTC", outside: Outside = "missing") -> None:
        zone_of(zone)
        super().__init__(0, 24, bins=24, integer=True, outside=outside)
        object.__setattr__(self, "column", check_column(column))
        object.__setattr__(self, "zone", zone)

    def __str__(self) -> str:
        return f"hours of the day{_of(self.column)}, zone {self.zone}"

    def __repr__(self) -> str:
        return f"HourOfDay({self.column!r}, zone={self.zone!r}, outside={self.outside!r})"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON-safe form.

        >>> HourOfDay("departure").to_dict()["zone"]
        'UTC'
        """
        return {"kind": "hour_of_day", "column": self.column, "zone": self.zone, "outside": self.outside}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> HourOfDay:
        """Rebuild from the `data` of `to_dict`, checking everything: the file may come from anyone.

        >>> HourOfDay.from_dict(HourOfDay("departure").to_dict()) == HourOfDay("departure")
        True
        """
        return cls(**fields_of(data, "column", "zone", "outside"))

    def _key(self) -> tuple[object, ...]:
        return (*super()._key(), "hour of day", self.column, self.zone)


class DayOfWeek(Categorical):
    """The day of the week of a date or time, from Monday to Sunday.

    Args:
        column: The column of dates or times, where it is not called like the attribute.
        zone: On whose clock the day begins: times that have a zone are converted to it.

    >>> DayOfWeek("departure").labels(0, 2)
    ['Monday', 'Tuesday']
    """

    column: str | None
    zone: str

    def __init__(self, column: str | None = None, *, zone: str = "UTC") -> None:
        zone_of(zone)
        super().__init__(_DAYS)
        object.__setattr__(self, "column", check_column(column))
        object.__setattr__(self, "zone", zone)

    def __str__(self) -> str:
        return f"days of the week{_of(self.column)}, zone {self.zone}"

    def __repr__(self) -> str:
        return f"DayOfWeek({self.column!r}, zone={self.zone!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return DayOfWeek.from_dict, (self.to_dict(),)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON-safe form.

        >>> DayOfWeek("departure").to_dict()["zone"]
        'UTC'
        """
        return {"kind": "day_of_week", "column": self.column, "zone": self.zone}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> DayOfWeek:
        """Rebuild from the `data` of `to_dict`, checking everything: the file may come from anyone.

        >>> DayOfWeek.from_dict(DayOfWeek("departure").to_dict()) == DayOfWeek("departure")
        True
        """
        return cls(**fields_of(data, "column", "zone"))

    def _key(self) -> tuple[object, ...]:
        return (*super()._key(), "day of week", self.column, self.zone)


#: Attributes that are read from a column of dates or times.
Timed = Dates | HourOfDay | DayOfWeek


def fields_of(data: Mapping[str, Any], *known: str) -> dict[str, Any]:
    """The fields of a saved attribute, none of them unknown."""
    unknown = set(data) - {"kind", *known}
    if unknown:
        raise InvalidDomain(f"an attribute of this kind has no field {min(map(repr, unknown))}")
    return {key: value for key, value in data.items() if key != "kind"}


def check_column(column: object) -> str | None:
    """A column's name, or None for the attribute's own."""
    if column is not None and (not isinstance(column, str) or not column):
        raise InvalidDomain(f"column must be the name of a column, got {type(column).__name__}")
    return column


def _of(column: str | None) -> str:
    return "" if column is None else f" of {column}"


def _seconds(value: object, what: str, zone: str) -> int:
    """A bound in seconds."""
    if isinstance(value, date):
        try:
            found = seconds_of(value, zone)
        except OverflowError:
            raise InvalidDomain(f"{what} is beyond the calendar, which goes from year 1 to 9999") from None
    elif isinstance(value, str):
        found = read_period(value, zone).start
    else:
        raise InvalidDomain(f"{what} must be a date such as '2024-01-01', got {type(value).__name__}")
    if found != int(found):
        raise InvalidDomain(f"{what} must be a whole second")
    return int(found)
