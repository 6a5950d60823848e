"""``[domain.<name>]``: the attributes, in the order of the file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field, WithJsonSchema

from rowspace.domain import Attribute, Categorical, Dates, DayOfWeek, HourOfDay, Numeric, did_you_mean
from rowspace.exceptions import InvalidStudy

from ..text import located
from .tables import FileTable, Number, key, option, shown

Label = str | int | bool

# The room of domains checks what these hold, and has words for it; editors are told what it takes.
_LABEL: dict[str, Any] = {"type": ["string", "integer", "boolean"]}
_Label = Annotated[Any, WithJsonSchema(_LABEL)]
_LINE = {"anyOf": [_LABEL, {"type": "array", "items": _LABEL}]}
_Level = Annotated[Any, WithJsonSchema({"type": "object", "minProperties": 1, "additionalProperties": _LINE})]
_Time = Annotated[Any, WithJsonSchema({"type": "string"})]

_Column = Annotated[
    str | None,
    key("the column, where it has another name; several attributes can be read from one", "arrival"),
]
_Zone = Annotated[
    str,
    key("whose clock it is; times with a zone are converted to it, others stay as they are", "Europe/Berlin"),
]
_Outside = Annotated[
    Literal["missing", "clip", "drop"],
    key(
        'what a value beyond the edges is: `"missing"`, as if there were none; `"clip"`, counted in the nearest bin; '
        '`"drop"`, its record is left out',
        "clip",
    ),
]


class AttributeTable(FileTable):
    """An attribute; `makes` is what it is in Python."""

    makes: ClassVar[Callable[..., Attribute]]

    def attribute(self) -> Attribute:
        """The attribute."""
        return self.makes(**self.given("type"))


class NumericTable(AttributeTable):
    """Numbers in bins, each with its lower edge and without its upper one."""

    makes: ClassVar = Numeric
    type: Literal["numeric"]
    low: Number | None = option("where the first of bins of equal width begins", 0)
    high: Number | None = option("where the last one ends, so ages 0 to 99 need `high = 100`", 100)
    bins: int | None = option("how many bins of equal width", 100)
    edges: list[Number] | None = option("bins of any width, instead", [0, 18, 65, 100], fail_fast=True)
    outside: _Outside = "missing"
    integer: bool = option(
        "whether the values are whole numbers, so that `age <= 17` means `age < 18`; never assumed",
        True,
        False,
    )
    choices: ClassVar = (("low high bins", "edges"),)


class CategoricalTable(AttributeTable):
    """Text, whole numbers or booleans from a list."""

    type: Literal["categorical"]
    categories: list[_Label] = key("that list", ["F", "M"], min_length=1)
    other: str | None = option("one more category, for every other value and for missing ones", "elsewhere")
    outside: Literal["missing", "drop"] = option(
        'without `other`, what another value is: as for numbers, `"missing"` or `"drop"`', "drop", "missing"
    )
    levels: dict[str, _Level] = option(
        'coarser groupings, each a table with lines `West = ["CA", "NV"]`; queries name them like attributes',
        {"region": {"West": ["CA", "NV"]}},
        {},
    )

    def attribute(self) -> Attribute:
        """The attribute, with its taxonomy."""
        below: Iterable[Label] = [label for label in self.categories if isinstance(label, Label)]
        levels: dict[str, dict[Label, Label]] = {}
        for name, lines in self.levels.items():
            with located(f"level {name[:200]!r}"):
                levels[name] = _read_level(lines, below)
            below = levels[name].values()
        return Categorical(self.categories, other=self.other, outside=self.outside, levels=levels)


class DatesTable(AttributeTable):
    """Dates or times in periods, each with its start and without its end."""

    makes: ClassVar = Dates
    type: Literal["dates"]
    start: _Time = option("where the first period starts; dates may stand in quotes", "2024-01-01")
    end: _Time = option("where the last period ends", "2025-01-01")
    every: str | None = option(
        '`"hour"`, `"day"`, `"week"` (from `start` on), `"month"`, `"quarter"` or `"year"`', "month"
    )
    edges: list[_Time] | None = option(
        "periods of any length, instead", ["2024-01-01", "2024-07-01", "2025-01-01"]
    )
    column: _Column = None
    zone: _Zone = "UTC"
    times: bool = option(
        "for a column of times: a date is its first instant, as in SQL, not its whole day", True, False
    )
    outside: _Outside = "missing"
    choices: ClassVar = (("start end every", "edges"),)


class HourTable(AttributeTable):
    """The hour, 0 to 23, of a column of times."""

    makes: ClassVar = HourOfDay
    type: Literal["hour_of_day"]
    column: _Column = None
    zone: _Zone = "UTC"
    outside: _Outside = "missing"


class WeekdayTable(AttributeTable):
    """The day, `Monday` to `Sunday`, of a column of dates or times."""

    makes: ClassVar = DayOfWeek
    type: Literal["day_of_week"]
    column: _Column = None
    zone: _Zone = "UTC"


class MeasureTable(FileTable):
    """Numbers that are added up: values are clipped to the bounds and rounded to the grid."""

    low: Number = key("the least value", 0)
    high: Number = key("the largest value, from a code book and not from the data", 200_000)
    step: Number | None = option("of the grid; a thousandth of the range unless given", 1_000)
    squares: bool = option("whether variances and standard deviations are asked for too", True, False)
    per_unit: Literal["sum", "mean"] | None = option(
        "with `distinct_units`, what the value of a unit in a cell is: of its values there", "sum"
    )


#: Every table of an attribute by its type.
ATTRIBUTES: dict[str, type[AttributeTable]] = {
    get_args(table.model_fields["type"].annotation)[0]: table for table in AttributeTable.__subclasses__()
}

if TYPE_CHECKING:
    AnyAttribute = AttributeTable
else:
    AnyAttribute = Annotated[reduce(or_, ATTRIBUTES.values()), Field(discriminator="type")]


def typeless(table: dict[str, Any]) -> str:
    """What to say of an attribute that names no type."""
    if "type" not in table:
        return 'type is missing; write for example type = "numeric"'
    kind = table["type"]
    if not isinstance(kind, str):
        return f'expected text, as in type = "numeric"; got {shown(kind)}'
    return f"unknown type {kind[:200]!r}; {did_you_mean(kind, ATTRIBUTES)}"


def _read_level(lines: Any, below: Iterable[Label]) -> dict[Label, Label]:
    """A level of a taxonomy, written either as ``coarse = [fine, …]`` or as ``fine = coarse``.

    The first form is shorter; the second also takes coarse labels that are no text.
    """
    if not isinstance(lines, dict) or not lines:
        raise InvalidStudy(f'a level needs lines such as West = ["CA", "NV"], got {shown(lines)}')
    lists = [isinstance(value, list) for value in lines.values()]
    if all(lists):
        return _gathered(lines)
    if any(lists):
        raise InvalidStudy('write all lines as West = ["CA", "NV"], or all as CA = "West"')
    # TOML keys are text; the labels below may be integers or booleans.
    known: dict[str, Label] = {
        json.dumps(label) if isinstance(label, bool) else str(label): label for label in below
    }
    return {known.get(fine, str(fine)): _label(coarse) for fine, coarse in lines.items()}


def _gathered(groups: dict[str, list[Any]]) -> dict[Label, Label]:
    """Fine label → coarse label, from lists of fine ones."""
    mapping: dict[Label, Label] = {}
    for coarse, members in groups.items():
        for fine in map(_label, members):
            if fine in mapping:
                raise InvalidStudy(f"{fine!r} is in two lists; each label belongs to one")
            mapping[fine] = coarse
    return mapping


def _label(value: object) -> Label:
    """A value that can be a label."""
    if isinstance(value, Label):
        return value
    raise InvalidStudy(f"labels are text, integers or booleans, got {shown(value)}")
