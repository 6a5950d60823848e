"""A study as text: TOML that people will edit, with comments where they should think."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rowspace.domain import Attribute, Domain, Measure
from rowspace.exceptions import InvalidStudy
from rowspace.privacy import ZCDP, ApproxDP, Privacy, PrivacyUnit, PureDP

if TYPE_CHECKING:
    from tomlkit.items import Item

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
