from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

import rowspace as rs
from rowspace.exceptions import FileError
from rowspace.study import Study
from tests.cli.running import rowspace, unchanged
from tests.study.examples import SMALL, changed


def test_every_kind_of_output(folder: Path) -> None:
    names = ["a.csv", "a.release", "a.parquet", "a.json"]
    outputs = [argument for name in names for argument in ("-o", folder / name)]
    ended = rowspace("release", "--no-ledger", folder / "study.toml", folder / "people.csv", *outputs)
    assert ended.code == 0, ended.err
    assert "212 answers under 1-differential privacy" in " ".join(ended.out.split())
    assert "age in [0, 1)" in ended.out
    answers = rs.Release.load(folder / "a.release").answers()
    table = pd.read_csv(folder / "a.csv")
    assert table["answer"].to_numpy() == pytest.approx(answers["answer"].to_numpy())
    assert pq.read_table(folder / "a.parquet").num_rows == 212
    assert len(json.loads((folder / "a.json").read_text())["answers"]) == 212


def test_json_holds_every_answer(folder: Path) -> None:
    ended = rowspace(
        "release",
        "--no-ledger",
        folder / "study.toml",
        folder / "people.csv",
        "-o",
        folder / "a.csv",
        "--json",
        "--level",
        "0.5",
    )
    document = json.loads(ended.out)
    assert len(document["answers"]) == 212
    assert document["level"] == 0.5
    assert document["privacy"]["epsilon"] == 1.0
    assert "differential privacy" in document["statement"]
    assert document["files"] == [str(folder / "a.csv")]


def test_quiet_says_nothing(folder: Path) -> None:
    ended = rowspace(
        "release", "--no-ledger", folder / "study.toml", folder / "people.csv", "-o", folder / "a.csv", "-q"
    )
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_true_counts_are_not_printed(folder: Path) -> None:
    """Counts of 20, 200 and 400 would be whole numbers; what is printed always has its noise.

    False-alarm rate: the noise is drawn at a scale of about 10⁶ steps, so a true value comes out below 10⁻⁶.
    """
    document = json.loads(
        rowspace(
            "release",
            "--no-ledger",
            folder / "study.toml",
            folder / "people.csv",
            "-o",
            folder / "a.csv",
            "--json",
        ).out
    )
    answers = {row["age"]: row["answer"] for row in document["answers"] if row["group"] == "ranges of age"}
    assert answers["[0, 20)"] != 400


def test_a_database_with_the_table_of_the_study(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = sqlite3.connect(folder / "people.sqlite")
    pd.read_csv(folder / "people.csv").to_sql("residents", connection, index=False)
    connection.close()
    text = SMALL + '[data]\ntable = "residents"\nurl_env = "ROWSPACE_TEST_URL"\n'
    (folder / "study.toml").write_text(text)
    for number, data in enumerate([[folder / "people.sqlite"], [folder / "people.csv"], []]):
        monkeypatch.setenv("ROWSPACE_TEST_URL", f"sqlite://{folder}/people.sqlite")
        ended = rowspace(
            "release", "--no-ledger", folder / "study.toml", *data, "-o", folder / f"{number}.csv", "-q"
        )
        assert ended.code == 0, ended.err
    monkeypatch.delenv("ROWSPACE_TEST_URL")
    ended = rowspace("release", "--no-ledger", folder / "study.toml", "-o", folder / "b.csv")
    assert ended.code == 1
    assert "ROWSPACE_TEST_URL" in ended.err


def test_a_saved_plan_must_be_of_this_study(folder: Path) -> None:
    study, data, plan = folder / "study.toml", folder / "people.csv", folder / "study.plan"
    assert rowspace("plan", study, "--save", plan, "-q").code == 0
    assert (
        rowspace("release", "--no-ledger", study, data, "--plan", plan, "-o", folder / "a.csv", "-q").code
        == 0
    )
    for old, new, words in [
        ("epsilon = 1.0", "epsilon = 0.5", "promises 1-differential privacy"),
        ("high = 20\nbins = 20", "high = 40\nbins = 40", "other queries"),
    ]:
        study.write_text(changed(old, new))
        with unchanged(folder):
            ended = rowspace("release", "--no-ledger", study, data, "--plan", plan, "-o", folder / "b.csv")
        assert ended.code == 1
        assert words in ended.err


def test_a_saved_plan_may_promise_more_and_weigh_otherwise(folder: Path) -> None:
    study, data, plan = folder / "study.toml", folder / "people.csv", folder / "study.plan"
    target = ["--target", "±60", "--effort", "fast"]
    assert rowspace("plan", study, *target, "--save", plan, "-q").code == 0
    assert rs.Plan.load(plan).privacy != Study.load(study).privacy
    ended = rowspace("release", "--no-ledger", study, data, "--plan", plan, "-o", folder / "a.release", "-q")
    assert ended.code == 0, ended.err
    assert rs.Release.load(folder / "a.release").plan.privacy == rs.Plan.load(plan).privacy


def test_a_failed_write_names_what_is_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise FileError("cannot write a.csv: No space left on device; nothing was written")

    monkeypatch.setattr("rowspace.cli.release_files.export", full)
    outputs = ["-o", folder / "a.csv", "-o", folder / "a.release"]
    ended = rowspace("release", "--no-ledger", folder / "study.toml", folder / "people.csv", *outputs)
    assert ended.code == 1
    assert "No space left" in ended.err
    assert f"written before: {folder / 'a.release'}" in ended.err
    assert not (folder / "a.csv").exists()


def test_inputs_are_never_overwritten(folder: Path) -> None:
    data = folder / "people.csv"
    with unchanged(folder):
        ended = rowspace("release", "--no-ledger", folder / "study.toml", data, "-o", data, "--force")
    assert ended.code == 1
    assert "also read" in ended.err


def test_one_group_too_large_for_a_table_is_refused_before_data_is_touched(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rowspace.cli.release_files.TABLE_LIMIT", 100)
    arguments = ("release", "--no-ledger", folder / "study.toml", folder / "people.csv", "-o")
    with unchanged(folder):
        ended = rowspace(*arguments, folder / "a.csv")
    assert ended.code != 0
    assert "ask it for a part" in " ".join(ended.err.split())
    assert rowspace(*arguments, folder / "a.release").code == 0
