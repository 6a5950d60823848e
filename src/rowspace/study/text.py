"""From the bytes of a study file to a tree of plain values, within limits: the file may come from anyone."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rowspace.exceptions import InvalidStudy, RowspaceError
from rowspace.files import open_regular

#: Most bytes of a study file: room for a taxonomy of 50,000 places.
MAX_BYTES = 2**22
#: Most tables inside one another; a study needs five.
MAX_DEPTH = 8
# Python's TOML parser takes time quadratic in the number of parts of a dotted key.
_MOST_DOTS = 64
_INT64 = 2**63


@contextmanager
def located(place: str) -> Iterator[None]:
    """Put a place in the file before the message of any error of ours raised inside; its type stays."""
    try:
        yield
    except RowspaceError as error:
        error.args = (f"{place}: {error}", *error.args[1:])
        raise


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a study file.

    Raises:
        InvalidStudy: It is missing, unreadable, too large or not UTF-8.
    """
    name = Path(path).name
    try:
        with open_regular(path) as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InvalidStudy(
            f"expected a study file, got nothing at {os.fspath(path)}; `rowspace init` drafts one"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "that is no file name"
        raise InvalidStudy(f"cannot read the study {name}: {reason}") from None
    _check_size(len(data))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidStudy(f"{name} is no UTF-8 text (byte {error.start}): expected a TOML file") from None


def parse_text(text: str) -> dict[str, Any]:
    """The tree of a TOML text: tables, lists, text, 64-bit integers, floats, booleans and dates.

    Raises:
        InvalidStudy: The text is no TOML (with the line), or beyond a limit.
    """
    _check_size(len(text))
    if any(piece.count(".") > _MOST_DOTS for piece in re.split(r"[=,\n]", text)):
        raise InvalidStudy(f"a name with more than {_MOST_DOTS} dots has no place in a study")
    try:
        tree = tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise InvalidStudy(f"this is no TOML: {error}") from None
    except ValueError:  # the only other one: a number of thousands of digits, or a date that cannot be
        raise InvalidStudy("this is no TOML: a number or a date in it cannot be") from None
    except RecursionError:
        raise InvalidStudy(f"lists and tables go deeper than {MAX_DEPTH} levels") from None
    _check_tree(tree.values())
    return tree


def _check_size(size: int) -> None:
    """Refuse a file beyond the limit."""
    if size > MAX_BYTES:
        raise InvalidStudy(f"a study file has at most {MAX_BYTES:,} bytes, got more; is this the right file?")


def _check_tree(values: Iterable[Any], depth: int = 1) -> None:
    """Refuse deep nesting and integers that TOML does not promise."""
    if depth > MAX_DEPTH:
        raise InvalidStudy(f"lists and tables go deeper than {MAX_DEPTH} levels")
    for value in values:
        if isinstance(value, dict):
            _check_tree(value.values(), depth + 1)
        elif isinstance(value, list):
            _check_tree(value, depth + 1)
        elif isinstance(value, int) and not -_INT64 <= value < _INT64:
            raise InvalidStudy("a study holds integers of at most 64 bits, got a larger one")
