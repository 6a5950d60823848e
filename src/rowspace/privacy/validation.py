"""Checks of privacy parameters, shared by everything in this room: one wording, one exception."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from rowspace.exceptions import InvalidPrivacy


def positive_finite(name: str, value: object) -> float:
    """The value as a float, or `InvalidPrivacy` unless it is a positive finite real number."""
    number = _real(value)
    if not (0.0 < number < math.inf):
        raise InvalidPrivacy(
            f"expected {name} to be a positive finite number, got {_shown(value)}; "
            f"choose for example {name}=1.0"
        )
    return number


def probability(name: str, value: object) -> float:
    """The value as a float, or `InvalidPrivacy` unless it lies strictly between 0 and 1."""
    number = _real(value)
    if not (0.0 < number < 1.0):
        raise InvalidPrivacy(
            f"expected {name} strictly between 0 and 1, got {_shown(value)}; choose it well below one over "
            f"the number of records, for example {name}=1e-9, or use PureDP, which needs none"
        )
    return number


def positive_integer(name: str, value: object, advice: str) -> int:
    """The value as a Python integer, or `InvalidPrivacy`, with `advice`, unless it is a whole number ≥ 1."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InvalidPrivacy(f"expected {name} to be a whole number >= 1, got {_shown(value)}; {advice}")
    return int(value)


def tagged_fields(tree: object, tag: str, kinds: Mapping[str, frozenset[str]]) -> tuple[str, dict[str, Any]]:
    """The kind and the other fields of a saved value, which must have exactly the expected keys."""
    if not isinstance(tree, dict):
        raise InvalidPrivacy(f"expected a table with the key {tag!r}, got {type(tree).__name__}")
    kind = tree.get(tag)
    if not isinstance(kind, str) or kind not in kinds:
        known = ", ".join(map(repr, kinds))
        raise InvalidPrivacy(f"expected {tag!r} to be one of {known}, got {_shown(kind)}")
    expected = kinds[kind] | {tag}
    if tree.keys() != expected:
        raise InvalidPrivacy(
            f"expected exactly the keys {', '.join(sorted(expected))} for {kind!r}, got {_shown(list(tree))}"
        )
    return kind, {name: value for name, value in tree.items() if name != tag}


def _real(value: object) -> float:
    """The value as a float; NaN for whatever is not a real number (so that every comparison rejects it).

    What lies between two floats, such as Fraction(1, 10), becomes the lower one: no budget is larger than was stated.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        return math.inf
    return math.nextafter(number, -math.inf) if number > value else number


def _shown(value: object) -> str:
    """A short repr: saved files are not trusted to be small."""
    return reprlib.repr(value)
