"""A release that was charged for and not written, or lost, is had again: all of it, as it would have been."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest

from rowspace.ledger import Ledger
from tests.cli.running import rowspace, unchanged

NAMES = ("a.release", "a.csv", "a.parquet", "a.json")

KILLED = """
import os, signal, sys
import rowspace.cli.release_files as files
files.write_whole = files.export = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
from rowspace.cli import main
main(sys.argv[1:])
"""


@pytest.fixture
def ledger(folder: Path) -> Path:
    path = folder / "budget.db"
    assert rowspace("budget", "create", path, "people", "--epsilon", "1.5", "-q").code == 0
    return path


def outputs(folder: Path) -> list[object]:
    folder.mkdir(exist_ok=True)
    return [argument for name in NAMES for argument in ("-o", folder / name)]


def test_everything_is_as_it_would_have_been(folder: Path, ledger: Path) -> None:
    """The files of a release and those of its charge are the same bytes, and so are the answers on the screen."""
    release = ("release", folder / "study.toml", folder / "people.csv", "--ledger", ledger, "--level", "0.9")
    first = json.loads(rowspace(*release, *outputs(folder / "first"), "--json").out)
    ended = rowspace("budget", "resume", ledger, 1, *outputs(folder / "again"), "--level", "0.9", "--json")
    assert ended.code == 0, ended.err
    again = json.loads(ended.out)
    for name in NAMES:
        assert (folder / "first" / name).read_bytes() == (folder / "again" / name).read_bytes(), name
    assert again.pop("charge") == first.pop("charge")["charge"] == 1
    assert again.pop("files") == [str(folder / "again" / name) for name in NAMES]
    assert again.items() <= first.items()


@pytest.mark.parametrize("names", [NAMES, ("a.csv",)])
def test_killed_between_charge_and_output(folder: Path, ledger: Path, names: tuple[str, ...]) -> None:
    """Nothing is there but the charge; resuming gives all that was asked for, and charges nothing."""
    asked = [str(argument) for name in names for argument in ("-o", folder / name)]
    command = ["release", str(folder / "study.toml"), str(folder / "people.csv"), "--ledger", str(ledger)]
    before = {path.name for path in folder.iterdir()}
    killed = subprocess.run([sys.executable, "-c", KILLED, *command, *asked], check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    assert {path.name for path in folder.iterdir()} == before
    charged = ledger.read_bytes()
    ended = rowspace("budget", "resume", ledger, 1, *asked)
    assert ended.code == 0, ended.err
    assert "212 answers" in ended.out
    assert "at no cost" in ended.out
    assert {path.name for path in folder.iterdir()} == before | set(names) | {"a.csv-metadata.json"}
    assert ledger.read_bytes() == charged
    if "a.release" in names:
        assert (folder / "a.release").read_bytes() == Ledger(ledger).resume(1)


def test_many_at_once(folder: Path, ledger: Path) -> None:
    """Processes that resume one charge, to the same files, all succeed and leave whole files."""
    release = ("release", folder / "study.toml", folder / "people.csv", "--ledger", ledger, "-q")
    assert rowspace(*release, *outputs(folder / "first")).code == 0
    again = outputs(folder / "again")
    context = get_context("fork")
    codes = context.SimpleQueue()
    racers = [
        context.Process(
            target=lambda: codes.put(rowspace("budget", "resume", ledger, 1, *again, "--force", "-q").code)
        )
        for _ in range(6)
    ]
    for racer in racers:
        racer.start()
    assert [codes.get() for _ in racers] == [0] * 6
    for racer in racers:
        racer.join()
    assert {path.name for path in (folder / "again").iterdir()} == {*NAMES, "a.csv-metadata.json"}
    for name in NAMES:
        assert (folder / "first" / name).read_bytes() == (folder / "again" / name).read_bytes()
    assert Ledger(ledger).budget().charges == 1


def test_the_ledger_is_never_an_output(folder: Path) -> None:
    """However it is named: by its path, by a URL, or by a link."""
    ledger = folder / "budget.json"
    (folder / "link.json").symlink_to(ledger)
    assert rowspace("budget", "create", ledger, "people", "--epsilon", "9", "-q").code == 0
    release = ("release", folder / "study.toml", folder / "people.csv", "--ledger")
    assert rowspace(*release, ledger, "-o", folder / "a.csv", "-q").code == 0
    with unchanged(folder):
        for name in (ledger, f"sqlite:///{ledger}", folder / "link.json"):
            for arguments in ((*release, name), ("budget", "resume", name, 1)):
                ended = rowspace(*arguments, "-o", ledger, "--force")
                assert ended.code == 1
                assert "also read" in ended.err
