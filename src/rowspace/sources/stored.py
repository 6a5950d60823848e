"""SQLite's values, each of which has a type of its own whatever its column is declared to hold.

A column declared INTEGER may hold the text "42abc", which SQLite would convert to 42; one declared DATE holds text.
"""

from __future__ import annotations

from typing import Any

__all__ = ["is_stored_as", "stored_text"]


def is_stored_as(column: Any, wanted: str) -> Any:
    """Whether a value is stored as what can be read as the `wanted` kind."""
    return column.typeof().isin(_STORED[wanted])


def stored_text(column: Any, binary: str = "") -> Any:
    """A value of any type as text; of binary data, which need not be text, what is said."""
    # Joined with nothing: where a column is declared to be text Ibis leaves out the cast.
    return (column.typeof() == "blob").ifelse(binary, column.cast("string") + "")


_STORED = {
    "numbers": ("integer", "real"),
    "integers": ("integer", "real"),
    "booleans": ("integer",),
    "text": ("text", "integer", "real"),
}
