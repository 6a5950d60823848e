from __future__ import annotations

import json
from pathlib import Path

import pytest

from rowspace.domain import Categorical, Numeric
from rowspace.study import Study
from tests.cli.running import rowspace, unchanged


def test_the_draft_is_a_study_and_says_so_loudly(folder: Path) -> None:
    ended = rowspace("init", folder / "people.csv", "-o", folder / "draft.toml")
    assert ended.code == 0
    assert "for the curator only" in ended.err
    assert "public knowledge" in " ".join(ended.err.split())
    study = Study.load(folder / "draft.toml")
    assert study.name == "people"
    assert study.domain["age"] == Numeric(0, 20, bins=20)
    assert study.domain["sex"] == Categorical(["F", "M"])
    assert rowspace("plan", folder / "draft.toml").code == 0


def test_the_warning_is_given_even_when_quiet(folder: Path) -> None:
    ended = rowspace("init", folder / "people.csv", "-o", folder / "draft.toml", "--quiet")
    assert ended.out == ""
    assert "for the curator only" in ended.err


def test_json(folder: Path) -> None:
    ended = rowspace("init", folder / "people.csv", "-o", folder / "draft.toml", "--json")
    assert json.loads(ended.out)["attributes"] == ["age", "sex"]


def test_study_toml_is_the_default_and_is_not_overwritten(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with unchanged(folder):
        ended = rowspace("init", "people.csv")
    assert ended.code == 1
    assert "study.toml exists" in ended.err
    assert rowspace("init", "people.csv", "--force").code == 0
    assert Study.load("study.toml").name == "people"


def test_the_data_is_never_overwritten(folder: Path) -> None:
    with unchanged(folder):
        assert rowspace("init", folder / "people.csv", "-o", folder / "people.csv", "--force").code == 1
