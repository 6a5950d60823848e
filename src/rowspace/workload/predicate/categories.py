"""Tests on categories and on the levels of a taxonomy."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from rowspace.domain import did_you_mean, first_few
from rowspace.exceptions import PredicateError
from rowspace.workload.predicate.source import Source
from rowspace.workload.predicate.syntax import Test, Value, name_text

_ORDER: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
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
