"""The page in a real browser: light, dark, on a phone and on paper. Skipped where there is no Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rowspace.drawing import DARK, LIGHT
from rowspace.report.html import write_report
from tests.report.html.browsing import CHROMIUM, browse, looked_at
from tests.report.html.test_page import counted

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="needs Chromium on the path (Debian: apt install chromium)"
)
WIDTHS = [320, 390, 768, 1280, 1920]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import rowspace as rs

    path = tmp_path_factory.mktemp("page") / "page.html"
    write_report(counted(rs.PureDP(1.0)), path, title="In a browser")
    return path


@pytest.fixture(scope="module")
def wordy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of long names, large numbers, wide tables and more answers than it shows."""
    import rowspace as rs

    w = rs.workload
    long = [f"{'Verwaltungs' * at}angestellte of a category called number {at}" for at in range(1, 5)]
    domain = rs.Domain(
        {
            "an attribute whose name goes on and on": rs.Categorical(long),
            "branch": rs.Categorical([f"Branch{'x' * 30}{at}" for at in range(12)]),
            "place": rs.Categorical([f"Köln-Ehrenfeld {at}" for at in range(30)]),
            "n": rs.Numeric(0, 1e9, bins=40),
        }
    )
    first = domain.names[0]
    queries = w.marginals(domain, up_to=1) + w.ranges(domain, "n") + w.marginal(domain, first, "n")
    queries += w.marginal(domain, first, "branch") + w.marginal(domain, "branch", "place")
    queries += w.marginal(domain, "n", "place") + w.marginal(domain, first, "branch", "n")
    unit = rs.privacy.PrivacyUnit("a_person_identifier_of_the_register", rows=5)
    plan = rs.plan(queries, rs.ApproxDP(12.0, 1e-6, unit=unit), effort="fast")
    people = {
        first: [long[0]] * 9,
        "branch": ["Branch"] * 9,
        "place": ["Köln-Ehrenfeld 1"] * 9,
        "n": [5.0] * 9,
    }
    frame = pd.DataFrame(people | {unit.column: range(9)})
    path = tmp_path_factory.mktemp("wordy") / "page.html"
    write_report(rs.release(plan, frame), path, title="Donaudampfschifffahrtsgesellschaft" * 2)
    return path


def picture(page: Path, width: int, height: int, *flags: str) -> np.ndarray[Any, Any]:
    """The screen as rows × columns × (red, green, blue), 0 to 255."""
    from matplotlib.image import imread

    target = page.with_name("screen.png")
    browse(page, f"--window-size={width},{height}", f"--screenshot={target}", *flags)
    return np.round(255 * imread(target)[:, :, :3]).astype(int)


def colour(text: str) -> list[int]:
    return [int(text[at : at + 2], 16) for at in (1, 3, 5)]


def share(screen: np.ndarray[Any, Any], wanted: str) -> float:
    """How much of the screen has exactly this colour."""
    return float((screen == colour(wanted)).all(axis=2).mean())


@pytest.mark.parametrize(
    ("theme", "flags"),
    [(LIGHT, ()), (DARK, ("--blink-settings=preferredColorScheme=0",))],
    ids=["light", "dark"],
)
def test_charts_follow_the_theme(page: Path, theme: dict[str, str], flags: tuple[str, ...]) -> None:
    screen = picture(page, 1200, 2400, *flags)
    assert screen[2, 2].tolist() == colour(theme["page"])
    # Histogram columns and cards in the theme's own colours: SVG and HTML both follow it.
    assert share(screen, theme["bar"]) > 0.02
    assert share(screen, theme["surface"]) > 0.2


def test_nothing_runs_over_the_edge_of_a_phone(page: Path) -> None:
    """A frame of 390 points: what is beside it stays blank, and its own margins stay free of content."""
    outer = page.with_name("phone.html")
    frame = f'<iframe src="{page.name}" style="border:0;width:390px;height:3000px"></iframe>'
    outer.write_text(f'<body style="margin:0;background:#ff00ff">{frame}')
    screen = picture(outer, 600, 3000)
    assert (screen[:, 391:] == colour("#ff00ff")).all()
    margin = screen[600:2900, 378:390]
    blank = (margin == colour(LIGHT["page"])).all(axis=2) | (margin == colour(LIGHT["line"])).all(axis=2)
    assert blank.mean() > 0.99


def test_nothing_is_cut_overlaps_or_runs_over_at_any_width(page: Path, wordy: Path) -> None:
    for one in (page, wordy):
        for found in looked_at(one, WIDTHS):
            assert found["scroll"] <= found["width"], found["width"]
            assert (found["outside"], found["cut"], found["overlaps"]) == ([], [], []), found["width"]
            assert found["buried"] == 0, "the first cells of a table are behind its names"


def test_search_finds_what_is_there_and_says_what_is_not(page: Path, wordy: Path) -> None:
    ((said, rows),) = (found["searched"] for found in looked_at(page, [1280], wanted="RANGES of age"))
    assert (said, rows) == ("210 found", 210)
    ((said, rows),) = (found["searched"] for found in looked_at(wordy, [1280], wanted="Branchxxx"))
    assert said.startswith(f"{rows} found on this page. ")
    assert "answers are not on this page: an exported table has all of them" in said


def test_its_own_script_is_allowed_to_run(page: Path) -> None:
    """The search box is hidden until the script, known to the page's policy by its digest, shows it."""
    assert b'<div class="find" hidden' in page.read_bytes()
    assert b'<div class="find">' in browse(page, "--dump-dom")


def test_it_prints(page: Path) -> None:
    target = page.with_name("page.pdf")
    browse(page, f"--print-to-pdf={target}")
    assert target.read_bytes().startswith(b"%PDF")
    assert target.stat().st_size > 20_000
