"""Options before the environment before a file; and a log of who charged what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import rowspace

STUDY = """[study]
name = "People"
[privacy]
epsilon = 0.5
[domain.ward]
type = "categorical"
categories = ["A", "B"]
[[workload]]
marginal = ["ward"]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("LEDGER", "DATASET", "LOG", "THREADS", "CONFIG", "JOB"):
        monkeypatch.delenv(f"ROWSPACE_{name}", raising=False)
    Path("study.toml").write_text(STUDY)
    Path("people.csv").write_text("ward\nA\nSecretward\n")
    for ledger in ("one.db", "two.db", "three.db"):
        for dataset in ("people", "places"):
            assert rowspace("budget", "create", ledger, dataset, "--epsilon", "4").code == 0


def spent(ledger: str) -> dict[str, str]:
    shown = json.loads(rowspace("budget", "show", ledger, "--json").out)
    return {one["dataset"]: one["spent"] for one in shown["budgets"]}


def release(*more: str, output: str = "a.release") -> Any:
    return rowspace("release", "study.toml", "people.csv", "-o", output, "--force", "--quiet", *more)


@pytest.mark.parametrize("form", ["rowspace.toml", "pyproject.toml", "named.toml"])
def test_options_come_before_the_environment_before_the_file(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = "[tool.rowspace]\n" if form == "pyproject.toml" else ""
    Path(form).write_text(head + 'ledger = "one.db"\ndataset = "people"\nthreads = 1\n')
    if form == "named.toml":
        monkeypatch.setenv("ROWSPACE_CONFIG", "named.toml")
    assert release().code == 0
    assert spent("one.db") == {"people": "0.5", "places": "0"}
    monkeypatch.setenv("ROWSPACE_LEDGER", "two.db")
    monkeypatch.setenv("ROWSPACE_DATASET", "places")
    assert release().code == 0
    assert spent("two.db") == {"people": "0", "places": "0.5"}
    assert release("--ledger", "three.db", "--dataset", "people").code == 0
    assert spent("three.db") == {"people": "0.5", "places": "0"}
    assert release("--no-ledger").code == 0
    assert (spent("one.db")["people"], spent("two.db")["places"]) == ("0.5", "0.5")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('leger = "one.db"', "rowspace.toml: unknown key 'leger'; expected ledger, dataset, log, threads"),
        ("ledger = 3", "expected ledger as a text"),
        ('threads = "many"', "expected threads as a whole number"),
        ("threads = 0", "expected threads (ROWSPACE_THREADS) as a whole number above 0"),
        ("ledger = 'postgresql://me:secret", "are no TOML"),
        ('log = "xml"', "expected --log json"),
        ('log = "json:missing/log"', "the log cannot be written"),
    ],
)
def test_a_wrong_setting_is_one_line(text: str, message: str) -> None:
    Path("rowspace.toml").write_text(text)
    ended = release()
    assert ended.code == 1
    assert message in ended.err
    assert ended.err.count("\n") == 1
    assert "secret" not in ended.err
    assert not Path("a.release").exists()


def test_the_log_says_who_charged_what_and_nothing_of_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWSPACE_JOB", "run-7")
    ledger = ("--ledger", "one.db", "--dataset", "people", "--request-id", "may")
    assert release(*ledger, "--log", "json:log.jsonl").code == 0
    assert release(*ledger, "--log=json:log.jsonl").code == 0  # the retry charges nothing
    charge, *ends = map(json.loads, Path("log.jsonl").read_text().splitlines())
    assert [line["event"] for line in (charge, *ends)] == ["charge", "end", "end"]
    assert (charge["command"], charge["job"], charge["request"]) == ("release", "run-7", "may")
    assert (charge["dataset"], charge["cost"]) == ("people", {"epsilon": "1/2"})
    assert len(charge["plan_sha256"]) == len(charge["release_sha256"]) == 64
    assert {"who", "host", "pid", "time", "version"} <= charge.keys()
    assert all(line["exit"] == 0 and line["seconds"] >= 0 for line in ends)
    failed = release("--log", "json", "--ledger", "none.db")
    last = json.loads(failed.err.splitlines()[-1])
    assert (failed.code, last["exit"], last["event"]) == (1, 1, "end")
    assert "Secretward" not in Path("log.jsonl").read_text() + failed.err
    assert "people.csv" not in Path("log.jsonl").read_text()


def test_log_is_in_the_help_and_completion_reads_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "--log" in rowspace("--help").out
    Path("rowspace.toml").write_text("leger = 3")
    monkeypatch.setenv("_ROWSPACE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "rowspace rel")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert "leger" not in rowspace().err
