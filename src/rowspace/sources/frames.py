"""Frames in memory: pandas, polars and Arrow, all read as Arrow columns."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from ibis.formats.pyarrow import PyArrowType

from rowspace.exceptions import SourceError
from rowspace.sources.columns import require_columns
from rowspace.sources.objects import object_array
from rowspace.sources.silence import attempt

# Of a decimal in DuckDB.
_MOST_DIGITS = 38


def as_arrow(source: object, names: Sequence[str]) -> pa.Table | None:
    """The columns of these names of a frame as an Arrow table (no copy where the frame allows it), or None.

    None means that `source` is not a frame. Other columns are never looked at.
    """
    if isinstance(source, pa.Table):
        return _collect(names, source.column_names, source.column)
    if isinstance(source, pd.DataFrame):
        # Column by column, and not through Ibis: a column that does not convert can be named, and Ibis 12
        # asks pandas 3 for a deprecated option.
        _require_plain_names(source)
        return _collect(names, source.columns, lambda name: _pandas_column(name, source[name]))
    polars: Any = _polars_of(source)
    if polars is not None:
        lazy: Any = source.lazy()  # type: ignore[attr-defined]
        found = _polars_columns(lazy)
        require_columns(names, found, may_be_data="frame")
        frame = attempt(
            # By selector: a plain text such as "*" or "^a.*$" would be a pattern.
            lambda: lazy.select(polars.selectors.by_name(*names)).collect(),
            "the polars query failed; its message is withheld because it may quote data",
        )
        return _collect(names, found, lambda name: frame.get_column(name).to_arrow())
    return None


def frame_columns(source: object) -> list[str] | None:
    """The names of a frame's columns that are text, or None if it is no frame."""
    if isinstance(source, pa.Table):
        return list(source.column_names)
    if isinstance(source, pd.DataFrame):
        _require_plain_names(source)
        return [name for name in source.columns if isinstance(name, str)]
    return None if _polars_of(source) is None else _polars_columns(source)


def _require_plain_names(frame: pd.DataFrame) -> None:
    """Refuse columns of several names each."""
    if isinstance(frame.columns, pd.MultiIndex):
        raise SourceError(
            "expected a frame whose columns have one name each, got a MultiIndex; name them anew, for example with "
            "frame.columns = frame.columns.map('_'.join)"
        )


def _pandas_column(name: str, values: Any) -> Any:
    """A column of a pandas frame as Arrow; Python objects are read one by one, also where they are categories."""
    dtype = values.dtype
    if isinstance(dtype, pd.PeriodDtype):
        raise SourceError(
            f"column {name!r} holds periods, which engines do not have; convert the column first: .dt.to_timestamp() "
            "gives dates, .astype(str) text"
        )
    if isinstance(dtype, pd.SparseDtype):
        raise SourceError(
            f"column {name!r} is sparse, which engines do not have; convert the column first, with .sparse.to_dense()"
        )
    if _is_object(dtype):
        return object_array(name, values)
    if isinstance(dtype, pd.CategoricalDtype) and _is_object(dtype.categories.dtype):
        codes = values.cat.codes.to_numpy()
        return object_array(name, dtype.categories).take(pa.array(codes, mask=codes < 0))
    return pa.array(values, from_pandas=True)


def _is_object(dtype: object) -> bool:
    """Whether a column of pandas holds Python objects; extension types have kind "O", too, and a type of their own."""
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def _polars_of(source: object) -> Any:
    """The library polars, if this is a frame of its; it exists only where polars has been imported already."""
    polars: Any = sys.modules.get("polars")
    return polars if polars is not None and isinstance(source, polars.DataFrame | polars.LazyFrame) else None


def _polars_columns(frame: Any) -> list[str]:
    """The names of its columns."""
    names: list[str] = attempt(
        lambda: frame.lazy().collect_schema().names(), "the polars query has no schema: it fails to plan"
    )
    return names


def _collect(names: Sequence[str], found: Iterable[object], column: Callable[[str], Any]) -> pa.Table:
    """An Arrow table of the columns of these names, each fetched by name."""
    require_columns(names, found, may_be_data="frame")
    return pa.table({name: _convert(name, column) for name in names})


def _convert(name: str, column: Callable[[str], Any]) -> Any:
    """One column as Arrow, of a type that engines have."""
    values = attempt(
        lambda: column(name),
        f"column {name!r} does not convert to Arrow: expected values of one type, got a mixture or "
        "Python objects; convert the column first",
    )
    dtype = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    refusal = (
        f"column {name!r} must hold numbers, text, booleans, dates or times, got a type that engines do not have; "
        "convert the column first, for example with .astype(str) in pandas"
    )
    if isinstance(dtype, pa.BaseExtensionType) or (
        pa.types.is_decimal(dtype) and dtype.precision > _MOST_DIGITS
    ):
        raise SourceError(refusal)
    attempt(lambda: PyArrowType.to_ibis(dtype), refusal)
    return values.cast("float32") if pa.types.is_float16(dtype) else values
