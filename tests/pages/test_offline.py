"""The page is alone: it asks for nothing, runs nothing but its own script, and whatever a label holds stays text."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pandas as pd
import pytest

import rowspace as rs

from .conftest import Opened, answered, explored

HOSTILE = [
    "</script><img src=x onerror=window.hit=1>",
    '"><svg onload=window.hit=1>',
    "`${window.hit=1}`",
    "'); window.hit=1; ('",
    "<b>bold</b>&amp;",
]


def test_nothing_is_asked_for_and_nothing_goes_wrong(sample: tuple[rs.Release, Path], opened: Opened):
    page = answered(opened(sample[1]))
    for by, where in (("sex", ""), ("zone", ""), ("age", "sex = 'F'"), ("", "age < 18 or sex = 'M'")):
        page.select_option("#ask-by", by)
        page.fill("#ask-where", where)
        assert page.is_visible("#ask-result")
    assert page.heard == []


def test_other_scripts_and_eval_are_refused(sample: tuple[rs.Release, Path], opened: Opened):
    page = answered(opened(sample[1]))
    # A script of the page's own world, as an injection would be: added to the document, and an attribute that listens.
    page.evaluate(
        """() => {
          const script = document.createElement('script');
          script.textContent = 'window.hit = 1';
          document.body.append(script);
          const image = document.createElement('img');
          image.setAttribute('onerror', 'window.hit = 1');
          image.setAttribute('src', 'https://example.org/x.png');
          document.body.append(image);
        }"""
    )
    # In a task of the page's own: what a debugger runs itself is not bound by the policy.
    tried = page.evaluate(
        """() => new Promise(done => setTimeout(() => done(
          [() => window.eval('1 + 1'), () => new Function('return 2')()]
            .map(run => { try { return run(); } catch (error) { return error.name; } })), 0))"""
    )
    page.wait_for_timeout(200)
    assert page.evaluate("window.hit") is None
    assert tried == ["EvalError", "EvalError"]
    assert page.evaluate("fetch('https://example.org').then(() => 'sent', () => 'refused')") == "refused"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    name = "<i>job</i> \"title\" `x` onload='hit'"
    domain = rs.Domain({name: rs.Categorical(HOSTILE), "age": rs.Numeric(0, 40, bins=4)})
    data = pd.DataFrame({name: HOSTILE * 8, "age": range(40)})
    queries = rs.workload.marginal(domain, name, "age")
    release = rs.release(rs.plan(queries, rs.PureDP(1.0), effort="fast"), data)
    return explored(
        release, tmp_path_factory.mktemp("hostile"), title="</title><script>window.hit=1</script>"
    )


def test_hostile_labels_stay_text(hostile: Path, opened: Opened):
    page = answered(opened(hostile))
    name = page.locator("#ask-by option").nth(1).get_attribute("value")
    page.select_option("#ask-by", name)
    labels = page.locator("#ask-chart .row-label").all_inner_texts()
    assert labels == HOSTILE
    page.select_option("#ask-and", "age")
    assert page.locator("#ask-chart tbody th").all_inner_texts() == HOSTILE
    page.click("#ask-form summary")
    page.select_option("#pick-name", name)
    for label in HOSTILE:
        page.fill("#ask-where", "")
        page.select_option("#pick-values", label=label)
        page.click("#pick-add")
        assert page.is_visible("#ask-result"), page.inner_text("#ask-problem")
    page.fill("#ask-where", "<img src=x onerror=window.hit=1>")
    assert page.is_visible("#ask-problem")
    again = answered(opened(hostile, "#ask?by=%3Cimg%20src%3Dx%20onerror%3Dwindow.hit%3D1%3E"))
    for shown in (page, again):
        assert shown.evaluate("window.hit") is None
        assert shown.locator("#ask img, #ask b:not(.room), #ask i b").count() == 0
        assert shown.heard == []


FRAGMENTS = [
    "where=" + quote("</script><img src=x onerror=window.hit=1>"),
    "of=" + quote("mean of <img src=x onerror=window.hit=1>"),
    "by=__proto__&by=constructor",
    "by=age&by=age&by=age&by=age",
    "where=" + quote("__proto__ = 1"),
    "where=" + quote("constructor(age) = 1"),
    "where=" + quote("SELECT constructor(age) FROM t"),
    "where=" + quote("SELECT COUNT(*) FROM t WHERE hasOwnProperty = 'x' GROUP BY __proto__"),
    "where=" + quote("not " * 5000 + "age < 3"),
    "where=" + quote("(" * 5000 + "age < 3" + ")" * 5000),
    "where=" + quote("SELECT COUNT(*) FROM t WHERE " + "(" * 5000 + "age < 3" + ")" * 5000),
    "where=" + quote("age < 3 or " * 5000 + "age < 3"),
    "where=%E0%A4%A&by=%",
    "where=" + quote("age < 1e999"),
    "where=" + quote("age < '\u202e\0\ud7ff'"),
    "javascript:window.hit=1",
]


def test_hostile_links_ask_or_are_explained(hostile: Path, opened: Opened):
    page = answered(opened(hostile))
    for fragment in FRAGMENTS:
        page.evaluate(
            """fragment => new Promise(done => {
              addEventListener('hashchange', () => setTimeout(done, 0), {once: true});
              location.hash = fragment;
            })""",
            f"#ask?{fragment}",
        )
        assert page.locator("#ask-result:visible, #ask-problem:visible").count() == 1, fragment[:60]
        assert page.evaluate("window.hit") is None
        assert page.locator("#ask img").count() == 0
        assert page.heard == [], fragment[:60]
