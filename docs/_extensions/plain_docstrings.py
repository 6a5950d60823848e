"""Docstrings here are plain text for people in an editor; this turns them into reStructuredText for the site.

What is understood: section headings (with a colon, with an underline, or bare above a list), `name: text` entries,
lists, examples, indented formulas, and single backticks, which become links where they name something public.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache
from typing import Any

import rowspace

_HEADING = re.compile(r"^(Args|Parameters|Attributes|Returns|Raises|Guarantees|Examples?|Notes?|Method):?$")
_TITLES = {"Args": "Parameters", "Example": "Examples", "Note": "Notes"}
_ENTRIES = {"Args", "Parameters", "Attributes", "Raises"}
_ENTRY = re.compile(r"^(?P<names>\w+(?:, \w+)*)(?: : (?P<kind>.+)|: (?P<text>.*)|:)$")
_BULLET = re.compile(r"^(?:[-*]|\d+\.) ")


@cache
def public_names() -> dict[str, str]:
    """Where each public class or function of a room is documented, for names that only one room has."""
    places: dict[str, list[str]] = {}
    for module in pkgutil.iter_modules(rowspace.__path__):
        if module.ispkg and module.name not in ("cli", "sample", "drawing", "paper"):
            room = importlib.import_module(f"rowspace.{module.name}")
            for name in getattr(room, "__all__", ()):
                places.setdefault(name, []).append(f"rowspace.{module.name}.{name}")
    return {name: where[0] for name, where in places.items() if len(where) == 1}


def to_rst(text: str, parameters: frozenset[str] = frozenset()) -> list[str]:
    """One docstring as lines of reStructuredText."""
    out: list[str] = []
    for block in re.split(r"\n[ \t]*\n", text):
        out += _block(block.split("\n"), parameters, out)
    return out


def _block(lines: list[str], parameters: frozenset[str], before: list[str]) -> list[str]:
    """The lines between two blank ones."""
    lines = [line.rstrip() for line in lines if line.strip()]
    if not lines:
        return []
    heading = _HEADING.match(lines[0].strip())
    if heading and not lines[0].startswith(" "):
        rest = lines[1:]
        if rest and set(rest[0].strip()) == {"-"}:
            rest = rest[1:]
        name = heading.group(1)
        title = [f".. rubric:: {_TITLES.get(name, name)}", ""]
        if name in _ENTRIES:
            return title + _entries(_dedented(rest))
        return title + (_block(_dedented(rest), parameters, []) if rest else [])
    if lines[0].lstrip().startswith(">>>"):
        return [*_dedented(lines), ""]
    if lines[0].startswith(" "):
        # What goes on under an entry or a bullet stays there; anything else that is indented is a formula.
        if before and any(line.startswith("    ") for line in before[-2:]):
            return [*(_prose(line) for line in lines), ""]
        return ["::", "", *(f"    {line}" for line in _dedented(lines)), ""]
    first = _ENTRY.match(lines[0])
    if first and set(first["names"].split(", ")) <= parameters:
        return _entries(lines)
    return _paragraph(lines)


def _paragraph(lines: list[str]) -> list[str]:
    """Prose, with the lists and formulas in it set apart."""
    out: list[str] = []
    within = ""
    for line in lines:
        kind = "list" if _BULLET.match(line) else "code" if line.startswith(">>>") else within
        if not line.startswith(" ") and not _BULLET.match(line) and kind == "list":
            kind = ""
        if kind == "" and line.startswith(" "):
            kind = "formula"
        if kind == "formula" and not line.startswith(" "):
            kind = ""
        if kind != within or (kind == "list" and _BULLET.match(line)):
            out += ["", "::", ""] if kind == "formula" else [""]
        within = kind
        out.append(line if kind in ("formula", "code") else _prose(line))
    return [*out, ""]


def _entries(lines: list[str]) -> list[str]:
    """`name: text` lines as a definition list."""
    out: list[str] = []
    for line in lines:
        found = _ENTRY.match(line)
        if found:
            names = ", ".join(f"``{name}``" for name in found["names"].split(", "))
            text = found["kind"] or found["text"]
            out += [names, *([f"    {_prose(text)}"] if text else [])]
            if found["kind"]:
                out.append("")
        else:
            out.append("    " + _prose(line.strip()))
    return [*out, ""]


def _dedented(lines: list[str]) -> list[str]:
    """Without what all lines are indented by."""
    margin = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    return [line[margin:] for line in lines]


def _prose(line: str) -> str:
    """A line of text: names in backticks become code or links, and no other sign means anything."""
    pieces = re.split(r"(``.+?``|`[^`]+`)", line)
    for at, piece in enumerate(pieces):
        if at % 2:
            pieces[at] = _code(piece.strip("`"))
        else:
            pieces[at] = re.sub(r"([|*\\]|_(?=\W|$)|(?<=^)\.\. )", r"\\\1", piece)
    # A list's own sign stays one.
    return re.sub(r"^(\s*)\\\* ", r"\1* ", "".join(pieces))


def _code(text: str) -> str:
    """Code, or a link to what it names."""
    name = text.removesuffix("()")
    return f":py:obj:`~{public_names()[name]}`" if name in public_names() else f"``{text}``"


def _parameters(obj: Any) -> frozenset[str]:
    """Names an entry may have: of parameters and of fields."""
    code = getattr(obj, "__code__", None) or getattr(getattr(obj, "__init__", None), "__code__", None)
    names = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]) if code else set()
    return frozenset(names | set(getattr(obj, "__dataclass_fields__", {})))


def _process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """What autodoc calls for every docstring."""
    lines[:] = to_rst("\n".join(lines), _parameters(obj))


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("autodoc-process-docstring", _process)
    return {"parallel_read_safe": True}
