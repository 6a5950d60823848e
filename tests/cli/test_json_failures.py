"""A failure under --json is a JSON document too, and every failure is one line otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import process, rowspace

MISUSED = [
    (["plan"], "missing argument 'STUDY'; see rowspace plan --help"),
    (["nonsense"], "no such command 'nonsense'"),
    (["plan", "study.toml", "--epsilon", "one"], "invalid value for '--epsilon'"),
    (["plan", "study.toml", "--cap", "3"], "--cap limits what targets may need: give --target too"),
    (["plan", "study.toml", "--epsilon", "1", "--target", "±5"], "--target finds epsilon"),
    (["ask", "x", "y", "--level", "2"], "expected a confidence level between 0 and 1"),
    (["ask", "x", "y", "--nope"], "no such option: --nope"),
    (["release", "study.toml", "people.csv", "-o", "a.csv"], "say which budget pays"),
    (["budget", "create", "b.db", "people"], "state --epsilon"),
]

FAILED = [
    (["plan", "nothing.toml"], "InvalidStudy", "expected a study file"),
    (
        ["plan", "study.toml", "--target", "rangs: ±5"],
        "InvalidInput",
        "no group of queries is called 'rangs'",
    ),
    (["ask", "nothing.release", "age < 5"], "FileError", "nothing.release does not exist"),
    (["report", "nothing.release"], "FileError", "nothing.release does not exist"),
    (["init", "nothing.csv", "-o", "new.toml"], "SourceError", "got nothing there"),
    (["combine", "a.release", "b.release"], "FileError", "a.release does not exist"),
    (["budget", "show", "nothing.db"], "LedgerError", "there is no ledger nothing.db"),
    (["release", "study.toml", "people.csv", "--no-ledger"], "InvalidInput", "at least one output"),
    (["demo", "-o", "people.csv"], "FileError", "expected a folder to write to"),
    (["paper", "-o", "people.csv"], "FileError", "expected a folder to write to"),
]


@pytest.mark.parametrize(("words", "said"), MISUSED)
def test_misuse(folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str) -> None:
    monkeypatch.chdir(folder)
    plain, machine = rowspace(*words), rowspace(*words, "--json")
    assert (plain.code, plain.out) == (machine.code, machine.err) == (2, "")
    assert plain.err.startswith("error: ")
    assert plain.err.count("\n") == 1
    if words[0] != "nonsense":
        assert said in plain.err
    error = json.loads(machine.out)["error"]
    assert error["kind"] == "UsageError"
    assert said in error["message"]


@pytest.mark.parametrize(("words", "kind", "said"), FAILED)
def test_failures(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], kind: str, said: str
) -> None:
    monkeypatch.chdir(folder)
    ended = rowspace(*words, "--json")
    assert (ended.code, ended.err) == (1, "")
    assert json.loads(ended.out) == {"error": {"kind": kind, "message": rowspace(*words).err[7:-1]}}
    assert said in ended.out


def test_a_process_says_it_too(folder: Path) -> None:
    done = process("plan", folder / "nothing.toml", "--json")
    assert (done.returncode, done.stderr) == (1, "")
    assert json.loads(done.stdout)["error"]["kind"] == "InvalidStudy"


def test_a_query_called_json_is_no_option(released: Path) -> None:
    assert rowspace("ask", released, "--", "--json").err.startswith("error: ")


def test_a_query_that_cannot_be_read_is_named(released: Path, folder: Path) -> None:
    ended = rowspace("ask", released, "age < 5", "agee < 5", "SELECT COUNT(*) FROM t WHERE seks = 'F'")
    assert ended.err.startswith("error: query 'agee < 5': unknown attribute 'agee'; did you mean 'age'?")
    ended = rowspace("ask", released, "age < 5", "SELECT COUNT(*) FROM t WHERE seks = 'F'")
    assert ended.err.startswith("error: query \"SELECT COUNT(*) FROM t WHERE seks = 'F'\": line 1")
    study = folder / "study.toml"
    study.write_text(study.read_text() + '[[workload]]\npredicates = ["age < 5", "agee < 5"]\n')
    ended = rowspace("plan", study)
    assert "entry 3: predicates: query 'agee < 5': unknown attribute 'agee'" in ended.err


def test_the_shell_and_backticks(folder: Path) -> None:
    """In double quotes the shell runs a name in backticks as a command, and leaves nothing of it."""
    study, data, release = folder / "study.toml", folder / "people.csv", folder / "a.release"
    study.write_text(
        study.read_text().replace("[domain.sex]", '[domain."sex-code"]').replace('"sex"', '"sex-code"')
    )
    data.write_text(data.read_text().replace("sex", "sex-code", 1))
    assert rowspace("release", "--no-ledger", study, data, "-o", release, "-q").code == 0
    assert (
        "the query in single quotes for the shell: '`sex-code` …'"
        in rowspace("ask", release, "sex-code = 'F'").err
    )
    assert "the shell took it" in rowspace("ask", release, " = 'F'").err
    assert rowspace("ask", release, "`sex-code` = 'F'").code == 0
