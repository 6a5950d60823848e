"""Tests on numeric attributes: every comparison must fall on a bin edge, or it has no exact answer."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from rowspace.domain import Numeric
from rowspace.exceptions import PredicateError
from rowspace.workload.predicate.source import Source
from rowspace.workload.predicate.syntax import Test, Value, name_text


def number_cells(test: Test, attribute: Numeric, source: Source) -> npt.NDArray[np.bool_]:
    """Return the bins where a test holds."""
    cut = _Cuts(test, attribute, source)
    numbers = [cut.number(value) for value in test.values]
    cells = np.zeros(attribute.size, dtype=np.bool_)
    first = numbers[0]
    match test.comparison:
        case "<":
            cells[: cut.below(first)] = True
        case "<=":
            cells[: cut.up_to(first)] = True
        case ">=":
            cells[cut.below(first) :] = True
        case ">":
            cells[cut.up_to(first) :] = True
        case "between":
            if first > numbers[1]:
                raise cut.error(f"between needs its lower end first, got {first!r} and {numbers[1]!r}")
            cells[cut.below(first) : cut.up_to(numbers[1])] = True
        case "=" | "!=" | "in":
            for number in numbers:
                cells[cut.exactly(number)] = True
            if test.comparison == "!=":
                cells = ~cells
    return cells


class _Cuts:
    """Turns numbers into positions between bins, for one test."""

    def __init__(self, test: Test, attribute: Numeric, source: Source) -> None:
        self._test = test
        self._name = name_text(test.name)
        self._attribute = attribute
        self._source = source

    def number(self, value: Value) -> int | float:
        """Return a value that must be a number."""
        if isinstance(value, bool | str):
            kind = "text" if isinstance(value, str) else "a boolean"
            raise self.error(f"{self._name} holds numbers, it cannot be compared with {kind}")
        return value

    def below(self, number: int | float) -> int:
        """Return how many bins lie below a number: ``x < number`` is those bins."""
        # No integer lies between the number and the next integer up.
        return self._bins_left_of(math.ceil(number) if self._attribute.integer else number)

    def up_to(self, number: int | float) -> int:
        """Return how many bins lie at or below a number: ``x <= number`` is those bins."""
        attribute = self._attribute
        if attribute.integer:
            return self._bins_left_of(math.floor(number) + 1)
        if number < attribute.low or number >= attribute.high:
            return 0 if number < attribute.low else attribute.size
        raise self.error(
            f"bins of {self._name} do not hold their upper end, so {self._test} cannot be answered; "
            f"compare with < or >=, at {self._nearest(number)}"
        )

    def exactly(self, number: int | float) -> slice:
        """Return the bin of a single value."""
        if not self._attribute.integer:
            raise self.error(
                f"{self._name} holds any number and a bin many of them, so = cannot be answered; use >= and <"
            )
        if number != math.floor(number):
            raise self.error(f"{self._name} holds integers, it never equals {number!r}")
        return slice(self.below(number), self.up_to(number))

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
                f"{self._test} does not fall on a bin edge{self._in_integers(threshold)}; "
                f"the nearest edges are {self._nearest(threshold)}: ask about one of them, or declare an edge there"
            )
        return index

    def _in_integers(self, threshold: int | float) -> str:
        """Explain a cut that is not where the text says, such as ``age <= 50``."""
        side = {"<": "<", "<=": "<", ">": ">=", ">=": ">="}.get(self._test.comparison)
        if side is None or threshold == self._test.values[0]:
            return ""
        return f": for integers it means {self._name} {side} {self._attribute.format(float(threshold))}"

    def _nearest(self, number: int | float) -> str:
        """Name the edges on both sides of a number inside the domain."""
        attribute = self._attribute
        index = attribute.nearest_edge(number)
        other = index + 1 if attribute.edge(index) < number else index - 1
        if attribute.edge(index) == number or not 0 <= other <= attribute.size:
            return attribute.format(attribute.edge(index))
        low, high = sorted((attribute.edge(index), attribute.edge(other)))
        return f"{attribute.format(low)} and {attribute.format(high)}"
