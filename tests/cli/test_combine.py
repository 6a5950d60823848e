from __future__ import annotations

import json
from pathlib import Path
from shutil import copy

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from tests.cli.running import rowspace, unchanged


@pytest.fixture
def two(folder: Path, released: Path, released_again: Path) -> list[Path]:
    """Two releases of one table."""
    return [
        Path(copy(made, folder / name))
        for made, name in ((released, "first.release"), (released_again, "second.release"))
    ]


@pytest.fixture(scope="module")
def released_again(released: Path) -> Path:
    """Another release of the same table."""
    path = released.with_name("again.release")
    study, data = released.with_name("study.toml"), released.with_name("people.csv")
    assert rowspace("release", "--no-ledger", study, data, "-o", path, "-q").code == 0
    return path


def test_answers_are_those_of_the_library(two: list[Path]) -> None:
    both = rs.combine([rs.Release.load(file) for file in two])
    with unchanged(two[0].parent):
        document = json.loads(rowspace("combine", *two, "--json").out)
    assert document["statement"] == both.statement
    assert document["privacy"] == [rs.PureDP(2.0).to_dict()]
    assert [row["answer"] for row in document["answers"]] == both.answers()["answer"].tolist()
    asked = json.loads(rowspace("combine", *two, "--ask", "age < 5", "--ask", "sex = 'F'", "--json").out)
    assert [row["query"] for row in asked["answers"]] == ["age < 5", "sex = 'F'"]
    assert [row["high"] for row in asked["answers"]] == both.ask(["age < 5", "sex = 'F'"])["high"].tolist()


def test_the_screen_shows_answers_and_what_they_cost(two: list[Path]) -> None:
    ended = rowspace("combine", *two)
    words = " ".join(ended.out.split())
    for expected in (
        "2 releases combined",
        "2-differential privacy",
        "ranges of age 3 of 210",
        "95 % interval",
    ):
        assert expected in words
    assert "age < 5" in rowspace("combine", *two, "--ask", "age < 5", "-q").out


def test_files_are_written(two: list[Path]) -> None:
    folder = two[0].parent
    expected = rs.combine([rs.Release.load(file) for file in two]).answers()
    outputs = [folder / f"both{ending}" for ending in (".csv", ".parquet", ".json", ".html")]
    ended = rowspace("combine", *two, *(word for path in outputs for word in ("-o", path)))
    assert ended.code == 0, ended.err
    read = pd.read_parquet(folder / "both.parquet")
    np.testing.assert_array_equal(read["answer"], expected["answer"])
    written = json.loads((folder / "both.json").read_text())
    assert [row["low"] for row in written["answers"]] == expected["low"].tolist()
    assert written["privacy"] == [rs.PureDP(2.0).to_dict()]
    page = (folder / "both.html").read_text()
    assert "<h1>first and second</h1>" in page
    with unchanged(folder):
        assert "--force" in rowspace("combine", *two, "-o", outputs[0]).err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["first.release"], 2, "two or more releases"),
        (["first.release", "first.release"], 1, "first.release: combining a release with itself"),
        (["first.release", "nothing.release"], 1, "nothing.release does not exist"),
        (
            ["first.release", "second.release", "-o", "both.txt"],
            1,
            "ending in one of .csv, .parquet, .json, .xlsx, .html",
        ),
        (["first.release", "second.release", "-o", "no/both.csv"], 1, "there is no folder"),
        (["first.release", "second.release", "-o", "second.release"], 1, "ending in one of"),
        (
            ["first.release", "second.release", "--ask", "age < 5", "--ask", "agee < 5"],
            1,
            "query 'agee < 5': ",
        ),
    ],
)
def test_what_is_refused(
    two: list[Path], monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, said: str
) -> None:
    monkeypatch.chdir(two[0].parent)
    with unchanged(two[0].parent):
        ended = rowspace("combine", *words)
    assert (ended.code, ended.out) == (code, "")
    assert said in ended.err
    assert ended.err.count("\n") == 1


def test_releases_of_other_attributes_are_named(two: list[Path]) -> None:
    folder = two[0].parent
    domain = rs.Domain(age=rs.Numeric(0, 20, bins=10))
    plan = rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(1.0), effort="fast")
    rs.release(plan, [1] * 10).save(folder / "other.release")
    ended = rowspace("combine", *two, folder / "other.release")
    assert "error: other.release: combining releases of different domains" in ended.err


def test_quiet_prints_what_was_asked_for_and_no_more(folder: Path, two: list[Path]) -> None:
    written = rowspace("combine", *two, "-o", folder / "both.csv", "-q")
    assert (written.code, written.out, written.err) == (0, "", "")
    assert "age" in rowspace("combine", *two, "-q").out
    assert "age < 5" in rowspace("combine", *two, "--ask", "age < 5", "-o", folder / "b.csv", "-q").out
