"""Nothing that anyone writes becomes anything but text."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowspace.exceptions import InvalidInput
from rowspace.markup import constant, element, fragment


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
PRINTABLE = st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn"))) | st.sampled_from(HOSTILE)


@given(PRINTABLE)
def test_any_text_stays_text(text: str) -> None:
    found = seen(element("td", text, [text, None]))
    assert [name for name, _ in found.elements] == ["td"]
    assert found.text == text + text


@given(PRINTABLE)
def test_any_value_stays_in_its_attribute(text: str) -> None:
    assert seen(element("td", title=text)).elements == [("td", [("title", text)])]


def test_what_is_no_character_of_html_is_replaced() -> None:
    assert str(element("b", "a\x00\ud800\x1b")) == "<b>a\ufffd\ufffd\ufffd</b>"


@pytest.mark.parametrize("name", ["script", "STYLE", "b onclick", "", "a>b"])
def test_elements_that_hold_no_text_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        element(name, "x")


@pytest.mark.parametrize("key", ["onclick", "ONLOAD", "a b", 'x"'])
def test_attributes_that_run_something_are_refused(key: str) -> None:
    with pytest.raises(InvalidInput):
        element("p", **{key: "x"})


def test_constants_cannot_end_early() -> None:
    with pytest.raises(InvalidInput):
        constant("script", "a</script>")
    with pytest.raises(InvalidInput):
        constant("p", "x")


def test_attributes() -> None:
    assert str(element("input", class_="a", hidden=True, id=None, open=False)) == '<input class="a" hidden>'
    assert str(fragment("a", None, element("br"))) == "a<br>"
