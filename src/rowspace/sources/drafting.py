"""A look at the columns of a table, to draft a study from. Not private: nothing here may reach a release.

Planning and releasing never come here. `rowspace init` does, for the curator of the data, who may look anyway.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import ibis

from rowspace.domain import Categorical, Dates, Domain, Numeric
from rowspace.exceptions import InvalidDomain, SourceError
from rowspace.formats import CSV
from rowspace.sources.columns import read_text, typed_column, with_times
from rowspace.sources.opening import OpenTable, column_names, open_table
from rowspace.sources.silence import attempt

#: Text with more distinct values than this is taken for names or identifiers, and its values are not listed.
MAX_SKETCHED_VALUES = 50

# Only its zone matters here: how far times reach is what is looked for.
_ANY_DATES = Dates("2000-01-01", "2001-01-01", every="year")
# Only that it is of numbers matters.
_ANY_NUMBERS = Numeric(0, 1, bins=1)

_FAILED = (
    "the source could not be looked at: it is damaged or the engine failed; the engine's message is withheld "
    "because it may quote data"
)


@dataclass(frozen=True)
class ColumnSketch:
    """What a look at one column found: the true range of its numbers or times (in seconds), or its true distinct texts.

    kind "many" is text of more than `MAX_SKETCHED_VALUES` distinct values, "empty" a column of NULL only, "other" a
    type that cannot be counted, "repeated" a name of several columns, and "unnamed" one that no attribute can have;
    columns of the last two kinds are not looked at.
    """

    name: str
    kind: Literal["numbers", "times", "booleans", "text", "many", "empty", "other", "repeated", "unnamed"]
    type: str
    low: float = math.nan
    high: float = math.nan
    whole: bool = False
    values: tuple[str, ...] = ()


def sketch_columns(source: str | Path | CSV, *, table: str | None = None) -> tuple[ColumnSketch, ...]:
    """Look at every column of files or of a database table: types, ranges and distinct values, exact.

    The text of a CSV column is taken for numbers when all of it can be read so. A name that several columns have, in
    any case of letters, is sketched once. Two queries, and one more for each column of text.

    Raises:
        SourceError: The source is missing or damaged; no value is quoted.

    Example:
        >>> from rowspace import sample
        >>> sketch_columns(sample.people_path())[0]
        ColumnSketch(name='age', kind='numbers', type='int16', low=0.0, high=99.0, whole=True, values=())
    """
    names = column_names(source, table)
    spelt = Counter(name.casefold() for name in names)
    usable = [name for name in names if spelt[name.casefold()] == 1 and _can_be_attribute(name)]
    if not usable:
        raise SourceError(
            "expected a table with named columns, got none that can be an attribute; a CSV file needs a header line, "
            "or its names declared"
        )
    # Any attribute will do to open the table: only the names are used.
    placeholder = Domain({name: Categorical([0]) for name in usable})
    with open_table(source, placeholder, table) as opened:
        sketches = {name: _sketch(opened, name) for name in usable}
    return tuple(
        sketches.get(name)
        or ColumnSketch(name, "repeated" if _can_be_attribute(name) else "unnamed", "unknown")
        for name in dict.fromkeys(names)
    )


def _can_be_attribute(name: str) -> bool:
    """Whether a domain takes the name."""
    try:
        Domain({name: Categorical(["any"])})
    except InvalidDomain:
        return False
    return True


def _sketch(opened: OpenTable, name: str) -> ColumnSketch:
    """Look at one column."""
    column = opened.rows[name]
    dtype = column.type()
    if dtype.is_boolean():
        return ColumnSketch(name, "booleans", str(dtype))
    if dtype.is_numeric():
        numbers = typed_column(name, column, _ANY_NUMBERS, is_text=False, engine=opened.backend.name)
        return _sketch_numbers(opened, name, numbers.values, str(dtype))
    if dtype.is_date() or dtype.is_timestamp():
        return _sketch_times(opened, name, str(dtype)) or ColumnSketch(name, "empty", str(dtype))
    if dtype.is_string():
        if opened.is_text_in(name) and _all_numbers(opened, column):
            return _sketch_numbers(opened, name, read_text(column, "float64"), "text of numbers")
        return _sketch_times(opened, name, "text of dates") or _sketch_text(opened, name, column)
    return ColumnSketch(name, "empty" if dtype.is_null() else "other", str(dtype))


def _all_numbers(opened: OpenTable, column: Any) -> bool:
    """Whether there is text, and all of it reads as numbers."""
    readable = read_text(column, "float64").notnull()
    rows = opened.rows.select(readable=readable, there=column.notnull())
    found = _fetch(opened, rows.aggregate(there=rows.there.sum(), readable=rows.readable.sum()))[0]
    return bool(found["there"]) and found["there"] == found["readable"]


def _sketch_numbers(opened: OpenTable, name: str, values: Any, dtype: str) -> ColumnSketch:
    """The range of the finite numbers, and whether all of them are whole."""
    numbers = opened.rows.select(value=values)
    # Engines order NaN above all numbers or below none, so this drops it too; not all of them know isnan().
    finite = numbers.filter(numbers.value.abs() <= sys.float_info.max)
    found = _fetch(
        opened,
        finite.aggregate(
            low=finite.value.min(),
            high=finite.value.max(),
            whole=(finite.value == finite.value.floor().cast("float64")).all(),
        ),
    )[0]
    if found["low"] is None:
        return ColumnSketch(name, "empty", dtype)
    return ColumnSketch(
        name, "numbers", dtype, float(found["low"]), float(found["high"]), bool(found["whole"])
    )


def _sketch_times(opened: OpenTable, name: str, dtype: str) -> ColumnSketch | None:
    """The range of the times, or None where there are none or some text is none."""
    rows, times = with_times(opened.rows.select(name), Domain({name: _ANY_DATES}), opened.backend.name)
    seconds = times[name]
    unreadable = rows[f"{seconds}_unreadable"].any() if dtype == "text of dates" else ibis.literal(False)
    found = _fetch(
        opened, rows.aggregate(low=rows[seconds].min(), high=rows[seconds].max(), unreadable=unreadable)
    )[0]
    if found["low"] is None or found["unreadable"]:
        return None
    return ColumnSketch(name, "times", dtype, float(found["low"]), float(found["high"]))


def _sketch_text(opened: OpenTable, name: str, column: Any) -> ColumnSketch:
    """The distinct texts, unless they are many."""
    rows = opened.rows.select(value=column)
    distinct = rows.filter(rows.value.notnull()).distinct().limit(MAX_SKETCHED_VALUES + 1)
    values = sorted(row["value"] for row in _fetch(opened, distinct))
    if opened.text is not None and opened.text.form.ignore_case:
        values = list({value.lower(): value for value in values}.values())
    if len(values) > MAX_SKETCHED_VALUES:
        return ColumnSketch(name, "many", "text")
    return ColumnSketch(name, "text" if values else "empty", "text", values=tuple(values))


def _fetch(opened: OpenTable, query: Any) -> list[dict[str, Any]]:
    """The rows of a small result."""
    rows: list[dict[str, Any]] = attempt(lambda: opened.backend.to_pyarrow(query).to_pylist(), _FAILED)
    return rows
