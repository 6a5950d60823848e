"""Columns of Python objects: all values of one kind, each read by itself.

Arrow and pandas take the type of a column from its first values, and then read all others as that: one date in front of
a thousand times would move every one of them. So here every value is asked what kind it is. Values of two kinds refuse
the column, whatever their order; of one kind, each is converted by itself to a type that the kind alone decides.

Whole numbers may stand among floats or among decimals: a record of the one kind or the other changes the type of the
column then, but no number, since integers that a float64 does not hold are refused among floats.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from rowspace.exceptions import SourceError
from rowspace.sources.silence import attempt

_WHOLE, _FLOATS, _DECIMALS = "whole numbers", "floating-point numbers", "decimals"
_NAIVE, _ZONED = "times without a zone", "times with a zone"
_DURATIONS, _BINARY, _OTHERS = "durations", "binary data", "other Python objects"

# The first that a type is a subclass of decides: bool is an int, a datetime a date, a timedelta64 a whole number.
_KINDS: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("booleans", (bool, np.bool_)),
    (_DURATIONS, (datetime.timedelta, np.timedelta64)),
    (_WHOLE, (int, np.integer)),
    (_FLOATS, (float, np.float16, np.float32)),
    (_DECIMALS, (Decimal,)),
    ("text", (str,)),
    (_BINARY, (bytes, bytearray)),
    (_NAIVE, (datetime.datetime, np.datetime64)),
    ("dates", (datetime.date,)),
    ("times of day", (datetime.time,)),
)
_ORDER = (*(kind for kind, _ in _KINDS), _ZONED, _OTHERS)

# Up to here every integer is a float64 of its own.
_EXACT_INTEGERS = 2**53
_LARGEST = 2**63 - 1


def object_array(name: str, values: Iterable[object]) -> pa.Array:
    """Python objects as an Arrow array; None, NaN, NaT and NA are NULL.

    Guarantees:
        - One value changes how no other is read, or the column is refused, in any order of its values:
          `test_objects.py::test_a_value_is_read_the_same_whatever_the_others_are`,
          `test_objects.py::test_one_record_moves_one_count_or_the_column_is_refused`.
        - The refusal names kinds, and does not depend on their order:
          `test_objects.py::test_a_refusal_does_not_depend_on_the_order`.

    Raises:
        SourceError: The values are of several kinds, or of one that engines do not have.
    """
    return attempt(
        lambda: _array(name, values),
        f"column {name!r} holds Python objects that have no Arrow type; convert the column first",
    )


def _array(name: str, values: Iterable[object]) -> pa.Array:
    objects = pd.Series(values, dtype=object)
    missing = objects.isna().to_numpy()
    there = objects.to_numpy()[~missing]
    kind = _kind_of_all(name, _kinds(there))
    if kind is None:
        return pa.nulls(len(objects))
    converted, dtype = _CONVERTERS[kind](name, there.tolist())
    rest = iter(converted)
    return pa.array([None if gone else next(rest) for gone in missing], type=dtype)


def _kinds(values: Any) -> set[str]:
    """The kinds of these values."""
    found = set()
    for kind in set(map(type, values)):
        found.add(next((name for name, types in _KINDS if issubclass(kind, types)), _OTHERS))
    if _NAIVE in found:
        times = [value for value in values if isinstance(value, datetime.datetime | np.datetime64)]
        zoned = sum(_has_zone(time) for time in times)
        found |= {_ZONED} if zoned else set()
        found -= {_NAIVE} if zoned == len(times) else set()
    if "times of day" in found and any(
        isinstance(value, datetime.time) and value.tzinfo is not None for value in values
    ):
        found.add(_OTHERS)
    return found


def _has_zone(time: Any) -> bool:
    return isinstance(time, datetime.datetime) and time.utcoffset() is not None


def _kind_of_all(name: str, kinds: set[str]) -> str | None:
    """The one kind that all values have, None of no values."""
    if len(kinds) == 2 and _WHOLE in kinds and kinds & {_FLOATS, _DECIMALS}:
        kinds = kinds - {_WHOLE}
    if len(kinds) > 1:
        told = [kind for kind in _ORDER if kind in kinds]
        raise SourceError(
            f"column {name!r} mixes {', '.join(told[:-1])} and {told[-1]}, so that one record could decide how others "
            "are read; convert the column first, so that all its values are of one type"
        )
    if kinds & {_DURATIONS, _BINARY, _OTHERS}:
        raise SourceError(
            f"column {name!r} holds Python objects that are no numbers, text, booleans, dates or times; convert the "
            "column first, for example with .astype(str)"
        )
    return next(iter(kinds), None)


def _plainly(
    convert: Callable[[Any], object], dtype: pa.DataType
) -> Callable[[str, list[Any]], tuple[list[Any], Any]]:
    """Each value converted by itself, to a type that is always the same."""
    return lambda name, values: ([convert(value) for value in values], dtype)


def _whole(name: str, values: list[Any]) -> tuple[list[Any], Any]:
    """Integers of 64 bits, with a sign unless one needs its place."""
    numbers = [int(value) for value in values]
    return numbers, pa.uint64() if max(numbers) > _LARGEST else pa.int64()


def _floats(name: str, values: list[Any]) -> tuple[list[Any], Any]:
    """float64, which holds all that is there."""
    for value in values:
        if isinstance(value, int | np.integer) and abs(int(value)) > _EXACT_INTEGERS:
            raise SourceError(
                f"column {name!r} mixes floating-point numbers and whole numbers beyond 2**53, which these cannot tell "
                "apart; convert the column first, for example with .astype(str)"
            )
    return [float(value) for value in values], pa.float64()


def _decimals(name: str, values: list[Any]) -> tuple[list[Any], Any]:
    """Decimals of the fewest digits that hold all of them: equal numbers stay equal, others do not become so."""
    numbers = [Decimal(int(value)) if isinstance(value, int | np.integer) else value for value in values]
    dtype = pa.array(numbers).type
    if not pa.types.is_decimal128(dtype):
        raise SourceError(
            f"column {name!r} holds decimals that together need more digits than engines have; convert the column "
            "first, for example with .astype(float)"
        )
    return numbers, dtype


def _naive(name: str, values: list[Any]) -> tuple[list[Any], Any]:
    """Microseconds, the finest that Python's own times have and that engines compute with."""
    return _times(name, values, _microseconds), pa.timestamp("us")


def _zoned(name: str, values: list[Any]) -> tuple[list[Any], Any]:
    """The same instants in one zone, whichever each was in."""
    times = _times(name, values, lambda value: _microseconds(value).astimezone(datetime.UTC))
    return times, pa.timestamp("us", tz="UTC")


def _times(name: str, values: list[Any], convert: Callable[[Any], datetime.datetime]) -> list[Any]:
    """Times of pandas, numpy or Python as Python's; whichever of them fails first, the refusal is the same."""
    try:
        return [convert(value) for value in values]
    except (OverflowError, ValueError):
        told = "times finer than a microsecond, or outside the years 1 to 9999"
    raise SourceError(
        f"column {name!r} holds {told}, as Python objects; convert the column first, for example with pd.to_datetime"
    )


def _microseconds(time: Any) -> datetime.datetime:
    """One time, if it is a whole number of microseconds."""
    plain, rest = time, 0
    if isinstance(time, np.datetime64):
        whole = time.astype("datetime64[us]")
        plain, rest = whole.item(), whole != time
    elif isinstance(time, pd.Timestamp):
        plain, rest = time.to_pydatetime(warn=False), time.nanosecond
    if rest or not isinstance(plain, datetime.datetime):
        raise ValueError
    return plain


_CONVERTERS: dict[str, Callable[[str, list[Any]], tuple[list[Any], Any]]] = {
    "booleans": _plainly(bool, pa.bool_()),
    _WHOLE: _whole,
    _FLOATS: _floats,
    _DECIMALS: _decimals,
    "text": _plainly(str, pa.string()),
    _NAIVE: _naive,
    _ZONED: _zoned,
    "dates": _plainly(lambda value: value, pa.date32()),
    "times of day": _plainly(lambda value: value, pa.time64("us")),
}
