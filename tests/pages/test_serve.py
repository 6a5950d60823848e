"""The page of a service in a real Chromium: it pays once, whatever is pressed; free first; for everyone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.serve import Service

from tests.serve.conftest import Place, laid_out


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return laid_out(tmp_path)


@pytest.fixture
def service(place: Place) -> Iterator[Service]:
    with Service(place.folder) as running:
        yield running


@pytest.fixture
def entered(chromium: Any) -> Iterator[Any]:
    """A page that is signed in, with what it has said on the console."""
    contexts = []

    def enter(service: Service, token: str, width: int = 1280, **options: Any) -> Any:
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, reduced_motion="reduce", **options
        )
        contexts.append(context)
        page = context.new_page()
        page.heard = []
        page.on("console", lambda said: page.heard.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: page.heard.append(str(error)))
        page.goto(f"http://127.0.0.1:{service.port}/")
        page.fill("#token", token)
        page.keyboard.press("Enter")
        page.wait_for_selector("#ask-form")
        return page

    yield enter
    for context in contexts:
        context.close()


def ask(page: Any, question: str, within: str) -> Any:
    """By keyboard alone; the page, once there is a price, an answer or a problem."""
    page.evaluate("document.querySelector('#result').replaceChildren()")
    page.fill("#q", question)
    page.fill("#within", within)
    page.press("#within", "Enter")
    page.wait_for_selector("#result .card")
    return page


@pytest.mark.parametrize("javascript", [True, False])
def test_whatever_is_pressed_pays_once(
    place: Place, service: Service, entered: Any, javascript: bool
) -> None:
    page = entered(service, place.ann, java_script_enabled=True)
    if not javascript:
        page = entered(service, place.ann, java_script_enabled=False)
        page.fill("#q", "age < 2")
        page.fill("#within", "20")
        page.press("#within", "Enter")
        page.wait_for_selector("#buy-form")
    else:
        ask(page, "age < 2", "20")
    assert "within ±20" in page.inner_text(".quote")
    page.dblclick("#buy-form button")
    page.wait_for_selector(".answer")
    number = page.inner_text(".answer .ask-number")
    assert number.endswith("± 20") or "± 19.9" in number
    page.reload()
    assert page.inner_text(".answer .ask-number") == number
    page.go_back()
    page.wait_for_selector("#result .card")
    if page.query_selector("#buy-form"):
        page.click("#buy-form button")
        page.wait_for_selector(".answer")
    assert place.ledger.budget().charges == 1
    assert page.heard == []


def test_two_browsers_with_room_for_one(chromium: Any, entered: Any, tmp_path: Path) -> None:
    place = laid_out(tmp_path, rho=0.1)
    with Service(tmp_path) as service:
        pages = [entered(service, token) for token in (place.ann, place.bob)]
        for page in pages:
            ask(page, "age < 2", "5")  # more than half of the budget
            assert page.query_selector("#buy-form"), page.inner_text("#result")
        for page in pages:
            page.evaluate("document.querySelector('#buy-form').requestSubmit()")
        for page in pages:
            page.wait_for_selector(".answer")
        numbers = {page.inner_text(".answer .ask-number") for page in pages}
    budget = place.ledger.budget()
    assert (budget.charges, len(numbers)) == (1, 1)
    assert budget.spent > budget.limit / 2


def test_a_server_that_dies_is_asked_again(place: Place, entered: Any) -> None:
    with Service(place.folder) as service:
        page = ask(entered(service, place.ann), "age < 2", "20")
        port = service.port
        service.process.kill()
        service.process.wait()
        page.click("#buy-form button")
        page.wait_for_selector("#problem")
        assert "not paid twice" in page.inner_text("#problem")
    with Service(place.folder, "--port", str(port)):
        page.click("#buy-form button")
        page.wait_for_selector(".answer")
    assert place.ledger.budget().charges == 1


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark"}, {"width": 390, "color_scheme": "dark"}])
def test_the_page_is_for_everyone(
    place: Place, service: Service, entered: Any, options: dict[str, Any]
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = entered(service, place.ann, bypass_csp=True, **options)
    for question in ("age < 2", "nobody = 1", "SELECT age, sex, COUNT(*) FROM t GROUP BY age, sex"):
        ask(page, question, "20")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        if page.query_selector("#buy-form"):
            page.click("#buy-form button")
            page.wait_for_selector(".answer")
            assert page.inner_text("#said")
    for width in (320, 390, 768, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
