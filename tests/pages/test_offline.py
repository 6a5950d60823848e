"""The page is alone: it asks for nothing, runs nothing but its own script, and whatever a label holds stays text."""

from __future__ import annotations

from pathlib import Path

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
