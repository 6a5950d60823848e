"""A look at records beside a declared domain: how many of them each attribute knows, and what the others hold.

Not private: nothing here may reach a release. `rowspace check` and `rs.check` come here, for the curator of the data,
who may look anyway. What would make a release refuse the data is found here, not raised.
"""

from __future__ import annotations

import operator
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import ibis

from rowspace.domain import Domain, Numeric
from rowspace.exceptions import RowspaceError, SourceError
from rowspace.formats import CSV, is_remote
from rowspace.privacy import PrivacyUnit
from rowspace.sources.binning import bin_recipe, combine
from rowspace.sources.coding import fetch, typed_columns, unit_cells
from rowspace.sources.columns import TypedColumn, require_columns, type_name
from rowspace.sources.contributions import unit_values
from rowspace.sources.files import local_files
from rowspace.sources.frames import as_arrow
from rowspace.sources.looks import ColumnLook, TableLook, ordered, row_kinds, unit_sizes
from rowspace.sources.opening import OpenTable, column_names, open_table
from rowspace.sources.text import first_fault
from rowspace.sources.times import stored_text

#: So many of the most frequent values that an attribute does not know are listed.
MOST_VALUES = 10


@dataclass
class _Columns:
    """Which columns can be read as declared, and why the others cannot."""

    readable: list[str] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)


def look(
    source: object,
    domain: Domain,
    asked: frozenset[str],
    *,
    unit: PrivacyUnit | None = None,
    table: str | None = None,
) -> TableLook:
    """Look at every attribute's column: one aggregate over all rows, one for the unit, one for each list of values.

    asked: the attributes that a release reads; those that drop records are the only ones that lose any.

    Raises:
        SourceError: The source is missing or damaged. No value is quoted.
    """
    try:
        return _look(source, domain, asked, unit, table)
    except SourceError as error:
        if (found := _faulty_record(source)) is not None:
            error.args = (f"{error}; the first such record is {found}, the header included",)
        raise


def _look(
    source: object, domain: Domain, asked: frozenset[str], unit: PrivacyUnit | None, table: str | None
) -> TableLook:
    wanted = [*dict.fromkeys(map(domain.column, domain.names)), *([] if unit is None else [unit.column])]
    names = column_names(source, table, wanted)
    absent = {column: said for column in wanted if (said := _absence(source, column, names)) is not None}
    unit_refusal = None if unit is None else absent.get(unit.column)
    present = [name for name in domain.names if domain.column(name) not in absent]
    sorted_out = _Columns(
        refusals={name: absent[domain.column(name)] for name in domain.names if name not in present}
    )
    if not present:
        columns = tuple(_not_looked_at(name, domain, sorted_out) for name in domain.names)
        return TableLook(columns, bool(_csv_files(source)), unit_refusal=unit_refusal)
    owner = unit.column if unit is not None and unit_refusal is None else None
    with open_table(source, domain.subset(present), table, unit=owner) as opened:
        _sort(opened, domain.subset(present), sorted_out)
        if unit is not None and unit_refusal is None:
            unit_refusal = _refusal(lambda: unit_values(opened.rows[unit.column], unit))
        return _count(opened, domain, asked, sorted_out, unit, unit_refusal)


def _absence(source: object, column: str, names: list[str]) -> str | None:
    """Why there is not one column of a name that can be read, or None if there is."""
    said = _refusal(lambda: require_columns([column], names))
    # Of a frame each column must convert, and is tried by itself; all else has types that engines know.
    return said if said is not None else _refusal(lambda: as_arrow(source, [column]))


def _sort(opened: OpenTable, present: Domain, sorted_out: _Columns) -> None:
    """Find out which columns have the type of their attribute, by what a release itself does."""
    for name, attribute in present.attributes:
        sorted_out.types[name] = (
            "text"
            if opened.is_text_in(present.column(name))
            else type_name(opened.rows[present.column(name)].type())
        )
        said = _refusal(partial(typed_columns, opened, present.subset([name])))
        if said is None and isinstance(attribute, Numeric):
            said = _refusal(partial(bin_recipe, attribute, "value", "code", opened.backend.name))
        if said is None:
            sorted_out.readable.append(name)
        else:
            sorted_out.refusals[name] = said


def _refusal(action: Callable[[], object]) -> str | None:
    """What a release would say, or None."""
    try:
        action()
    except RowspaceError as error:
        return str(error)
    return None


def _not_looked_at(name: str, domain: Domain, sorted_out: _Columns) -> ColumnLook:
    return ColumnLook(name, domain.column(name), refusal=sorted_out.refusals[name])


def _count(
    opened: OpenTable,
    domain: Domain,
    asked: frozenset[str],
    sorted_out: _Columns,
    unit: PrivacyUnit | None,
    unit_refusal: str | None,
) -> TableLook:
    """Count everything in one query, then look at the values and at the unit where there is something to see."""
    opened, typed, kinds = _mark(opened, domain, sorted_out)
    drops = [kinds[name]["known"] for name in typed if name in asked and domain[name].drops]
    kept = combine(operator.and_, [ibis.literal(True), *drops])
    has_unit = unit is not None and unit_refusal is None
    owned = opened.rows[unit.column].notnull() if unit is not None and has_unit else ibis.literal(True)
    found = _tally(opened, domain, typed, kinds, counted=kept & owned, unitless=kept & ~owned)
    looks = []
    for name in domain.names:
        if name not in kinds:
            looks.append(_not_looked_at(name, domain, sorted_out))
            continue
        at = domain.position(name)
        counts = {kind: int(found[f"{kind}_{at}"]) for kind in kinds[name]}
        odd = [kinds[name][kind] for kind in ("unlisted", "unreadable") if counts.get(kind)]
        shown = _frequent(opened, domain.column(name), odd) if odd and name in typed else ()
        ends = (found.get(f"lowest_{at}"), found.get(f"highest_{at}"))
        looks.append(_column_look(name, domain.column(name), sorted_out, counts, found["rows"], ends, shown))
    sizes = None
    if unit is not None and has_unit:
        rows = opened.rows.select(unit=opened.rows[unit.column], kept=kept)
        rows = rows.filter(rows.kept & rows.unit.notnull())
        counted_once = unit.distinct and asked <= typed.keys()
        if counted_once:
            own = domain.subset([name for name in domain.names if name in asked])
            rows = unit_cells(opened, own.with_places(), unit)
        sizes = unit_sizes(opened.backend, rows, unit.rows, "cells" if counted_once else "rows")
    return TableLook(
        tuple(looks),
        opened.is_text,
        int(found["rows"]),
        int(found["counted"]),
        int(found["unitless"]),
        sizes,
        unit_refusal,
    )


def _mark(
    opened: OpenTable, domain: Domain, sorted_out: _Columns
) -> tuple[OpenTable, dict[str, TypedColumn], dict[str, dict[str, Any]]]:
    """The columns that can be read, and what a row is to each attribute; of a column of another type, all that is not
    NULL is unreadable."""
    typed: dict[str, TypedColumn] = {}
    if sorted_out.readable:
        opened, columns = typed_columns(opened, domain.subset(sorted_out.readable))
        typed = dict(zip(sorted_out.readable, columns, strict=True))
    kinds = {
        name: row_kinds(typed[name], attribute)
        if name in typed
        else {"unreadable": opened.rows[domain.column(name)].notnull()}
        for name, attribute in domain.attributes
        if name in sorted_out.types
    }
    return opened, typed, kinds


def _tally(
    opened: OpenTable,
    domain: Domain,
    typed: dict[str, TypedColumn],
    kinds: Mapping[str, Mapping[str, Any]],
    **of_table: Any,
) -> dict[str, Any]:
    """How many rows are of each kind, and the ends of all values, in one pass; names end in attributes' positions."""
    flags = {
        f"{kind}_{domain.position(name)}": flag for name, own in kinds.items() for kind, flag in own.items()
    } | of_table
    values = {
        str(domain.position(name)): ordered(column.values, kinds[name]["readable"])
        for name, column in typed.items()
    }
    rows = opened.rows.select(**flags, **{f"value_{at}": column for at, column in values.items()})
    results = {flag: rows.count(where=rows[flag]) for flag in flags}
    results |= {f"lowest_{at}": rows[f"value_{at}"].min() for at in values}
    results |= {f"highest_{at}": rows[f"value_{at}"].max() for at in values}
    found: dict[str, Any] = fetch(opened.backend, rows.aggregate(rows=rows.count(), **results)).to_pylist()[0]
    return found


def _column_look(
    name: str,
    column: str,
    sorted_out: _Columns,
    counts: dict[str, int],
    rows: int,
    ends: tuple[Any, Any],
    shown: tuple[tuple[str, int], ...],
) -> ColumnLook:
    """The counts of one column; what is none of the others is missing."""
    mixed = bool(counts.pop("zoned", 0)) & bool(counts.pop("naive", 0))
    counts.pop("readable", None)
    apart = ("known", "below", "above", "unlisted", "unreadable")
    missing = int(rows) - sum(counts.get(kind, 0) for kind in apart)
    both = counts.pop("both", 0) - counts.get("spaces", 0) - counts.get("case", 0)
    return ColumnLook(
        name,
        column,
        sorted_out.types[name],
        sorted_out.refusals.get(name),
        missing=missing,
        mixed_zones=mixed,
        lowest=ends[0],
        highest=ends[1],
        values=shown,
        spaces_and_case=both,
        **counts,
    )


def _frequent(opened: OpenTable, column: str, odd: list[Any]) -> tuple[tuple[str, int], ...]:
    """The most frequent values of the rows that are odd."""
    value = opened.rows[column]
    if opened.backend.name == "sqlite":  # where they may be of any type
        value = stored_text(value, binary="binary data")
    rows = opened.rows.select(value=value, odd=combine(operator.or_, odd))
    rows = rows.filter(rows.odd)
    groups = rows.group_by("value").aggregate(number=rows.count())
    top = groups.order_by([groups.number.desc(), groups.value]).limit(MOST_VALUES)
    return tuple((str(row["value"]), int(row["number"])) for row in fetch(opened.backend, top).to_pylist())


def _faulty_record(source: object) -> str | None:
    """Which record of CSV files is the first that cannot be read, if that is what is wrong with them."""
    files = _csv_files(source)
    for file in files:
        try:
            found = first_fault(file)
        except (RowspaceError, OSError, EOFError, zlib.error):
            return None
        if found is not None:
            return f"number {found[0]:,}" + (f" of {file.path}" if len(files) > 1 else "")
    return None


def _csv_files(source: object) -> list[CSV]:
    """The CSV files on this machine that a source is, if it is any."""
    if not isinstance(source, str | Path | CSV) or is_remote(source):
        return []
    try:
        files = local_files(source)
    except RowspaceError:
        return []
    return [] if files.form is None else [files.csv_of(file) for file in files.files]
