"""The page in a real browser: light, dark, on a phone and on paper. Skipped where there is no Chromium."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rowspace.report.html import write_report
from rowspace.report.html.palette import DARK, LIGHT
from tests.report.html.test_page import counted

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))),
    None,
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium on the path")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--hide-scrollbars", "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import rowspace as rs

    path = tmp_path_factory.mktemp("page") / "page.html"
    write_report(counted(rs.PureDP(1.0)), path, title="In a browser")
    return path


def browse(page: Path, *flags: str) -> bytes:
    assert CHROMIUM is not None
    profile = page.with_name("profile")
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", *flags, page.as_uri()]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120)
    shutil.rmtree(profile, ignore_errors=True)
    return done.stdout


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


def test_its_own_script_is_allowed_to_run(page: Path) -> None:
    """The search box is hidden until the script, known to the page's policy by its digest, shows it."""
    assert b'<div class="find" hidden' in page.read_bytes()
    assert b'<div class="find">' in browse(page, "--dump-dom")


def test_it_prints(page: Path) -> None:
    target = page.with_name("page.pdf")
    browse(page, f"--print-to-pdf={target}")
    assert target.read_bytes().startswith(b"%PDF")
    assert target.stat().st_size > 20_000
