"""What a look at records found, as values. Not private: for the curator of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ibis
import numpy as np

from rowspace.domain import Attribute, Categorical, Measure, Numeric, Timed
from rowspace.exceptions import InvalidDomain
from rowspace.sources.binning import exact, has_code, is_binned
from rowspace.sources.coding import fetch
from rowspace.sources.columns import TypedColumn

_SHARES = (0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
_STEPS = (1, 2, 3, 5)


@dataclass(frozen=True)
class Cap:
    """A cap on the rows of each unit: how many rows are beyond it, and their share of all."""

    rows: int
    left_out: int
    share: float


@dataclass(frozen=True)
class UnitSizes:
    """The distribution of rows per unit.

    Attributes
    ----------
    units, rows: how many there are; rows that no answer counts are not among them.
    quantiles: of every share of units, how many rows they have at most.
    largest: the rows of the unit that has most.
    caps: what caps leave out, the declared one among them, up to the first that leaves out nothing.
    of: "rows", or "cells" where a unit is counted once in each of them.
    """

    units: int
    rows: int
    quantiles: tuple[tuple[float, int], ...]
    largest: int
    caps: tuple[Cap, ...]
    of: str = "rows"


def unit_sizes(backend: Any, rows: Any, declared: int, of: str = "rows") -> UnitSizes:
    """The distribution of rows over column `unit`: one query, which gives how many units have how many rows."""
    units = rows.group_by("unit").aggregate(size=rows.count())
    histogram = fetch(backend, units.group_by("size").aggregate(units=units.count())).to_pylist()
    if not histogram:
        return UnitSizes(0, 0, (), 0, ())
    pairs = sorted((int(row["size"]), int(row["units"])) for row in histogram)
    sizes, numbers = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    up_to, total = np.cumsum(numbers), int(sizes @ numbers)
    at = np.searchsorted(up_to, [share * up_to[-1] for share in _SHARES])
    largest = int(sizes[-1])
    caps = []
    for cap in _caps(largest, declared):
        left_out = int(np.maximum(sizes - cap, 0) @ numbers)
        caps.append(Cap(cap, left_out, left_out / total))
    quantiles = tuple((share, int(sizes[k])) for share, k in zip(_SHARES, at, strict=True))
    return UnitSizes(int(up_to[-1]), total, quantiles, largest, tuple(caps), of)


def _caps(largest: int, declared: int) -> list[int]:
    """1, 2, 3, 5, 10, 20, 50, 100, … up to the first that leaves out nothing, and the declared one."""
    found, tens = {declared}, 1
    while True:
        for step in _STEPS if tens == 1 else (1, 2, 5):
            found.add(step * tens)
            if step * tens >= largest:
                return sorted(found)
        tens *= 10


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


_INFINITY = float("inf")

# From here on every float64 is whole.
_WHOLE_FROM = 2.0**52


def row_kinds(column: TypedColumn, attribute: Attribute) -> dict[str, Any]:
    """What a row can be to an attribute, each as a condition; a row is one of the first six at most."""
    values = column.values
    found = {"readable": values.notnull()}
    if values.type().is_floating():
        found["readable"] = values <= _INFINITY  # not NaN, which engines put above infinity or nowhere
    if isinstance(attribute, Numeric):
        known = is_binned(values, Numeric(edges=[attribute.low, attribute.high]))
        # Compared with a number far from both bounds: engines may round a literal, and the bounds are exact above.
        middle = attribute.low / 2 + attribute.high / 2
        outside = found["readable"] & ~known
        found |= {"known": known, "below": outside & (values < middle), "above": outside & (values >= middle)}
        if attribute.integer and not isinstance(attribute, Timed):
            found["decimals"] = _has_decimals(values)
    elif isinstance(attribute, Measure):
        low, high = exact(attribute.low), exact(attribute.high)
        below, above = found["readable"] & (values < low), found["readable"] & (values > high)
        found |= {"known": found["readable"] & ~below & ~above, "below": below, "above": above}
    else:
        listed = has_code(values, Categorical(attribute.values))
        found |= {"known": listed, "unlisted": found["readable"] & ~listed}
        if attribute.type is str and not isinstance(attribute, Timed):
            found |= _near_misses(values, attribute, found["unlisted"])
    if column.unreadable is not None:
        found["unreadable"] = column.unreadable
    if column.apart is not None:
        found |= {"zoned": column.apart[0], "naive": column.apart[1]}
    return found


def _has_decimals(values: Any) -> Any:
    """Whether a number is not whole; engines take the floor as a 64-bit integer, which huge ones and NaN are not."""
    small = (values > -_WHOLE_FROM) & (values < _WHOLE_FROM)
    return small & (values != small.ifelse(values, 0.0).floor().cast("float64"))


def _near_misses(values: Any, attribute: Categorical, unlisted: Any) -> dict[str, Any]:
    """Which texts would be a category without spaces around them, in the other case, or both."""
    try:
        folded = Categorical(list(dict.fromkeys(str(value).lower() for value in attribute.values)))
    except InvalidDomain:  # a category that lower case makes nothing of
        return {}
    return {
        "spaces": unlisted & has_code(values.strip(), Categorical(attribute.values)),
        "case": unlisted & has_code(values.lower(), folded),
        "both": unlisted & has_code(values.strip().lower(), folded),
    }


def ordered(values: Any, readable: Any) -> Any:
    """Values that every engine has a least and a greatest of; NULL where there is none."""
    values = values.ifelse(1, 0) if values.type().is_boolean() else values
    return readable.ifelse(values, ibis.null(values.type()))
