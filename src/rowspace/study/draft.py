"""A first study from a look at the data: for its curator only, until public knowledge replaces the numbers."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import combinations
from typing import TYPE_CHECKING, Any

from rowspace.domain import DAY, Attribute, Categorical, Dates, Domain, Numeric, period_around, write_time
from rowspace.exceptions import InvalidDomain, InvalidStudy
from rowspace.privacy import PureDP

from .writing import Entry, comment, entry_block, write_study

if TYPE_CHECKING:
    from rowspace.sources.drafting import ColumnSketch

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
