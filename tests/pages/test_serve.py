"""The page of a service in a real Chromium: it pays once, whatever is pressed; free first; for everyone."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.serve import Service

from tests.serve.conftest import Place, laid_out

from .conftest import Opened, quick_first


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return laid_out(tmp_path)


@pytest.fixture
def service(place: Place) -> Iterator[Service]:
    with Service(place.folder) as running:
        yield running


@pytest.fixture
def entered(tab: Opened) -> Opened:
    """A page that is signed in."""

    def enter(service: Service, token: str, **options: Any) -> Any:
        page = tab(**options)
        page.goto(f"http://127.0.0.1:{service.port}/")
        page.fill("#token", token)
        page.keyboard.press("Enter")
        page.wait_for_selector("#ask-form")
        return page

    return enter


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


@pytest.mark.long
def test_two_browsers_with_room_for_one(entered: Any, tmp_path: Path) -> None:
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


@pytest.mark.long
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


HOSTILE = "</script><img src=x onerror=window.hit=1>"
HARD = {
    "200 attributes": (
        "".join(
            f'[domain."attribute number {at}"]\ntype = "categorical"\ncategories = ["yes", "no"]\n'
            for at in range(200)
        )
        + "[[workload]]\nmarginals = { up_to = 1 }\n",
        [f"attribute number {at}" for at in range(200)],
        ["yes"] * 200,
        "\"attribute number 7\" = 'yes'",
    ),
    "100 x 100": (
        '[domain.a]\ntype = "numeric"\nlow = 0\nhigh = 100\nbins = 100\ninteger = true\n[domain.b]\n'
        'type = "numeric"\nlow = 0\nhigh = 1000000\nbins = 100\n[[workload]]\nmarginal = ["a"]\n[[workload]]\n'
        'marginal = ["b"]\n',
        ["a", "b"],
        ["3", "4000"],
        "SELECT a, COUNT(*) FROM t GROUP BY a",
    ),
    "long labels": (
        '[domain."{0}"]\ntype = "categorical"\ncategories = ["{1}", "{2}", "{3}"]\n[[workload]]\n'
        'marginal = ["{0}"]\n'.format(
            "職業と地域の分類" * 10, "W" * 80, "国民健康保険被保険者資格取得届出" * 5, HOSTILE + "x" * 40
        ),
        ["職業と地域の分類" * 10],
        ["W" * 80],
        'SELECT "{0}", COUNT(*) FROM t GROUP BY "{0}"'.format("職業と地域の分類" * 10),
    ),
}
_OUTSIDE = """() => {
  const root = document.documentElement, box = e => e.getBoundingClientRect();
  const free = [...document.querySelectorAll('body *:not(svg *, option)')]
    .filter(e => box(e).width > 0 && box(e).height > 0 && !e.closest('.hidden, .skip, .scroll, nav, pre, select'));
  const inside = e => e.closest('.card') || root;
  return {
    wide: root.scrollWidth > root.clientWidth,
    outside: free.filter(e => box(e).right > box(inside(e)).right + 1 || box(e).left < box(inside(e)).left - 1)
      .map(e => e.tagName + '#' + e.id + '.' + e.className + ': ' + e.textContent.slice(0, 40)),
  };
}"""


@pytest.mark.long
@pytest.mark.parametrize("name", HARD)
def test_nothing_is_cut_and_labels_stay_text(name: str, entered: Any, tmp_path: Path) -> None:
    study, names, row, question = HARD[name]
    place = laid_out(tmp_path, rho=1e6)
    head = f'[study]\nname = "{name}"\n[privacy]\nrho = 0.1\n'
    (tmp_path / "study.toml").write_text(head + study, encoding="utf-8")
    with (tmp_path / "data.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([names, *[row] * 20])
    with Service(tmp_path) as service:
        page = ask(entered(service, place.ann), question, "20")
        widths = (320, 390, 640, 768, 1280, 1920)  # 640 px with twice the pixels is 1280 at 200 %
        for state in ("price", "answer", "problem"):
            if state == "answer":
                page.click("#buy-form button")
                page.wait_for_selector(".answer")
            elif state == "problem":
                ask(page, f"{names[0]} = {HOSTILE} " * 4, "20")
            for width in widths:
                page.set_viewport_size({"width": width, "height": 900})
                assert page.evaluate(_OUTSIDE) == {"wide": False, "outside": []}, (state, width)
        assert page.locator("main img").count() == 0
        assert page.evaluate("window.hit") is None
        assert [said for said in page.heard if "422" not in said] == []  # the status of the mistake


def test_what_is_known_is_free_and_a_price_is_kept(place: Place, service: Service, entered: Any) -> None:
    page = ask(entered(service, place.ann), "SELECT age, sex, COUNT(*) FROM t GROUP BY age, sex", "9")
    page.click("#buy-form button")
    page.wait_for_selector(".answer")
    # The widest interval that is delivered is within what was quoted.
    page.click(".answer summary")
    halves = [float(row.split("\t")[2]) for row in page.locator(".answer tbody tr").all_inner_texts()]
    assert len(halves) == 8
    assert 8 <= max(halves) <= 9
    for question in ("age < 2", "sex = 'F'", "age = 1 and sex = 'M'", "SELECT COUNT(*) FROM t"):
        ask(page, question, "40")
        assert "Free: known before." in page.inner_text(".answer"), question
        assert page.locator("#buy-form").count() == 0
    assert place.ledger.budget().charges == 1


@pytest.mark.long
def test_another_question_after_the_last_of_the_budget_is_refused(entered: Any, tmp_path: Path) -> None:
    place = laid_out(tmp_path, rho=0.1)
    with Service(tmp_path) as service:
        pages = [entered(service, token) for token in (place.ann, place.bob)]
        for page, question in zip(pages, ("age < 2", "sex = 'M' and age = 3"), strict=True):
            ask(page, question, "5")  # each more than half of the budget
            assert page.query_selector("#buy-form"), page.inner_text("#result")
        for page in pages:
            page.evaluate("document.querySelector('#buy-form').requestSubmit()")
        for page in pages:
            page.wait_for_selector(".answer, #problem")
        assert sorted(page.locator(".answer").count() for page in pages) == [0, 1]
        (refused,) = [page for page in pages if page.locator("#problem").count()]
        assert "more than" in refused.inner_text("#problem")
    budget = place.ledger.budget()
    assert (budget.charges, budget.spent <= budget.limit) == (1, True)


@pytest.mark.parametrize("pause", quick_first([0.05, 0.0, 0.2, 0.5], 1))
def test_a_server_killed_in_the_middle_pays_once(pause: float, place: Place, entered: Any) -> None:
    """Wherever in the purchase it dies: pressed again the answer is there, of one charge."""
    with Service(place.folder) as service:
        page = ask(entered(service, place.ann), "age < 2", "20")
        port = service.port
        page.evaluate("document.querySelector('#buy-form').requestSubmit()")
        page.wait_for_timeout(1000 * pause)
        service.process.kill()
        service.process.wait()
        page.wait_for_selector("#problem, .answer")
    with Service(place.folder, "--port", str(port)):
        if page.locator("#buy-form").count():
            page.click("#buy-form button")
            page.wait_for_selector(".answer")
        number = page.inner_text(".answer .ask-number")
        page.reload()
        assert page.inner_text(".answer .ask-number") == number
    assert place.ledger.budget().charges == 1


def test_changes_are_said_once_and_a_keyboard_is_enough(place: Place, service: Service, entered: Any) -> None:
    page = entered(service, place.ann)
    page.evaluate(
        """() => { window.said = []; const at = document.getElementById('said');
        new MutationObserver(() => window.said.push(at.textContent)).observe(at, {childList: true, subtree: true}); }"""
    )
    page.focus("#q")
    page.keyboard.type("age < 2")
    page.keyboard.press("Tab")
    page.keyboard.type("20")
    page.keyboard.press("Enter")
    page.wait_for_selector("#buy-form")
    assert page.evaluate("document.activeElement.id") == "result"
    for _ in range(3):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "BUTTON":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector(".answer")
    said = page.evaluate("window.said")
    assert [words for words in said if words.startswith("Costs")] == said[1:2]
    assert len(said) == 4, said  # looking, the price, paying, the answer
    page.focus("#history button")
    page.keyboard.press("Enter")
    page.wait_for_selector("#token")
