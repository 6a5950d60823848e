"""``[domain.<name>]``: the attributes, in the order of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rowspace.domain import Attribute, Categorical, Dates, DayOfWeek, Domain, HourOfDay, Numeric, did_you_mean
from rowspace.exceptions import InvalidStudy

from .section import Section, kind_of, located

_EXAMPLE = 'write for example [domain.sex] with type = "categorical" and categories = ["F", "M"]'

Label = str | int | bool

# The attributes of times: their keys, and how they are made.
_TIMED: dict[str, tuple[tuple[str, ...], Callable[..., Attribute]]] = {
    "dates": (("start", "end", "every", "edges", "column", "zone", "times", "outside"), Dates),
    "hour_of_day": (("column", "zone", "outside"), HourOfDay),
    "day_of_week": (("column", "zone"), DayOfWeek),
}


def read_domain(section: Section) -> Domain:
    """The declared attributes."""
    if not section.values:
        raise InvalidStudy(f"the domain is empty: {_EXAMPLE}")
    attributes = {}
    for name, value in section.values.items():
        with located(f"[domain.{name[:200]}]"):
            attributes[name] = _read_attribute(Section.of(value))
    with located("[domain]"):
        return Domain(attributes)


def _read_attribute(section: Section) -> Attribute:
    """One attribute of any kind."""
    kind = section.text("type")
    if kind == "numeric":
        return _read_numeric(section)
    if kind == "categorical":
        return _read_categorical(section)
    if kind in _TIMED:
        return _read_timed(section, kind)
    known = ("numeric", "categorical", *_TIMED)
    raise InvalidStudy(f"unknown type {kind[:200]!r}; {did_you_mean(kind, known)}")


def _read_numeric(section: Section) -> Numeric:
    """Numbers in bins."""
    section.only("type", "low", "high", "bins", "edges", "outside", "integer")
    given = {key for key in ("low", "high", "bins", "edges") if key in section.values}
    if given not in ({"low", "high", "bins"}, {"edges"}):
        raise InvalidStudy(
            "a numeric attribute needs low, high and bins, or else edges = [0, 18, 65, …]; "
            f"got {', '.join(sorted(given)) or 'none of them'}"
        )
    return Numeric(**{key: value for key, value in section.values.items() if key != "type"})


def _read_timed(section: Section, kind: str) -> Attribute:
    """Dates in periods, hours of the day or days of the week."""
    keys, attribute = _TIMED[kind]
    section.only("type", *keys)
    fields = {key: value for key, value in section.values.items() if key != "type"}
    if kind == "dates":
        given = {key for key in ("start", "end", "every", "edges") if key in fields}
        if given not in ({"start", "end", "every"}, {"edges"}):
            raise InvalidStudy(
                "an attribute of dates needs start, end and every, or else edges = [2024-01-01, 2024-07-01, …]; "
                f"got {', '.join(sorted(given)) or 'none of them'}"
            )
    return attribute(**fields)


def _read_categorical(section: Section) -> Categorical:
    """Categories, perhaps with a taxonomy."""
    section.only("type", "categories", "other", "outside", "levels")
    categories = section.values.get("categories")
    if not isinstance(categories, list) or not categories:
        got = "nothing" if categories is None else kind_of(categories)
        raise InvalidStudy(
            f'a categorical attribute needs categories = ["F", "M"], got {got}; name every category'
        )
    below: Iterable[Label] = [label for label in categories if isinstance(label, Label)]
    levels: dict[str, dict[Label, Label]] = {}
    for name, value in Section.of(section.values.get("levels", {})).values.items():
        with located(f"level {name[:200]!r}"):
            levels[name] = _read_level(Section.of(value), below)
        below = levels[name].values()
    outside = section.values.get("outside", "missing")
    return Categorical(categories, other=section.values.get("other"), outside=outside, levels=levels)


def _read_level(section: Section, below: Iterable[Label]) -> dict[Label, Label]:
    """A level of a taxonomy, written either as ``coarse = [fine, …]`` or as ``fine = coarse``.

    The first form is shorter; the second also takes coarse labels that are no text.
    """
    if not section.values:
        raise InvalidStudy('a level needs lines such as West = ["CA", "NV"]')
    lists = [isinstance(value, list) for value in section.values.values()]
    if all(lists):
        return _gathered(section.values.items())
    if any(lists):
        raise InvalidStudy('write all lines as West = ["CA", "NV"], or all as CA = "West"')
    # TOML keys are text; the labels below may be integers or booleans.
    known = {_as_key(label): label for label in below}
    return {known.get(key, key): _label(value) for key, value in section.values.items()}


def _gathered(groups: Iterable[tuple[str, list[Any]]]) -> dict[Label, Label]:
    """Fine label → coarse label, from lists of fine ones."""
    mapping: dict[Label, Label] = {}
    for coarse, members in groups:
        for fine in map(_label, members):
            if fine in mapping:
                raise InvalidStudy(f"{fine!r} is in two lists; each label belongs to one")
            mapping[fine] = coarse
    return mapping


def _label(value: object) -> Label:
    """A value that can be a label."""
    if isinstance(value, Label):
        return value
    raise InvalidStudy(f"labels are text, integers or booleans, got {kind_of(value)}")


def _as_key(label: Label) -> str:
    """A label as TOML writes it for a key."""
    return str(label).lower() if isinstance(label, bool) else str(label)
