"""What every page is made of, whatever it shows: a head that forbids loading, tiles, links to the parts, a footer."""

from __future__ import annotations

from collections.abc import Iterable

from rowspace._version import __version__
from rowspace.markup import Markup, constant, element

from .script import POLICY
from .style import SHEET

Tile = tuple[str, str, str]
"""What a figure is, the figure, and a remark."""


def whole_page(title: str, *content: Markup, sheet: str = "", skip: tuple[str, str], script: str = "") -> str:
    """A complete document that loads nothing. skip: the words and anchor of the first link, for keyboards."""
    words, anchor = skip
    body = element(
        "body",
        element("a", words, href=f"#{anchor}", class_="skip"),
        *content,
        element("footer", f"Made by rowspace {__version__}. This page is complete: it loads nothing."),
        constant("script", script) if script else None,
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name_="color-scheme", content="light dark"),
        element("meta", name_="generator", content=f"rowspace {__version__}"),
        element("title", title),
        constant("style", "\n".join(filter(None, (SHEET, sheet)))),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def opening(kicker: str, title: str, *leads: Markup | str, tiles: Iterable[Tile]) -> Markup:
    """What the page is, and the figures that matter."""
    return element(
        "header",
        element("p", kicker, class_="kicker"),
        element("h1", title),
        *(element("p", lead, class_="lead") for lead in leads),
        element(
            "dl",
            *(
                element("div", element("dt", name), element("dd", value, element("small", remark)))
                for name, value, remark in tiles
            ),
            class_="tiles",
        ),
    )


def links(parts: Iterable[tuple[str, str]]) -> Markup:
    """Links to the parts of the page: (anchor, short name)."""
    items = [element("li", element("a", short, href=f"#{anchor}")) for anchor, short in parts]
    return element("nav", element("ul", *items), aria_label="Parts of this page")
