"""`rowspace report` writes one page, says so, and refuses what it cannot read before it writes anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import rowspace, unchanged


def test_a_page_is_written(released: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    ended = rowspace("report", released, "-o", page, "--title", "A <b>title</b>")
    assert ended.code == 0, ended.err
    assert "page.html" in "".join(ended.out.split())
    assert "<h1>A &lt;b&gt;title&lt;/b&gt;</h1>" in page.read_text()


def test_the_title_is_the_studys_name_and_machines_get_json(released: Path, tmp_path: Path) -> None:
    document = json.loads(rowspace("report", released, "-o", tmp_path / "page.html", "--json").out)
    assert document["title"] == "Residents"
    assert document["bytes"] == (tmp_path / "page.html").stat().st_size


def test_readers_may_ask_the_page(released: Path, tmp_path: Path) -> None:
    plain, page = tmp_path / "plain.html", tmp_path / "page.html"
    assert rowspace("report", released, "-o", plain).code == 0
    assert rowspace("report", released, "-o", page, "--explore").code == 0
    assert 'id="ask"' in page.read_text()
    assert 'id="ask"' not in plain.read_text()


def test_the_budget_is_on_the_page(folder: Path) -> None:
    ledger, release, page = folder / "budget.db", folder / "people.release", folder / "page.html"
    assert rowspace("budget", "create", ledger, "people", "--epsilon", "2").code == 0
    made = rowspace(
        "release", folder / "study.toml", folder / "people.csv", "-o", release, "--ledger", ledger
    )
    assert made.code == 0, made.err
    ended = rowspace("report", release, "-o", page, "--ledger", ledger, "--dataset", "people")
    assert ended.code == 0, ended.err
    text = page.read_text()
    assert "This release is charge 1" in text
    assert "Spent over time" in text


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["no.release", "-o", "page.html"], "does not exist"),
        (["{released}", "-o", "missing/page.html"], "no folder"),
        (["{released}", "-o", "{released}"], "ending in one of .html"),
        (["{released}", "-o", "page.html", "--ledger", "no.db"], "no.db"),
    ],
)
def test_bad_input_writes_nothing(
    arguments: list[str], reason: str, released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with unchanged(tmp_path):
        ended = rowspace("report", *(each.format(released=released) for each in arguments))
    assert ended.code == 1
    assert reason in ended.err
    assert "Traceback" not in ended.err


def test_a_dataset_without_a_ledger_is_misuse(released: Path, tmp_path: Path) -> None:
    assert rowspace("report", released, "-o", tmp_path / "page.html", "--dataset", "people").code == 2


def test_the_browser_is_opened_only_if_asked(
    released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    rowspace("report", released, "-o", tmp_path / "page.html")
    assert opened == []
    rowspace("report", released, "-o", tmp_path / "page.html", "--force", "--open")
    assert opened == [(tmp_path / "page.html").as_uri()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the shell asks while a person types: the names of the commands."""
    monkeypatch.setenv("_ROWSPACE_COMPLETE", f"complete_{shell}")
    words = "rowspace re"
    for name, value in (("COMP_WORDS", words), ("COMP_CWORD", "1"), ("_TYPER_COMPLETE_ARGS", words)):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    said = rowspace().out
    assert "release" in said
    assert "report" in said
    assert "budget" not in said
