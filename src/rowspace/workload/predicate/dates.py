"""Tests on dates: a date stands for its whole day, a month for all of it; every comparison must fall on an edge."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from rowspace.domain import DATE_PARTS, Attribute, Dates
from rowspace.domain.calendar import DAY, Period, read_period
from rowspace.exceptions import InvalidDomain
from rowspace.workload.predicate.numbers import Cuts
from rowspace.workload.predicate.source import Source
from rowspace.workload.predicate.syntax import Test, Value

Mask = npt.NDArray[np.bool_]

_ORDER: dict[str, Callable[..., Mask]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def date_cells(test: Test, attribute: Dates, source: Source) -> Mask:
    """Return the cells where a test against dates holds."""
    return _DateCuts(test, attribute, source).cells()


class _DateCuts(Cuts):
    """Cuts at dates and times: seconds, from a period's start or before its end."""

    _attribute: Dates

    def read(self, value: Value) -> Period:
        """Return the time a value stands for; an instant has no length."""
        if not isinstance(value, str):
            raise self.error(f"{self._name} holds dates; compare it with one such as '2024-03-01'")
        try:
            period = read_period(value, self._attribute.zone)
        except InvalidDomain as error:
            raise self.error(str(error)) from None
        if self._attribute.times:
            # Among times a date is its first instant, as in SQL.
            return Period(period.start, period.start) if period.end - period.start == DAY else period
        if period.end > period.start:
            return period
        # Among dates an instant lies at the start of its day, or between that day and the next.
        start = period.start // DAY * DAY
        return Period(start, start + DAY) if start == period.start else Period(start + DAY, start + DAY)

    def below(self, value: Period) -> int:
        """Return how many cells lie before a time."""
        return self._bins_left_of(value.start)

    def up_to(self, value: Period) -> int:
        """Return how many cells lie before the end of a time."""
        attribute = self._attribute
        if value.end > value.start or not attribute.times:
            return self._bins_left_of(value.end)
        if not attribute.low <= value.start < attribute.high:
            return 0 if value.start < attribute.low else attribute.size
        raise self.error(
            f"{self._name} holds times, and {self._test} would include a single instant of a cell; "
            f"compare with < or >=, at {self._nearest(value.start)}"
        )

    def exactly(self, value: Period) -> slice:
        """Return the cells of one period."""
        if value.end == value.start:
            message = f"{self._test} asks for a single instant; compare with >= and <, at the edges of a cell"
            raise self.error(message)
        return slice(self.below(value), self.up_to(value))


def part_cells(test: Test, attribute: Attribute, source: Source) -> Mask:
    """Return the cells where a test of a part of a date holds, such as ``month(arrival) = 3``."""
    if not isinstance(attribute, Dates):
        raise source.error(f"{test.subject}: only attributes that hold dates have parts", test.position)
    if any(isinstance(value, bool | str) for value in test.values):
        raise source.error(f"{test.subject} is a whole number; compare it with one", test.position)
    assert test.part is not None
    part = DATE_PARTS[test.part]
    first, last = part.spans(attribute)
    found = _compare(part.value(first), test)
    # Within a cell the part takes the values of one period after the other: all must agree.
    for step in range(1, min(int((last - first).max()), part.cycle) + 1):
        inside = first + step <= last
        if np.any(inside & (_compare(part.value(first + step), test) != found)):
            raise source.error(
                f"the cells of {test.name} are too long to decide {test}; declare finer cells, or compare "
                f"{test.name} itself with dates",
                test.position,
            )
    return found


def _compare(values: npt.NDArray[np.int64], test: Test) -> Mask:
    """Where numbers meet a test."""
    wanted: list[float] = np.array(test.values, dtype=np.float64).tolist()
    match test.comparison:
        case "=" | "in":
            return np.isin(values, wanted)
        case "!=":
            return ~np.isin(values, wanted)
        case "between":
            return (values >= wanted[0]) & (values <= wanted[1])
    return _ORDER[test.comparison](values, wanted[0])
