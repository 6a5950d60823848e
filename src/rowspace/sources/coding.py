"""Rows as integers: every attribute of a record becomes the number of its cell, computed in the engine.

What all ways of counting share: which rows count, what their codes are, and the engine's own count of them
as a check.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ibis
import numpy as np

from rowspace.domain import Attribute, Categorical, Domain, Measure, Numeric, Timed
from rowspace.exceptions import InvalidInput, SourceError
from rowspace.privacy import PrivacyUnit
from rowspace.sources.binning import Recipe, bin_recipe, code_recipe, combine, follow, has_code, is_binned
from rowspace.sources.columns import TypedColumn, timed_column, typed_column, with_times
from rowspace.sources.contributions import RowChoice, bounded, bounded_number, unit_values
from rowspace.sources.opening import OpenTable, open_table
from rowspace.sources.parts import (
    code_sizes,
    is_finite,
    measured,
    parts_column,
    parts_recipe,
    require_values_of_units,
    steps_recipe,
    tails_of,
    with_values_of_units,
)
from rowspace.sources.silence import attempt

_FAILED = (
    "the source could not be counted: it is damaged, was changed meanwhile, or the engine failed; the "
    "engine's message is withheld because it may quote data"
)

# What cannot be read, and what can be done about it: only a text file has declarations of its own.
_UNREADABLE = {
    True: 'text that cannot be read so; declare the texts that mean missing, as nulls = ["NA"]',
    False: "values that cannot be read so; clean the column in a view or a frame, with NULL for what is missing",
}


@dataclass(frozen=True)
class CodedRows:
    """Integer columns `code0`, `code1`, …, one for each attribute in order, on the engine of the data.

    A value that is not known has the code of the attribute's place, NULL where there is none; `inside` is how many rows
    have all codes, by bounds and membership rather than by codes. With a privacy unit only the rows that it may
    contribute are here, and all of them have all codes. `is_still`: whether several queries see the same ones.

    Of a measure the code tells whether there is a value, 0 where there is; columns `parts0_1`, … how many of the
    record's parts are in each of its tails, none where there is no value (`rowspace.sources.parts`).
    """

    rows: Any
    backend: Any
    inside: int
    is_still: bool


def code_rows(
    opened: OpenTable, domain: Domain, unit: PrivacyUnit | None = None, choice: RowChoice | None = None
) -> CodedRows:
    """The codes as a query that is yet to run. One scan of the data for the check.

    Every query about these rows sees the same of a unit's rows; another call chooses anew.

    Raises:
        SourceError: A column has the wrong type, or holds text that cannot be read as its attribute.
    """
    opened, columns = typed_columns(opened, domain)
    owner = {} if unit is None else {"unit": unit_values(opened.rows[unit.column], unit)}
    if unit is not None and (unit.periods is None) != (choice is None):
        raise InvalidInput(
            f"expected a plan over periods for at most {unit.periods} periods of each {unit.column!r}: plan with "
            "over=, or say how many rows of each are counted in all and leave out periods="
        )
    distinct = unit is not None and unit.distinct
    if distinct:
        require_values_of_units(domain)
    by_codes = distinct or choice is not None
    inside = _rows_inside(opened, domain, columns, None if by_codes else unit, owner)
    coded = _coded(opened, domain, columns, owner, distinct=distinct)
    if unit is not None:
        if by_codes:
            inside = _number(fetch(opened.backend, bounded_number(coded, unit, choice)))
        coded = bounded(coded, unit, opened.backend, choice)
    return CodedRows(coded, opened.backend, inside, opened.is_still)


def unit_cells(opened: OpenTable, domain: Domain, unit: PrivacyUnit) -> Any:
    """Every cell of every unit once, as rows with a column `unit`: a query that is yet to run."""
    opened, columns = typed_columns(opened, domain)
    owner = {"unit": unit_values(opened.rows[unit.column], unit)}
    coded = _coded(opened, domain, columns, owner, distinct=unit.distinct)
    return coded.distinct()


def _coded(
    opened: OpenTable, domain: Domain, columns: list[TypedColumn], owner: dict[str, Any], *, distinct: bool
) -> Any:
    """The codes of all rows; with a unit those that have all of them.

    distinct: whether a row has the value of its unit in the cell, rather than one of its own.
    """
    # Our own names from here on: the user's may be anything, and have been quoted by Ibis.
    values = opened.rows.select(
        **{f"value{position}": column.values for position, column in enumerate(columns)}, **owner
    )
    to_parts = {position: parts_recipe(domain, position) for position in measured(domain)}
    apart = distinct and bool(to_parts)
    recipes = [
        [
            *_recipe(attribute, position, opened.backend.name),
            *([] if apart else to_parts.get(position, [])),
        ]
        for position, (_, attribute) in enumerate(domain.attributes)
    ]
    followed = follow(values, recipes)
    if apart:
        followed = follow(with_values_of_units(followed, domain), list(to_parts.values()))
    codes = {
        f"code{position}": followed[f"code{position}"].fill_null(code_sizes(domain)[position] - 1)
        if name in domain.places
        else followed[f"code{position}"]
        for position, (name, _) in enumerate(domain.attributes)
    }
    tails = [tail for i in measured(domain) for tail in tails_of(domain, i)]
    codes |= {name: followed[name] for name in map(parts_column, tails)}
    coded = followed.select(**codes, **{name: followed[name] for name in owner})
    if not owner:
        return coded
    known = [column.notnull() for column in map(coded.__getitem__, coded.columns)]
    return coded.filter(combine(operator.and_, known))


def typed_columns(opened: OpenTable, domain: Domain) -> tuple[OpenTable, list[TypedColumn]]:
    """The column of every attribute in the type it compares with; the table has more columns where times need them.

    Raises:
        SourceError: A column has the wrong type.
    """
    rows, times = with_times(opened.rows, domain, opened.backend.name)
    columns = [
        timed_column(rows, times[name], attribute)
        if isinstance(attribute, Timed)
        else typed_column(
            name, rows[name], attribute, is_text=opened.is_text_in(name), engine=opened.backend.name
        )
        for name, attribute in domain.attributes
    ]
    return replace(opened, rows=rows), columns


def check_columns(
    source: object, domain: Domain, table: str | None = None, *, unit: PrivacyUnit | None = None
) -> None:
    """Raise unless the source is there and has the columns of a domain, in its types. No row is looked at."""
    with open_table(source, domain, table, unit=None if unit is None else unit.column, reads=False) as opened:
        typed_columns(opened, domain)


def fetch(backend: Any, query: Any) -> Any:
    """The result of a query as an Arrow table; a failure keeps nothing of the engine's message."""
    return attempt(lambda: backend.to_pyarrow(query), _FAILED)


def stream_duckdb(backend: Any, query: Any, rows: int) -> Iterator[Any]:
    """The result of a query on DuckDB as Arrow record batches of about so many rows, made as they are asked for."""

    def start() -> Any:
        # Not Backend.to_pyarrow_batches, in which Ibis 12 calls a method that DuckDB 2 has no more. The hooks
        # give the engine the lookup tables.
        backend._run_pre_execute_hooks(query)
        return iter(backend.con.sql(backend.compile(query)).to_arrow_reader(rows))

    batches = attempt(start, _FAILED)
    while (batch := attempt(lambda: next(batches, None), _FAILED)) is not None:
        yield batch


def require_agreement(agree: bool | np.bool_) -> None:
    """Raise unless the counts agree with the engine's own count of the rows inside."""
    if not agree:
        raise SourceError(
            "two counts of the rows inside the domain differ, so neither is used: the source was changed "
            "while it was read, or its query gives other rows each time; count a copy that stands still"
        )


def rows_with_codes(rows: Any, attributes: Sequence[int]) -> Any:
    """The rows that have a code in all of these attributes."""
    if not attributes:
        return rows
    return rows.filter(combine(operator.and_, [rows[f"code{i}"].notnull() for i in attributes]))


def cell_number(rows: Any, attributes: Sequence[int], shape: Sequence[int]) -> Any:
    """The number of each row's cell in the table over some attributes, in C order; NULL where a code is.

    `shape` is that of the domain. The table over no attribute has one cell, number 0.
    """
    if not attributes:
        return rows["code0"].cast("int64") * 0
    strides = [math.prod(shape[j] for j in attributes[k + 1 :]) for k in range(len(attributes))]
    terms = [rows[f"code{i}"].cast("int64") * stride for i, stride in zip(attributes, strides, strict=True)]
    return combine(operator.add, terms)


def _rows_inside(
    opened: OpenTable,
    domain: Domain,
    columns: Sequence[TypedColumn],
    unit: PrivacyUnit | None,
    owner: dict[str, Any],
) -> int:
    """The engine's own count of the rows that are to be counted, with a check that all text was readable."""
    insides = [
        ibis.literal(True) if name in domain.places else _has_code(column.values, attribute)
        for column, (name, attribute) in zip(columns, domain.attributes, strict=True)
    ]
    flags = {
        f"unreadable{position}": column.unreadable
        for position, column in enumerate(columns)
        if column.unreadable is not None
    }
    flags |= {
        f"apart{position}_{side}": flag
        for position, column in enumerate(columns)
        for side, flag in enumerate(column.apart or ())
    }
    inside = combine(operator.and_, insides)
    found: dict[str, Any] = {}
    if flags:  # one scan for all, of what may be text
        marked = opened.rows.select(inside=inside, **flags)
        flagged = {flag: marked[flag].any() for flag in flags}
        found = fetch(
            opened.backend, marked.aggregate(inside=marked.count(where=marked.inside), **flagged)
        ).to_pylist()[0]
        _require_readable(found, opened, domain, columns)
    if unit is not None:
        owned = opened.rows.select(inside=inside, **owner)
        owned = owned.filter(owned.inside & owned.unit.notnull())
        return _number(fetch(opened.backend, bounded_number(owned.drop("inside"), unit)))
    if flags:
        return int(found["inside"] or 0)  # of no rows, some engines give NULL
    # A filter tests a column only where those before it hold, and skips what a file's statistics rule out: five times
    # as fast as COUNT(*) FILTER.
    kept = opened.rows.filter(inside)
    return _number(fetch(opened.backend, kept.aggregate(inside=kept.count())))


def _require_readable(
    found: dict[str, Any], opened: OpenTable, domain: Domain, columns: Sequence[TypedColumn]
) -> None:
    """Raise where the flags say that some text could not be read."""
    for position, (attribute_name, column) in enumerate(zip(domain.names, columns, strict=True)):
        name = domain.column(attribute_name)
        if found.get(f"apart{position}_0") and found.get(f"apart{position}_1"):
            raise SourceError(
                f"column {name!r} mixes times with a zone and times without one, which cannot be compared; "
                "write all of them in one way"
            )
        if found.get(f"unreadable{position}"):
            raise SourceError(
                f"column {name!r} must hold {column.wanted}, as its attribute is declared, got "
                f"{_UNREADABLE[opened.is_text_in(name)]}, or change the declaration"
            )


def _number(found: Any) -> int:
    """The one number of a result; of no rows, some engines give NULL."""
    return int(found.to_pylist()[0]["inside"] or 0)


def _has_code(values: Any, attribute: Attribute) -> Any:
    """Whether a value has a cell."""
    match attribute:
        case Numeric():
            return is_binned(values, attribute)
        case Measure():
            return is_finite(values)
        case Categorical():
            return has_code(values, attribute)


def _recipe(attribute: Attribute, position: int, engine: str) -> Recipe:
    """Steps to the attribute's cell in column `code`, NULL where there is none; of a measure, to its value in steps."""
    value, code = f"value{position}", f"code{position}"
    match attribute:
        case Numeric():
            return bin_recipe(attribute, value, code, engine)
        case Measure():
            return steps_recipe(attribute, value, code)
        case Categorical():
            return code_recipe(attribute, value, code)
