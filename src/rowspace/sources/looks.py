"""What a look at records found, as values. Not private: for the curator of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rowspace.sources.unit_sizes import UnitSizes

__all__ = ["ColumnLook", "TableLook"]


@dataclass(frozen=True)
class ColumnLook:
    """What the rows of a table are to one attribute; each row is one of known, missing, below, above, unlisted and
    unreadable.

    Attributes
    ----------
    name, column: of the attribute, and of what it reads.
    type: what the column is, in words; None where it is not there.
    refusal: why a release refuses the column whatever its rows hold, in the words of that refusal.
    known: rows with a value of a bin or category.
    missing: rows with NULL, NaN, an empty cell or a text declared to mean missing.
    below, above: rows with a number or time beyond the bounds.
    unlisted: rows with a value that is no category.
    unreadable: rows with a value that is not of the declared kind.
    decimals: rows with a number that is not whole, of an attribute of whole numbers.
    spaces, case, spaces_and_case: rows that are unlisted only by spaces around, by the case of letters, by both.
    mixed_zones: whether some times have a zone and some have none.
    lowest, highest: the range of the values that can be read; seconds for times.
    values: the most frequent values that are unlisted or unreadable, and how many rows have each.
    """

    name: str
    column: str
    type: str | None = None
    refusal: str | None = None
    known: int = 0
    missing: int = 0
    below: int = 0
    above: int = 0
    unlisted: int = 0
    unreadable: int = 0
    decimals: int = 0
    spaces: int = 0
    case: int = 0
    spaces_and_case: int = 0
    mixed_zones: bool = False
    lowest: Any = None
    highest: Any = None
    values: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class TableLook:
    """All columns of a domain, in its order; None for what no usable column could tell.

    counted: how many rows a release is about, before any cap on rows per unit: those that no attribute drops and, with
    a privacy unit, that have one.
    """

    columns: tuple[ColumnLook, ...]
    is_text: bool
    rows: int | None = None
    counted: int | None = None
    without_unit: int = 0
    unit: UnitSizes | None = None
    unit_refusal: str | None = None
