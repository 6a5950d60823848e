"""What is compared or grouped: a column, a part of its date, or the step of a staircase that its value lies on.

Staircases are ``FLOOR(age / 10) * 10`` and ``DATE_TRUNC('month', d)``, constant between the edges of their steps.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from rowspace.domain import (
    DATE_PARTS,
    Attribute,
    Dates,
    DayOfWeek,
    Domain,
    HourOfDay,
    Measure,
    Numeric,
    period_around,
    read_period,
    write_time,
)
from rowspace.exceptions import InvalidDomain, PredicateError
from rowspace.workload.predicate.syntax import And, Comparison, Condition, Not, Test, Value
from rowspace.workload.sql_queries.statements import SqlText, shown
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


@dataclass(frozen=True)
class Columns:
    """Resolves the columns of one statement; `tables` are the names its table goes by, in lower case."""

    domain: Domain
    text: SqlText
    tables: frozenset[str]
    start: int
    selected: frozenset[str] | None = None  # what a subquery hands on, in lower case; None is everything

    def name(self, column: exp.Column) -> str:
        """The attribute or level a column means.

        As in SQL, names without quotes are matched in any case, unless that would be ambiguous.
        """
        given = self.spelt(column)
        try:
            self.domain.resolve(given)
        except InvalidDomain as error:
            # "Male" is a name in SQL, whatever it was meant to be.
            hint = f"; a text stands in single quotes: '{given}'" if column.this.args.get("quoted") else ""
            raise self.error(column, f"{error}{hint}") from None
        return given

    def spelt(self, column: exp.Column) -> str:
        """A column's name as it was declared, where it was."""
        given = column.name
        if column.table and column.table.lower() not in self.tables:
            raise self.error(column, f"{column.table!r} is not the table of this statement")
        if self.selected is not None and given.lower() not in self.selected:
            raise self.error(
                column, f"the subquery does not select {given!r}; select it there, or write SELECT *"
            )
        if given not in self._names() and not column.this.args.get("quoted"):
            alike = [name for name in self._names() if name.lower() == given.lower()]
            given = alike[0] if len(alike) == 1 else given
        return given if given in self._names() else self._read_from(given, Dates) or given

    def is_measure(self, column: exp.Column) -> bool:
        """Whether a column is one to add up."""
        given = self.spelt(column)
        return given in self.domain and isinstance(self.domain[given], Measure)

    def is_stranger(self, column: exp.Column) -> bool:
        """Whether a column is none of the domain, nor one that an attribute is read from."""
        known = {*self._names(), *(self.domain.column(name) for name in self.domain.names)}
        return self.spelt(column).lower() not in {name.lower() for name in known}

    def reading(self, column: exp.Column, kind: type[Attribute]) -> str | None:
        """The attribute of a kind that is a column, or is read from it; None when there is none."""
        found = self._read_from(column.name, kind)
        if found is None and column.name.lower() not in (
            self.domain.column(n).lower() for n in self.domain.names
        ):
            self.name(column)  # a stranger altogether
        return found

    def _read_from(self, column: str, kind: type[Attribute]) -> str | None:
        """The one attribute of a kind that is read from a column, or has its name."""
        found = [
            name
            for name, attribute in self.domain.attributes
            if isinstance(attribute, kind)
            and column.lower() in (name.lower(), self.domain.column(name).lower())
        ]
        return found[0] if len(found) == 1 else column if column in found else None

    def position(self, node: exp.Expr) -> int:
        """Where a piece of a statement begins, or what it is part of when the parser does not tell."""
        around: exp.Expr | None = node
        while around is not None:
            places = [piece.meta.get("start") for piece in around.walk() if piece.meta]
            known = [place for place in places if isinstance(place, int)]
            if known:
                return min(known)
            around = around.parent
        return self.start

    def error(self, node: exp.Expr, message: str) -> PredicateError:
        """The error at a piece of a statement."""
        return self.text.error(message, self.position(node))

    def knows(self, name: str) -> bool:
        """Whether the domain has an attribute or level of this name, in any case."""
        return name.lower() in {known.lower() for known in self._names()}

    def _names(self) -> list[str]:
        levels = [
            name for _, attribute in self.domain.attributes for name in getattr(attribute, "levels", ())
        ]
        return [*self.domain.names, *levels]


_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute")
_FUNCTIONS = {"Year": "year", "Quarter": "quarter", "Month": "month", "Week": "week", "Day": "day", "Hour": "hour",
              "Minute": "minute", "DayOfYear": "doy"}  # fmt: skip
_WEEKDAYS = ("dow", "isodow")


@dataclass(frozen=True)
class Subject:
    """A column, with at most one of: a part of its date, steps, or days of the week that go by number."""

    name: str
    part: str | None = None
    steps: Steps | None = None
    weekday: str | None = None

    def values(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        """The values as the attribute has them: days of the week by name, numbers that are none left out."""
        if self.weekday is None:
            return values
        days = DayOfWeek().values
        # EXTRACT counts Monday as 1; dow has 0 for Sunday where isodow has 7.
        numbers: dict[float, Value] = {number + 1: day for number, day in enumerate(days)}
        if self.weekday == "dow":
            numbers[0] = numbers.pop(7)
        return tuple(numbers[value] for value in values if not isinstance(value, str) and value in numbers)


def read_subject(node: exp.Expr, columns: Columns) -> Subject | None:
    """The subject that an expression is, or None when it is something else."""
    node = node.unnest()
    if isinstance(node, exp.Column):
        return Subject(columns.name(node))
    for reader in (_extract, _truncated, _floored):
        found = reader(node, columns)
        if found is not None:
            return found
    return None


def _extract(node: exp.Expr, columns: Columns) -> Subject | None:
    """EXTRACT(month FROM d), MONTH(d), DATE_PART('month', d)."""
    match node:
        case exp.Extract():
            part, column = node.name.lower(), node.expression
        case exp.Anonymous() if node.name.lower() in ("date_part", "datepart") and len(node.expressions) == 2:
            part, column = node.expressions[0].name.lower(), node.expressions[1]
        case _ if type(node).__name__ in _FUNCTIONS:
            part, column = _FUNCTIONS[type(node).__name__], node.this
        case _:
            return None
    column = column.unnest()
    if not isinstance(column, exp.Column):
        return None
    if part not in DATE_PARTS:
        raise columns.error(
            node, f"{part.upper()} of a date is not read; expected one of {', '.join(DATE_PARTS)}"
        )
    if part in _WEEKDAYS and (name := columns.reading(column, DayOfWeek)) is not None:
        return Subject(name, weekday=part)
    if part == "hour" and (name := columns.reading(column, HourOfDay)) is not None:
        return Subject(name)
    return Subject(_dates(column, columns), part=part)


def _truncated(node: exp.Expr, columns: Columns) -> Subject | None:
    """DATE_TRUNC('month', d), CAST(d AS DATE), DATE(d)."""
    match node:
        case exp.DateTrunc() | exp.TimestampTrunc():
            unit = node.args["unit"].name.lower() if node.args.get("unit") is not None else ""
        case exp.Cast() if node.to.this == exp.DType.DATE:
            unit = "day"
        case exp.Date() | exp.TsOrDsToDate():
            unit = "day"
        case _:
            return None
    column = node.this.unnest() if node.this is not None else None
    if not isinstance(column, exp.Column):
        return None
    if unit not in _UNITS:
        raise columns.error(node, f"{shown(node)}: expected one of {', '.join(_UNITS)} as the unit")
    name = _dates(column, columns)
    return Subject(name, steps=DateSteps(unit, getattr(columns.domain[name], "zone", "UTC")))


def _floored(node: exp.Expr, columns: Columns) -> Subject | None:
    """FLOOR(x / 10), perhaps times a number, perhaps cast to an integer."""
    scale = Fraction(1)
    if isinstance(node, exp.Mul):
        for floor, factor in ((node.this, node.expression), (node.expression, node.this)):
            number = _number(factor)
            if number is not None:
                scale, node = number, floor.unnest()
                break
    if isinstance(node, exp.Cast) and node.to.this in exp.DataType.INTEGER_TYPES:
        node = node.this.unnest()
    if not isinstance(node, exp.Floor) or not isinstance(node.this.unnest(), exp.Div):
        return None
    quotient = node.this.unnest()
    column, width = quotient.this.unnest(), _number(quotient.expression)
    if not isinstance(column, exp.Column) or width is None or width <= 0 or scale <= 0:
        return None
    name = columns.name(column)
    attribute = columns.domain[columns.domain.resolve(name)[0]]
    if not isinstance(attribute, Numeric) or isinstance(attribute, Dates):
        raise columns.error(node, f"{name!r} does not hold numbers, which FLOOR needs")
    return Subject(name, steps=NumberSteps(width, scale))


def _dates(column: exp.Column, columns: Columns) -> str:
    """The attribute of dates that a column is."""
    name = columns.reading(column, Dates)
    if name is None:
        raise columns.error(
            column,
            f'{column.name!r} is declared as no attribute of dates; declare one, as in Dates("2024-01-01", …)',
        )
    return name


def _number(node: exp.Expr) -> Fraction | None:
    """A positive decimal literal, exactly."""
    node = node.unnest()
    if not isinstance(node, exp.Literal) or node.is_string or len(node.name) > 20:
        return None
    try:
        return Fraction(node.name)
    except ValueError:
        return None
