"""Arithmetic of bin edges: what edges are possible, and where equal bins have theirs."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rowspace.exceptions import InvalidDomain

#: Most bins one attribute may have. A plan file asks for them with a few bytes, so there must be a limit.
MAX_BINS = 2**26
# Up to here float64 holds every integer and every difference of two, so "the next integer" has a meaning.
_EXACT_INTEGERS = 2**52
# Keeps (high - low) * bins finite.
_LARGEST_EDGE = 1e200


def is_exact_integer(value: float) -> bool:
    """Tell whether a float is an integer in the range where floats hold every integer."""
    return value.is_integer() and abs(value) <= _EXACT_INTEGERS


def _check_number(value: object, name: str) -> float:
    """Return a bound as a float, or say why it cannot be one."""
    if value is None:
        raise InvalidDomain(f"{name} is missing: write Numeric(low, high, bins=k) or Numeric(edges=[...])")
    if isinstance(value, bool | np.bool_ | str | bytes):
        raise InvalidDomain(f"{name} must be a number, got {type(value).__name__}")
    try:
        number = float(cast(float, value))
    except (TypeError, ValueError, OverflowError):
        raise InvalidDomain(f"{name} must be a finite number, got {type(value).__name__}") from None
    if not abs(number) <= _LARGEST_EDGE:  # also catches NaN
        raise InvalidDomain(f"{name} must be finite and at most 1e200 in size, got {number}")
    return number


def check_equal_bins(low: object, high: object, bins: object) -> tuple[int, float, float]:
    """Check the three numbers of equal bins."""
    first, last = _check_number(low, "low"), _check_number(high, "high")
    if bins is None:
        raise InvalidDomain("bins is missing: write Numeric(low, high, bins=k) or Numeric(edges=[...])")
    if isinstance(bins, bool | np.bool_):
        raise InvalidDomain("bins must be a whole number, got bool")
    try:
        size = operator.index(cast(int, bins))
    except TypeError:
        raise InvalidDomain(f"bins must be a whole number, got {type(bins).__name__}") from None
    if not 1 <= size <= MAX_BINS:
        raise InvalidDomain(f"bins must be between 1 and 2**26 = {MAX_BINS:,}, got {_short(size)}")
    if not first < last:
        raise InvalidDomain(f"low must be below high, got low={first!r} and high={last!r}")
    if not is_resolvable(first, last, size):
        raise InvalidDomain(
            f"{size:,} bins between {first!r} and {last!r} are finer than float64 can tell apart"
        )
    return size, first, last


def check_edges(edges: Iterable[float] | npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return explicit edges as a read-only increasing array."""
    if isinstance(edges, str | bytes | dict):
        raise InvalidDomain(f"edges must be a list of numbers, got {type(edges).__name__}")
    try:
        items = list(edges)
    except TypeError:
        raise InvalidDomain(f"edges must be a list of numbers, got {type(edges).__name__}") from None
    if len(items) < 2:
        raise InvalidDomain(f"edges must hold at least two numbers (one bin), got {len(items)}")
    if len(items) > MAX_BINS + 1:
        raise InvalidDomain(f"edges may make at most 2**26 = {MAX_BINS:,} bins, got {len(items) - 1:,}")
    array = np.array(
        [_check_number(item, f"edge {index}") for index, item in enumerate(items)], dtype=np.float64
    )
    not_above = np.flatnonzero(np.diff(array) <= 0)
    if not_above.size:
        at = int(not_above[0])
        before, after = float(array[at]), float(array[at + 1])
        raise InvalidDomain(
            f"edges must increase: edge {at + 1} ({after!r}) is not above edge {at} ({before!r})"
        )
    array.flags.writeable = False
    return array


def is_resolvable(low: float, high: float, size: int) -> bool:
    """Tell whether equal edges increase strictly: a step of 8 ulps leaves room for the rounding of each."""
    return (high - low) / size > 8 * math.ulp(max(abs(low), abs(high)))


def equal_edges(low: float, high: float, size: int, whole_steps: bool) -> npt.NDArray[np.float64]:
    """Return the edges of equal bins; whole steps keep integers exact."""
    index = np.arange(size + 1, dtype=np.float64)
    if whole_steps:
        return low + (high - low) // size * index
    # Multiplying before dividing puts the third edge of [0, 1) in ten bins at exactly 0.3.
    edges = low + (high - low) * index / size
    edges[-1] = high
    return edges


def _short(number: int) -> str:
    """Write an integer that may have thousands of digits."""
    return f"{number:,}" if abs(number) < 10**30 else "a number of more than 30 digits"
