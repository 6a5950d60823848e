"""What cannot be kept or written is refused before it is paid for; where that shows later, nothing is lost."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rowspace.ledger import Ledger
from tests.cli.running import rowspace, unchanged
from tests.study.examples import changed


@pytest.fixture
def ledger(folder: Path) -> Path:
    path = folder / "budget.db"
    assert rowspace("budget", "create", path, "people", "--epsilon", "1.5", "-q").code == 0
    return path


def loop(folder: Path) -> None:
    (folder / "a.csv").symlink_to(folder / "a.csv")


def dangling(folder: Path) -> None:
    (folder / "a.csv").symlink_to("nowhere.csv")


def two_ways(folder: Path) -> None:
    (folder / "link").symlink_to(".", target_is_directory=True)


@pytest.mark.parametrize(
    ("prepare", "names", "words"),
    [
        (None, ["a.txt"], "ending in one of .release, .csv, .parquet, .json, .xlsx, got 'a.txt'"),
        (None, [""], "ending in one of"),
        (None, ["no/folder/a.csv"], "there is no folder"),
        (None, ["people.csv/a.csv"], "there is no folder"),
        (lambda folder: (folder / "a.csv").mkdir(), ["a.csv"], "it is a folder; name a file in it"),
        (lambda folder: (folder / "a.csv").write_text("keep"), ["a.csv"], "overwrite with --force"),
        (lambda folder: (folder / "a.csv").write_text("keep"), ["a.release", "a.csv"], "--force"),
        (dangling, ["a.csv"], "overwrite with --force"),
        (loop, ["a.csv"], "overwrite with --force"),
        (two_ways, ["a.csv", "link/a.csv"], "named twice"),
        (None, ["a" * 300 + ".csv"], "File name too long; choose another name"),
        pytest.param(
            None,
            ["/proc/a.csv"],
            "its folder takes no files",
            marks=pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs such a folder"),
        ),
    ],
)
def test_refused_before_it_is_charged(
    folder: Path,
    ledger: Path,
    monkeypatch: pytest.MonkeyPatch,
    prepare: Callable[[Path], object] | None,
    names: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(folder)
    if prepare is not None:
        prepare(folder)
    outputs = [argument for name in names for argument in ("-o", name)]
    with unchanged(folder):
        ended = rowspace("release", "study.toml", "people.csv", "--ledger", ledger, *outputs)
    assert ended.code == 1
    assert words in ended.err
    assert Ledger(ledger).history() == []


def test_a_link_that_leads_nowhere_is_refused_before_it_is_charged(folder: Path, ledger: Path) -> None:
    loop(folder)
    (folder / "b.csv").symlink_to(folder / "no" / "folder.csv")
    (folder / "c.csv").symlink_to(folder / "d.csv")
    release = ("release", folder / "study.toml", folder / "people.csv", "--ledger", ledger, "--force")
    with unchanged(folder):
        for names, words in (
            (["a.csv"], "symbolic links"),
            (["b.csv"], "there is no folder"),
            (["c.csv", "d.csv"], "named twice"),
        ):
            ended = rowspace(*release, *(part for name in names for part in ("-o", folder / name)))
            assert ended.code == 1
            assert words in " ".join(ended.err.split())
    assert Ledger(ledger).history() == []


def test_the_longest_name_that_there_is(folder: Path, ledger: Path) -> None:
    """The temporary file's name was longer than the file's own: found only when it was paid for."""
    target = folder / ("a" * (251 - len("-metadata.json")) + ".csv")
    release = ("release", folder / "study.toml", folder / "people.csv", "--ledger", ledger)
    assert rowspace(*release, "-o", target, "-q").code == 0
    assert target.exists()


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("rowspace.files.MAX_DOCUMENT", "more than is read back"),
        ("rowspace.files.MAX_BYTES", "bytes, and at most 100 are read back"),
        ("rowspace.ledger.ledger.LARGEST_RELEASE", "expected a release of at most 100 bytes"),
    ],
)
def test_too_large_to_be_kept(
    folder: Path, ledger: Path, monkeypatch: pytest.MonkeyPatch, limit: str, words: str
) -> None:
    """Limits of the file format and of the ledger, made small here."""
    monkeypatch.setattr(limit, 100)
    release = ("release", folder / "study.toml", folder / "people.csv", "--ledger", ledger)
    with unchanged(folder):
        ended = rowspace(*release, "-o", folder / "a.release", "-o", folder / "a.csv")
    assert ended.code == 1
    assert words in ended.err
    assert "othing was" in ended.err
    assert Ledger(ledger).history() == []


@pytest.mark.parametrize(
    "suffix", [".csv", *(pytest.param(own, marks=pytest.mark.long) for own in (".parquet", ".json"))]
)
def test_a_disk_that_is_full_after_the_charge(folder: Path, ledger: Path, suffix: str) -> None:
    """A limit on the size of files lets the ledger's pass and stops the table's, as a full disk would."""
    study = folder / "study.toml"
    study.write_text(changed("high = 20\nbins = 20", "high = 150\nbins = 150"))
    before = {path.name for path in folder.iterdir()}
    command = ["release", study, folder / "people.csv", "--ledger", ledger, "-o", folder / "a.release"]
    command += ["-o", folder / f"a{suffix}"]
    ended = subprocess.run(
        [sys.executable, "-m", "rowspace", *map(str, command)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"error: cannot write a{suffix}: File too large; nothing was written; ")
    assert f"written before: {folder / 'a.release'}; " in ended.stderr
    assert f"rowspace budget resume {ledger} 1 -o FILE" in ended.stderr
    assert {path.name for path in folder.iterdir()} == before | {"a.release"}
    assert Ledger(ledger).budget().charges == 1
    resumed = rowspace("budget", "resume", ledger, 1, "-o", folder / f"a{suffix}")
    assert resumed.code == 0, resumed.err


def test_a_disk_that_is_full_before_the_charge(folder: Path, ledger: Path) -> None:
    """The ledger itself cannot be written: nothing is charged and nothing is there."""
    command = ["release", folder / "study.toml", folder / "people.csv", "--ledger", ledger]
    before = {path.name for path in folder.iterdir()}
    ended = subprocess.run(
        [sys.executable, "-m", "rowspace", *map(str, command), "-o", str(folder / "a.csv")],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 1
    assert "the disk is full" in ended.stderr
    assert Ledger(ledger).history() == []
    assert {path.name for path in folder.iterdir()} == before
