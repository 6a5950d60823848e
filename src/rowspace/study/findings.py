"""What a look at the data found, in words, with what a release makes of it and what to write instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowspace.domain import Attribute, Categorical, Dates, DayOfWeek, Domain, Measure, Numeric
from rowspace.privacy import PrivacyUnit

if TYPE_CHECKING:
    from rowspace.sources import Cap, ColumnLook, TableLook, UnitSizes

# A cap that leaves out no more than this share of the rows is advised.
_ACCEPTABLE_SHARE = 0.01
_LONGEST_VALUE = 40


@dataclass(frozen=True)
class Finding:
    """One thing to know about the data.

    kind: one word, for programs.
    message: for people.
    attribute: which it is about; None for the whole table.
    refused: whether a release of the study refuses the data because of it.
    """

    kind: str
    message: str
    attribute: str | None = None
    refused: bool = False


def find(
    domain: Domain, asked: frozenset[str], unit: PrivacyUnit | None, looked: TableLook
) -> tuple[Finding, ...]:
    """Everything worth saying, attribute by attribute, then the unit and the whole table."""
    found: list[Finding] = []
    for column in looked.columns:
        attribute = domain[column.name]
        is_asked = column.name in asked
        said = list(_about(column, attribute, looked, is_asked=is_asked))
        if said and not is_asked:
            said.append(
                Finding("unasked", "no query asks about it, so a release does not read it", column.name)
            )
        found += said
    if unit is not None:
        found += _about_unit(unit, looked)
    found += _about_table(domain, asked, looked)
    return tuple(found)


def _about(
    column: ColumnLook, attribute: Attribute, looked: TableLook, *, is_asked: bool
) -> Iterator[Finding]:
    """One attribute."""

    def finding(kind: str, message: str, *, refused: bool = False) -> Finding:
        return Finding(kind, message, column.name, refused and is_asked)

    if column.refusal is not None:
        yield finding("column" if column.type is None else "type", column.refusal, refused=True)
        return
    if column.mixed_zones:
        yield finding(
            "zones",
            "some times have a zone and some have none: a release refuses them; write all in one way",
            refused=True,
        )
    if column.unreadable:
        yield finding("unreadable", _unreadable(column, attribute, looked.is_text), refused=True)
    if column.missing:
        yield finding("missing", f"{_rows(column.missing, looked)} missing: {_fate(attribute, missing=True)}")
    if column.below or column.above:
        assert isinstance(attribute, Numeric | Measure)
        yield finding("outside", f"{_outside(column, attribute, looked)}: {_fate(attribute, missing=False)}")
    if column.unlisted:
        yield finding(
            "unlisted",
            f"{_rows(column.unlisted, looked)} in no category ({_values(column)}): {_fate(attribute, missing=False)}",
        )
    yield from (finding(kind, message) for kind, message in _near_misses(column, looked.is_text))
    if alike := _alike(attribute):
        yield finding(
            "alike",
            f"the categories {alike} differ only by spaces or case, and each counts rows of its own: is one a mistake?",
        )
    if column.decimals:
        yield finding(
            "decimals",
            f"{_rows(column.decimals, looked)} not whole, but integer = true is declared: such numbers are rounded "
            "down; leave integer out if they belong there",
        )
    if looked.rows and not column.known and not column.unreadable:
        why = (
            "all are missing"
            if column.missing == looked.rows
            else "check the bounds or categories, and the units"
        )
        yield finding("unknown", f"no row has a known value: {why}")
    elif column.lowest is not None and column.lowest == column.highest and column.known > 1:
        yield finding("constant", "all values are the same: is it the right column, and all of the table?")


def _unreadable(column: ColumnLook, attribute: Attribute, is_text: bool) -> str:
    """What cannot be read, and what to declare."""
    if isinstance(attribute, Numeric | Measure) and not hasattr(attribute, "zone"):
        wanted = "a number"
    elif hasattr(attribute, "zone"):
        wanted = "a date that exists, written 2024-03-01 or 2024-03-01T14:30:00"
    else:
        assert isinstance(attribute, Categorical)
        wanted = {bool: "a boolean", str: "text"}.get(attribute.type, "a whole number")
    advice = (
        f"; if a text means missing, declare it: nulls = [{_quoted(column.values[0][0])}] in [data]"
        if is_text and column.values
        else ""
    )
    if is_text and any(value != value.strip() for value, _ in column.values):
        advice += "; strip = true there leaves out spaces around values"
    one = column.unreadable == 1
    return (
        f"{column.unreadable:,} {'row cannot' if one else 'rows cannot'} be read as {wanted} ({_values(column)}): "
        f"a release refuses the data{advice}"
    )


def _outside(column: ColumnLook, attribute: Numeric | Measure, looked: TableLook) -> str:
    """How many are beyond which bound, and how far."""
    highest = _shown(attribute.high, attribute)
    # A bound of a measure is a value of it, the upper edge of the last bin is in none.
    beyond = f"above {highest}" if isinstance(attribute, Measure) else f"at {highest} or above"
    sides = []
    if column.below:
        sides.append(f"{column.below:,} below {_shown(attribute.low, attribute)}")
    if column.above:
        sides.append(f"{column.above:,} {beyond}")
    reach = f"from {_shown(column.lowest, attribute)} to {_shown(column.highest, attribute)}"
    return f"{_rows(column.below + column.above, looked)} outside ({', '.join(sides)}; values reach {reach})"


def _shown(value: float, attribute: Numeric | Measure) -> str:
    """A number as it is, a time as people write it where the calendar has it."""
    if isinstance(attribute, Dates):
        try:
            return attribute.format(value)
        except (ValueError, OverflowError):
            return "beyond the calendar"
    return f"{value:.12g}"


def _near_misses(column: ColumnLook, is_text: bool) -> Iterator[tuple[str, str]]:
    """Values that are a category but for spaces or case."""
    for kind, number, but, keys in (
        ("spaces", column.spaces, "spaces around them", "strip = true"),
        ("case", column.case, "upper and lower case", "ignore_case = true"),
        ("spaces and case", column.spaces_and_case, "spaces and case", "strip = true and ignore_case = true"),
    ):
        if number:
            cure = f"write {keys} in [data]" if is_text else "clean the column in a view or a frame"
            yield kind, f"{number:,} of these would be a category but for {but}: {cure}"


def _alike(attribute: Attribute) -> str:
    """The first listed categories that differ only by spaces or case."""
    if not isinstance(attribute, Categorical) or attribute.type is not str:
        return ""
    spellings: dict[str, list[str]] = {}
    for value in map(str, attribute.values):
        spellings.setdefault("".join(value.casefold().split()), []).append(value)
    alike = next((values for values in spellings.values() if len(values) > 1), [])
    return " and ".join(map(_quoted, alike[:2]))


def _fate(attribute: Attribute, *, missing: bool) -> str:
    """What a release makes of a row whose value is missing, or else outside or unlisted."""
    if isinstance(attribute, Categorical) and attribute.other is not None:
        return f"counted as {attribute.other!r}"
    if attribute.drops:
        return 'left out of every answer (outside = "drop")'
    if isinstance(attribute, Measure):
        return "in no sum and no mean of it, and in all counts" if missing else "summed as the nearest bound"
    if attribute.outside == "clip" and not missing:
        return 'counted in the nearest bin (outside = "clip")'
    where = "range" if isinstance(attribute, Numeric) else "category"
    return f"in no {where} of it, and in totals and tables of other attributes"


def _about_unit(unit: PrivacyUnit, looked: TableLook) -> Iterator[Finding]:
    """Rows without a unit, and what caps leave out."""
    if looked.unit_refusal is not None:
        yield Finding("unit", looked.unit_refusal, refused=True)
    if looked.without_unit:
        yield Finding(
            "unit",
            f"{_rows(looked.without_unit, looked)} of no privacy unit (no {unit.column!r}): left out of every answer",
        )
    sizes = looked.unit
    if sizes is None or not sizes.units:
        return
    declared = next(cap for cap in sizes.caps if cap.rows == unit.rows)
    if declared.left_out:
        yield Finding(
            "cap",
            f"the cap of {unit.rows:,} {sizes.of} per unit leaves out {declared.left_out:,} of {sizes.rows:,} "
            f"{sizes.of} ({_percent(declared.share)}), chosen at random: all answers are about the others",
        )
    advised = advised_cap(sizes)
    if advised.rows != unit.rows:
        yield Finding("cap advice", _cap_advice(advised, declared, sizes.of))


def advised_cap(sizes: UnitSizes) -> Cap:
    """The smallest cap of those that leaves out at most 1 % of the rows."""
    return next(cap for cap in sizes.caps if cap.share <= _ACCEPTABLE_SHARE)


def _cap_advice(advised: Cap, declared: Cap, of: str) -> str:
    """Why another cap may be better."""
    lost = f" ({_percent(advised.share)})" if advised.left_out else ""
    times = f"so it has {advised.rows / declared.rows:.3g} times the noise of {declared.rows:,}"
    price = times if of == "rows" else "under Gaussian noise more slowly, and plans say how much"
    return (
        f"the smallest of these caps that leaves out at most 1 % of the {of} is {advised.rows:,}{lost}; noise "
        f"grows with the cap, {price}; the cap is published: choose it from public knowledge where there is some"
    )


def _about_table(domain: Domain, asked: frozenset[str], looked: TableLook) -> Iterator[Finding]:
    """The whole table."""
    if looked.rows is None:
        yield Finding(
            "header",
            "none of the columns is there"
            + ("; if the file has no header line, declare names = [...] in [data]" if looked.is_text else ""),
            refused=True,
        )
        return
    if looked.rows == 0:
        yield Finding("empty", "there are no rows: is it the right table?")
        return
    dropped = looked.rows - (looked.counted or 0) - looked.without_unit
    if dropped:
        yield Finding("dropped", f'{_rows(dropped, looked)} left out of every answer, by outside = "drop"')
    if looked.counted == 0:
        yield Finding("nothing", "no row is counted at all")
    complete = [
        column.name
        for column in looked.columns
        if column.name in asked and column.known == looked.rows and _could_drop(domain[column.name])
    ]
    if complete:
        names = ", ".join(complete)
        yield Finding(
            "complete",
            f"every row has a known value of {names}. If that is public knowledge (not because this look shows it), "
            'outside = "drop" there saves error: no place for missing values is measured',
        )


def _could_drop(attribute: Attribute) -> bool:
    """Whether it keeps missing values now, and could be declared to drop them."""
    return attribute.keeps_missing and not isinstance(attribute, DayOfWeek | Measure)


def _rows(number: int, looked: TableLook) -> str:
    """A number of rows with its share, and the verb."""
    share = f" ({_percent(number / looked.rows)})" if looked.rows else ""
    return f"{number:,} row{share} is" if number == 1 else f"{number:,} rows{share} are"


def _percent(share: float) -> str:
    """A share; small ones keep a digit."""
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.1f} %"


def _values(column: ColumnLook) -> str:
    """The most frequent odd values, with how many rows have each."""
    listed = ", ".join(f"{_quoted(value)} {number:,}" for value, number in column.values)
    rest = column.unlisted + column.unreadable - sum(number for _, number in column.values)
    return f"{listed}, others {rest:,}" if rest else listed


def _quoted(value: str) -> str:
    """A value on one line, of bounded length, with its spaces seen."""
    cut = value if len(value) <= _LONGEST_VALUE else value[:_LONGEST_VALUE] + "…"
    return '"' + "".join(c if c.isprintable() else "�" for c in cut) + '"'
