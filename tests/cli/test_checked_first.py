"""What can be refused is refused before planning, which may take minutes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.cli.running import rowspace, unchanged


@pytest.fixture(autouse=True)
def _no_planning(monkeypatch: pytest.MonkeyPatch) -> None:
    def plan(*_: object, **__: object) -> None:
        raise AssertionError("a plan was made before everything was checked")

    monkeypatch.setattr("rowspace.planning.plan", plan)
    monkeypatch.setattr("rowspace.planning.plan_for", plan)


def missing_column(folder: Path) -> None:
    (folder / "people.csv").write_text("age\n1\n")


def wrong_type(folder: Path) -> None:
    pd.DataFrame({"age": ["x"], "sex": ["F"]}).to_parquet(folder / "people.parquet")


def small_budget(folder: Path) -> None:
    assert rowspace("budget", "create", folder / "budget.db", "people", "--epsilon", "0.5").code == 0


def other_neighbours(folder: Path) -> None:
    create = (
        "budget",
        "create",
        folder / "budget.db",
        "people",
        "--epsilon",
        "5",
        "--neighbours",
        "replace-one",
    )
    assert rowspace(*create).code == 0


@pytest.mark.parametrize(
    ("prepare", "words", "said"),
    [
        (None, ["people.csv", "--no-ledger", "-o", "a.txt"], "ending in one of"),
        (None, ["people.csv", "--no-ledger", "-o", "no/a.csv"], "there is no folder"),
        (None, ["nothing.csv", "--no-ledger", "-o", "a.csv"], "got nothing there"),
        (None, ["people.xyz", "--no-ledger", "-o", "a.csv"], "does not tell its format"),
        (None, ["people.csv", "--table", "t", "--no-ledger", "-o", "a.csv"], "table="),
        (missing_column, ["people.csv", "--no-ledger", "-o", "a.csv"], "expected a column 'sex'"),
        (wrong_type, ["people.parquet", "--no-ledger", "-o", "a.csv"], "column 'age' must hold numbers"),
        (None, ["people.csv", "--ledger", "budget.db", "-o", "a.csv"], "there is no ledger budget.db"),
        (small_budget, ["people.csv", "--ledger", "budget.db", "-o", "a.csv"], "would cost ε 1; nothing was"),
        (
            small_budget,
            ["people.csv", "--ledger", "budget.db", "--dataset", "x", "-o", "a.csv"],
            "no budget for 'x'",
        ),
        (other_neighbours, ["people.csv", "--ledger", "budget.db", "-o", "a.csv"], "do not add up"),
    ],
)
def test_release(
    folder: Path, monkeypatch: pytest.MonkeyPatch, prepare: object, words: list[str], said: str
) -> None:
    monkeypatch.chdir(folder)
    if callable(prepare):
        prepare(folder)
    with unchanged(folder):
        ended = rowspace("release", "study.toml", *words)
    assert ended.code == 1
    assert said in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--save", "no/a.plan"], "there is no folder"),
        (["--save", "study.toml", "--force"], "it is also read"),
        (["--epsilons", "1,x"], "expected --epsilons"),
        (["--epsilons", "1,-1"], "expected epsilon to be a positive"),
        (["--target", "rangs: ±5"], "no group of queries is called 'rangs'"),
        (["--target", "ranges"], "expected a target"),
    ],
)
def test_plan(folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str) -> None:
    monkeypatch.chdir(folder)
    with unchanged(folder):
        ended = rowspace("plan", "study.toml", *words)
    assert ended.code == 1
    assert said in ended.err


def test_endings_of_pages_and_studies(released: Path, folder: Path) -> None:
    with unchanged(folder):
        assert ".html, .htm, got 'a.csv'" in rowspace("report", released, "-o", folder / "a.csv").err
        assert ".toml, got 'a.json'" in rowspace("init", folder / "people.csv", "-o", folder / "a.json").err
