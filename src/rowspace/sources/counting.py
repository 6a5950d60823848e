"""Counts over the cells of a domain: one GROUP BY in the engine, checked by a second aggregate."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from rowspace.domain import Attribute, Domain, Numeric
from rowspace.exceptions import InvalidInput, SourceError, TooLarge
from rowspace.sources.binning import add_bin, is_binned
from rowspace.sources.categories import add_code, has_code
from rowspace.sources.columns import TypedColumn, typed_column
from rowspace.sources.opening import OpenTable, open_table
from rowspace.sources.secrecy import attempt
from rowspace.sources.vectors import read_counts

__all__ = ["MAX_CELLS", "count_cells"]

#: The largest domain whose counts are held as one array: 800 MB of int64.
MAX_CELLS = 10**8

_FAILED = (
    "the source could not be counted: it is damaged, was changed meanwhile, or the engine failed; the "
    "engine's message is withheld because it may quote data"
)


def count_cells(source: object, domain: Domain, *, table: str | None = None) -> npt.NDArray[np.int64]:
    """How many rows of a table fall into each cell of a domain: the true counts, not private yet.

    The engine that holds the data does the work (DuckDB inside this process for files and frames); only the
    number of each non-empty cell and its count travel. Two scans of the data, memory of one int64 for each
    cell.

    Args:
        source: One of

            - a path to a CSV (`.csv`, `.tsv`, `.txt`, also `.gz`; with a header line) or Parquet file;
            - a pandas or polars frame, an Arrow table, an Ibis table;
            - a database URL that Ibis can connect to, or a path to a DuckDB or SQLite file, with `table`;
            - counts made elsewhere: non-negative integers, of shape `(domain.size,)` or `domain.shape`.

        domain: The attributes; each reads the column of its name, other columns are ignored.
        table: The table, or `schema.table`, when the source is a database.

    Returns:
        int64 array of shape `domain.shape`.

    Raises:
        SourceError: The source is missing or damaged, or a column is missing or of the wrong type.
        TooLarge: The domain has more than `MAX_CELLS` cells.

    Guarantees:
        - A row is counted in exactly one cell or in none, and its cell depends on that row alone, so adding
          or removing a row changes one count by one: `test_counting.py::test_one_row_changes_one_cell`.
        - The bin of a number is exactly the one the edges define, also at the edges:
          `test_binning.py::test_bins_are_those_of_searchsorted`.
        - NULL and NaN are outside every `Numeric`, and are never clipped:
          `test_counting.py::test_null_and_nan_are_never_clipped`. NULL is outside a `Categorical` unless
          `other` is declared: `test_counting.py::test_unknown_categories_and_null_go_to_other`.
        - The counts add up to the engine's own count of the rows inside, else nothing is returned:
          `test_counting.py::test_a_source_that_changes_between_the_scans_is_refused`.
        - Nothing says how many rows there were or how many were outside:
          `test_secrecy.py::test_counting_prints_logs_and_warns_nothing`.
        - No error contains a value from the data, nor does its chain of causes:
          `test_secrecy.py::test_no_error_quotes_data`. That there was an error does depend on the data.

    Example:
        >>> import pandas as pd
        >>> from rowspace.domain import Categorical, Domain, Numeric
        >>> people = pd.DataFrame({"age": [15, 40, 41, 130], "sex": ["F", "F", "M", "M"]})
        >>> domain = Domain(age=Numeric(edges=[0, 18, 120]), sex=Categorical(["F", "M"]))
        >>> count_cells(people, domain)
        array([[1, 0],
               [1, 1]])
    """
    if not isinstance(domain, Domain):
        raise InvalidInput(f"expected a Domain, got {type(domain).__name__}")
    if domain.size > MAX_CELLS:
        raise TooLarge(
            f"counting needs one array over the whole domain, at most {MAX_CELLS:,} cells; this domain has "
            "more: use fewer or wider bins, or fewer attributes"
        )
    if _is_array(source):
        if table is not None:
            raise InvalidInput("table= names a table of a database: leave it out for an array of counts")
        return read_counts(source, domain)
    with open_table(source, domain, table) as opened:
        return _count(opened, domain)


def _is_array(source: object) -> bool:
    """Whether the source is counts rather than a table of records."""
    if isinstance(source, np.ndarray | list | tuple):
        return True
    # Series of pandas and polars and arrays of Arrow; their frames have columns.
    return hasattr(source, "__array__") and not hasattr(source, "columns")


def _count(opened: OpenTable, domain: Domain) -> npt.NDArray[np.int64]:
    """The counts of an open table."""
    columns = _typed_columns(opened, domain)
    expected = _rows_inside(opened, domain, columns)
    # Our own names from here on: the user's may be anything, and have been quoted by Ibis.
    coded = opened.rows.select(
        **{f"value{position}": column.values for position, column in enumerate(columns.values())}
    )
    for position, (_, attribute) in enumerate(domain.attributes):
        coded = _add_code(coded, attribute, f"value{position}", f"code{position}", opened.backend.name)
    strides = [
        int(np.prod(domain.shape[position + 1 :], dtype=np.int64)) for position in range(len(domain.names))
    ]
    terms = [coded[f"code{position}"].cast("int64") * stride for position, stride in enumerate(strides)]
    cells = coded.select(cell=functools.reduce(operator.add, terms))
    inside = cells.filter(cells.cell.notnull())
    groups = attempt(
        lambda: opened.backend.to_pyarrow(inside.group_by("cell").aggregate(records=inside.count())), _FAILED
    )
    cell = groups["cell"].to_numpy().astype(np.int64)
    records = groups["records"].to_numpy().astype(np.int64)
    if records.sum() != expected or np.any((cell < 0) | (cell >= domain.size)):
        raise SourceError(
            "two counts of the rows inside the domain differ, so neither is used: the source was changed "
            "while it was read, or its query gives other rows each time; count a copy that stands still"
        )
    counts = np.zeros(domain.size, dtype=np.int64)
    counts[cell] = records
    return counts.reshape(domain.shape)


def _typed_columns(opened: OpenTable, domain: Domain) -> dict[str, TypedColumn]:
    """The column of each attribute, in the type it compares with."""
    return {
        name: typed_column(name, opened.rows[name], attribute, is_text=opened.is_text)
        for name, attribute in domain.attributes
    }


def _rows_inside(opened: OpenTable, domain: Domain, columns: dict[str, TypedColumn]) -> int:
    """The engine's own count of the rows inside the domain, with a check that all text was readable."""
    insides = [_has_code(columns[name].values, attribute) for name, attribute in domain.attributes]
    flags = {
        f"unreadable{position}": column.unreadable
        for position, column in enumerate(columns.values())
        if column.unreadable is not None
    }
    marked = opened.rows.select(inside=functools.reduce(operator.and_, insides), **flags)
    found = attempt(
        lambda: opened.backend.to_pyarrow(
            marked.aggregate(
                inside=marked.count(where=marked.inside), **{flag: marked[flag].any() for flag in flags}
            )
        ).to_pylist()[0],
        _FAILED,
    )
    for position, (name, column) in enumerate(columns.items()):
        if found.get(f"unreadable{position}"):
            raise SourceError(
                f"column {name!r} must hold {column.wanted}, as its attribute is declared, got text that "
                "cannot be read so; leave a cell empty where the value is missing, or change the declaration"
            )
    return int(found["inside"])


def _has_code(values: Any, attribute: Attribute) -> Any:
    """Whether a value has a cell."""
    return is_binned(values, attribute) if isinstance(attribute, Numeric) else has_code(values, attribute)


def _add_code(rows: Any, attribute: Attribute, value: str, code: str, engine: str) -> Any:
    """Rows with the attribute's cell in column `code`, NULL where there is none."""
    if isinstance(attribute, Numeric):
        return add_bin(rows, attribute, value, code, engine)
    return add_code(rows, attribute, value, code)
