"""The studio in a real Chromium: live errors without a request, targets, changes, and for everyone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowspace.cli.program import run
from rowspace.study import Study
from tests.studio.process import Studio

from .conftest import Opened, cpu_clock, quick_first

STUDY = """\
[study]
name = "Pupils"
[privacy]
epsilon = 1.0      # agreed with the board
[domain.age]
type = "numeric"
low = 0
high = 16
bins = 16
integer = true
[domain.sex]
type = "categorical"
categories = ["F", "M"]
[domain.school]
type = "categorical"
categories = ["north", "south", "west"]
[[workload]]
ranges = "age"
[[workload]]
marginal = ["age", "sex"]
weight = 2.0
[[workload]]
marginal = ["school"]
"""
HARD = {
    "200 attributes": "".join(
        f'[domain."attribute number {at}"]\ntype = "categorical"\ncategories = ["yes", "no"]\n'
        for at in range(200)
    )
    + "[[workload]]\nmarginals = { up_to = 1 }\n",
    "100 x 100": '[domain.a]\ntype = "numeric"\nlow = 0\nhigh = 100\nbins = 100\n[domain.b]\ntype = "numeric"\n'
    'low = 0\nhigh = 1000000\nbins = 100\n[[workload]]\nmarginal = ["a", "b"]\n',
    "long labels": '[domain."{0}"]\ntype = "categorical"\ncategories = ["{1}", "{2}", "{3}"]\n[domain.b]\n'
    'type = "categorical"\ncategories = ["x", "y"]\n[[workload]]\nmarginal = ["{0}", "b"]\n'.format(
        "職業と地域の分類" * 10,
        "W" * 80,
        "国民健康保険被保険者資格取得届出" * 5,
        "Verwaltungsfachangestellte " * 3 + "x",
    ),
    "hostile": '[domain."</script><img src=x onerror=alert(1)>"]\ntype = "categorical"\n'
    'categories = ["<b>", "<script>alert(2)</script>"]\n'
    '[[workload]]\nmarginal = ["</script><img src=x onerror=alert(1)>"]\n',
}
BUDGETS = {
    "200 attributes": "rho = 0.1",
    "100 x 100": "epsilon = 20",
    "long labels": "epsilon = 0.001",
    "hostile": "rho = 1",
}


def written(folder: Path, text: str = STUDY) -> Path:
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Studio]]:
    """A studio that is not saved to."""
    path = written(tmp_path_factory.mktemp("studio"))
    with Studio(path) as running:
        yield path, running


@pytest.fixture
def entered(tab: Opened) -> Opened:
    """A page of a studio, with whom it asks."""

    def enter(studio: Studio, **options: Any) -> Any:
        page = tab(**options)
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(studio.link)
        return page

    return enter


def settled(page: Any) -> Any:
    """The page, once nothing is under way."""
    page.wait_for_selector(".planned #cancel[hidden]", state="attached")
    return page


def number(text: str) -> float:
    return float(re.sub(r"[^0-9.e+-]", "", text.replace("−", "-").split("±")[-1]))


def digits(value: float) -> float:
    return float(f"{value:.3g}")


def slide(page: Any, at: int) -> None:
    """Move the slider; all figures are there when this ends."""
    page.evaluate(
        """at => { const slider = document.getElementById('budget'); slider.value = at;
        for (const name of ['input', 'change']) slider.dispatchEvent(new Event(name, {bubbles: true}));
        document.body.getBoundingClientRect(); }""",
        at,
    )


@pytest.mark.long
def test_live_errors_are_those_of_the_plan(shared: Any, entered: Any, capsys: Any):
    path, studio = shared
    page = settled(entered(studio))
    most = int(page.get_attribute("#budget", "max"))
    asked, spent = len(page.asked), cpu_clock(page)
    for step in range(20):
        before = spent()
        slide(page, step * most // 19)
        assert spent() - before <= 100
        epsilon = page.inner_text("#budget-shown").removeprefix("ε = ")
        capsys.readouterr()
        assert run(["plan", str(path), "--epsilon", epsilon, "--effort", "best", "--json"]) == 0
        plan = json.loads(capsys.readouterr().out)
        assert digits(number(page.inner_text("#rmse"))) == pytest.approx(plan["rmse"], rel=6e-3, abs=6e-5)
        assert page.inner_text("#certificate") == plan["certificate"]
        shown = page.locator(".error-bar .detail").all_inner_texts()
        for words, group in zip(shown, plan["groups"], strict=True):
            typical, worst = (number(part) for part in words.split(", "))
            assert typical == pytest.approx(group["rmse"], rel=6e-3, abs=6e-5)
            assert worst == pytest.approx(group["largest_std_error"], rel=6e-3, abs=6e-5)
    assert page.asked[asked:] == []
    assert page.heard == []


def drag(page: Any, bar: str, by: float) -> None:
    """With the mouse, by a share of the bar's length."""
    page.locator(bar).evaluate("bar => bar.scrollIntoView({block: 'center', behavior: 'instant'})")
    box = page.locator(bar).bounding_box()
    place = int(page.input_value(bar)) / 1000
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 6 + place * (box["width"] - 12), y)
    page.mouse.down()
    page.mouse.move(box["x"] + 6 + (place + by) * (box["width"] - 12), y, steps=5)
    page.mouse.up()


def test_three_dragged_targets_give_the_budget_of_target(shared: Any, entered: Any, capsys: Any):
    path, studio = shared
    page = settled(entered(studio))
    drag(page, "#bar-0", 0.03)
    drag(page, "#bar-1", -0.04)
    page.focus("#bar-2")  # by keyboard
    for _ in range(3):
        page.keyboard.press("PageUp")
    page.wait_for_selector("#solved-more:not([hidden])")
    command = page.inner_text("#command")
    targets = re.findall(r"--target '([^']*)'", command)
    assert len(targets) == 3
    capsys.readouterr()
    assert (
        run(["plan", str(path), *(word for target in targets for word in ("--target", target)), "--json"])
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert page.inner_text("#solved") == f"ε = {found['epsilon']:g} meets every target."
    for bar, met in zip(page.locator(".error-bar .figure").all_inner_texts(), found["targets"], strict=True):
        assert number(bar) == pytest.approx(met["reached"], rel=6e-3)
    assert page.inner_text("#said") == page.inner_text("#solved")
    page.click("#forget")
    assert not page.is_visible("#targets-card")
    assert page.heard == []


@pytest.mark.long
def test_an_unreachable_target_says_which_and_why(entered: Any, tmp_path: Path):
    # Of 50 rows each, so that even ε = 10 draws noise.
    rows = 'privacy_unit = "pupil"\nmax_rows_per_unit = 50\n[domain.age]'
    with Studio(written(tmp_path, STUDY.replace("[domain.age]", rows))) as studio:
        page = settled(entered(studio))
        drag(page, "#bar-2", 0.01)
        page.fill("#target-0", "0.01")
        page.press("#target-0", "Enter")
        page.wait_for_selector(".problem-words:has-text('no epsilon up to 10 meets')")
        said = page.inner_text("#solved")
        assert "'school' ±0.01 @95%: the best reachable is ±" in said
        assert page.inner_text("#said") == said
        assert not page.is_visible("#use")


def test_a_study_is_changed_and_saved_by_keyboard(entered: Any, tmp_path: Path):
    path = written(tmp_path)
    with Studio(path) as studio:
        page = settled(entered(studio))
        page.evaluate(
            """() => { window.said = []; const at = document.getElementById('said');
            new MutationObserver(() => window.said.push(at.textContent)).observe(at, {childList: true}); }"""
        )
        assert page.is_disabled("#save")
        page.focus("#budget")
        for _ in range(3):
            page.keyboard.press("ArrowLeft")
        chosen = float(page.inner_text("#budget-shown").removeprefix("ε = "))
        assert chosen == 0.75
        page.focus("#adding summary")
        page.keyboard.press("Enter")
        page.select_option("#family", "predicates")
        page.fill("#text", "nobody = 1")
        page.press("#add-weight", "Enter")
        page.wait_for_selector("#problem:not([hidden])")
        assert "nobody" in page.inner_text("#problem")
        assert page.inner_text("#said") == page.inner_text("#problem")
        page.fill("#text", "age < 3")
        page.press("#add-weight", "Enter")
        page.wait_for_selector(".question:has-text('age < 3')")
        settled(page)
        assert page.locator(".error-bar").count() == 4
        page.fill("#weight-0", "5")
        page.press("#weight-0", "Enter")
        page.wait_for_selector("#toolbar[data-revision='3']", state="attached")
        assert path.read_text(encoding="utf-8") == STUDY
        page.click("#save")
        page.wait_for_selector("#save[disabled]")
        said = page.evaluate("window.said")
        assert [said.count(words) for words in ("Added; planning anew.", "Saved study.toml.")] == [1, 1], said
        saved = Study.load(path)
        assert (saved.privacy.epsilon, saved.workload.parts[0].weight) == (0.75, 5.0)  # type: ignore[attr-defined]
        assert "# agreed with the board" in path.read_text(encoding="utf-8")
        path.write_text(STUDY, encoding="utf-8")
        page.click(".question:last-child .remove")
        page.wait_for_selector("#toolbar[data-revision='4']", state="attached")
        page.click("#save")
        page.wait_for_selector("#problem:not([hidden])")
        assert "another program" in page.inner_text("#problem")
        assert path.read_text(encoding="utf-8") == STUDY
        page.click("#reload")
        page.wait_for_selector("#toolbar[data-revision='5']", state="attached")
        assert page.locator(".question").count() == 3


@pytest.mark.long
def test_planning_can_be_stopped(entered: Any, tmp_path: Path):
    text = STUDY.replace("bins = 16", "bins = 512").replace("high = 16", "high = 512")
    with Studio(written(tmp_path, text)) as studio:
        page = entered(studio)
        page.wait_for_selector("#cancel:not([hidden])")
        page.click("#cancel")
        page.wait_for_selector("#doing:has-text('Stopped')")
        assert not page.is_visible("#progress")


def test_without_javascript_the_plan_remains(shared: Any, entered: Any):
    settled(entered(shared[1]))
    page = entered(shared[1], java_script_enabled=False)
    for words in ("ε = 1", "± at 95 %", "age × sex", "73.2 %", "weight 2"):
        assert words in page.inner_text("main"), words
    for control in ("#budget", "#save", "#adding", ".remove >> nth=0"):
        assert not page.is_visible(control)


@pytest.mark.parametrize(
    "options", quick_first([{"width": 390, "color_scheme": "dark"}, {}, {"color_scheme": "dark"}], 1)
)
def test_axe_finds_nothing(shared: Any, entered: Any, options: dict[str, Any]):
    from axe_playwright_python.sync_playwright import Axe

    page = settled(entered(shared[1], bypass_csp=True, **options))
    page.click("#adding summary")
    for family in ("marginal", "sql"):
        page.select_option("#family", family)
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
    page.fill("#text", "SELECT nothing")
    page.click("#add-form button")
    page.wait_for_selector("#problem:not([hidden])")
    drag(page, "#bar-2", 0.02)
    page.wait_for_selector("#solved-more:not([hidden])")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.click("#forget")


def test_a_release_is_confirmed_and_paid_for_once(entered: Any, tmp_path: Path):
    from axe_playwright_python.sync_playwright import Axe

    import rowspace as rs

    (tmp_path / "data.csv").write_text("age,sex,school\n" + "3,F,north\n5,M,west\n" * 50, encoding="utf-8")
    ledger = rs.Ledger(tmp_path / "budget.db")
    ledger.create("pupils", rs.PureDP(3.0))
    words = (str(tmp_path / "data.csv"), "--ledger", str(tmp_path / "budget.db"))
    with Studio(written(tmp_path), *words) as studio:
        page = entered(studio, bypass_csp=True)
        page.wait_for_selector(".planned")
        page.focus("#price")
        page.keyboard.press("Enter")
        page.wait_for_selector("#confirm[open]")
        for said in ("ε = 1", "1 epsilon, to pupils", "3 of 3 epsilon", "2 epsilon"):
            assert said in page.inner_text("#confirm"), said
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        page.keyboard.press("Escape")
        assert ledger.budget().charges == 0
        page.click("#price")
        page.wait_for_selector("#confirm[open]")
        page.dblclick("#confirmed")
        page.wait_for_selector("#released:not([hidden])")
        page.reload()
        page.wait_for_selector("#released:not([hidden])")
        with page.context.expect_page() as opened:
            page.click("#released a")
        assert "Pupils" in opened.value.inner_text("h1")
        page.go_back()
        page.go_forward()
        page.wait_for_selector("#price")
        page.click("#price")
        page.wait_for_selector("#confirm[open]")
        assert "paid for before" in page.inner_text("#confirm")
    assert ledger.budget().charges == 1


_LOOK = """() => {
  const root = document.documentElement, box = e => e.getBoundingClientRect();
  const free = [...document.querySelectorAll('main *:not(svg *, option)')]
    .filter(e => box(e).width > 0 && box(e).height > 0 && !e.closest('.hidden, .scroll, pre, select'));
  const inside = e => e.closest('.card') || root;
  return {
    wide: root.scrollWidth > root.clientWidth,
    outside: free.filter(e => box(e).right > box(inside(e)).right + 1 || box(e).left < box(inside(e)).left - 1)
      .map(e => e.tagName + '#' + e.id + '.' + e.className + ': ' + e.textContent.slice(0, 40)),
  };
}"""


@pytest.mark.long
@pytest.mark.parametrize("name", HARD)
def test_nothing_is_cut(name: str, entered: Any, tmp_path: Path):
    head = f'[study]\nname = "{name}"\n[privacy]\n{BUDGETS[name]}\n'
    with Studio(written(tmp_path, head + HARD[name])) as studio:
        page = entered(studio)
        page.wait_for_selector(".planned")
        page.click("#cancel") if page.is_visible("#cancel") else None
        page.click("#adding summary")
        if page.locator(".error-bar input:not([disabled])").count():
            drag(page, "#bar-0", 0.02)
        for width in (320, 390, 640, 768, 1280, 1920):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(_LOOK) == {"wide": False, "outside": []}, width
        assert page.locator("main img").count() == 0
        assert page.heard == []


def test_it_opens_fast_and_small(shared: Any, entered: Any):
    page = settled(entered(shared[1]))
    spent = cpu_clock(page)
    before = spent()
    page.reload()
    page.wait_for_selector(".planned")
    assert spent() - before <= 1000
    assert page.evaluate("document.documentElement.outerHTML.length") < 500_000


def test_other_scripts_and_origins_are_refused(shared: Any, entered: Any):
    page = settled(entered(shared[1]))
    page.evaluate(
        "const s = document.createElement('script'); s.textContent = 'window.bad = 1'; document.body.append(s)"
    )
    assert page.evaluate("window.bad") is None
    page.evaluate("setTimeout('window.worse = 1', 0)")
    page.wait_for_timeout(200)
    assert page.evaluate("window.worse") is None
    stranger = page.context.browser.new_context().new_page()
    answer = stranger.goto(shared[1].link.split("/sign-in")[0])
    assert (answer.status, "Pupils" in stranger.content()) == (401, False)
