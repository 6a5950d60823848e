"""`release --request-id`: a step of a pipeline that is run again pays once and leaves the same files."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rowspace.ledger import Ledger
from tests.cli.running import rowspace, unchanged
from tests.cli.test_resume import KILLED, NAMES, outputs

CUT = """
import sqlite3, sys
import rowspace.ledger.ledger as ledger
doubt = ledger.Doubt
class Cut(doubt):
    def __init__(self, database, *rest):
        super().__init__(database, *rest)
        commit = database._engine.dialect.do_commit
        def failing(connection):
            database._engine.dialect.do_commit = commit
            commit(connection)
            raise sqlite3.OperationalError("the connection was cut")
        database._engine.dialect.do_commit = failing
ledger.Doubt = Cut
from rowspace.cli import main
main(sys.argv[1:])
"""


@pytest.fixture
def ledger(folder: Path) -> Path:
    """Room for one release."""
    path = folder / "budget.db"
    assert rowspace("budget", "create", path, "people", "--epsilon", "1", "-q").code == 0
    return path


def step(folder: Path, ledger: Path, *more: object) -> list[object]:
    return [
        "release",
        folder / "study.toml",
        folder / "people.csv",
        "--ledger",
        ledger,
        "--request-id",
        "may",
        *more,
    ]


def test_the_same_command_again(folder: Path, ledger: Path) -> None:
    """With all files there, some, or none; also where the budget is used up and the data is gone."""
    command = step(folder, ledger, *outputs(folder / "out"), "-o", folder / "out" / "a.xlsx", "--json")
    first = rowspace(*command)
    assert first.code == 0, first.err
    (folder / "people.csv").unlink()
    with unchanged(folder):
        again = rowspace(*command)
    assert (again.code, again.out) == (0, first.out)
    for name in NAMES:
        content = (folder / "out" / name).read_bytes()
        (folder / "out" / name).unlink()
        assert rowspace(*command).code == 0
        assert (folder / "out" / name).read_bytes() == content
    assert json.loads(first.out)["charge"]["charge"] == 1
    assert Ledger(ledger).budget().charges == 1
    assert (folder / "out" / "a.release").read_bytes() == Ledger(ledger).resume(1)
    shown = rowspace(*step(folder, ledger, "-o", folder / "b.csv"))
    assert "at no cost" in shown.out


def test_other_files_are_left(folder: Path, ledger: Path) -> None:
    command = step(folder, ledger, *outputs(folder / "out"), "-q")
    assert rowspace(*command).code == 0
    (folder / "out" / "a.csv").write_text("somebody else's")
    with unchanged(folder):
        ended = rowspace(*command)
    assert ended.code == 1
    assert "a.csv exists, is not what this request wrote" in ended.err
    assert rowspace(*command, "--force").code == 0
    assert Ledger(ledger).budget().charges == 1


def test_killed_and_run_again(folder: Path, ledger: Path) -> None:
    command = [str(word) for word in step(folder, ledger, "-o", folder / "a.release", "-o", folder / "a.csv")]
    killed = subprocess.run([sys.executable, "-c", KILLED, *command], check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    assert not (folder / "a.release").exists()
    assert rowspace(*command).code == 0
    assert (folder / "a.release").read_bytes() == Ledger(ledger).resume(1)
    assert Ledger(ledger).budget().charges == 1


def test_the_connection_is_cut_after_the_commit(folder: Path, ledger: Path) -> None:
    """One line that says what is so, the code of what may be tried again, and the same command is the cure."""
    command = [str(word) for word in step(folder, ledger, "-o", folder / "a.release")]
    cut = subprocess.run(
        [sys.executable, "-c", CUT, *command], check=False, timeout=120, capture_output=True, text=True
    )
    assert "after charge 1 was made: it is charged, and its release is kept" in cut.stderr
    assert cut.stderr.count("\n") == 1
    assert cut.returncode == 75
    assert not (folder / "a.release").exists()
    assert rowspace(*command).code == 0
    assert (folder / "a.release").read_bytes() == Ledger(ledger).resume(1)
    assert Ledger(ledger).budget().charges == 1


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("epsilon = 1.0", "epsilon = 0.5", "plan"),
        ("weight = 2.0", "weight = 3.0", "plan"),
    ],
)
def test_an_id_of_another_study(folder: Path, ledger: Path, old: str, new: str, word: str) -> None:
    study = folder / "study.toml"
    assert old in study.read_text()
    assert rowspace(*step(folder, ledger, "-o", folder / "a.release", "-q")).code == 0
    study.write_text(study.read_text().replace(old, new, 1))
    with unchanged(folder):
        ended = rowspace(*step(folder, ledger, "-o", folder / "b.release"))
    assert ended.code == 1
    assert f"'may' was used for another {word}" in ended.err


@pytest.mark.parametrize("more", [("--no-ledger",), ("--ledger", "budget.db", "--period", "2024-01")])
def test_where_an_id_makes_no_sense(folder: Path, ledger: Path, more: tuple[str, ...]) -> None:
    ended = rowspace(
        "release",
        folder / "study.toml",
        folder / "people.csv",
        "--request-id",
        "may",
        *(str(ledger) if word == "budget.db" else word for word in more),
        "-o",
        folder / "a.csv",
    )
    assert ended.code == 2
    assert "--request-id" in ended.err


def test_the_ledger_of_the_environment(folder: Path, ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the command names none; what it says goes first, and an empty variable says nothing."""
    release = ("release", folder / "study.toml", folder / "people.csv", "-q", "-o")
    monkeypatch.setenv("ROWSPACE_LEDGER", str(ledger))
    assert rowspace(*release, folder / "none.release", "--no-ledger").code == 0
    assert Ledger(ledger).history() == []
    assert rowspace(*release, folder / "a.release").code == 0
    assert Ledger(ledger).budget().charges == 1
    assert rowspace(*release, folder / "b.release", "--ledger", folder / "other.db").code == 1
    monkeypatch.setenv("ROWSPACE_LEDGER", "")
    refused = rowspace(*release, folder / "c.release")
    assert refused.code == 2
    assert "ROWSPACE_LEDGER" in refused.err
