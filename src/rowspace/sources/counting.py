"""Counts over the cells of a domain: one GROUP BY in the engine, checked by a second aggregate."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rowspace.domain import Domain
from rowspace.exceptions import InvalidInput, SourceError, TooLarge
from rowspace.privacy import PrivacyUnit
from rowspace.sources.coding import cell_number, code_rows, fetch, require_agreement
from rowspace.sources.columns import array_kind
from rowspace.sources.contributions import RowChoice
from rowspace.sources.opening import OpenTable, open_table
from rowspace.sources.parts import PartSums, Tails, code_sizes, sum_name
from rowspace.sources.silence import attempt

# Above this a float64 need not be the integer somebody counted.
_EXACT_FLOAT = 2.0**53
# Every total over the domain must fit in 64 bits; a float64 sum of n terms errs by far less than the factor
# 2.
_LARGEST_TOTAL = 2.0**62


def read_counts(source: Any, domain: Domain) -> npt.NDArray[np.int64]:
    """Counts of the cells as a new int64 array of shape `domain.shape`.

    Args:
        source: Non-negative integers, as an array of `domain.shape` or as a vector of `domain.size` cells
            in C order (the last attribute fastest). Floats are taken when each is an integer. Where the domain has
            places for missing values, counts of the known cells alone will do: then nothing is missing.
        domain: What the cells are.

    Raises:
        SourceError: Wrong shape, or something that is not a count. The message never says which cell.
    """
    array: npt.NDArray[Any] = attempt(
        lambda: np.asarray(source),
        "expected an array of counts, got something that numpy cannot turn into an array",
    )
    if isinstance(source, np.ma.MaskedArray):
        raise SourceError(
            "expected a plain array of counts, got one with a mask; say what is under it: .filled(0)"
        )
    known = domain.without_places()
    if array.shape not in ((domain.size,), domain.shape, (known.size,), known.shape):
        raise SourceError(
            f"expected counts of shape ({known.size},) or {known.shape}, one for each cell of the domain, "
            f"got shape {array.shape}"
        )
    if array.dtype.kind not in "iuf":
        raise SourceError(f"expected integer counts, got an array of {array_kind(array.dtype)}")
    if not _are_counts(array):
        raise SourceError(
            "expected non-negative integers that fit in 64 bits, got something else in some cell"
        )
    counts = array.astype(np.int64)
    if array.shape in ((domain.size,), domain.shape):
        counts = counts.reshape(domain.shape)
    else:
        counts = np.pad(
            counts.reshape(known.shape),
            [(0, n - k) for n, k in zip(domain.shape, known.shape, strict=True)],
        )
    if not counts.sum(dtype=np.float64) < _LARGEST_TOTAL:
        raise SourceError("expected counts whose total fits in 62 bits, got more")
    return counts


def _are_counts(array: npt.NDArray[Any]) -> bool:
    """Whether every entry is exactly a non-negative int64."""
    if array.dtype.kind == "f":
        # NaN fails the first comparison, infinity the second.
        return bool(np.all((array >= 0) & (array <= _EXACT_FLOAT) & (array == np.floor(array))))
    return bool(np.all((array >= 0) & (array <= np.iinfo(np.int64).max)))


#: The largest domain whose counts are held as one array: 800 MB of int64.
MAX_CELLS = 10**8


def count_cells(
    source: object,
    domain: Domain,
    *,
    table: str | None = None,
    unit: PrivacyUnit | None = None,
    over: str | None = None,
    key: str | None = None,
) -> npt.NDArray[np.int64]:
    """How many rows of a table fall into each cell of a domain: the true counts, not private yet.

    The engine that holds the data does the work (DuckDB inside this process for files and frames); only the
    number of each non-empty cell and its count travel. Two scans of the data, memory of one int64 for each
    cell.

    Args:
        source: One of

            - a path to a CSV (`.csv`, `.tsv`, `.txt`, also `.gz`; UTF-8, with a header line) or Parquet file;
            - `rs.CSV(path, …)`, a CSV file of any name with its encoding, delimiter, names, … declared;
            - a pandas or polars frame, an Arrow table, an Ibis table;
            - a database URL that Ibis can connect to, or a path to a DuckDB or SQLite file, with `table`;
            - counts made elsewhere: non-negative integers, of shape `(domain.size,)` or `domain.shape`.

        domain: The attributes; each reads the column of its name, other columns are ignored.
        table: The table, or `schema.table`, when the source is a database.
        unit: At most `unit.rows` rows of each value of the column `unit.column` are counted, a fresh random choice;
            rows where it is NULL are not counted at all. Then there are three scans of the data.
        over, key: For a unit that says in how many periods it is counted: the attribute whose cells are periods, and
            what decides which rows of a period are counted, the same whenever they are counted again.

    Returns:
        int64 array of shape `domain.shape`.

    Raises:
        SourceError: The source is missing or damaged, or a column is missing or of the wrong type.
        TooLarge: The domain has more than `MAX_CELLS` cells.

    Guarantees:
        - A row is counted in exactly one cell or in none, and its cell depends on that row alone, so adding
          or removing a row changes one count by one: `test_counting.py::test_one_row_changes_one_cell`.
        - So does a line of a CSV file, whatever is in it, or else the file is refused as not being as declared:
          `test_records.py::test_a_line_moves_one_count_by_one_or_the_file_is_refused`.
        - With a unit, adding or removing all rows of one unit changes the counts by at most `unit.rows` in all:
          `test_contributions.py::test_one_unit_changes_at_most_its_rows`.
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
    if is_array(source):
        if table is not None:
            raise InvalidInput("table= names a table of a database: leave it out for an array of counts")
        refuse_unit(unit)
        refuse_measures(domain)
        return read_counts(source, domain)
    with open_table(source, domain, table, unit=None if unit is None else unit.column) as opened:
        choice = None
        if unit is not None and unit.periods is not None and over is not None:
            choice = RowChoice(f"code{domain.position(over)}", key or secrets.token_hex(16))
        return _count(opened, domain, unit, choice)


def refuse_unit(unit: PrivacyUnit | None) -> None:
    """Raise if there is a unit: counts made elsewhere do not say whose rows they count."""
    if unit is not None:
        raise InvalidInput(
            f"an array of counts cannot be bounded to {unit.rows} rows of each {unit.column!r}: give the table of "
            "records, or bound it yourself and plan without a privacy unit"
        )


def refuse_measures(domain: Domain) -> None:
    """Raise if there is something to add up: counts made elsewhere have no values."""
    if domain.measures:
        raise InvalidInput(
            f"an array of counts holds no values of {domain.measures[0].name!r}: give the table of records"
        )


def is_array(source: object) -> bool:
    """Whether the source is counts rather than a table of records."""
    if isinstance(source, np.ndarray | list | tuple):
        return True
    # Series of pandas and polars and arrays of Arrow; their frames have columns.
    return hasattr(source, "__array__") and not hasattr(source, "columns")


def _count(
    opened: OpenTable, domain: Domain, unit: PrivacyUnit | None, choice: RowChoice | None
) -> npt.NDArray[np.int64]:
    """The counts of an open table."""
    coded = code_rows(opened, domain, unit, choice)
    every = range(len(domain))
    summed = PartSums(every, domain)
    # NULL plus anything is NULL: a row with a cell is one with all codes.
    number = cell_number(coded.rows, every, code_sizes(domain))
    cells = coded.rows.select(cell=number, **summed.columns(coded.rows))
    records, sums = grouped(coded.backend, cells.filter(cells.cell.notnull()), summed.groups, summed.sums)
    require_agreement(records.sum() == coded.inside)
    return summed.table(records, sums)


def grouped(
    backend: Any, cells: Any, size: int, sums: Sequence[Tails]
) -> tuple[npt.NDArray[np.int64], dict[Tails, npt.NDArray[np.int64]]]:
    """The number of rows in each of `size` groups, by their number in column `cell`, and the sums of their parts."""
    totals = {sum_name(own): cells[sum_name(own)].sum().cast("int64") for own in sums}
    groups = fetch(backend, cells.group_by("cell").aggregate(records=cells.count(), **totals))
    cell = groups["cell"].to_numpy().astype(np.int64)
    require_agreement(not np.any((cell < 0) | (cell >= size)))

    def spread(column: str) -> npt.NDArray[np.int64]:
        found = np.zeros(size, dtype=np.int64)
        found[cell] = groups[column].to_numpy().astype(np.int64)
        return found

    return spread("records"), {own: spread(sum_name(own)) for own in sums}
