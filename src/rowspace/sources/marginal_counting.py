"""Counts over many sets of attributes, without an array over the whole domain.

    which tables to count → one pass over codes or GROUP BYs (tallies) → all other tables as sums

All tables are marginals of one and the same table of records: those inside the domain in *every* attribute of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from rowspace.domain import Domain
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.privacy import PrivacyUnit
from rowspace.sources import tallies
from rowspace.sources.coding import code_rows
from rowspace.sources.counting import is_array, read_counts, refuse_measures, refuse_unit
from rowspace.sources.marginal_tables import (
    AttributeSet,
    Counts,
    MarginalTables,
    Supersets,
    count_of_cells,
    tables_to_count,
)
from rowspace.sources.opening import OpenTable, open_table
from rowspace.sources.parts import measured

#: The most cells that all tables together may have: 2 GB of int64.
MAX_TABLE_CELLS = 2**28

# Engines that run in this process and hand over columns without a copy: there rows need not travel.
_EMBEDDED = frozenset({"duckdb"})


def count_marginals(
    source: object,
    domain: Domain,
    sets: Sequence[AttributeSet],
    *,
    table: str | None = None,
    unit: PrivacyUnit | None = None,
    progress: Callable[[float], None] | None = None,
) -> MarginalTables:
    """How many rows of a table fall into each cell of each of many marginal tables: true counts, not private yet.

    A row counts when it is inside the domain in all attributes, also those that no set names, so the tables are the
    marginals of what `count_cells` would give, and agree with one another. The domain may be of any size.

    DuckDB, in this process for files and frames, streams codes of one to four bytes that are counted here: two scans
    of the data, memory of 8 bytes for each cell of the tables, of at most `MAX_JOINED_CELLS` more where larger
    tables save time, and of one batch of codes. Other engines group, and only counts travel.

    Args:
        source: As for `count_cells`; counts made elsewhere are summed.
        domain: The attributes; each reads the column of its name, other columns are ignored.
        sets: Which tables: each an increasing tuple of positions in `domain.names`; `()` is the total. No set twice.
        table: The table, or `schema.table`, when the source is a database.
        unit: At most `unit.rows` rows of each value of the column `unit.column` are counted, a fresh random choice that
            is the same for all tables; rows where it is NULL are not counted at all.
        progress: Called with the share of tables that are finished, from 0 to 1, never decreasing.

    Returns:
        int64 tables, of shape `tuple(domain.shape[i] for i in attributes)` each, stacked by shape.

    Raises:
        InvalidInput: A set that is not one of attributes of the domain.
        SourceError: The source is missing or damaged, or a column is missing or of the wrong type.
        TooLarge: The tables have more than `MAX_TABLE_CELLS` cells together.

    Guarantees:
        - A row is counted in exactly one cell of every table or in none at all, and its cells depend on that row
          alone, so adding or removing a row changes one count by one in every table:
          `test_marginal_counting.py::test_one_row_changes_one_cell_of_every_table`.
        - With a unit, adding or removing all rows of one unit changes every table by at most `unit.rows` in all:
          `test_marginal_counting.py::test_one_unit_changes_at_most_its_rows_in_every_table`.
        - All tables are marginals of the counts that `count_cells` gives:
          `test_marginal_counting.py::test_tables_are_marginals_of_the_cells`.
        - Every counted table adds up to the engine's own count of the rows inside, else nothing is returned:
          `test_marginal_counting.py::test_a_source_that_changes_between_the_scans_is_refused`.
        - Nothing says how many rows there were or how many were outside, nor does the progress:
          `test_marginal_counting.py::test_progress_does_not_depend_on_data`,
          `test_marginal_counting.py::test_nothing_printed_shows_a_count`.
        - No error contains a value from the data, nor does its chain of causes:
          `test_marginal_counting.py::test_no_error_quotes_data`. That there was an error does depend on the data.

    Example:
        >>> import pandas as pd
        >>> from rowspace.domain import Categorical, Domain, Numeric
        >>> people = pd.DataFrame({"age": [15, 40, 41, 130], "sex": ["F", "F", "M", "M"]})
        >>> domain = Domain(age=Numeric(edges=[0, 18, 120]), sex=Categorical(["F", "M"]))
        >>> tables = count_marginals(people, domain, [(), (0,), (1,)])
        >>> tables.table((0,)), tables.table((1,)), tables.table(())
        (array([1, 2]), array([2, 1]), array(3))
    """
    if not isinstance(domain, Domain):
        raise InvalidInput(f"expected a Domain, got {type(domain).__name__}")
    wanted = _check_sets(sets, domain)
    report = _Progress(progress)
    report(0.0)
    tables = MarginalTables.zeros(wanted, domain.shape)
    if is_array(source):
        if table is not None:
            raise InvalidInput("table= names a table of a database: leave it out for an array of counts")
        refuse_unit(unit)
        refuse_measures(domain)
        counted = {tuple(range(len(domain))): read_counts(source, domain)}
    else:
        with open_table(source, domain, table, unit=None if unit is None else unit.column) as opened:
            counted = _count(opened, domain, unit, tables, report)
    _sum_out(counted, tables, domain.shape)
    report(1.0)
    return tables


def _check_sets(sets: Iterable[object], domain: Domain) -> list[AttributeSet]:
    """The sets, each once and in order, with tables that fit."""
    if not isinstance(sets, Iterable) or isinstance(sets, str):
        raise InvalidInput(f"expected a list of sets of attributes, got {type(sets).__name__}")
    wanted: list[AttributeSet] = []
    for attributes in sets:
        if not isinstance(attributes, tuple) or not all(type(i) is int for i in attributes):
            raise InvalidInput(
                f"expected each set as a tuple of positions of attributes, such as (0, 2), got {attributes!r}"
            )
        inside = all(0 <= i < len(domain) for i in attributes)
        if not inside or any(i >= j for i, j in pairwise(attributes)):
            raise InvalidInput(
                f"expected increasing positions from 0 to {len(domain) - 1} in each set, got {attributes!r}"
            )
        wanted.append(attributes)
    if len(set(wanted)) != len(wanted):
        raise InvalidInput(
            "expected each set of attributes once, got one of them twice; leave out the repeated ones"
        )
    cells = count_of_cells(wanted, domain.shape)
    if cells > MAX_TABLE_CELLS:
        raise TooLarge(
            f"expected tables of at most {MAX_TABLE_CELLS:,} cells in all, got {len(wanted):,} tables of {cells:,} "
            "cells; ask for fewer or smaller tables, or use fewer or wider bins"
        )
    return wanted


class _Progress:
    """Tells the share of tables that are finished, if anybody listens."""

    def __init__(self, listener: Callable[[float], None] | None) -> None:
        if listener is not None and not callable(listener):
            raise InvalidInput(
                f"expected progress= to be a function of the share that is finished, got {type(listener).__name__}"
            )
        self._listener, self._furthest = listener, 0.0

    def __call__(self, share: float) -> None:
        self._furthest = max(self._furthest, share)  # tables may have to be counted anew
        if self._listener is not None:
            self._listener(self._furthest)


def _count(
    opened: OpenTable,
    domain: Domain,
    unit: PrivacyUnit | None,
    tables: MarginalTables,
    report: Callable[[float], None],
) -> dict[AttributeSet, Counts]:
    """Counted tables of which all wanted ones are sums; those that are wanted are counted in their place."""
    counted: dict[AttributeSet, Counts] = {}
    for attributes in tables_to_count(tables.sets, domain.shape, apart=measured(domain)):
        shape = tuple(domain.shape[i] for i in attributes)
        counted[attributes] = tables.table(attributes) if attributes in tables else np.zeros(shape, np.int64)
    coded = code_rows(opened, domain, unit)
    if opened.backend.name in _EMBEDDED:
        tallies.tally(coded, domain, counted)
    else:
        tallies.group(coded, domain, counted, lambda finished: report(finished / len(counted)))
    return counted


def _sum_out(counted: Mapping[AttributeSet, Counts], tables: MarginalTables, shape: Sequence[int]) -> None:
    """Fill the wanted tables that were not counted, each from the smallest table above it."""
    supersets = Supersets([*counted, *tables.sets], shape)
    for attributes in reversed(supersets.ascending):
        if attributes not in tables:
            continue
        table = tables.table(attributes)
        if attributes in counted:
            table[...] = counted[attributes]  # onto itself, where it was counted in place
            continue
        larger = supersets.above(attributes)
        assert larger is not None, "every wanted table lies below a counted one"
        # The smallest one above is counted, or was filled before: it comes later in ascending order.
        full = counted[larger] if larger in counted else tables.table(larger)
        gone = tuple(axis for axis, i in enumerate(larger) if i not in attributes)
        np.sum(full, axis=gone, out=table)
