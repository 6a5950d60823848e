"""`rowspace paper` writes the page, the figures and the table of tests, and refuses before it computes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rowspace_paper import Chapter, Reproduction, Verdict
from rowspace_paper.background import background
from rowspace_paper.extent import QUICK, Extent
from rowspace_paper.record import confirm
from tests.cli.running import rowspace, unchanged


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """One chapter stands for all: the whole is tested in test_reproduction.py."""

    def one(extent: Extent, finished) -> Reproduction:
        chapter = background(extent)
        finished(chapter)
        return Reproduction((chapter,), extent, 0.1)

    monkeypatch.setattr("rowspace_paper.command.reproduce", one)


@pytest.mark.usefixtures("short")
def test_it_writes_three_files(tmp_path: Path) -> None:
    ended = rowspace("paper", "-o", tmp_path / "out", "--quick")
    assert ended.code == 0, ended.err
    assert "5 claims" in ended.out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "paper.html",
        "paper.json",
        "paper.md",
    ]
    assert json.loads((tmp_path / "out" / "paper.json").read_text())["extent"] == "quick"


@pytest.mark.usefixtures("short")
def test_machines_get_the_figures(tmp_path: Path) -> None:
    document = json.loads(rowspace("paper", "-o", tmp_path, "--json").out)
    assert document == json.loads((tmp_path / "paper.json").read_text())


@pytest.mark.usefixtures("short")
def test_files_that_exist_are_kept(tmp_path: Path) -> None:
    (tmp_path / "paper.json").write_text("mine")
    with unchanged(tmp_path):
        ended = rowspace("paper", "-o", tmp_path)
    assert ended.code == 1
    assert "--force" in ended.err
    assert rowspace("paper", "-o", tmp_path, "--force").code == 0


def test_a_claim_that_is_not_confirmed_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = background(QUICK).claims[0].source
    doubtful = Chapter("key", "Short", "Title", "", (confirm(source, "1", "2", holds=False),))
    made = Reproduction((doubtful,), QUICK, 0.1)
    monkeypatch.setattr("rowspace_paper.command.reproduce", lambda extent, finished: made)
    assert made.count(Verdict.UNCONFIRMED) == 1
    assert rowspace("paper", "-o", tmp_path).code == 1


def test_where_it_is_not_installed_it_says_so(tmp_path: Path) -> None:
    """It is not listed, and whoever types it is told what to install."""
    code = "import sys; sys.modules['rowspace_paper'] = None; from rowspace.cli import main; main()"

    def typed(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    assert " paper " not in typed("--help").stdout
    refused = typed("paper", "-o", "out")
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: rowspace paper needs rowspace-paper, which is not installed; ")
    assert "pip install 'rowspace[paper]'" in refused.stderr
    assert list(tmp_path.iterdir()) == []
