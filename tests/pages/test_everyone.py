"""For everyone: axe finds nothing, a keyboard is enough, changes are announced once, nothing is cut at any width."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rowspace as rs

from .conftest import Opened, answered, explored, quick_first

WIDTHS = [320, 390, 768, 1280, 1920]
STATES = [("age", "", ""), ("sex", "region", ""), ("", "", "age >= 65"), ("", "", "age >= oops")]


def asked(page: Any, by: str, second: str, where: str) -> None:
    page.select_option("#ask-by", by)
    page.select_option("#ask-and", second)
    page.fill("#ask-where", where)


@pytest.mark.parametrize(
    ("scheme", "width"), quick_first([("dark", 320), ("light", 1280), ("dark", 1280), ("light", 390)], 1)
)
def test_axe_finds_nothing(sample: tuple[rs.Release, Path], opened: Opened, scheme: str, width: int):
    from axe_playwright_python.sync_playwright import Axe

    page = answered(opened(sample[1], width=width, color_scheme=scheme, bypass_csp=True))
    page.click("#ask-form summary")
    for state in STATES:
        asked(page, *state)
        for details in page.locator("#ask-list details").all():
            details.evaluate("group => { group.open = true; }")
        found = Axe().run(page)
        assert found.violations_count == 0, (state, found.generate_report())


def test_a_keyboard_is_enough(sample: tuple[rs.Release, Path], opened: Opened):
    page = answered(opened(sample[1]))
    page.focus(".skip")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "ask-by"
    page.keyboard.press("s")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "ask-and"
    page.keyboard.press("Tab")
    page.keyboard.type("age < 18")
    assert "2 answers by sex where age < 18" in page.inner_text("#ask-words")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    assert {"pick-name", "pick-add", "ask-address", "ask-copy", "ask-csv"} <= set(reached)


def test_changes_are_announced_once(sample: tuple[rs.Release, Path], opened: Opened):
    page = answered(opened(sample[1]))
    page.clock.install()  # a busy machine would make pauses of single keys
    page.evaluate(
        """() => {
          window.said = [];
          const note = () => window.said.push(document.getElementById('ask-said').textContent);
          const all = {childList: true, characterData: true, subtree: true};
          new MutationObserver(note).observe(document.getElementById('ask-said'), all);
        }"""
    )
    page.select_option("#ask-by", "")
    page.locator("#ask-where").press_sequentially("age >= 65")
    page.clock.run_for(10_000)
    said = page.evaluate("window.said")
    assert len(said) == 1
    assert "where age >= 65" in said[0]


def test_without_javascript_the_report_remains(sample: tuple[rs.Release, Path], opened: Opened):
    page = opened(sample[1], java_script_enabled=False)
    assert page.is_visible("#ask .off")
    assert not page.is_visible("#ask-form")
    assert page.is_visible("#answers figure >> nth=0")
    assert page.locator("#table details").count() > 0


def hard(name: str) -> rs.Release:
    """Studies that are hard to lay out."""
    w = rs.workload
    if name == "200 attributes":
        domain = rs.Domain({f"attribute number {at}": rs.Categorical(["yes", "no"]) for at in range(200)})
        queries, privacy = w.marginals(domain, up_to=1), rs.ZCDP(0.1)
        data = pd.DataFrame({key: ["yes", "no"] for key in domain.names})
    elif name == "100 x 100":
        domain = rs.Domain(a=rs.Numeric(0, 100, bins=100), b=rs.Numeric(0, 1e6, bins=100))
        queries, privacy = w.marginal(domain, "a", "b"), rs.PureDP(20.0)
        data = pd.DataFrame({"a": np.arange(500) % 100, "b": np.arange(500) * 1000.0})
    else:
        long = [
            "W" * 80,
            "Verwaltungsfachangestellte " * 3 + "x",
            "国民健康保険被保険者資格取得届出" * 5,
            "한국어 " * 20,
        ]
        domain = rs.Domain(
            {
                "職業と地域の分類" * 10: rs.Categorical([v.strip() for v in long]),
                "b": rs.Categorical(["x", "y"]),
            }
        )
        queries, privacy = w.marginal(domain, *domain.names), rs.PureDP(0.001)
        data = pd.DataFrame({key: [attribute.values[0]] * 50 for key, attribute in domain.attributes})
    return rs.release(rs.plan(queries, privacy, effort="fast"), data)


_LOOK = """() => {
  const root = document.documentElement, box = e => e.getBoundingClientRect();
  const all = [...document.querySelectorAll('#ask *:not(svg *, option)')]
    .filter(e => box(e).width > 0 && box(e).height > 0);
  const free = all.filter(e => !e.closest('.hidden, .scroll, svg, select'));
  const inside = e => e.closest('.card') || root;
  return {
    wide: root.scrollWidth > root.clientWidth,
    outside: free.filter(e => box(e).right > box(inside(e)).right + 1 || box(e).left < box(inside(e)).left - 1)
      .map(e => e.tagName + '#' + e.id + '.' + e.className + ': ' + e.textContent.slice(0, 40)),
  };
}"""


@pytest.mark.parametrize("name", quick_first(["long labels", "200 attributes", "100 x 100", "sample"], 1))
def test_nothing_is_cut(name: str, sample: tuple[rs.Release, Path], opened: Opened, tmp_path: Path):
    path = sample[1] if name == "sample" else explored(hard(name), tmp_path)
    for width in WIDTHS:
        page = answered(opened(path, width=width))
        page.click("#ask-form summary")
        names = [option.get_attribute("value") for option in page.locator("#ask-by option").all()[:3]]
        for by, second in ((names[1], ""), (names[1], names[2]), ("", "")):
            page.select_option("#ask-by", by)
            page.select_option("#ask-and", second)
            found = page.evaluate(_LOOK)
            assert found == {"wide": False, "outside": []}, (width, by, second)
        page.fill("#ask-where", "a mistake that goes on " * 12)
        assert page.evaluate(_LOOK) == {"wide": False, "outside": []}, width


@pytest.mark.long
def test_twice_as_large_nothing_is_cut(sample: tuple[rs.Release, Path], opened: Opened):
    # 200 % zoom of a window of 1280 is one of 640 with twice the pixels.
    page = answered(opened(sample[1], width=640, device_scale_factor=2))
    for state in STATES:
        asked(page, *state)
        assert page.evaluate(_LOOK) == {"wide": False, "outside": []}
