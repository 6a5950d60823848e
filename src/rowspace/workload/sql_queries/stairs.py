"""Staircases: ``FLOOR(age / 10) * 10`` and ``DATE_TRUNC('month', d)``, constant between the edges of their steps."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rowspace.domain import DATE_PARTS, Numeric, period_around, read_period, write_time
from rowspace.exceptions import InvalidDomain
from rowspace.workload.predicate.syntax import And, Comparison, Condition, Not, Test, Value
from rowspace.workload.sql_queries.truths import Truth, all_of, any_of

Codes = npt.NDArray[np.int64]

# Quotients this close to a whole number are one: edges such as 0.1 + 0.2 are rounded.
_SLACK = 1e-9


class Step(NamedTuple):
    """The step that a value is compared with: from `low` to before `high`; `exact` where it begins."""

    low: Value
    high: Value
    exact: bool


class Steps(ABC):
    """A staircase over the values of an attribute."""

    @abstractmethod
    def around(self, value: Value) -> Step:
        """The step at or below a value that the staircase is compared with; `InvalidDomain` for what it never is."""

    @abstractmethod
    def codes(self, attribute: Numeric) -> Codes | None:
        """The number of the step that each cell lies on, or None where a cell is on several."""


@dataclass(frozen=True)
class NumberSteps(Steps):
    """``FLOOR(x / width) * scale``."""

    width: Fraction
    scale: Fraction

    def around(self, value: Value) -> Step:
        """The step at a number."""
        if isinstance(value, bool | str):
            raise InvalidDomain("a number is compared with text")
        at = Fraction(value) / self.scale
        low = math.floor(at)
        return Step(_plain(low * self.width), _plain((low + 1) * self.width), at == low)

    def codes(self, attribute: Numeric) -> Codes | None:
        """The steps of the bins."""
        at = attribute.edges / float(self.width)
        near = np.abs(at - np.rint(at)) <= _SLACK * np.maximum(1, np.abs(at))
        first = np.where(near, np.rint(at), np.floor(at))[:-1]
        last = np.where(near, np.rint(at), np.ceil(at))[1:]
        return (first - first[0]).astype(np.int64) if np.all(last <= first + 1) else None


@dataclass(frozen=True)
class DateSteps(Steps):
    """``DATE_TRUNC('month', d)``."""

    unit: str
    zone: str

    def around(self, value: Value) -> Step:
        """The period at a date."""
        if not isinstance(value, str):
            raise InvalidDomain("a date is compared with a number")
        at = read_period(value, self.zone).start
        low, high = period_around(at, self.unit)
        return Step(write_time(low), write_time(high), at == low)

    def codes(self, attribute: Numeric) -> Codes | None:
        """The periods of the cells."""
        first, last = DATE_PARTS[self.unit].spans(attribute)
        return first - first[0] if np.array_equal(first, last) else None


def compare_steps(
    steps: Steps, name: str, comparison: Comparison, values: tuple[Value, ...], position: int
) -> Truth:
    """A staircase over an attribute against values: comparisons of the attribute with the edges of steps.

    Raises:
        InvalidDomain: A value of another kind, or one that the staircase never takes.
    """
    if comparison == "between":
        low, high = ((value,) for value in values)
        return all_of(
            [
                compare_steps(steps, name, ">=", low, position),
                compare_steps(steps, name, "<=", high, position),
            ]
        )
    if comparison == "in":
        return any_of([compare_steps(steps, name, "=", (value,), position) for value in values])
    step = steps.around(values[0])

    def test(how: Comparison, value: Value) -> Condition:
        return Test(name, how, (value,), position)

    nearest = step.low if step.exact else step.high
    match comparison:
        case ">=":
            return test(">=", nearest)
        case ">":
            return test(">=", step.high)
        case "<":
            return test("<", nearest)
        case "<=":
            return test("<", step.high)
    if not step.exact:
        raise InvalidDomain(
            "this value lies between two steps, so no record has it; compare with the start of a step"
        )
    inside = And((test(">=", step.low), test("<", step.high)))
    return Not(inside) if comparison == "!=" else inside


def _plain(number: Fraction) -> int | float:
    return int(number) if number.denominator == 1 else float(number)
