"""The tables of a study file but for its queries: attributes in the order of the file, name, promise, data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args
from urllib.parse import parse_qsl, urlsplit

from pydantic import Field, WithJsonSchema

from rowspace.domain import Attribute, Categorical, Dates, DayOfWeek, HourOfDay, Numeric, did_you_mean
from rowspace.exceptions import InvalidStudy
from rowspace.formats import CSV
from rowspace.privacy import ZCDP, ApproxDP, Neighbours, Privacy, PrivacyUnit, PureDP

from ..study import DataPlace, located
from .tables import FileTable, Number, Text, Texts, key, option, shown

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


_SECRETS = ("password", "passwd", "pwd", "token", "secret", "credential", "api_key", "apikey", "signature")


class AboutTable(FileTable):
    """What the study is called."""

    name: Text = key("the title of reports", "Residents 2024")
    description: Text | None = option("for people", "All residents on 1 January")
    purpose: Literal["answers", "tables"] = option(
        '`"tables"` weights tables for `release.estimate_tables()`; `"answers"` are used as they are',
        "tables",
        "answers",
    )
    draft: bool = option(
        "`true` in what `rowspace init` drafts from a look at the data. `rowspace release` refuses a draft: delete "
        "the line when every bound and category is public knowledge. In Python, `study.require_public()` does the same",
        True,
        False,
    )


class PrivacyTable(FileTable):
    """What is promised."""

    epsilon: Number | None = option("pure differential privacy; with `delta`, approximate", 1.0)
    delta: Number | None = option("approximate differential privacy, beside `epsilon`", 1e-9)
    rho: Number | None = option("zero-concentrated differential privacy, instead", 0.1)
    neighbours: Literal["add-remove", "replace-one"] = option(
        '`"add-remove"` protects the number of records too; `"replace-one"` does not',
        "replace-one",
        "add-remove",
    )
    privacy_unit: Text | None = option("the column that names whom the promise is for", "user_id")
    max_rows_per_unit: int | None = option("how many rows of each of them are counted at most", 3)
    distinct_units: bool = option(
        "count each of them at most once in a cell, and in at most `max_rows_per_unit` cells: people rather than rows",
        True,
        False,
    )
    max_periods_per_unit: int | None = option(
        "in plans over periods, in how many of them each is counted at most; `max_rows_per_unit` is of one period",
        12,
    )
    periods_apart: int = option(
        "how many periods later each of them is counted again, beside `max_periods_per_unit`", 3, 1
    )
    choices: ClassVar = (("epsilon", "epsilon delta", "rho"), ("privacy_unit max_rows_per_unit", ""))

    def privacy(self) -> Privacy:
        """The promise."""
        unit = None
        if self.privacy_unit is not None and self.max_rows_per_unit is not None:
            unit = PrivacyUnit(
                self.privacy_unit,
                self.max_rows_per_unit,
                self.distinct_units,
                self.max_periods_per_unit,
                self.periods_apart,
            )
        elif self.distinct_units:
            raise InvalidStudy("distinct_units = true goes with privacy_unit and max_rows_per_unit")
        elif self.max_periods_per_unit is not None or self.periods_apart != 1:
            raise InvalidStudy(
                "max_periods_per_unit and periods_apart go with privacy_unit and max_rows_per_unit"
            )
        about_unit = ("privacy_unit", "max_rows_per_unit", "distinct_units", "max_periods_per_unit")
        numbers = self.given("neighbours", *about_unit, "periods_apart")
        promise = ZCDP if "rho" in numbers else ApproxDP if "delta" in numbers else PureDP
        return promise(**numbers, neighbours=Neighbours.of(self.neighbours), unit=unit)


class DataTable(FileTable):
    """Where the data is, when it is a database; or how a CSV file is written, when that is not obvious."""

    shows: ClassVar = False
    table: Text | None = option("the table of a database", "people")
    url: Text | None = option(
        "its address, without a password; or that of files", "postgresql://host/database"
    )
    url_env: Text | None = option(
        "instead, the name of an environment variable that holds the address", "PEOPLE_DATABASE"
    )
    encoding: str | int | None = option("of a CSV file that is not UTF-8", "windows-1252")
    delimiter: str | None = option("what separates its cells; else the header decides", ";")
    names: Texts | None = option("all its columns, if it has no header line", ["age", "sex"])
    nulls: Texts | None = option("texts that mean a missing value, as an empty cell does", ["NA", "?"])
    strip: bool = option("spaces around values and names are none of theirs", True, False)
    ignore_case: bool = option("text is a category in any case of letters", True, False)
    quoted_newlines: bool = option(
        "cells in quotes may have line breaks; a value with one counts as missing", True, False
    )
    choices: ClassVar = (("url", "url_env", ""),)

    def place(self) -> DataPlace:
        """The place, without secrets."""
        if self.url is not None:
            _refuse_secrets(self.url)
        csv = self.given("table", "url", "url_env")
        CSV("", **csv)  # to refuse here what cannot be
        return DataPlace(self.table, self.url, self.url_env, csv)


def _refuse_secrets(url: str) -> None:
    """Refuse an address that would put a password in a file meant to be shared. The message does not repeat it."""
    try:
        parts = urlsplit(url)
        secret = parts.password is not None or any(
            word in key.lower() for key, _ in parse_qsl(parts.query) for word in _SECRETS
        )
    except ValueError:
        raise InvalidStudy('expected url = "postgresql://host/database", got no address') from None
    if secret:
        raise InvalidStudy(
            "the url holds a password or a token, and a study is meant to be shared: put the whole address in an "
            'environment variable and name it here, url_env = "PEOPLE_DATABASE"'
        )
