"""A study as text: TOML that people will edit, with comments where they should think."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rowspace.domain import Attribute, Categorical, Domain, Numeric, Timed
from rowspace.exceptions import InvalidStudy
from rowspace.privacy import ZCDP, ApproxDP, Neighbours, Privacy, PrivacyUnit, PureDP

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_WIDTH = 100

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
    blocks = [[comment(line) for line in header]] if header else []
    mark = [] if draft is None else [f"{_line('draft', True)}      {comment(draft)}"]
    blocks.append(["[study]", _line("name", name), *mark])
    blocks.append(["[privacy]", *_privacy_lines(privacy)])
    if data:
        blocks.append(["[data]", *(_line(key, value) for key, value in data.items())])
    for attribute_name, attribute in domain.attributes:
        note = (notes or {}).get(attribute_name)
        lines = [comment(note)] if note else []
        blocks.append([*lines, *_attribute_lines(attribute_name, attribute)])
    blocks += [entry_lines(entry) for entry in entries]
    return "\n".join("\n".join(block) + "\n" for block in blocks)


def entry_lines(entry: Entry) -> list[str]:
    """The lines of one [[workload]] entry."""
    return ["[[workload]]", *(_line(key, value) for key, value in entry.items())]


def comment(text: str) -> str:
    """One line of comment; TOML allows no control characters in it."""
    return ("# " + "".join(c if c.isprintable() else " " for c in text)).rstrip()


def _privacy_lines(privacy: Privacy) -> Iterator[str]:
    """The numbers of a guarantee, then the neighbours and the unit."""
    if not isinstance(privacy, PureDP | ApproxDP | ZCDP):
        raise InvalidStudy(f"a study states epsilon, epsilon and delta, or rho; got {type(privacy).__name__}")
    for field in dataclasses.fields(privacy):
        value = getattr(privacy, field.name)
        if isinstance(value, Neighbours):
            advice = '# or "replace-one", when the number of records is public'
            yield f"{_line('neighbours', value.value)}      {advice}"
        elif isinstance(value, PrivacyUnit):
            yield _line("privacy_unit", value.column)
            yield _line("max_rows_per_unit", value.rows)
        elif value is not None:
            yield _line(field.name, value)


def _attribute_lines(name: str, attribute: Attribute) -> Iterator[str]:
    """The table of one attribute."""
    place = f"domain.{_key(name)}"
    yield f"[{place}]"
    if isinstance(attribute, Timed):
        fields = attribute.to_dict()
        yield _line("type", fields.pop("kind"))
        yield from (_line(key, value) for key, value in fields.items() if value is not None)
        return
    if isinstance(attribute, Numeric):
        yield _line("type", "numeric")
        fields = attribute.to_dict()
        for key in ("low", "high"):
            if key in fields:
                yield _line(key, _shortest(fields[key]))
        for key in ("bins", "edges", "outside", "integer"):
            if key in fields and fields[key] is not False:
                yield _line(key, fields[key])
        return
    yield _line("type", "categorical")
    yield _line("categories", list(attribute.values))
    if attribute.other is not None:
        yield _line("other", attribute.other)
    if attribute.drops:
        yield _line("outside", attribute.outside)
    for level in attribute.levels:
        yield f"[{place}.levels.{_key(level)}]"
        yield from _level_lines(attribute, level)


def _level_lines(attribute: Categorical, level: str) -> Iterator[str]:
    """``coarse = [fine, …]`` where the coarse labels are text, else ``fine = coarse``."""
    mapping = attribute.levels[level]
    if not all(isinstance(coarse, str) for coarse in mapping.values()):
        for fine, coarse in mapping.items():
            if fine != attribute.other or coarse != attribute.other:  # the reader maps that one by itself
                yield _line(str(fine).lower() if isinstance(fine, bool) else str(fine), coarse)
        return
    groups: dict[Any, list[Any]] = {}
    for fine, coarse in mapping.items():
        groups.setdefault(coarse, []).append(fine)
    for coarse, members in groups.items():
        yield _line(coarse, members)


def _line(key: str, value: Any) -> str:
    """``key = value``, a long list over several lines."""
    line = f"{_key(key)} = {_value(value)}"
    if len(line) <= _WIDTH or not isinstance(value, list):
        return line
    rows, row = [], "   "
    for item in map(_value, value):
        if len(row) + len(item) + 2 > _WIDTH and row.strip():
            rows.append(row)
            row = "   "
        row += f" {item},"
    return "\n".join([f"{_key(key)} = [", *rows, row, "]"])


def _value(value: Any) -> str:
    """A value in TOML."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return _string(value)
        case list() | tuple():
            return f"[{', '.join(map(_value, value))}]"
        case Mapping():
            return "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }"
    raise InvalidStudy(f"a study holds text, numbers, booleans, lists and tables, got {type(value).__name__}")


def _key(key: str) -> str:
    """A key, in quotes when it must be."""
    return key if _BARE_KEY.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    """A basic string: JSON's escapes are TOML's too, but for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _shortest(number: float) -> float | int:
    """A whole number without its decimal point."""
    return int(number) if number.is_integer() and abs(number) < 1e15 else number
