"""Docstrings here are plain text for people in an editor; this turns them into reStructuredText for the site.

What is understood: section headings (with a colon, with an underline, or bare above a list), `name: text` entries,
lists, examples, indented formulas, and single backticks, which become links where they name something public.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache
from inspect import CO_VARARGS, CO_VARKEYWORDS
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
        if module.ispkg and module.name not in ("cli", "sample"):
            room = importlib.import_module(f"rowspace.{module.name}")
            for name in getattr(room, "__all__", ()):
                places.setdefault(name, []).append(f"rowspace.{module.name}.{name}")
    return {name: where[0] for name, where in places.items() if len(where) == 1}


def to_rst(text: str, parameters: frozenset[str] = frozenset()) -> list[str]:
    """One docstring as lines of reStructuredText."""
    lines = [line.rstrip() for line in text.split("\n")]
    out: list[str] = []
    at = 0
    while at < len(lines):
        heading = _HEADING.match(lines[at])
        stop = _section_end(lines, at) if heading else _block_end(lines, at)
        if heading:
            out += _section(heading.group(1), lines[at + 1 : stop], parameters)
        elif stop > at:
            out += _block(lines[at:stop], parameters, out)
        at = max(stop, at + 1)
    return out


def _block_end(lines: list[str], start: int) -> int:
    """Where a block ends: at a blank line or before a heading."""
    stop = start
    while stop < len(lines) and lines[stop] and (stop == start or not _HEADING.match(lines[stop])):
        stop += 1
    return stop


def _section_end(lines: list[str], start: int) -> int:
    """Where a section ends, by how it is written: underlined, indented, or bare above one block."""
    stop = start + 1
    following = lines[stop] if stop < len(lines) else ""
    if following and set(following) == {"-"}:
        while stop < len(lines) and not _HEADING.match(lines[stop]) and not lines[stop].startswith(">>>"):
            stop += 1
        return stop
    if following.startswith(" "):
        while stop < len(lines) and (not lines[stop] or lines[stop].startswith(" ")):
            stop += 1
        return stop
    return _block_end(lines, start + 1)


def _section(name: str, body: list[str], parameters: frozenset[str]) -> list[str]:
    """A heading and what is under it."""
    if body and body[0] and set(body[0]) == {"-"}:
        body = body[1:]
    title = ["", f".. rubric:: {_TITLES.get(name, name)}", ""]
    body = _dedented(body)
    if name in _ENTRIES:
        return title + _entries(body)
    return title + to_rst("\n".join(body), parameters)


def _block(lines: list[str], parameters: frozenset[str], before: list[str]) -> list[str]:
    """The lines between two blank ones."""
    if lines[0].startswith((">>>", "===", ".. ")):
        return [*lines, ""]
    if lines[0].startswith(" "):
        # Under a list it goes on with it; anything else that is indented is a formula or a drawing.
        last = next((line for line in reversed(before) if line), "")
        if _BULLET.match(last) or last.startswith("  "):
            return [*(_prose(line) for line in lines), ""]
        mark = [] if last.endswith("::") else ["::", ""]
        return [*mark, *(f"    {line}" for line in _dedented(lines)), ""]
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
            text = found["kind"] or found["text"]
            out += [", ".join(f"``{name}``" for name in found["names"].split(", "))]
            out += [f"    {_prose(text)}"] if text else []
            out += [""] if found["kind"] else []
        elif line:
            # Entries keep one margin, whether their text is written under them or further in.
            out.append("    " + _prose(line.removeprefix("    ")))
        else:
            out.append("")
    return [*out, ""]


def _dedented(lines: list[str]) -> list[str]:
    """Without what all lines are indented by."""
    margin = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
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
    # After the named ones come *args and **keywords, where there are any.
    starred = sum(bool(code.co_flags & flag) for flag in (CO_VARARGS, CO_VARKEYWORDS)) if code else 0
    names = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + starred]) if code else set()
    return frozenset(names | set(getattr(obj, "__dataclass_fields__", {})))


def _process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """What autodoc calls for every docstring."""
    lines[:] = to_rst("\n".join(lines), _parameters(obj))


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("autodoc-process-docstring", _process)
    return {"parallel_read_safe": True}
