"""A real Chromium, for `make test-pages`; other runs pass these tests by, since they need more than Python.

What is marked `long` is left out by `make test-pages-quick`: of tests that are alike one is in every run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import rowspace as rs
from rowspace.report.html import write_report
from tests.report.html.browsing import CHROMIUM

if not os.environ.get("ROWSPACE_PAGES"):
    collect_ignore_glob = ["test_*.py"]


PATIENCE = 300_000
"""Milliseconds that anything may take: tests wait for what is to happen, and machines have other work."""


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    assert CHROMIUM is not None, "needs Chromium on the path (Debian: apt install chromium)"
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE)
        yield browser
        browser.close()


Opened = Callable[..., Any]


def _each(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)


def quick_first(cases: Iterable[Any], number: int) -> list[Any]:
    """Parameters of a test: the first few in every run, the others in long ones."""
    return [
        case if at < number else pytest.param(*_each(case), marks=pytest.mark.long)
        for at, case in enumerate(cases)
    ]


@pytest.fixture
def tab(chromium: Any) -> Iterator[Opened]:
    """An empty page in a window of its own; errors and warnings of its console are kept in `page.heard`."""
    contexts = []

    def open_tab(width: int = 1280, **options: Any) -> Any:
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, reduced_motion="reduce", **options
        )
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.heard = []
        page.on(
            "console",
            lambda said: page.heard.append(said.text) if said.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda error: page.heard.append(str(error)))
        return page

    yield open_tab
    for context in contexts:
        context.close()


@pytest.fixture
def opened(tab: Opened) -> Opened:
    """Open a page from its file, without a network; requests for anything else are kept in `page.heard` too."""

    def open_page(path: Path, fragment: str = "", **options: Any) -> Any:
        page = tab(offline=True, **options)
        page.on("request", lambda one: page.heard.append(one.url) if one.url != path.as_uri() else None)
        page.goto(path.as_uri() + fragment)
        return page

    return open_page


def cpu_clock(page: Any) -> Callable[[], float]:
    """Milliseconds of CPU that the page's own thread has used so far: times on a clock are not a page's own."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(float(1000 * one["value"]) for one in metrics if one["name"] == "TaskDuration")

    return spent


def answered(page: Any) -> Any:
    """The page, once its first question is answered or refused."""
    page.wait_for_selector("#ask-result:not([hidden]), #ask-problem:not([hidden])")
    return page


def explored(release: Any, folder: Path, name: str = "page", **options: Any) -> Path:
    """The file of a release's page with questions."""
    path = folder / f"{name}.html"
    write_report(release, path, explore=True, **options)
    return path


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[rs.Release, Path]:
    """The bundled sample, released and explored."""
    from rowspace.cli.program import run

    folder = tmp_path_factory.mktemp("sample")
    assert run(["demo", "-o", str(folder / "demo"), "--quiet"]) == 0
    release = rs.Release.load(folder / "demo" / "people.release")
    return release, explored(release, folder, title="The sample")
