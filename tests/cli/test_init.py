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
    assert study.domain["age"] == Numeric(0, 20, bins=20, integer=True)
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


def test_a_draft_is_not_released_until_it_is_said_to_be_public(folder: Path) -> None:
    """The draft may be planned, with a remark; a release would publish what was read off the data, and is refused."""
    draft, ledger = folder / "draft.toml", folder / "budget.db"
    assert rowspace("init", folder / "people.csv", "-o", draft, "-q").code == 0
    assert rowspace("budget", "create", ledger, "people", "--epsilon", "9", "-q").code == 0
    planned = rowspace("plan", draft, "--save", folder / "draft.plan")
    assert planned.code == 0
    assert "cannot be released as it is" in " ".join(planned.err.split())
    for more in (["--ledger", ledger], ["--no-ledger"], ["--no-ledger", "--plan", folder / "draft.plan"]):
        release = ("release", draft, folder / "people.csv", "-o", folder / "a.csv", *more)
        with unchanged(folder):
            refused = rowspace(*release)
        assert refused.code == 1
        assert 'delete the line "draft = true"' in refused.err
    text = draft.read_text()
    assert text.count("\ndraft = true ") == 1
    draft.write_text("".join(line for line in text.splitlines(True) if not line.startswith("draft = true")))
    assert rowspace(*release).code == 0
    assert rowspace("plan", draft).err == ""


def test_a_file_of_headers_has_no_rows(folder: Path) -> None:
    (folder / "header.csv").write_text("age,sex\n")
    result = rowspace("init", str(folder / "header.csv"), "-o", str(folder / "s.toml"))
    assert result.code == 1
    assert "there are no rows" in result.err


def test_a_file_of_another_name_is_pointed_to_the_options(folder: Path) -> None:
    (folder / "adult.data").write_text("39,Male\n")
    result = rowspace("init", str(folder / "adult.data"), "-o", str(folder / "s.toml"))
    assert result.code == 1
    assert "--names age,sex" in result.err
    named = rowspace("init", str(folder / "adult.data"), "--names", "age,sex", "-o", str(folder / "s.toml"))
    assert named.code == 0
