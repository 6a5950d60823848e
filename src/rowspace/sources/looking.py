"""A look at records beside a declared domain: how many of them each attribute knows, and what the others hold.

Not private: nothing here may reach a release. `rowspace check` and `rs.check` come here, for the curator of the data,
who may look anyway. What would make a release refuse the data is found here, not raised.
"""

from __future__ import annotations

import operator
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ibis

from rowspace.domain import Domain, Numeric
from rowspace.exceptions import RowspaceError, SourceError
from rowspace.formats import CSV, CSV_ENDINGS
from rowspace.privacy import PrivacyUnit
from rowspace.sources.binning import bin_recipe
from rowspace.sources.coding import combine, fetch, typed_columns
from rowspace.sources.columns import TypedColumn, require_columns
from rowspace.sources.contributions import unit_values
from rowspace.sources.frames import as_arrow
from rowspace.sources.opening import OpenTable, column_names, open_table
from rowspace.sources.row_kinds import ordered, row_kinds
from rowspace.sources.text import first_fault
from rowspace.sources.type_names import type_name
from rowspace.sources.unit_sizes import UnitSizes, unit_sizes

__all__ = ["MOST_VALUES", "ColumnLook", "TableLook", "look"]

#: So many of the most frequent values that an attribute does not know are listed.
MOST_VALUES = 10


@dataclass(frozen=True)
class ColumnLook:
    """What the rows of a table are to one attribute; each row is one of known, missing, below, above, unlisted and
    unreadable.

    Attributes
    ----------
    name, column: of the attribute, and of what it reads.
    type: what the column is, in words; None where it is not there.
    refusal: why a release refuses the column whatever its rows hold, in the words of that refusal.
    known: rows with a value of a bin or category.
    missing: rows with NULL, NaN, an empty cell or a text declared to mean missing.
    below, above: rows with a number or time beyond the bounds.
    unlisted: rows with a value that is no category.
    unreadable: rows with a value that is not of the declared kind.
    decimals: rows with a number that is not whole, of an attribute of whole numbers.
    spaces, case, spaces_and_case: rows that are unlisted only by spaces around, by the case of letters, by both.
    mixed_zones: whether some times have a zone and some have none.
    lowest, highest: the range of the values that can be read; seconds for times.
    values: the most frequent values that are unlisted or unreadable, and how many rows have each.
    """

    name: str
    column: str
    type: str | None = None
    refusal: str | None = None
    known: int = 0
    missing: int = 0
    below: int = 0
    above: int = 0
    unlisted: int = 0
    unreadable: int = 0
    decimals: int = 0
    spaces: int = 0
    case: int = 0
    spaces_and_case: int = 0
    mixed_zones: bool = False
    lowest: Any = None
    highest: Any = None
    values: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class TableLook:
    """All columns of a domain, in its order; None for what no usable column could tell.

    counted: how many rows a release is about, before any cap on rows per unit: those that no attribute drops and, with
    a privacy unit, that have one.
    """

    columns: tuple[ColumnLook, ...]
    is_text: bool
    rows: int | None = None
    counted: int | None = None
    without_unit: int = 0
    unit: UnitSizes | None = None
    unit_refusal: str | None = None


@dataclass
class _Plan:
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
        if (number := _faulty_record(source)) is not None:
            error.args = (f"{error}; the first such record is number {number:,}, the header included",)
        raise


def _look(
    source: object, domain: Domain, asked: frozenset[str], unit: PrivacyUnit | None, table: str | None
) -> TableLook:
    wanted = [*dict.fromkeys(map(domain.column, domain.names)), *([] if unit is None else [unit.column])]
    names = column_names(source, table, wanted)
    absent = {column: said for column in wanted if (said := _absence(source, column, names)) is not None}
    unit_refusal = None if unit is None else absent.get(unit.column)
    present = [name for name in domain.names if domain.column(name) not in absent]
    plan = _Plan(refusals={name: absent[domain.column(name)] for name in domain.names if name not in present})
    if not present:
        columns = tuple(_not_looked_at(name, domain, plan) for name in domain.names)
        return TableLook(columns, _csv_of(source) is not None, unit_refusal=unit_refusal)
    owner = unit.column if unit is not None and unit_refusal is None else None
    with open_table(source, domain.subset(present), table, unit=owner) as opened:
        _sort(opened, domain.subset(present), plan)
        if unit is not None and unit_refusal is None:
            unit_refusal = _refusal(lambda: unit_values(opened.rows[unit.column], unit))
        return _count(opened, domain, asked, plan, unit, unit_refusal)


def _absence(source: object, column: str, names: list[str]) -> str | None:
    """Why there is not one column of a name that can be read, or None if there is."""
    said = _refusal(lambda: require_columns([column], names))
    # Of a frame each column must convert, and is tried by itself; all else has types that engines know.
    return said if said is not None else _refusal(lambda: as_arrow(source, [column]))


def _sort(opened: OpenTable, present: Domain, plan: _Plan) -> None:
    """Find out which columns have the type of their attribute, by what a release itself does."""
    for name, attribute in present.attributes:
        plan.types[name] = "text" if opened.is_text else type_name(opened.rows[present.column(name)].type())
        said = _refusal(lambda name=name: typed_columns(opened, present.subset([name])))  # type: ignore[misc]
        if said is None and isinstance(attribute, Numeric):
            said = _refusal(
                lambda attribute=attribute: bin_recipe(attribute, "value", "code", opened.backend.name)  # type: ignore[misc]
            )
        if said is None:
            plan.readable.append(name)
        else:
            plan.refusals[name] = said


def _refusal(action: Any) -> str | None:
    """What a release would say, or None."""
    try:
        action()
    except RowspaceError as error:
        return str(error)
    return None


def _not_looked_at(name: str, domain: Domain, plan: _Plan) -> ColumnLook:
    return ColumnLook(name, domain.column(name), refusal=plan.refusals[name])


def _count(
    opened: OpenTable,
    domain: Domain,
    asked: frozenset[str],
    plan: _Plan,
    unit: PrivacyUnit | None,
    unit_refusal: str | None,
) -> TableLook:
    """Count everything in one query, then look at the values and at the unit where there is something to see."""
    typed: dict[str, TypedColumn] = {}
    if plan.readable:
        opened, columns = typed_columns(opened, domain.subset(plan.readable))
        typed = dict(zip(plan.readable, columns, strict=True))
    flags: dict[str, dict[str, Any]] = {}
    for name, attribute in domain.attributes:
        if name in typed:
            flags[name] = row_kinds(typed[name], attribute)
        elif name in plan.types:
            flags[name] = {"unreadable": opened.rows[domain.column(name)].notnull()}
    kept = combine(
        operator.and_,
        [
            ibis.literal(True),
            *(flags[name]["known"] for name in typed if name in asked and domain[name].drops),
        ],
    )
    owned = ibis.literal(True)
    if unit is not None and unit_refusal is None:
        owned = opened.rows[unit.column].notnull()
    selected = {
        f"{kind}_{domain.position(name)}": flag for name, own in flags.items() for kind, flag in own.items()
    }
    values = {
        f"value_{domain.position(name)}": ordered(column.values, flags[name]["readable"])
        for name, column in typed.items()
    }
    marked = opened.rows.select(
        **selected,
        **values,
        counted=(kept & owned).fill_null(False),
        unitless=(kept & ~owned).fill_null(False),
    )
    sums = {flag: marked.count(where=marked[flag]) for flag in [*selected, "counted", "unitless"]}
    ranges = {
        f"{end}_{value}": getattr(marked[value], method)()
        for value in values
        for end, method in (("lowest", "min"), ("highest", "max"))
    }
    [found] = fetch(opened.backend, marked.aggregate(rows=marked.count(), **sums, **ranges)).to_pylist()
    looks = []
    for name in domain.names:
        if name not in flags:
            looks.append(_not_looked_at(name, domain, plan))
            continue
        at = domain.position(name)
        counts = {kind: int(found[f"{kind}_{at}"]) for kind in flags[name]}
        odd = [flags[name][kind] for kind in ("unlisted", "unreadable") if counts.get(kind)]
        shown = _frequent(opened, domain.column(name), odd) if odd and name in typed else ()
        ends = (found.get(f"lowest_value_{at}"), found.get(f"highest_value_{at}"))
        looks.append(_column_look(name, domain.column(name), plan, counts, found["rows"], ends, shown))
    sizes = None
    if unit is not None and unit_refusal is None:
        rows = opened.rows.select(unit=opened.rows[unit.column], kept=kept)
        sizes = unit_sizes(opened.backend, rows.filter(rows.kept & rows.unit.notnull()), unit.rows)
    return TableLook(
        tuple(looks),
        opened.is_text,
        int(found["rows"]),
        int(found["counted"]),
        int(found["unitless"]),
        sizes,
        unit_refusal,
    )


def _column_look(
    name: str,
    column: str,
    plan: _Plan,
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
        plan.types[name],
        plan.refusals.get(name),
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
    rows = opened.rows.select(value=opened.rows[column], odd=combine(operator.or_, odd))
    rows = rows.filter(rows.odd)
    groups = rows.group_by("value").aggregate(number=rows.count())
    top = groups.order_by([groups.number.desc(), groups.value]).limit(MOST_VALUES)
    return tuple((str(row["value"]), int(row["number"])) for row in fetch(opened.backend, top).to_pylist())


def _faulty_record(source: object) -> int | None:
    """The number of the first record of a CSV file that cannot be read, if that is what is wrong with it."""
    file = _csv_of(source)
    try:
        found = None if file is None else first_fault(file)
    except (RowspaceError, OSError, EOFError, zlib.error):
        return None
    return None if found is None else found[0]


def _csv_of(source: object) -> CSV | None:
    """The CSV file that a source is, if it is one."""
    if isinstance(source, CSV):
        return source
    is_file = isinstance(source, str | Path) and str(source).lower().endswith(CSV_ENDINGS)
    return CSV(str(source)) if is_file else None
