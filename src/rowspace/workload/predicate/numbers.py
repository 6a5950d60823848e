"""Tests on ordered bins: every comparison must fall on a bin edge, or it has no exact answer."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from rowspace.domain import Attribute, Numeric
from rowspace.exceptions import PredicateError
from rowspace.workload.predicate.source import Source
from rowspace.workload.predicate.syntax import And, Condition, Test, Value, value_text


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
