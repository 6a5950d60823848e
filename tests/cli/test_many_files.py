"""A folder or a pattern, through every command that takes data."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.cli.running import rowspace

STUDY = """[study]
name = "Visits"
[privacy]
epsilon = 1.0
[domain.year]
type = "categorical"
categories = [2023, 2024]
[domain.ward]
type = "categorical"
categories = ["A", "B"]
[[workload]]
marginal = ["year", "ward"]
"""


def run(*arguments: str) -> str:
    ended = rowspace(*arguments)
    assert ended.code == 0, ended.err
    return ended.out


def fail(*arguments: str) -> str:
    ended = rowspace(*arguments)
    assert ended.code == 1, ended.out
    return ended.err


@pytest.fixture(autouse=True)
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for year in (2023, 2024):
        folder = Path(f"visits/year={year}")
        folder.mkdir(parents=True)
        pd.DataFrame({"ward": ["A", "B", "B"]}).to_csv(folder / "part.csv.gz", index=False)
    Path("study.toml").write_text(STUDY)


def test_init_check_release_and_ask_take_a_folder() -> None:
    run("init", "visits/*/*.csv.gz", "-o", "draft.toml", "--quiet")
    assert 'name = "visits"' in Path("draft.toml").read_text()
    assert "6 rows" in run("check", "study.toml", "visits")
    run("budget", "create", "budget.db", "visits", "--epsilon", "2")
    run("release", "study.toml", "visits", "--ledger", "budget.db", "-o", "visits.release", "--quiet")
    run("ask", "study.toml", "visits", "year = 2024", "--ledger", "budget.db")
    run("budget", "create", "budget.db", "others", "--epsilon", "2")
    said = fail(
        "release",
        "study.toml",
        "visits/*/*",
        "--ledger",
        "budget.db",
        "--dataset",
        "others",
        "-o",
        "a.release",
    )
    assert "was charged to the budget of 'visits' before" in said


@pytest.mark.parametrize(("data", "output"), [("visits", "visits/a.csv"), ("*/a.csv", "visits/a.csv")])
def test_no_output_becomes_data(data: str, output: str) -> None:
    said = fail("release", "study.toml", data, "--no-ledger", "-o", output)
    assert "it would be part of the data the next time" in said
    assert not Path(output).exists()
