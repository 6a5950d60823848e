"""Devices, pipes and folders in place of files: one clear error, no hang, and nothing is replaced."""

from __future__ import annotations

import os
import socket
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import rowspace as rs
from rowspace.exceptions import FileError, RowspaceError
from rowspace.files import write_whole
from rowspace.ledger import Ledger
from rowspace.study import Study
from tests.cli.running import rowspace
from tests.study.examples import SMALL

DOMAIN = rs.Domain(age=rs.Numeric(0, 4, bins=4))

READERS: dict[str, Callable[[Path], object]] = {
    "plan": rs.Plan.load,
    "release": rs.Release.load,
    "study": Study.load,
    "sql": lambda path: rs.workload.sql(DOMAIN, path),
    "ledger": lambda path: Ledger(path).budgets(),
    "new ledger": lambda path: Ledger(path).create("people", rs.PureDP(1.0)),
    "csv": lambda path: rs.release(PLAN, path.rename(path.with_suffix(".csv"))),
}
PLAN = rs.plan(rs.workload.identity(DOMAIN), rs.PureDP(1.0))


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "it")
    return folder / "it"


def directory(folder: Path) -> Path:
    (folder / "it").mkdir()
    return folder / "it"


def bound_socket(folder: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(folder / "it"))
    return folder / "it"


def link_to_a_device(folder: Path) -> Path:
    (folder / "it").symlink_to("/dev/zero")
    return folder / "it"


@pytest.mark.parametrize("place", [pipe, directory, bound_socket, link_to_a_device], ids=lambda f: f.__name__)
@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_only_regular_files_are_read(
    reader: Callable[[Path], object],
    place: Callable[[Path], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pipe that nobody writes to would be waited for, a device of zeros read for ever."""
    monkeypatch.chdir(tmp_path)
    path = place(tmp_path)
    with pytest.raises(RowspaceError):
        reader(path)


def test_the_error_says_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot read it: it is a pipe, not a regular file"):
        rs.Plan.load(pipe(tmp_path))
    with pytest.raises(FileError, match=r"cannot read null: it is a device"):
        rs.Release.load("/dev/null")
    with pytest.raises(FileError, match="no file name"):
        rs.Plan.load("a\0b")


def test_no_device_is_replaced(tmp_path: Path) -> None:
    """Renamed over, a device would be gone; root may."""
    path = pipe(tmp_path)
    with pytest.raises(FileError, match="it is a pipe"):
        write_whole(path, lambda file: file.write(b""))
    with pytest.raises(FileError, match="it is a pipe"):
        PLAN.save(path)
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert [entry.name for entry in tmp_path.iterdir()] == ["it"]


def test_no_device_is_replaced_by_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("out.csv")
    Path("study.toml").write_text(SMALL)
    Path("people.csv").write_text("age,sex\n1,F\n")
    ended = rowspace("release", "study.toml", "people.csv", "--no-ledger", "-o", "out.csv", "--force")
    assert ended.code == 1
    assert "a device or a pipe" in " ".join(ended.err.split())
    assert stat.S_ISFIFO(os.stat("out.csv").st_mode)


def test_abandoned_files_are_swept(tmp_path: Path) -> None:
    """Of a process that was killed an hour ago; not those that may still be written, nor what is not ours."""
    old, new = tmp_path / f".rowspace-{'a' * 16}", tmp_path / f".rowspace-{'b' * 16}"
    others = [tmp_path / ".rowspace-notes", tmp_path / f".rowspace-{'c' * 17}", tmp_path / "a.plan"]
    kept = tmp_path / f".rowspace-{'d' * 16}"
    kept.mkdir()
    for path in (old, new, *others):
        path.write_bytes(b"")
    for path in (old, *others, kept):
        os.utime(path, (time.time() - 7200,) * 2)
    PLAN.save(tmp_path / "new.plan")
    assert not old.exists()
    assert all(path.exists() for path in (new, kept, *others))
