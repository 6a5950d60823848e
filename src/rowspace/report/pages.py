"""Web pages that need nothing else, made of the templates beside this file.

    base.html     what every page has: a policy that forbids loading, tiles, links to its parts; blocks for the rest
    parts.html    macros for tiles, links, cards and tables
    charts.html   macros for the charts of `charts`
    report.html   the page of a release
    ask.html      the panel that answers questions, by the scripts of explore/

A template writes down views (`views`) and computes nothing. Jinja escapes every text that is put into a page, whoever
wrote it; only this program's own style sheets and scripts go in as they are.

Guarantees
- Whatever a text holds, it is text in the page (tests/report/html/test_markup.py::test_any_text_stays_text).
- An attribute's value cannot end its quotes (tests/report/html/test_markup.py::test_any_value_stays_in_its_attribute).
- No template can turn that off (tests/report/html/test_markup.py::test_templates_leave_escaping_on).
- The browser may load nothing and run nothing but the page's own script, known by its digest
  (tests/report/html/test_page.py::test_nothing_is_loaded).
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import cast

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from rowspace._version import __version__
from rowspace.drawing import DARK, LIGHT
from rowspace.exceptions import InvalidInput
from rowspace.notebook import printable

from .views import Page

_BETWEEN_TAGS = re.compile(r"(?<=[>}])\n\s*(?=[<{])")


def render(template: str, page: Page, *, sheet: str = "", script: str = "", **views: object) -> str:
    """A complete document that loads nothing.

    template: a file of templates, or ``package:file`` for one of another package's. views: what its blocks show. sheet:
    more of a style sheet. script: files of scripts, with spaces between them; those of a folder see one another and
    nothing else.
    """
    source = "\n".join(_script(name) for name in script.split())
    digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
    written = (
        _environment()
        .get_template(template)
        .render(
            page=page,
            style=_constant("\n".join((_theme(), _file("page.css"), sheet)).strip()),
            script=_constant(source),
            digest=digest,
            **views,
        )
    )
    return printable(f"{written}\n")


def macro(template: str, name: str) -> Callable[..., Markup]:
    """A macro of a template, for pieces of a page.

    >>> print(macro("parts.html", "card")("a < b", "", ""))
    <figure class="card"><figcaption><h3>a &lt; b</h3><p></p></figcaption></figure>
    """
    return cast("Callable[..., Markup]", getattr(_environment().get_template(template).module, name))


@cache
def _environment() -> Environment:
    made = Environment(loader=FunctionLoader(_template), autoescape=True, undefined=StrictUndefined)
    made.globals["version"] = __version__
    return made


def _template(name: str) -> str:
    """A template on one line: breaks between tags are for its readers, and would be spaces in the page."""
    return _BETWEEN_TAGS.sub("", _file(name))


def _script(name: str) -> str:
    """A script, or all of a folder in the order of its list."""
    if not name.endswith("/"):
        return _file(name)
    parts = [_file(f"{name}{part}") for part in _file(f"{name}order.txt").split()]
    return "\n".join(("(() => {", *parts, "})();"))


def own_sheet(name: str) -> str:
    """A style sheet of templates."""
    return _file(name)


@cache
def _file(name: str) -> str:
    package, _, file = name.rpartition(":")
    return files(package or __package__).joinpath("templates", file).read_text(encoding="utf-8").strip()


def _constant(source: str) -> Markup:
    """The content of a style or script element: this program's own text, never anyone else's."""
    if "</" in source or "<!--" in source:
        raise InvalidInput("expected a style sheet or script with nothing in it that could end it")
    return Markup(source)


def _theme() -> str:
    """The palette as CSS variables: light or dark by the reader's choice, light on paper."""
    light, dark = _variables(LIGHT), _variables(DARK)
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        f"@media print {{ :root {{ color-scheme: light; {light} --page: #ffffff; }} }}"
    )


def _variables(palette: Mapping[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in palette.items())
