"""Nothing that anyone writes becomes anything but text."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from functools import cache
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError

import rowspace as rs
from rowspace.exceptions import InvalidInput
from rowspace.report.html.budget import BudgetView
from rowspace.report.html.page import Report, report_views
from rowspace.report.pages import macro, render
from rowspace.report.views import Cell, Page, PageTable, Shaded


class Seen(HTMLParser):
    """What a parser finds: elements with their attributes, and text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text += data


def seen(source: object) -> Seen:
    parser = Seen()
    parser.feed(str(source))
    parser.close()
    return parser


HOSTILE = [
    "<script>alert(1)</script>",
    "</td><img src=x onerror=alert(1)>",
    "'\"><svg onload=alert(1)>",
    "&lt;b&gt;",
]
PRINTABLE = st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn")), min_size=1) | st.sampled_from(
    HOSTILE
)
TEMPLATES = sorted(
    (path.name, path.read_text(encoding="utf-8"))
    for path in files("rowspace.report").joinpath("templates").iterdir()
    if path.name.endswith(".html")
)
MARK = "\ue000"


@cache
def views() -> tuple[tuple[Page, Report], ...]:
    """A page with every kind of chart and a budget, and one of several releases."""
    domain = rs.Domain(
        age=rs.Numeric(0, 20, bins=20, outside="drop"),
        sex=rs.Categorical(["F", "M"]),
        place=rs.Categorical([f"place {at}" for at in range(12)]),
        work=rs.Categorical([f"work {at}" for at in range(11)]),
    )
    w = rs.workload
    queries = (
        w.prefixes(domain, "age") + w.marginal(domain, "age", "sex") + w.marginal(domain, "sex", "place")
    )
    queries += w.marginal(domain, "place", "work") + w.predicates(domain, ["age < 5 and sex = 'F'"])
    plan = rs.plan(queries, rs.PureDP(1.0), effort="fast")
    release, other = (rs.release(plan, np.full(domain.shape, 3)) for _ in range(2))
    page, report = report_views(release, "A study", 0.95, None)
    kinds = {figure.chart.macro for block in report.answers.blocks for figure in block}
    assert kinds == {"plot", "bars", "shaded", "heat_map"}
    charges = PageTable("Charges", ("charge", "release"), (("1", "digest"),), chosen=0, codes=True)
    report = replace(report, budget=BudgetView("Words.", "State.", report.answers.blocks[0][0], charges))
    return (page, report), report_views(rs.combine([release, other]), "Two", 0.95, None)


def rewritten(view: Any, text: str) -> Any:
    """The same view with a text in place of every text in it, however deep."""
    match view:
        case str():
            return text if view else view
        case tuple() | list():
            return type(view)(rewritten(each, text) for each in view)
    if not is_dataclass(view):
        return view
    return replace(view, **{f.name: rewritten(getattr(view, f.name), text) for f in fields(view)})  # type: ignore[type-var]


def whole_page(page: Page, report: Report) -> Seen:
    return seen(render("report.html", page, script="search.js", report=report))


@pytest.mark.parametrize("which", [0, 1], ids=["one release", "several"])
@settings(deadline=None, max_examples=20)
@given(text=PRINTABLE)
def test_any_text_stays_text(which: int, text: str) -> None:
    """Over the whole page: with any text in place of every text, the page is what it is with private-use characters
    of the same number, but for these texts and attributes' values."""
    found = whole_page(*(rewritten(view, text) for view in views()[which]))
    mark = MARK * len(text)
    expected = whole_page(*(rewritten(view, mark) for view in views()[which]))
    assert found.text == expected.text.replace(mark, text)
    assert found.elements == [
        (name, [(key, value and value.replace(mark, text)) for key, value in attributes])
        for name, attributes in expected.elements
    ]
    assert expected.text.count(mark) > 500


@settings(deadline=None)
@given(PRINTABLE)
def test_any_value_stays_in_its_attribute(text: str) -> None:
    shaded = Shaded(text, text, (text,), ((text, (Cell(text, "1", "2", 0.5),)),))
    found = dict(seen(macro("charts.html", "chart")(shaded)).elements)
    assert ("aria-label", text) in found["div"]
    assert found["td"] == [("title", text), ("style", "--shade:50%")]


@pytest.mark.parametrize(("name", "source"), TEMPLATES, ids=[name for name, _ in TEMPLATES])
def test_templates_leave_escaping_on(name: str, source: str) -> None:
    """Autoescaping protects texts and quoted attributes: so there is nothing else, and nothing that turns it off."""
    assert not re.search(r"\|\s*safe|autoescape|Markup|xmlattr|\son\w+\s*=", source)
    plain = re.sub(r"\{\{.*?\}\}", "§", re.sub(r"\{[%#].*?[%#]\}", "", source, flags=re.DOTALL))
    raw = {"<style>§</style>", "<script>§</script>"} if name == "base.html" else set()
    assert set(re.findall(r"<(?:style|script).*?>.*?</\w+>", plain)) == raw
    tags = re.findall(r"<[^/!].*?>", plain)
    assert tags
    for tag in tags:
        assert re.fullmatch(r'<[a-z][a-z0-9]*(\s+[a-zA-Z0-9-]+(="[^"<>]*")?)*>', tag), tag


def test_what_is_no_character_of_html_is_replaced() -> None:
    page, report = views()[0]
    written = render("report.html", replace(page, title="a\x00\ud800\x1b"), report=report)
    assert "<title>a\ufffd\ufffd\ufffd</title>" in written
    assert written.encode()


def test_constants_cannot_end_early() -> None:
    page, report = views()[0]
    for sheet in ("a</style>", "<!-- a"):
        with pytest.raises(InvalidInput, match="could end it"):
            render("report.html", page, sheet=sheet, report=report)


def test_what_is_missing_is_not_written_as_nothing() -> None:
    with pytest.raises(UndefinedError, match="content"):
        render("base.html", views()[0][0])
