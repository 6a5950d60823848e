"""What a row can be to an attribute: known, or else why not. Not private: for the curator of the data."""

from __future__ import annotations

from typing import Any

import ibis

from rowspace.domain import Attribute, Categorical, Numeric, Timed
from rowspace.exceptions import InvalidDomain
from rowspace.sources.binning import is_binned
from rowspace.sources.categories import has_code
from rowspace.sources.columns import TypedColumn

__all__ = ["ordered", "row_kinds"]

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
