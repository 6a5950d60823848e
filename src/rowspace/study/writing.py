"""A study as text: TOML that people will edit, with comments where they should think.

And a first one from a look at the data: for its curator only, until public knowledge replaces the numbers.
"""

from __future__ import annotations

import dataclasses
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import combinations
from typing import TYPE_CHECKING, Any

from rowspace.domain import (
    DAY,
    Attribute,
    Categorical,
    Dates,
    Domain,
    Measure,
    Numeric,
    period_around,
    write_time,
)
from rowspace.exceptions import InvalidDomain, InvalidStudy
from rowspace.privacy import ZCDP, ApproxDP, Privacy, PrivacyUnit, PureDP

if TYPE_CHECKING:
    from tomlkit.items import Item

    from rowspace.sources import ColumnSketch

_WIDTH = 100
_INDENT = "    "

#: One [[workload]] entry, by its keys.
Entry = Mapping[str, Any]


def write_study(
    name: str,
    domain: Domain,
    privacy: Privacy,
    entries: Sequence[Entry],
    *,
    data: Mapping[str, Any] | None = None,
    draft: str | None = None,
    header: Sequence[str] = (),
    notes: Mapping[str, str] | None = None,
) -> str:
    """The text of a study file; `Study.parse` reads back the same domain, privacy and queries.

    data: the keys of [data]. draft: marks the study as a draft, with this advice. header: lines of comment at the top.
    notes: attribute → a comment above its table.

    >>> from rowspace.domain import Categorical
    >>> domain = Domain(sex=Categorical(["F", "M"]))
    >>> print(write_study("Residents", domain, PureDP(1.0), [{"marginal": ["sex"]}]))
    [study]
    name = "Residents"
    <BLANKLINE>
    [privacy]
    epsilon = 1.0
    neighbours = "add-remove"      # or "replace-one", when the number of records is public
    <BLANKLINE>
    [domain.sex]
    type = "categorical"
    categories = ["F", "M"]
    <BLANKLINE>
    [[workload]]
    marginal = ["sex"]
    <BLANKLINE>
    """
    advice = {"neighbours": 'or "replace-one", when the number of records is public', "draft": draft}
    blocks = ["\n".join(map(comment, header))] if header else []
    blocks.append(_block("[study]", {"name": name} | ({} if draft is None else {"draft": True}), advice))
    blocks.append(_block("[privacy]", _privacy(privacy), advice))
    if data:
        blocks.append(_block("[data]", data))
    for attribute_name, attribute in domain.attributes:
        note = (notes or {}).get(attribute_name)
        blocks.append((comment(note) + "\n" if note else "") + attribute_block(attribute_name, attribute))
    return "\n\n".join([*blocks, *map(entry_block, entries)]) + "\n"


def entry_block(entry: Entry) -> str:
    """The text of one [[workload]] entry."""
    return _block("[[workload]]", entry)


def comment(text: str) -> str:
    """One line of comment; TOML allows no control characters in it."""
    return ("# " + "".join(c if c.isprintable() else " " for c in text)).rstrip()


def line(name: str, value: Any, remark: str | None = None) -> str:
    """``key = value``, a long list over several lines, perhaps with a comment at its end."""
    import tomlkit  # here: it takes a while, and reading a study needs none of it

    item = _item(value, len(name) + len(" = "))
    if remark is not None:
        item.comment(comment(remark)).trivia.comment_ws = "      "
    # A document for each line: tomlkit takes time quadratic in the keys of one.
    return tomlkit.dumps({name: item}).rstrip("\n")


def _block(head: str, values: Mapping[str, Any], remarks: Mapping[str, str | None] | None = None) -> str:
    """The lines of a table below its head."""
    return "\n".join(
        [head, *(line(name, value, (remarks or {}).get(name)) for name, value in values.items())]
    )


def _privacy(privacy: Privacy) -> dict[str, Any]:
    """The numbers of a guarantee, then the neighbours and the unit."""
    if not isinstance(privacy, PureDP | ApproxDP | ZCDP):
        raise InvalidStudy(f"a study states epsilon, epsilon and delta, or rho; got {type(privacy).__name__}")
    values = {field.name: getattr(privacy, field.name) for field in dataclasses.fields(privacy)}
    unit: PrivacyUnit | None = values.pop("unit")
    values["neighbours"] = privacy.neighbours.value
    if unit is None:
        return values
    values |= {"privacy_unit": unit.column, "max_rows_per_unit": unit.rows}
    values |= {"distinct_units": True} if unit.distinct else {}
    values |= {} if unit.periods is None else {"max_periods_per_unit": unit.periods}
    return values | ({"periods_apart": unit.apart} if unit.apart > 1 else {})


def attribute_block(name: str, attribute: Attribute) -> str:
    """The table of one attribute, and those of its levels."""
    import tomlkit

    fields = attribute.to_dict()
    kind, levels = fields.pop("kind"), fields.pop("levels", [])
    if kind == "categorical":
        drops = {"outside": "drop"} if attribute.drops else {}
        fields = {"categories": fields["values"], "other": fields["other"], **drops}
    if isinstance(attribute, Measure):
        bounds = {"low": _shortest(attribute.low), "high": _shortest(attribute.high)}
        grid = {"step": _shortest(attribute.step)}
        grid |= {key: fields[key] for key in ("squares", "per_unit") if key in fields}
        return _block(f"[{tomlkit.key(['measure', name]).as_string()}]", bounds | grid)
    if kind == "numeric":
        fields |= {end: _shortest(fields[end]) for end in ("low", "high") if end in fields}
        fields["integer"] = fields["integer"] or None
    place = ["domain", name]
    tables = [(place, {"type": kind} | {key: value for key, value in fields.items() if value is not None})]
    for level in levels:
        tables.append(([*place, "levels", level["name"]], _level(level["map"], fields["other"])))
    return "\n".join(_block(f"[{tomlkit.key(path).as_string()}]", values) for path, values in tables)


def _level(pairs: Sequence[tuple[Any, Any]], other: str | None) -> dict[str, Any]:
    """``coarse = [fine, …]`` where the coarse labels are text, else ``fine = coarse``."""
    if not all(isinstance(coarse, str) for _, coarse in pairs):
        return {
            str(fine).lower() if isinstance(fine, bool) else str(fine): coarse
            for fine, coarse in pairs
            if fine != other or coarse != other  # the reader maps that one by itself
        }
    groups: dict[str, list[Any]] = {}
    for fine, coarse in pairs:
        groups.setdefault(coarse, []).append(fine)
    return groups


def _item(value: Any, start: int = 0) -> Item:
    """A value in TOML that begins so many characters after the margin."""
    import tomlkit
    from tomlkit.exceptions import ConvertError

    match value:
        case list() | tuple():
            return _array([_item(each) for each in value], start)
        case Mapping():
            inside = tomlkit.inline_table()
            for name, each in value.items():
                inside.append(name, _item(each))
            return tomlkit.value("{ " + inside.as_string()[1:-1] + " }")
    try:
        item: Item = tomlkit.item(value)
    except ConvertError:
        kind = type(value).__name__
        raise InvalidStudy(f"a study holds text, numbers, booleans, lists and tables, got {kind}") from None
    return item


def _array(items: Sequence[Item], start: int) -> Item:
    """A list on one line if it is short, else on as few as hold it. In one step: tomlkit's `append` is quadratic."""
    import tomlkit
    from tomlkit.items import Whitespace

    widths = [len(item.as_string()) + len(", ") for item in items]
    wrapped = start + sum(widths) > _WIDTH
    pieces: list[Item] = []
    filled = _WIDTH if wrapped else -sum(widths)
    for item, width in zip(items, widths, strict=True):
        filled += width
        if filled > _WIDTH:
            pieces.append(Whitespace("\n" + _INDENT))
            filled = len(_INDENT) + width
        elif pieces:
            pieces.append(Whitespace(" "))
        pieces += [item, Whitespace(",")]
    array = tomlkit.array()
    last = [Whitespace("\n")] if wrapped else []
    array.add_line(*(pieces if wrapped else pieces[:-1]), *last, indent="", add_comma=False, newline=False)
    return array


def _shortest(number: float) -> float | int:
    """A whole number without its decimal point."""
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


DATA_WARNING = (
    "This draft looked at the data, without any privacy: it is for the curator only. Before you plan, release or "
    "share, replace every bound and every category by public knowledge: a code book, a law, a form."
)

LEFT_OUT = (
    "A record whose value is missing, beyond the bounds or not listed is in no range and no category of it, and in "
    "all other answers; rowspace check counts such records. Other choices: give categories an "
    'other = "unknown", numbers outside = "clip", or either outside = "drop".'
)

#: The drafted queries touch attributes with at most this many joint cells; others stand as comments.
DRAFT_CELLS = 20_000

_UNIT_BINS = 128
_WANTED_BINS = 20
_LARGEST = 1e200
# Beyond, float64 does not hold every integer.
_EXACT_INTEGERS = 2**52


def draft_study(columns: Sequence[ColumnSketch], name: str, data: Mapping[str, Any] | None = None) -> str:
    """The text of a study over the columns that can be counted; the rest is named in comments.

    data: what [data] is to say.

    Raises:
        InvalidStudy: No column can be counted.
    """
    attributes: dict[str, Attribute] = {}
    left_out: list[str] = []
    for column in columns:
        try:
            attributes[column.name] = _attribute(column)
        except InvalidDomain as error:
            left_out.append(f"Left out: {column.name!r}, {error}")
    if all(column.kind in ("empty", "repeated", "unnamed") for column in columns):
        raise InvalidStudy(
            "nothing to draft from: there are no rows, or none that hold a value; write the study by hand, or draft it "
            "from a table with records"
        )
    if not attributes:
        raise InvalidStudy(
            "no column can be drafted: expected numbers, dates, booleans or text of few distinct values"
        )
    domain = Domain(attributes)
    asked = _affordable(domain)
    body = write_study(
        name,
        domain,
        PureDP(1.0),
        list(_queries(domain, asked)),
        data=data,
        draft="delete this line when every bound and category is public knowledge",
        header=[
            "DRAFT, NOT FOR PUBLICATION.",
            *textwrap.wrap(DATA_WARNING, 96),
            "",
            *textwrap.wrap(LEFT_OUT, 96),
        ],
        notes={name: _note(attribute) for name, attribute in domain.attributes},
    )
    return body + "".join(_remarks(domain, asked, left_out))


def _attribute(column: ColumnSketch) -> Attribute:
    """The attribute a column suggests, or `InvalidDomain` with the reason why not."""
    match column.kind:
        case "numbers":
            return _numeric(column.low, column.high, column.whole)
        case "times":
            return _dates(column.low, column.high)
        case "booleans":
            return Categorical([False, True])
        case "text":
            return Categorical(column.values)
        case "many":
            raise InvalidDomain("text with too many distinct values to list; a name or a number?")
        case "empty":
            raise InvalidDomain("a column without values")
        case "repeated":
            raise InvalidDomain("several columns have this name, in some case of letters; rename all but one")
        case "unnamed":
            raise InvalidDomain("no name that an attribute can have; rename it")
    raise InvalidDomain(f"a column of type {column.type}")


def _numeric(low: float, high: float, whole: bool) -> Numeric:
    """Bins that cover the range: of one unit when that makes few, else about twenty of a round width."""
    if whole and high - low < _UNIT_BINS:
        # Round to tens, unless that would add more than it rounds.
        unit = 10 if high - low >= _WANTED_BINS else 1
        first, last = math.floor(low / unit) * unit, (math.floor(high / unit) + 1) * unit
        return Numeric(first, last, bins=last - first, integer=True)
    if max(abs(low), abs(high)) > _LARGEST:
        raise InvalidDomain(f"numbers beyond {_LARGEST:g}")
    step = _round_step((high - low) / _WANTED_BINS or abs(high) / _WANTED_BINS or 1.0)
    # In decimal and from the shortest spelling, so that a width of 0.1 gives edges that look like it.
    start, stop = (Decimal(repr(low)) // step - (low < 0)) * step, (Decimal(repr(high)) // step + 1) * step
    bins = int((stop - start) / step)
    integer = whole and step == int(step) and max(abs(start), abs(stop)) <= _EXACT_INTEGERS
    return Numeric(float(start), float(stop), bins=bins, integer=integer)


def _dates(low: float, high: float) -> Dates:
    """Months that cover the times, or days or years where those are too few or too many."""
    days = (high - low) / DAY
    every = "day" if days < _WANTED_BINS else "month" if days < 31 * _UNIT_BINS else "year"
    first, last = period_around(low, every).start, period_around(high, every).end
    return Dates(write_time(first), write_time(last), every=every)


def _round_step(width: float) -> Decimal:
    """The next width that is 1, 2 or 5 times a power of ten."""
    power = Decimal(10) ** math.floor(math.log10(width))
    return next(factor * power for factor in (1, 2, 5, 10) if float(factor * power) >= width * 0.999)


def _note(attribute: Attribute) -> str:
    """What to replace."""
    what = "bounds" if isinstance(attribute, Numeric) else "categories"
    return f"TODO: {what} from public knowledge; these came from the data"


def _affordable(domain: Domain) -> list[str]:
    """Attributes in order, while their joint cells stay few: what all of them touch multiplies."""
    names: list[str] = []
    cells = 1
    for name, attribute in domain.attributes:
        if cells * attribute.size <= DRAFT_CELLS:
            names.append(name)
            cells *= attribute.size
    return names


def _queries(domain: Domain, asked: Sequence[str]) -> Iterator[Entry]:
    """The count of everything about each attribute, and of the first pairs."""
    entries: list[tuple[int, Entry]] = [(1, {"total": True})]
    entries += [(_number(domain[name]), _about(domain, name)) for name in asked]
    pairs = list(combinations(asked, 2))[:3]
    if pairs:
        sets = {"sets": [list(pair) for pair in pairs]}
        entries.append((sum(domain[a].size * domain[b].size for a, b in pairs), {"marginals": sets}))
    most = max(number for number, _ in entries)
    yield from (_balanced(entry, math.sqrt(most / number)) for number, entry in entries)


def _number(attribute: Attribute) -> int:
    """How many queries `_about` asks."""
    return attribute.size * (attribute.size + 1) // 2 if isinstance(attribute, Numeric) else attribute.size


def _balanced(entry: Entry, weight: float) -> Entry:
    """A few counts matter as much as many ranges: otherwise thousands of ranges would take all the accuracy."""
    rounded = float(f"{weight:.1g}")
    return entry if rounded <= 1 else {**entry, "weight": rounded}


def _about(domain: Domain, name: str) -> Entry:
    """All ranges of numbers, all counts of categories."""
    return {"ranges": name} if isinstance(domain[name], Numeric) else {"marginal": [name]}


def _remarks(domain: Domain, asked: Sequence[str], left_out: Sequence[str]) -> Iterator[str]:
    """What is not asked, ready to be asked; and what could not be drafted."""
    others = [name for name in domain.names if name not in asked]
    if others:
        yield ("\n" + comment("Not asked yet: whatever is asked shares the same privacy budget.") + "\n")
        yield comment("All tables of one and two attributes: marginals = { up_to = 2 }") + "\n"
    for name in others:
        yield "".join(comment(line) + "\n" for line in entry_block(_about(domain, name)).splitlines())
    if left_out:
        yield "\n" + "".join(comment(line) + "\n" for line in left_out)
