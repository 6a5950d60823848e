from __future__ import annotations

import json
from pathlib import Path

import pytest

import rowspace as rs
from tests.cli.running import rowspace, unchanged
from tests.study.examples import changed


def test_plans_without_any_data(folder: Path) -> None:
    (folder / "people.csv").unlink()
    with unchanged(folder):
        ended = rowspace("plan", folder / "study.toml")
    assert ended.code == 0
    assert ended.err == ""
    for words in (
        "Residents",
        "212 about age, sex (63 cells)",
        "1-differential privacy (add or remove one record)",
        "at most a factor of 2.72",
        "best possible",
        "ranges of age",
        "RMSE",
        "●",
        "identity",
    ):
        assert words in " ".join(ended.out.split())


def test_json_is_the_whole_of_standard_output(folder: Path) -> None:
    ended = rowspace("plan", folder / "study.toml", "--json", "--effort", "fast")
    figures = json.loads(ended.out)
    assert figures["study"] == "Residents"
    assert figures["queries"] == 212
    assert figures["rmse"] > 0
    assert figures["candidates"][0]["total_error"] <= figures["candidates"][-1]["total_error"]
    assert [group["group"] for group in figures["groups"]] == ["ranges of age", "sex"]


def test_another_epsilon(folder: Path) -> None:
    first, second = (
        json.loads(rowspace("plan", folder / "study.toml", "--json", "--epsilon", epsilon).out)["rmse"]
        for epsilon in ("1", "2")
    )
    assert second < 0.51 * first


def test_epsilon_does_not_replace_rho(folder: Path) -> None:
    (folder / "study.toml").write_text(changed("epsilon = 1.0", "rho = 0.5"))
    ended = rowspace("plan", folder / "study.toml", "--epsilon", "1")
    assert ended.code == 1
    assert "rho" in ended.err


def test_a_saved_plan_loads_and_is_not_overwritten(folder: Path) -> None:
    path = folder / "study.plan"
    assert rowspace("plan", folder / "study.toml", "--save", path, "--quiet").out == ""
    assert rs.Plan.load(path).workload.size == 212
    with unchanged(folder):
        ended = rowspace("plan", folder / "study.toml", "--save", path)
    assert ended.code == 1
    assert "--force" in ended.err
    assert rowspace("plan", folder / "study.toml", "--save", path, "--force").code == 0


@pytest.mark.parametrize("width", [30, 50, 80, 200])
def test_any_width(folder: Path, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    ended = rowspace("plan", folder / "study.toml")
    assert ended.code == 0
    assert max(map(len, ended.out.splitlines())) <= width


def test_no_colour_off_a_terminal(folder: Path) -> None:
    assert "\x1b" not in rowspace("plan", folder / "study.toml").out


def test_the_worst_answer_as_the_objective(folder: Path) -> None:
    """It is made small, said, certified and kept with the plan."""
    saved = folder / "worst.plan"
    ended = rowspace("plan", folder / "study.toml", "--objective", "max", "--save", saved)
    words = " ".join(ended.out.split())
    assert "standard error of the worst answer, which this plan makes small" in words
    assert "of the best possible squared error of its worst answer" in words
    assert rs.Plan.load(saved).objective == "max"
    total, worst = (
        json.loads(rowspace("plan", folder / "study.toml", "--json", "--objective", o).out)
        for o in ("total", "max")
    )
    assert (total["objective"], worst["objective"]) == ("total", "max")
    assert rowspace("plan", folder / "study.toml", "--objective", "max", "--target", "rmse: 5").code == 2
