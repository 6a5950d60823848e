"""The values that stand in columns, and how many units have each: one GROUP BY, over no declared domain.

Which values there are is as secret as their counts: both go to `rowspace.measure`, and only what passes a threshold
goes further. A key is what a `Categorical` would match: text byte for byte (as it is declared to be read, of a CSV
file), whole numbers, booleans. NULL is no key.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import InvalidInput, SourceError
from rowspace.privacy import PrivacyUnit
from rowspace.sources.binning import combine
from rowspace.sources.coding import fetch
from rowspace.sources.columns import TypedColumn, type_name, typed_column
from rowspace.sources.contributions import bounded_keys, unit_values, with_marks
from rowspace.sources.counting import is_array
from rowspace.sources.opening import OpenTable, open_table


@dataclass(frozen=True)
class KeyCounts:
    """Keys, an Arrow column for each part of them, and how many records or units have each: not private yet."""

    columns: tuple[Any, ...]
    counts: npt.NDArray[np.int64]


def count_keys(
    source: object, columns: Sequence[str], *, table: str | None = None, unit: PrivacyUnit | None = None
) -> KeyCounts:
    """How many records have each combination of values that stands in some columns; of units, how many have it.

    source, table: as for `count_cells`, but no counts made elsewhere.
    columns: one or several. Records where one of them is NULL have no key.
    unit: each value of its column counts once in a key, and in at most `unit.rows` keys, a fresh random choice.

    Raises:
        SourceError: The source is missing or damaged, or a column is missing or of a type that has no keys.

    Guarantees:
        - Adding or removing a unit changes at most `unit.rows` counts, each by one, and what others contribute not at
          all: `test_keys.py::test_one_unit_changes_few_counts_by_one`.
        - Texts that differ are different keys, also where a column's collation takes them for equal:
          `test_keys.py::test_texts_are_told_apart_whatever_the_collation`.
        - No error contains a value from the data: `test_keys.py::test_no_error_quotes_data`.

    >>> import pandas as pd
    >>> found = count_keys(pd.DataFrame({"town": ["A", "B", "A", None]}), ["town"])
    >>> dict(zip(found.columns[0].to_pylist(), found.counts.tolist())) == {"A": 2, "B": 1}
    True
    """
    if is_array(source):
        raise InvalidInput(
            "expected a table of records, got an array of counts: values are found where they stand in a column"
        )
    # What is read is decided by names alone; the attributes only carry them.
    named = Domain([(name, Numeric(0, 1, bins=1)) for name in columns])
    with open_table(source, named, table, unit=None if unit is None else unit.column) as opened:
        if opened.text is not None and opened.text.form.ignore_case:
            opened.text.lowered = frozenset(columns)
        return _count(opened, columns, unit)


def _count(opened: OpenTable, columns: Sequence[str], unit: PrivacyUnit | None) -> KeyCounts:
    """The counts of an open table."""
    typed = [_key_column(name, opened) for name in columns]
    _require_readable(opened, columns, typed)
    owner = {} if unit is None else {"unit": unit_values(opened.rows[unit.column], unit)}
    names = [f"key{position}" for position in range(len(columns))]
    rows = opened.rows.select(**{n: c.values for n, c in zip(names, typed, strict=True)}, **owner)
    rows = rows.filter(combine(operator.and_, [rows[name].notnull() for name in rows.columns]))
    rows, marks = with_marks(rows, names, opened.backend)
    if unit is not None:
        rows = bounded_keys(rows, unit, marks)
    keys = list(dict.fromkeys([*names, *marks]))
    groups = rows.group_by(keys).aggregate(records=rows.count())
    found = fetch(opened.backend, groups.select(*names, "records"))
    return KeyCounts(
        tuple(found[name] for name in names), found["records"].to_numpy().astype(np.int64, copy=False)
    )


def _key_column(name: str, opened: OpenTable) -> TypedColumn:
    """The values of a column as keys; `SourceError` for a type that has none."""
    column = opened.rows[name]
    dtype = column.type()
    if opened.is_text_in(name) or dtype.is_string() or dtype.is_null():
        like: Any = "text"
    elif dtype.is_boolean():
        like = True
    elif dtype.is_signed_integer() or (dtype.is_integer() and dtype.nbytes < 8):
        like = 0
    else:
        raise SourceError(
            f"column {name!r} must hold text, integers of at most 64 bits with a sign, or booleans for its values to "
            f"be found, got {type_name(dtype)}; {_advice(dtype)}"
        )
    attribute = Categorical([like])
    return typed_column(name, column, attribute, is_text=opened.is_text_in(name), engine=opened.backend.name)


def _advice(dtype: Any) -> str:
    """What to do with a column of another type."""
    if dtype.is_temporal():
        return "declare rs.Dates, whose periods need not be found, or convert the column to text"
    if dtype.is_floating() or dtype.is_decimal():
        return "declare rs.Numeric, with rs.bounds for a range, or convert codes to integers or text"
    return "convert it to text"


def _require_readable(opened: OpenTable, columns: Sequence[str], typed: Sequence[TypedColumn]) -> None:
    """Raise where a value has another type than its column, as SQLite allows."""
    flags = {f"flag{i}": own.unreadable for i, own in enumerate(typed) if own.unreadable is not None}
    if not flags:
        return
    marked = opened.rows.select(**flags)
    found = fetch(opened.backend, marked.aggregate(**{flag: marked[flag].any() for flag in flags}))
    for position, name in enumerate(columns):
        if f"flag{position}" in flags and found[f"flag{position}"][0].as_py():
            raise SourceError(
                f"column {name!r} must hold {typed[position].wanted} only, as its type says, got values of other "
                "types; clean the column in a view, with NULL for what is missing"
            )
