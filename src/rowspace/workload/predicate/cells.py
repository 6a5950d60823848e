"""Tests on ordered bins: every comparison must fall on a bin edge, or it has no exact answer."""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from rowspace.domain import (
    DATE_PARTS,
    DAY,
    Attribute,
    Dates,
    Numeric,
    Period,
    did_you_mean,
    first_few,
    read_period,
)
from rowspace.exceptions import InvalidDomain, PredicateError
from rowspace.workload.predicate.syntax import And, Condition, Source, Test, Value, name_text, value_text


def number_cells(test: Test, attribute: Numeric, source: Source) -> npt.NDArray[np.bool_]:
    """Return the bins where a test against numbers holds."""
    return _NumberCuts(test, attribute, source).cells()


def bins_between(test: Test, attribute: Attribute) -> Condition:
    """``age between 18 and 64`` where each bin has one whole number: from the bin of 18 to that of 64.

    Written out as ``age >= 18 and age < 65``, so that labels say what is counted, also of numbers that are not whole.
    """
    if test.comparison != "between" or not isinstance(attribute, Numeric) or attribute.integer:
        return test
    low, high = test.values
    if type(low) is not int or type(high) is not int or not low <= high < attribute.high:
        return test
    last = attribute.nearest_edge(high)
    if (attribute.edge(last), attribute.edge(last + 1)) != (high, high + 1):
        return test
    return And(
        (Test(test.name, ">=", (low,), test.position), Test(test.name, "<", (high + 1,), test.position))
    )


class Cuts(ABC):
    """Turns the values of one test into positions between bins."""

    def __init__(self, test: Test, attribute: Numeric, source: Source) -> None:
        self._test = test
        self._name = test.subject
        self._attribute = attribute
        self._source = source

    @abstractmethod
    def read(self, value: Value) -> Any:
        """Return a value of the kind that the bins hold, in their order."""

    @abstractmethod
    def below(self, value: Any) -> int:
        """Return how many bins lie below a value: ``x < value`` is those bins."""

    @abstractmethod
    def up_to(self, value: Any) -> int:
        """Return how many bins lie at or below a value: ``x <= value`` is those bins."""

    @abstractmethod
    def exactly(self, value: Any) -> slice:
        """Return the bins of a single value."""

    def cells(self) -> npt.NDArray[np.bool_]:
        """Return the bins where the test holds."""
        test = self._test
        values = [self.read(value) for value in test.values]
        cells = np.zeros(self._attribute.size, dtype=np.bool_)
        first = values[0]
        match test.comparison:
            case "<":
                cells[: self.below(first)] = True
            case "<=":
                cells[: self.up_to(first)] = True
            case ">=":
                cells[self.below(first) :] = True
            case ">":
                cells[self.up_to(first) :] = True
            case "between":
                if first > values[1]:
                    low, high = map(value_text, test.values)
                    raise self.error(f"between needs its lower end first, got {low} and {high}")
                cells[self.below(first) : self.up_to(values[1])] = True
            case "=" | "!=" | "in":
                for value in values:
                    cells[self.exactly(value)] = True
                if test.comparison == "!=":
                    cells = ~cells
        return cells

    def error(self, message: str) -> PredicateError:
        """Return the error at this test."""
        return self._source.error(message, self._test.position)

    def _bins_left_of(self, threshold: int | float) -> int:
        """Return the index of the edge at a threshold; beyond either end all bins are on one side."""
        attribute = self._attribute
        if threshold <= attribute.low:
            return 0
        if threshold >= attribute.high:
            return attribute.size
        index = attribute.nearest_edge(threshold)
        # Edges of equal bins are rounded, so 0.1 + 0.2 counts as 0.3; integers are exact.
        slack = 0.0 if attribute.integer else 4 * math.ulp(max(abs(attribute.low), abs(attribute.high)))
        if abs(attribute.edge(index) - threshold) > slack:
            raise self.error(
                f"{self._test} does not fall on a bin edge{self._explained(threshold)}; "
                f"the nearest edges are {self._nearest(threshold)}: ask about one of them, or declare an edge there"
            )
        return index

    def _explained(self, threshold: int | float) -> str:
        """Explain a cut that is not where the text says."""
        return ""

    def _nearest(self, number: int | float) -> str:
        """Name the edges on both sides of a number inside the domain."""
        attribute = self._attribute
        index = attribute.nearest_edge(number)
        other = index + 1 if attribute.edge(index) < number else index - 1
        if attribute.edge(index) == number or not 0 <= other <= attribute.size:
            return attribute.format(attribute.edge(index))
        low, high = sorted((attribute.edge(index), attribute.edge(other)))
        return f"{attribute.format(low)} and {attribute.format(high)}"


class _NumberCuts(Cuts):
    """Cuts at numbers."""

    def read(self, value: Value) -> int | float:
        """Return a value that must be a number."""
        if isinstance(value, bool | str):
            kind = "text" if isinstance(value, str) else "a boolean"
            raise self.error(f"{self._name} holds numbers, it cannot be compared with {kind}")
        return value

    def below(self, value: int | float) -> int:
        """Return how many bins lie below a number."""
        # No integer lies between the number and the next integer up.
        return self._bins_left_of(math.ceil(value) if self._attribute.integer else value)

    def up_to(self, value: int | float) -> int:
        """Return how many bins lie at or below a number."""
        attribute = self._attribute
        if attribute.integer:
            return self._bins_left_of(math.floor(value) + 1)
        if value < attribute.low or value >= attribute.high:
            return 0 if value < attribute.low else attribute.size
        raise self.error(
            f"{self._test} does not fall on a bin edge: bins hold their lower edge and not their upper one"
            f"{self._instead(value)}"
        )

    def exactly(self, value: int | float) -> slice:
        """Return the bin of a single value."""
        if not self._attribute.integer:
            raise self.error(
                f"{self._name} may hold any number, and a bin many of them, so {self._test} cannot be answered"
                f"{self._instead(value)}"
            )
        if value != math.floor(value):
            raise self.error(f"{self._name} holds integers, it never equals {value!r}")
        return slice(self.below(value), self.up_to(value))

    def _instead(self, value: int | float) -> str:
        """What to write for a comparison that would need whole numbers: one with the next edge, or a declaration."""
        name, low, upper = self._name, value_text(self._test.values[0]), math.floor(value) + 1
        edge = self._attribute.edge(self._attribute.nearest_edge(upper))
        if value != math.floor(value) or edge != upper:
            return f"; compare with < or >=, at {self._nearest(value)}"
        inside = f"{name} >= {low} and {name} < {upper}"
        written = {
            "<=": f"{name} < {upper}",
            ">": f"{name} >= {upper}",
            "!=": f"{name} < {low} or {name} >= {upper}",
            "in": f"{name} >= {value!r} and {name} < {upper} for each",
        }.get(self._test.comparison, inside)
        return f"; write {written}, or declare integer = true if {name} holds whole numbers only"

    def _explained(self, threshold: int | float) -> str:
        """Explain a cut in integers such as ``age <= 50``."""
        side = {"<": "<", "<=": "<", ">": ">=", ">=": ">="}.get(self._test.comparison)
        if side is None or threshold == self._test.values[0]:
            return ""
        return f": for integers it means {self._name} {side} {self._attribute.format(float(threshold))}"


Mask = npt.NDArray[np.bool_]

_ORDER: dict[str, Callable[..., Any]] = {
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
    return np.asarray(_ORDER[test.comparison](values, wanted[0]))


_KIND_NAMES: dict[type, str] = {str: "text", int: "integers", bool: "booleans"}


def category_cells(
    test: Test, labels: tuple[str | int | bool, ...], kind: type, source: Source
) -> npt.NDArray[np.bool_]:
    """Return the labels where a test holds.

    The bucket for everything else differs from every listed value, so ``!=`` keeps it; it has no place in an
    order.
    """
    if test.comparison in ("=", "!=", "in"):
        cells = np.zeros(len(labels), dtype=np.bool_)
        for value in test.values:
            cells[_position(test, value, labels, kind, source)] = True
        return ~cells if test.comparison == "!=" else cells
    if kind is not int or any(isinstance(label, str) for label in labels):
        reason = "its bucket for everything else" if kind is int else f"{_KIND_NAMES[kind]} like these"
        raise _error(test, source, f"{reason} has no order; compare {name_text(test.name)} with =, != or in")
    numbers = [_number(test, value, source) for value in test.values]
    if test.comparison == "between":
        if numbers[0] > numbers[1]:
            message = f"between needs its lower end first, got {numbers[0]!r} and {numbers[1]!r}"
            raise _error(test, source, message)
        return np.array([numbers[0] <= label <= numbers[1] for label in labels if isinstance(label, int)])
    compare = _ORDER[test.comparison]
    return np.array([compare(label, numbers[0]) for label in labels if isinstance(label, int)])


def _position(
    test: Test, value: Value, labels: tuple[str | int | bool, ...], kind: type, source: Source
) -> int:
    """Return the place of a value among the labels; True is not 1 here."""
    for position, label in enumerate(labels):
        if type(label) is type(value) and label == value:
            return position
    name = name_text(test.name)
    if type(value) is not kind and not (kind is int and isinstance(value, float)):
        raise _error(
            test,
            source,
            f"{name} holds {_KIND_NAMES[kind]}, it cannot equal {value!r}; known: {first_few(labels)}",
        )
    known = f"known: {first_few(labels)}"
    close = did_you_mean(str(value), [label for label in labels if isinstance(label, str)])
    advice = known if close.startswith("known") else f"{close} {known}"
    raise _error(test, source, f"{name} has no category {value!r}; {advice}")


def _number(test: Test, value: Value, source: Source) -> int | float:
    """Return a value that must be a number."""
    if isinstance(value, bool | str):
        raise _error(test, source, f"{name_text(test.name)} holds integers, compare it with a number")
    return value


def _error(test: Test, source: Source, message: str) -> PredicateError:
    """Return the error at this test."""
    return source.error(message, test.position)
