"""What a type is called in an error: its kind, never a size, a zone or a field, which one record can decide."""

from __future__ import annotations

from typing import Any

__all__ = ["array_kind", "type_name"]

#: Ibis's tests of a type, in turn, and what is said where one is met.
_KINDS = {
    "is_nested": "a nested type",
    "is_boolean": "a boolean",
    "is_integer": "an integer",
    "is_floating": "a floating-point number",
    "is_decimal": "a decimal",
    "is_json": "JSON",
    "is_string": "text",
    "is_timestamp": "a timestamp",
    "is_date": "a date",
    "is_time": "a time of day",
    "is_interval": "an interval",
    "is_uuid": "a UUID",
    "is_binary": "binary data",
}

_ARRAYS = {
    "b": "booleans",
    "i": "integers",
    "u": "integers",
    "f": "numbers",
    "U": "text",
    "S": "binary data",
    "O": "Python objects",
}


def type_name(dtype: Any) -> str:
    """The kind of a column's type, with its article.

    >>> import ibis
    >>> type_name(ibis.dtype("decimal(38, 7)")), type_name(ibis.dtype("timestamp('Europe/Bern')"))
    ('a decimal', 'a timestamp')
    """
    return next((name for test, name in _KINDS.items() if getattr(dtype, test)()), "another type")


def array_kind(dtype: Any) -> str:
    """The kind of an array's type, in the plural; a text array's type would tell the length of its longest."""
    return _ARRAYS.get(dtype.kind, "other things")
