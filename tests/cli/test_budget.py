"""Budgets from the command line: created, charged, refused, listed, recovered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rowspace.exceptions import FileError
from rowspace.ledger import Ledger, content_digest
from tests.cli.running import Ended, rowspace, unchanged


@pytest.fixture
def ledger(folder: Path) -> Path:
    path = folder / "budget.db"
    assert rowspace("budget", "create", path, "people", "--epsilon", "1.5", "-q").code == 0
    return path


def released(folder: Path, name: str, *options: object) -> Ended:
    return rowspace("release", folder / "study.toml", folder / "people.csv", "-o", folder / name, *options)


def test_a_release_is_charged_once_and_refused_when_it_does_not_fit(folder: Path, ledger: Path) -> None:
    ended = released(folder, "a.release", "--ledger", ledger)
    assert ended.code == 0, ended.err
    assert "charged ε 1 to people; 0.5 of 1.5 epsilon left" in ended.out
    with unchanged(folder):
        refused = released(folder, "b.release", "--ledger", ledger)
    assert refused.code == 1
    assert "0.5 of 1.5 epsilon left" in refused.err
    assert "nothing was released" in refused.err
    (charge,) = json.loads(rowspace("budget", "history", ledger, "people", "--json").out)["charges"]
    assert charge["release_sha256"] == content_digest((folder / "a.release").read_bytes())
    assert charge["cost"] == {"epsilon": "1"}


def test_no_release_without_a_word_about_the_budget(folder: Path, ledger: Path) -> None:
    with unchanged(folder):
        for options in ([], ["--no-ledger", "--ledger", ledger], ["--no-ledger", "--dataset", "people"]):
            ended = released(folder, "a.csv", *options)
            assert ended.code == 2
            assert "--no-ledger" in ended.err
            assert ended.out == ""


def test_resume_after_a_failed_write(folder: Path, ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise FileError("cannot write a.csv: No space left on device; nothing was written")

    monkeypatch.setattr("rowspace.cli.release_files.export", full)
    ended = released(folder, "a.csv", "--ledger", ledger)
    assert ended.code == 1
    assert f"rowspace budget resume {ledger} 1 -o FILE" in ended.err
    before = ledger.read_bytes()
    target = folder / "a.release"
    document = json.loads(rowspace("budget", "resume", ledger, 1, "-o", target, "--json").out)
    assert (document["charge"], document["files"]) == (1, [str(target)])
    assert target.read_bytes() == Ledger(ledger).resume(1)
    assert rowspace("ask", target, "age < 5").code == 0
    assert ledger.read_bytes() == before, "resuming costs nothing"
    assert rowspace("budget", "resume", ledger, 1, "-o", target).code == 1, "what exists is not overwritten"


def test_show(folder: Path, ledger: Path) -> None:
    assert rowspace("budget", "create", ledger, "census", "--epsilon", "1", "--delta", "1e-6").code == 0
    assert (
        rowspace("budget", "create", ledger, "survey", "--rho", "0.5", "--neighbours", "replace-one").code
        == 0
    )
    shown = rowspace("budget", "show", ledger)
    for words in ("people", "1.5-differential", "census", "survey", "left"):
        assert words in shown.out
    document = json.loads(rowspace("budget", "show", ledger, "--json").out)
    # A budget of (ε, δ) is counted in the ρ of its filter, rounded down: the largest that keeps the promise.
    assert [(b["dataset"], b["unit"], b["remaining"]) for b in document["budgets"]] == [
        ("census", "rho", "0.0280144"),
        ("people", "epsilon", "1.5"),
        ("survey", "rho", "0.5"),
    ]
    ended = released(folder, "a.csv", "--ledger", ledger)
    assert ended.code == 1
    assert "dataset" in ended.err
    assert released(folder, "a.csv", "--ledger", ledger, "--dataset", "people").code == 0
    assert "ε 1" in rowspace("budget", "history", ledger, "people").out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["create", "budget.db", "people", "--epsilon", "1"], 1, "already"),
        (["create", "new.db", "people"], 2, "--rho"),
        (["create", "new.db", "people", "--rho", "1", "--epsilon", "1"], 2, "--rho"),
        (["create", "new.db", "people", "--delta", "1e-6"], 2, "--rho"),
        (["create", "new.db", "people", "--epsilon", "-1"], 1, "epsilon"),
        (["create", "new.db", "people", "--epsilon", "1", "--neighbours", "cousins"], 2, "neighbours"),
        (["create", "no/such/folder.db", "people", "--epsilon", "1"], 1, "cannot be opened"),
        (["create", "people.csv", "people", "--epsilon", "1"], 1, "no ledger"),
        (["show", "nothing.db"], 1, "create a budget first"),
        (["history", "budget.db", "nobody"], 1, "'nobody'"),
        (["resume", "budget.db", "9", "-o", "a.release"], 1, "no charge 9"),
        (["resume", "budget.db", "9", "-o", "a.csv"], 1, "no charge 9"),
        (["resume", "budget.db", "9", "-o", "a.txt"], 1, ".release"),
        (["resume", "budget.db", "9"], 1, "at least one output"),
    ],
)
def test_misuse(
    folder: Path, ledger: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, words: str
) -> None:
    monkeypatch.chdir(folder)
    with unchanged(folder):
        ended = rowspace("budget", *arguments)
    assert ended.code == code
    assert words in ended.err
    assert "Traceback" not in ended.err
    assert ended.out == ""


def test_a_budget_of_persons(folder: Path) -> None:
    """Created with a privacy unit, shown with it, and no budget for promises to single records."""
    path = folder / "persons.db"
    made = rowspace(
        "budget", "create", path, "people", "--rho", "1", "--privacy-unit", "who", "--max-rows-per-unit", "3"
    )
    assert made.code == 0, made.err
    assert "'who', of which at most 3 rows are counted" in " ".join(made.out.split())
    with unchanged(folder):
        refused = released(folder, "a.release", "--ledger", path)
    assert refused.code == 1
    assert "do not add up" in " ".join(refused.err.split())
    half = rowspace("budget", "create", path, "others", "--rho", "1", "--privacy-unit", "who")
    assert half.code == 2
    assert "--max-rows-per-unit" in half.err
