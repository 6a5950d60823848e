"""Every kind of bad input, from the command line: exit code 1, one line, no traceback, nothing written."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest

from rowspace.ledger import Ledger
from tests.cli.running import Ended, rowspace, unchanged
from tests.study.examples import BAD, SMALL, changed


def check(ended: Ended, *words: str) -> None:
    assert ended.code == 1
    assert ended.out == ""
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1
    assert "Traceback" not in ended.err
    for word in words:
        assert word in ended.err


@pytest.mark.parametrize(("name", "command"), [*zip(BAD, cycle(["plan", "release"]), strict=False)])
def test_bad_studies(folder: Path, name: str, command: str) -> None:
    text, words = BAD[name]
    (folder / "study.toml").write_text(text)
    rest = (
        ["--no-ledger", folder / "people.csv", "-o", folder / "a.csv"]
        if command == "release"
        else ["--save", folder / "a.plan"]
    )
    with unchanged(folder):
        check(rowspace(command, folder / "study.toml", *rest), *words)


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf"])
def test_bad_epsilon(folder: Path, epsilon: str) -> None:
    with unchanged(folder):
        check(
            rowspace("plan", folder / "study.toml", f"--epsilon={epsilon}", "--save", folder / "a.plan"),
            "epsilon",
        )


DATA: dict[str, tuple[str, Callable[[Path], object], tuple[str, ...]]] = {
    "missing": ("nothing.csv", lambda path: None, ("nothing there",)),
    "a folder": ("folder.csv", lambda path: path.mkdir(), ("expected files at",)),
    "unknown ending": ("people.xyz", lambda path: path.write_text("age,sex\n"), (".csv",)),
    "empty": ("empty.csv", lambda path: path.write_text(""), ("empty",)),
    "no such column": (
        "a.csv",
        lambda path: path.write_text("agee,sex\n1,F\n"),
        ("'age'", "did you mean 'agee'"),
    ),
    "column twice": ("a.csv", lambda path: path.write_text("age,age,sex\n1,1,F\n"), ("rename",)),
    "wrong type": (
        "a.csv",
        lambda path: path.write_text("age,sex\nGUSTAV,F\n"),
        ("'age' must hold numbers",),
    ),
    "no header": ("a.csv", lambda path: path.write_text("1,GUSTAV\n"), ("header",)),
    "damaged Parquet": ("a.parquet", lambda path: path.write_bytes(b"PAR1 GUSTAV"), ("damaged",)),
    "damaged database": ("a.duckdb", lambda path: path.write_bytes(b"GUSTAV" * 99), ("database",)),
    "binary CSV": ("a.csv", lambda path: path.write_bytes(b"age,sex\n\xff\xfe\x00,F\n"), ("cannot be read",)),
}


@pytest.mark.parametrize("kind", DATA)
def test_bad_data(folder: Path, kind: str) -> None:
    name, make, words = DATA[kind]
    make(folder / name)
    table = ["--table", "people"] if name.endswith(".duckdb") else []
    with unchanged(folder):
        ended = rowspace(
            "release", "--no-ledger", folder / "study.toml", folder / name, "-o", folder / "out.csv", *table
        )
    check(ended, *(words if kind != "binary CSV" else ()))
    assert "GUSTAV" not in ended.err, "a value of the data is quoted"


@pytest.mark.parametrize("kind", ["missing", "a folder", "unknown ending", "empty", "damaged Parquet"])
def test_bad_data_to_draft_from(folder: Path, kind: str) -> None:
    name, make, _ = DATA[kind]
    make(folder / name)
    with unchanged(folder):
        check(rowspace("init", folder / name, "-o", folder / "draft.toml"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "at least one output"),
        (["-o", "a.txt"], "ending in one of"),
        (["-o", "a"], "ending in one of"),
        (["-o", "there.csv"], "--force"),
        (["-o", "no/such/folder/a.csv"], "no folder"),
        (["-o", "folder.csv", "--force"], "a folder"),
        (["-o", "a.csv", "-o", "./a.csv"], "twice"),
        (["-o", "a.csv", "--table", "people"], "table="),
        (["-o", "a.csv", "--plan", "nothing.plan"], "does not exist"),
        (["-o", "a.csv", "--plan", "people.csv"], "damaged"),
        (["-o", "study.toml.release", "-o", "there.csv"], "--force"),
    ],
)
def test_bad_outputs(folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str) -> None:
    monkeypatch.chdir(folder)
    (folder / "there.csv").write_text("keep me")
    (folder / "folder.csv").mkdir()
    with unchanged(folder):
        check(rowspace("release", "--no-ledger", "study.toml", "people.csv", *arguments), words)


@pytest.mark.parametrize("command", ["demo", "paper"])
def test_a_file_where_a_folder_is_expected(folder: Path, command: str) -> None:
    with unchanged(folder):
        check(rowspace(command, "-o", folder / "people.csv"), "expected a folder to write to")
        check(rowspace(command, "-o", folder / "people.csv" / "x"), "cannot make the folder")


def test_no_categories(folder: Path) -> None:
    (folder / "study.toml").write_text(changed('["F", "M"]', "[]"))
    check(
        rowspace("plan", folder / "study.toml"),
        '[domain.sex]: expected at least one, as in categories = ["F", "M"]; got an empty list',
    )


@pytest.mark.parametrize("cap", ["-1", "0", "nan", "inf"])
def test_a_cap_that_cannot_be(folder: Path, cap: str) -> None:
    ended = rowspace("plan", folder / "study.toml", "--target", "±50", "--cap", cap)
    assert ended.code == 2
    assert "a number above 0, got" in " ".join(ended.err.split())


def test_a_name_with_markup_is_shown_as_it_is(folder: Path) -> None:
    ended = rowspace("plan", folder / "study.toml", "--save", folder / "[red]a[bold].plan")
    assert ended.code == 0
    assert "[red]a[bold].plan" in "".join(ended.out.split())


def test_no_data_anywhere(folder: Path) -> None:
    with unchanged(folder):
        check(
            rowspace("release", "--no-ledger", folder / "study.toml", "-o", folder / "a.csv"), "expected DATA"
        )


def test_a_domain_too_large(folder: Path) -> None:
    large = "low = 0\nhigh = 100_000\nbins = 100_000"
    text = changed("low = 0\nhigh = 20\nbins = 20", large).replace('["sex"]', "[]")
    second = f'[domain.age2]\ntype = "numeric"\n{large}\n[[workload]]\nmarginal = ["age", "age2"]\n'
    (folder / "study.toml").write_text(text + second)
    with unchanged(folder):
        check(rowspace("plan", folder / "study.toml", "--save", folder / "a.plan"), "cells")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("age >=", "position"),
        ("agee < 5", "did you mean 'age'"),
        ("__import__('os').system('true')", "position"),
        ("sex = 'X'", ""),
        ("", ""),
        ("(" * 5000, ""),
    ],
)
def test_bad_queries(released: Path, query: str, words: str) -> None:
    with unchanged(released.parent):
        check(rowspace("ask", released, query), words)


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 damaged", None])
def test_bad_release_files(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "a.release"
    if content is not None:
        path.write_bytes(content)
    with unchanged(tmp_path):
        check(rowspace("ask", path, "age < 5"), "a.release")


def test_a_truncated_release(tmp_path: Path, released: Path) -> None:
    path = tmp_path / "a.release"
    whole = released.read_bytes()
    for size in (len(whole) // 3, len(whole) - 10):
        path.write_bytes(whole[:size])
        check(rowspace("ask", path, "age < 5"), "damaged")


def test_names_of_files_cannot_forge_lines(tmp_path: Path) -> None:
    check(rowspace("plan", tmp_path / "a\n\x1b[31mdone\nb.toml"))


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_without_permission(folder: Path) -> None:
    locked = folder / "locked"
    locked.mkdir(mode=0o500)
    check(rowspace("plan", folder / "study.toml", "--save", locked / "a.plan"), "Permission denied")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder that takes no files")
def test_a_folder_that_takes_no_files_is_found_before_anything_is_charged(folder: Path) -> None:
    ledger = folder / "budget.db"
    assert rowspace("budget", "create", ledger, "people", "--epsilon", "2", "-q").code == 0
    study, data = folder / "study.toml", folder / "people.csv"
    check(rowspace("release", study, data, "--ledger", ledger, "-o", "/proc/a.release"), "takes no files")
    assert Ledger(str(ledger)).history() == []


@pytest.mark.parametrize(
    "arguments",
    [["plan"], ["nonsense"], ["plan", "x.toml", "--epsilon", "one"], ["ask", "x", "y", "--level", "2"]],
)
def test_misuse_ends_with_2(arguments: list[str]) -> None:
    ended = rowspace(*arguments)
    assert ended.code == 2
    assert ended.out == ""


def test_the_small_study_itself_is_right(folder: Path) -> None:
    assert (folder / "study.toml").read_text() == SMALL
    assert rowspace("plan", folder / "study.toml").code == 0
