"""The domain: named attributes in a fixed order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rowspace.domain.categorical import Categorical, Level
from rowspace.domain.dates import Dates, DayOfWeek, HourOfDay
from rowspace.domain.measure import Measure, shared_parts
from rowspace.domain.numeric import Numeric
from rowspace.domain.suggestions import did_you_mean
from rowspace.exceptions import InvalidDomain
from rowspace.notebook import one_line, overview, whole

Dimension = Numeric | Categorical
"""What records are counted by."""

Attribute = Dimension | Measure

#: What the place for values that are not known is called.
MISSING = "missing"
_KINDS: dict[str, type[Attribute]] = {
    "numeric": Numeric,
    "categorical": Categorical,
    "dates": Dates,
    "hour_of_day": HourOfDay,
    "day_of_week": DayOfWeek,
    "measure": Measure,
}

_MAX_ATTRIBUTES = 10_000
_LONGEST_NAME = 200
_ROWS_SHOWN = 20
_ROWS_IN_NOTEBOOKS = 30


@dataclass(frozen=True, init=False, repr=False)
class Domain:
    """Named attributes; a cell is one choice from each.

    Cells are numbered in C order over the attributes in the order of declaration (the last one fastest).
    Nothing of the size of the domain is ever stored: 2¹⁰⁰ cells cost what their attributes cost.

    named: the attributes by their names. attributes: the same as a mapping or in pairs.
    measures: numbers that are added up rather than counted by: attributes of two or four cells, after all others.

    >>> domain = Domain(age=Numeric(0, 100, bins=100, integer=True), sex=Categorical(["F", "M"]))
    >>> domain.names, domain.shape, domain.size
    (('age', 'sex'), (100, 2), 200)
    >>> print(domain)
    Domain of 200 cells, 2 attributes
      age  100  integers in [0, 100), 100 bins of width 1, others missing
      sex    2  F, M

    Names that are not Python identifiers go in a mapping: ``Domain({"marital status": Categorical([...])})``.

    Plans count over a domain with *places* (`with_places`): one more cell, the last, of every attribute that keeps
    records whose value is not known (``outside="missing"``). No category and no range holds it.
    """

    attributes: tuple[tuple[str, Attribute], ...]
    places: frozenset[str]

    def __init__(
        self,
        attributes: Mapping[str, Attribute] | Iterable[tuple[str, Attribute]] = (),
        /,
        *,
        measures: Iterable[Measure] = (),
        **named: Attribute,
    ) -> None:
        pairs = [*_pairs(attributes), *named.items(), *_named_measures(measures)]
        _check_attributes(pairs)
        object.__setattr__(self, "attributes", tuple(pairs))
        object.__setattr__(self, "places", frozenset())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes in order."""
        return tuple(name for name, _ in self.attributes)

    @cached_property
    def dimensions(self) -> tuple[str, ...]:
        """Names of what records are counted by: all but the measures."""
        return tuple(name for name, attribute in self.attributes if not isinstance(attribute, Measure))

    @cached_property
    def measured(self) -> frozenset[str]:
        """Names of the measures."""
        return frozenset(self.names) - frozenset(self.dimensions)

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """What is added up rather than counted by."""
        return tuple(attribute for _, attribute in self.attributes if isinstance(attribute, Measure))

    @cached_property
    def parts(self) -> int:
        """Into how many equal parts a record is divided when it is counted: enough for all measures."""
        return shared_parts(self.measures)

    def dimension(self, name: str) -> Dimension:
        """Return an attribute to count by. name: of the attribute.

        >>> Domain(sex=Categorical(["F", "M"])).dimension("sex").size
        2
        """
        found = self[name]
        if isinstance(found, Measure):
            raise InvalidDomain(
                f"{name!r} is a measure, which is added up: ask for its sums and means; records are counted by, and "
                "conditions are about, other attributes"
            )
        return found

    def measure(self, name: str) -> Measure:
        """Return a measure by its name.

        >>> Domain(measures=[Measure("income", 0, 200_000)]).measure("income").high
        200000.0
        """
        found = self[name]
        if not isinstance(found, Measure):
            raise InvalidDomain(
                f"{name!r} is an attribute to count by, not a measure; declare it as rs.Measure to add it up"
            )
        return found

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of cells of each attribute, its place included."""
        return tuple(attribute.size + (name in self.places) for name, attribute in self.attributes)

    @cached_property
    def known_shape(self) -> tuple[int, ...]:
        """Number of cells of each attribute that hold a known value."""
        return tuple(attribute.size for _, attribute in self.attributes)

    @cached_property
    def size(self) -> int:
        """Number of cells: the product of the shape, however large."""
        return math.prod(self.shape)

    def __getitem__(self, name: str) -> Attribute:
        self._check_known(name, self._by_name)
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def position(self, name: str) -> int:
        """Return the place of an attribute in the order of declaration. name: of an attribute.

        >>> Domain(age=Numeric(0, 4, bins=4), sex=Categorical(["F", "M"])).position("sex")
        1
        """
        self._check_known(name, self._by_name)
        return self._positions[name]

    def column(self, name: str) -> str:
        """Return the column of the data that an attribute reads: the one of its name, unless it declares another.

        >>> Domain(day=DayOfWeek("departure")).column("day")
        'departure'
        """
        declared: str | None = getattr(self[name], "column", None)
        return declared or name

    def resolve(self, name: str) -> tuple[str, str | None]:
        """Tell what a name means: ``(attribute, None)`` or ``(attribute, level)``.

        >>> levels = {"state": {"Kern": "CA", "Clark": "NV"}}
        >>> Domain(county=Categorical(["Kern", "Clark"], levels=levels)).resolve("state")
        ('county', 'state')
        """
        if isinstance(name, str) and name in self._by_name:
            self.dimension(name)
            return name, None
        self._check_known(name, {**self._by_name, **self._level_owner})
        return self._level_owner[name], name

    def level(self, name: str) -> Level:
        """Return a taxonomy level by its name. name: what the level is called.

        >>> town = Categorical(["a", "b", "c"], levels={"land": {"a": "north", "b": "north", "c": "south"}})
        >>> Domain(town=town).level("land").size
        2
        """
        attribute, level = self.resolve(name)
        owner = self[attribute]
        if level is None or not isinstance(owner, Categorical):
            raise InvalidDomain(f"{name!r} is an attribute, not a level of a taxonomy")
        return owner.level(level)

    def subset(self, names: Iterable[str]) -> Domain:
        """Return the domain of some of the attributes, in the order of declaration.

        names: of attributes, in any order.

        >>> Domain(age=Numeric(0, 4, bins=4), sex=Categorical(["F", "M"])).subset(["sex"]).names
        ('sex',)
        """
        wanted = {names} if isinstance(names, str) else set(names)
        for name in wanted:
            self._check_known(name, self._by_name)
        if not wanted:
            raise InvalidDomain("a domain needs at least one attribute, got no names")
        found = Domain((name, attribute) for name, attribute in self.attributes if name in wanted)
        return found._placed(self.places & wanted)

    def with_places(self, names: Iterable[str] | None = None) -> Domain:
        """The same attributes with a place for missing values: all that keep such records, or those of `names` that do.

        >>> Domain(age=Numeric(0, 100, bins=100), sex=Categorical(["F", "M"])).with_places().shape
        (101, 3)
        """
        wanted = self.names if names is None else tuple(names)
        return self._placed(frozenset(name for name in wanted if self[name].keeps_missing))

    def without_places(self) -> Domain:
        """The same attributes with the cells of known values only.

        >>> Domain(sex=Categorical(["F", "M"])).with_places().without_places().shape
        (2,)
        """
        return self._placed(frozenset())

    def _placed(self, places: frozenset[str]) -> Domain:
        """The same attributes with these places."""
        if places == self.places:
            return self
        found = Domain(self.attributes)
        object.__setattr__(found, "places", places)
        return found

    def __str__(self) -> str:
        plural = "" if len(self) == 1 else "s"
        places = ", with a place for missing values" if self.places else ""
        lines = [f"Domain of {whole(self.size)} cells, {len(self)} attribute{plural}{places}"]
        shown = self.attributes[:_ROWS_SHOWN]
        name_width = max(len(name) for name, _ in shown)
        size_width = max(len(f"{size:,}") for size in self.shape[:_ROWS_SHOWN])
        for (name, attribute), size in zip(shown, self.shape, strict=False):
            lines.append(f"  {name:<{name_width}}  {size:>{size_width},}  {attribute}")
        if len(self) > _ROWS_SHOWN:
            lines.append(f"  … and {len(self) - _ROWS_SHOWN:,} more")
        return "\n".join(lines)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={attribute!r}" for name, attribute in self.attributes[:_ROWS_SHOWN])
        places = ".with_places()" if self.places else ""
        return one_line(f"Domain({shown}{', ...' if len(self) > _ROWS_SHOWN else ''}){places}")

    def _repr_html_(self) -> str:
        rows = [
            [name, str(values), f"{values.size:,}"] for name, values in self.attributes[:_ROWS_IN_NOTEBOOKS]
        ]
        return overview(self, ["attribute", "values", "cells"], rows, len(self), "more", words=2)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON-safe form of the attributes; places are said by what counts over them.

        >>> domain = Domain(age=Numeric(0, 4, bins=4), sex=Categorical(["F", "M"]))
        >>> Domain.from_dict(domain.to_dict()) == domain
        True
        """
        return {"attributes": [{"name": name, **attribute.to_dict()} for name, attribute in self.attributes]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Domain:
        """Rebuild from `to_dict`, checking everything: the file may come from anyone.

        data: what `to_dict` returned.

        Raises:
            InvalidDomain: Whatever is wrong with it.

        >>> domain = Domain(age=Numeric(0, 4, bins=4), sex=Categorical(["F", "M"]))
        >>> Domain.from_dict(domain.to_dict()) == domain
        True
        """
        if not isinstance(data, Mapping) or not isinstance(data.get("attributes"), list):
            raise InvalidDomain("a saved domain needs a list of attributes")
        pairs: list[tuple[Any, Attribute]] = []
        for item in data["attributes"]:
            if not isinstance(item, Mapping) or str(item.get("kind")) not in _KINDS:
                raise InvalidDomain(f"a saved attribute needs a name and a kind, one of {', '.join(_KINDS)}")
            kind = _KINDS[item["kind"]]
            fields = {key: value for key, value in item.items() if key != "name" or kind is Measure}
            pairs.append((item.get("name"), kind.from_dict(fields)))
        return cls(pairs)

    @cached_property
    def _by_name(self) -> dict[str, Attribute]:
        """The attributes by name."""
        return dict(self.attributes)

    @cached_property
    def _positions(self) -> dict[str, int]:
        """The place of each attribute."""
        return {name: position for position, name in enumerate(self.names)}

    @cached_property
    def _level_owner(self) -> dict[str, str]:
        """The attribute that each taxonomy level belongs to."""
        return {
            level: name
            for name, attribute in self.attributes
            if isinstance(attribute, Categorical)
            for level in attribute.levels
        }

    def _check_known(self, name: object, known: Mapping[str, object]) -> None:
        """Raise unless the name is known, suggesting close ones (levels too)."""
        if not isinstance(name, str):
            raise InvalidDomain(f"an attribute's name must be text, got {type(name).__name__}")
        if name in known:
            return
        if name in self._level_owner:
            raise InvalidDomain(
                f"{name!r} is a level of {self._level_owner[name]!r}; here an attribute itself is needed"
            )
        advice = did_you_mean(name, [*self.names, *self._level_owner])
        raise InvalidDomain(f"unknown attribute {name[:_LONGEST_NAME]!r}; {advice}")


def _pairs(attributes: object) -> list[tuple[str, Attribute]]:
    """Return the declared pairs in order, whatever they were declared in."""
    if isinstance(attributes, Mapping):
        return list(attributes.items())
    if not isinstance(attributes, Iterable) or isinstance(attributes, str | bytes):
        raise InvalidDomain(f"attributes must be a mapping from names, got {type(attributes).__name__}")
    pairs = list(attributes)
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise InvalidDomain("attributes must be a mapping from names, or pairs (name, attribute)")
    return pairs


def _named_measures(measures: object) -> list[tuple[str, Attribute]]:
    """Measures by their names."""
    if isinstance(measures, Numeric | Categorical):
        raise InvalidDomain('an attribute called "measures" goes in a mapping: Domain({"measures": ...})')
    listed: list[Any] = (
        list(measures) if isinstance(measures, Iterable) and not isinstance(measures, str) else [measures]
    )
    for measure in listed:
        if not isinstance(measure, Measure):
            raise InvalidDomain(
                f'expected measures as a list such as [rs.Measure("income", 0, 200_000)], got '
                f"{type(measure).__name__} among them"
            )
    return [(measure.name, measure) for measure in listed]


def _check_attributes(pairs: list[tuple[str, Attribute]]) -> None:
    """Check that names are usable and differ, levels included, and that attributes are attributes."""
    if not pairs:
        raise InvalidDomain("the domain is empty: declare at least one attribute")
    if len(pairs) > _MAX_ATTRIBUTES:
        raise InvalidDomain(f"at most {_MAX_ATTRIBUTES:,} attributes are possible, got {len(pairs):,}")
    taken: dict[str, str] = {}
    for name, attribute in pairs:
        _take(taken, name, "a measure" if isinstance(attribute, Measure) else "an attribute")
        if not isinstance(attribute, Numeric | Categorical | Measure):
            raise InvalidDomain(
                f"attribute {name!r} must be Numeric(...), Categorical(...) or Dates(...), "
                f"got {type(attribute).__name__}"
            )
        if isinstance(attribute, Measure) and attribute.name != name:
            raise InvalidDomain(f"measure {attribute.name!r} goes into measures=[...], under its own name")
    if (last := [isinstance(attribute, Measure) for _, attribute in pairs]) != sorted(last):
        raise InvalidDomain("measures come after all other attributes: give them as measures=[...]")
    for name, attribute in pairs:
        if isinstance(attribute, Categorical):
            for level in attribute.levels:
                _take(taken, level, f"a level of {name!r}")


def _take(taken: dict[str, str], name: object, role: str) -> None:
    """Check one name and mark it as taken."""
    if not isinstance(name, str):
        raise InvalidDomain(f"the name of {role} must be text, got {type(name).__name__}")
    if not name or name != name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise InvalidDomain(
            f"the name of {role} must be 1 to {_LONGEST_NAME} printable characters without spaces around, "
            f"got {name[:_LONGEST_NAME]!r}"
        )
    if name in taken:
        raise InvalidDomain(f"the name {name!r} is given twice: to {taken[name]} and to {role}")
    taken[name] = role
