"""HTML that cannot be broken out of: elements are built, never pasted together.

Text becomes markup in one way only, through `element`, which escapes it. Names of attributes, labels and titles come
from study files and releases that anyone may have written.

Guarantees
- Whatever a text holds, it is text in the page (tests/report/html/test_markup.py::test_any_text_stays_text).
- An attribute's value cannot end its quotes (tests/report/html/test_markup.py::test_any_value_stays_in_its_attribute).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from .exceptions import InvalidInput

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9:-]*")
_VOID = frozenset(("br", "col", "hr", "input", "meta", "wbr"))
# Their content is not text in HTML, so escaping would not protect it; `constant` makes them.
_RAW = frozenset(("script", "style"))
# Unpaired surrogates cannot be encoded, other controls are not characters of HTML.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


@dataclass(frozen=True)
class Markup:
    """A piece of a page. `source` is HTML; make it with `element` or `fragment`."""

    source: str

    def __str__(self) -> str:
        return self.source


def element(
    name: str, *children: Markup | str | Iterable[Markup | str | None] | None, **attributes: object
) -> Markup:
    """Build an element; texts among the children and all attribute values are escaped.

    Attributes: ``class_`` is ``class``, ``_`` is ``-`` elsewhere, True is a bare name, None or False leaves one out.

    >>> print(element("p", "1 < 2", class_="note"))
    <p class="note">1 &lt; 2</p>
    >>> print(element("td", element("b", "<script>"), title='"'))
    <td title="&quot;"><b>&lt;script&gt;</b></td>
    """
    if not _NAME.fullmatch(name) or name.lower() in _RAW:
        raise InvalidInput(f"expected the name of an element that holds text, got {name[:20]!r}")
    opening = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    return Markup(opening if name in _VOID else f"{opening}{fragment(*children)}</{name}>")


def fragment(*children: Markup | str | Iterable[Markup | str | None] | None) -> Markup:
    """Pieces one after the other; texts are escaped, None is nothing."""
    return Markup("".join(_source(child) for child in children))


def constant(name: str, content: str) -> Markup:
    """A style or script element of this program's own text, never of anyone else's.

    >>> print(constant("style", "p { margin: 0 }"))
    <style>p { margin: 0 }</style>
    """
    if name not in _RAW or "</" in content or "<!--" in content:
        raise InvalidInput("expected style or script, with nothing in it that could end it")
    return Markup(f"<{name}>{content}</{name}>")


def _source(child: Markup | str | Iterable[Markup | str | None] | None) -> str:
    """The HTML of a child."""
    match child:
        case None:
            return ""
        case Markup(source=source):
            return source
        case str():
            return escape(_UNPRINTABLE.sub("\ufffd", child), quote=False)
    return "".join(_source(each) for each in child)


def _attribute(key: str, value: object) -> str:
    """One attribute with a space before it."""
    name = key.rstrip("_").replace("_", "-")
    if not _NAME.fullmatch(name) or name.lower().startswith("on"):
        raise InvalidInput(f"expected the name of an attribute that runs nothing, got {name[:20]!r}")
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    written = escape(_UNPRINTABLE.sub("\ufffd", str(value)))
    return f' {name}="{written}"'


def notebook_table(
    caption: Markup | str,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    note: str = "",
    words: int = 1,
) -> str:
    """A small table for a notebook, in the notebook's own colours: first the columns of `words`, then numbers.

    The caption stands above it as a paragraph: inside, it would be broken to the width of a narrow table.

    >>> notebook_table("Two", ["name", "size"], [["<a>", "2"]]).count("&lt;a&gt;")
    1
    """
    line = "border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: .2em .8em;"
    sides = ["left" if index < words else "right" for index in range(len(headings))]

    def row(kind: str, cells: Sequence[str]) -> Markup:
        return element(
            "tr",
            *(
                element(kind, cell, style=f"text-align: {side}; {line}")
                for cell, side in zip(cells, sides, strict=True)
            ),
        )

    table = element(
        "table",
        element("thead", row("th", headings)),
        element("tbody", *(row("td", cells) for cells in rows)),
        style="border-collapse: collapse; font-variant-numeric: tabular-nums;",
    )
    return str(
        fragment(
            element("p", caption, style="margin: .6em .8em .3em;"),
            table,
            element("p", note, style="margin: .3em .8em; opacity: .75;") if note else None,
        )
    )
