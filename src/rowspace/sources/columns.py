"""Columns and their types: which column an attribute reads, and its values in the type the attribute
compares with.

A typed source (Parquet, a frame, a database) must have the right kind of column already. A CSV file has
only text, so there each column is read as what its attribute needs, and text that does not convert is found
out, never silently NULL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import ibis

from rowspace.domain import (
    DAY,
    Attribute,
    Categorical,
    Dates,
    DayOfWeek,
    Domain,
    HourOfDay,
    Measure,
    Numeric,
    Timed,
    did_you_mean,
)
from rowspace.exceptions import SourceError
from rowspace.sources.times import as_a_step, is_stored_as, is_timed, stored_text, with_seconds

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


_TIMES = "dates that exist, written 2024-03-01 or 2024-03-01T14:30:00"

_NONE_OF_THEM = {
    "line": "expected a first line that names the columns, among them {!r}, got a line with none of the domain's "
    "attributes; add a header line, or make the names agree",
    "frame": "expected a frame with a column {!r}, got one with none of the domain's attributes, whose names are not "
    "quoted since they may be a record of a file without a header; rs.check shows them to the data's curator",
}

# Up to here every integer is a float64 of its own, so comparing as float64 is comparing exactly.
_EXACT_INTEGERS = 2**53


@dataclass(frozen=True)
class TypedColumn:
    """Values of the `wanted` kind; where the source is text, also flags: for what cannot be read so, and for two kinds
    of values, `apart`, that must not both be there."""

    wanted: str
    values: Any
    unreadable: Any | None = None
    apart: tuple[Any, Any] | None = None


def require_columns(
    wanted: Sequence[str], names: Iterable[object], *, may_be_data: Literal["line", "frame"] | None = None
) -> None:
    """Raise unless there is exactly one column of every name that is wanted, in any case of letters.

    Args:
        wanted: Attributes, and the privacy unit's column.
        names: All columns of the source.
        may_be_data: Where the names come from, if from what may be somebody's record: the first line of a text file, or
            a frame that was read from one. They are quoted only once one of them is an attribute's name.
    """
    found = Counter(names)
    spelt = Counter(name.casefold() for name in found if isinstance(name, str))
    for name in wanted:
        if found[name] > 1:
            raise SourceError(f"expected one column {name!r}, got {found[name]}; rename all but one")
    missing = [name for name in wanted if name not in found]
    for name in [] if missing else wanted:
        if spelt[name.casefold()] > 1:
            raise SourceError(
                f"expected column {name!r} to be the only one of that name in any case, got another that differs in "
                "case only, which engines confuse; rename one of them"
            )
    if missing and may_be_data is not None and len(missing) == len(wanted):
        raise SourceError(_NONE_OF_THEM[may_be_data].format(missing[0]))
    if missing:
        known = [name for name in found if isinstance(name, str)]
        advice = did_you_mean(missing[0], known) if known else "no column has a name that is text"
        raise SourceError(f"expected a column {missing[0]!r}, got none of that name; {advice}")


def typed_column(
    name: str, column: Any, attribute: Attribute, *, is_text: bool, engine: str = "duckdb"
) -> TypedColumn:
    """The values of a column in the type that its attribute compares with.

    Args:
        name: Name of the attribute, for messages.
        column: Ibis column.
        attribute: What the values mean.
        is_text: Whether the source has no types of its own (CSV), so that text is to be converted.
        engine: Which it is, since in SQLite every value has a type of its own.

    Raises:
        SourceError: The column has another type. The message names its kind.
    """
    if isinstance(attribute, Numeric | Measure):
        wanted, target = "numbers", "float64"
        fits = column.type().is_numeric()
    else:
        wanted, target = _categorical_target(name, column.type(), attribute)
        fits = _fits_categories(column.type(), attribute)
    if is_text and target != "string":
        values = read_text(column, target)
        return TypedColumn(wanted, values, unreadable=column.notnull() & values.isnull())
    _require_type(name, column.type(), wanted, fits=fits)
    values = as_float64(column) if target == "float64" else column.cast(target)
    if engine != "sqlite":
        return TypedColumn(wanted, values)
    values = stored_text(column) if target == "string" else values
    unreadable = column.notnull() & ~is_stored_as(column, wanted)
    return TypedColumn(wanted, unreadable.ifelse(ibis.null(values.type()), values), unreadable)


def read_text(column: Any, target: str) -> Any:
    """Text as numbers or booleans, NULL where it is none. DuckDB would read 1_000 as Python does: a thousand."""
    return column.contains("_").ifelse(ibis.null("string"), column).try_cast(target)


def _require_type(name: str, dtype: Any, wanted: str, *, fits: bool) -> None:
    """Refuse a column of another type; one that holds nothing but NULL may have no type at all."""
    if fits or dtype.is_null():
        return
    raise SourceError(
        f"column {name!r} must hold {wanted}, as its attribute is declared, got {type_name(dtype)}; "
        "convert the column or change the declaration"
    )


def timed_column(rows: Any, seconds: str, attribute: Timed) -> TypedColumn:
    """What an attribute compares with, from times in column `seconds`: those, hours of the day, days of the week."""
    times = rows[seconds]
    match attribute:
        case Dates():
            values = times.cast("float64")
        case HourOfDay():
            values = (times // 3600 - times // DAY * 24).cast("float64")
        case DayOfWeek():
            days = times // DAY + 3  # 1970 began on a Thursday, and Monday is 0
            values = (days - days // 7 * 7).cases(*enumerate(attribute.values))
    if f"{seconds}_zoned" not in rows.columns:
        return TypedColumn(_TIMES, values)
    apart = rows[f"{seconds}_zoned"], rows[f"{seconds}_naive"]
    return TypedColumn(_TIMES, values, rows[f"{seconds}_unreadable"], apart)


def with_times(rows: Any, domain: Domain, engine: str) -> tuple[Any, dict[str, str]]:
    """The rows with a column of seconds for each attribute of dates or times, and the names of those columns.

    Raises:
        SourceError: A column has another type.
    """
    mark = "seconds"
    while any(str(name).casefold().startswith(mark) for name in rows.columns):
        mark += "_"
    found: dict[str, str] = {}
    for position, (name, attribute) in enumerate(domain.attributes):
        if isinstance(attribute, Timed):
            column = domain.column(name)
            dtype = rows[column].type()
            _require_type(column, dtype, _TIMES, fits=is_timed(dtype))
            found[name] = f"{mark}{position}"
            rows = with_seconds(rows, attribute, column, found[name], engine)
            if engine == "pyspark":  # SQLite refuses one subquery more
                rows = as_a_step(rows, engine)
    return rows, found


def as_float64(column: Any) -> Any:
    """The numbers of a column, each rounded to the nearest float64 whatever the others are.

    Decimals go through text. DuckDB 1 divides two rounded numbers where they have many digits, so that 0.3 depends on
    the column's scale; and in a frame of Python objects the scale is that of the longest record.
    """
    return (column.cast("string") if column.type().is_decimal() else column).cast("float64")


def _fits_categories(dtype: Any, attribute: Categorical) -> bool:
    """Whether a column of this type can hold the categories."""
    if attribute.type is bool:
        return bool(dtype.is_boolean())
    if attribute.type is int:
        return bool(dtype.is_numeric())
    return bool(dtype.is_string())


def _categorical_target(name: str, dtype: Any, attribute: Categorical) -> tuple[str, str]:
    """What the categories are called, and the engine's type in which to compare them exactly."""
    if attribute.type is bool:
        return "booleans", "boolean"
    if attribute.type is str:
        return "text", "string"
    if dtype.is_signed_integer() or (dtype.is_integer() and dtype.nbytes < 8):
        return "integers", "int64"
    # float64 holds text such as "1.5" (which is no category) and integers from a float column with missing
    # values.
    if any(abs(int(value)) >= _EXACT_INTEGERS for value in attribute.values):
        raise SourceError(
            f"column {name!r} holds {type_name(dtype)}, in which categories of 2**53 and more cannot be told apart; "
            "store the column as 64-bit integers, or declare the categories as text"
        )
    return "integers", "float64"
