"""Values: their types by PostgreSQL's numbers, their text and binary forms, and parameters as literals of SQL."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from rowspace.exceptions import InvalidInput

BOOL, INT8, TEXT, FLOAT8 = 16, 20, 25, 701
_INT2, _INT4, _FLOAT4, _DATE = 21, 23, 700, 1082
_SIZES = {BOOL: 1, INT8: 8, FLOAT8: 8}
_NUMBERS = {_INT2: "!h", _INT4: "!i", INT8: "!q", _FLOAT4: "!f", FLOAT8: "!d", 26: "!I"}
_NUMERIC = 1700
_OPEN = (0, 705)
"""Types that a client leaves open."""

_WRITTEN = (0, 705, 18, 19, TEXT, 1042, 1043)
"""Types whose binary form is their text."""

_DAY_0 = date(2000, 1, 1)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class Column:
    """A column of a result. type: one of `BOOL`, `INT8`, `FLOAT8` and `TEXT`, which every client knows."""

    name: str
    type: int = TEXT

    @property
    def described(self) -> tuple[str, int, int]:
        """Name, type and size."""
        return self.name, self.type, _SIZES.get(self.type, -1)


def written(value: Any, kind: int, binary: bool) -> bytes | None:
    """A value as it is sent."""
    if value is None:
        return None
    if not binary:
        return (("t" if value else "f") if kind == BOOL else _text(value)).encode("utf-8", "replace")
    match kind:
        case 16:
            return struct.pack("!?", value)
        case 20:
            return struct.pack("!q", value)
        case 701:
            return struct.pack("!d", value)
    return _text(value).encode("utf-8", "replace")


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "{" + ",".join("NULL" if one is None else _text(one) for one in value) + "}"
    return repr(value) if isinstance(value, float) else str(value)


def formats(given: Sequence[int], number: int) -> list[int]:
    """One format for each of some values: none given is text, one is for all."""
    found = list(given) * number if len(given) == 1 else list(given) or [0] * number
    if len(found) != number or not set(found) <= {0, 1}:
        raise InvalidInput(f"expected a format, text or binary, for each of {number} values")
    return found


def settled(given: int, guessed: int) -> int:
    """The type of a parameter: what the client says or, where it leaves that open, what it is compared with."""
    return guessed if given in _OPEN else given


def literal(value: bytes | None, kind: int, binary: int) -> str:
    """A parameter as a literal of SQL: a number, TRUE or FALSE, NULL, or a text in quotes."""
    if value is None:
        return "NULL"
    if binary and kind not in _WRITTEN:
        return _from_binary(value, kind)
    try:
        text = value.decode()
    except UnicodeDecodeError:
        raise InvalidInput("expected parameters in UTF-8") from None
    if "\0" in text:
        raise InvalidInput("expected parameters without zero bytes")
    if kind == BOOL:
        if text.lower() not in ("t", "true", "on", "1", "f", "false", "off", "0"):
            raise InvalidInput("expected true or false for a boolean parameter")
        return str(text.lower() in ("t", "true", "on", "1")).upper()
    if kind in _NUMBERS or kind == _NUMERIC:
        if not _NUMBER.fullmatch(text.strip()):
            raise InvalidInput("expected a number for a parameter that is compared with numbers")
        return _number(float(text)) if "e" in text.lower() else text.strip()
    return quoted(text)


def quoted(text: str) -> str:
    """A text in quotes."""
    return "'" + text.replace("'", "''") + "'"


def _from_binary(value: bytes, kind: int) -> str:
    form = {**_NUMBERS, BOOL: "!?", _DATE: "!i"}.get(kind)
    if form is None:
        raise InvalidInput(
            f"parameters of type {kind} are read as text only; send it so, or write the value itself"
        )
    if len(value) != struct.calcsize(form):
        raise InvalidInput("a binary parameter has another size than its type")
    (found,) = struct.unpack(form, value)
    if kind == BOOL:
        return str(found).upper()
    if kind == _DATE:
        if abs(found) > 2_000_000 or not date.min <= (day := _DAY_0 + timedelta(days=found)) <= date.max:
            raise InvalidInput("a date is out of range")
        return quoted(day.isoformat())
    return _number(found)


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise InvalidInput("expected a finite number for a parameter")
    return str(int(value)) if value == int(value) and abs(value) < 2**63 else repr(value)
