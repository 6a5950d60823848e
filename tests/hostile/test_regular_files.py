"""Devices, pipes and folders in place of files: one clear error, no hang, and nothing is replaced."""

from __future__ import annotations

import os
import re
import socket
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import rowspace as rs
from rowspace.exceptions import FileError, LedgerError, RowspaceError
from rowspace.files import write_whole
from rowspace.ledger import Ledger
from rowspace.report.html import write_report
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


@pytest.mark.parametrize(
    ("place", "words"),
    [(pipe, "a pipe"), (directory, "a folder"), (bound_socket, "a socket"), (link_to_a_device, "a device")],
)
def test_a_ledger_says_what_it_is_not(
    place: Callable[[Path], Path], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was said that the disk was full or failing."""
    monkeypatch.chdir(tmp_path)
    ledger = Ledger(place(tmp_path))
    for attempt in (
        ledger.budgets,
        lambda: ledger.create("people", rs.PureDP(1.0)),
        lambda: ledger.charge(PLAN, b""),
        lambda: rs.release(PLAN, [1, 2, 3, 4], ledger=ledger),
    ):
        with pytest.raises(
            LedgerError, match=f"it is {words}, not a regular file.* Nothing new was released"
        ):
            attempt()


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


def link_to(place: Callable[[Path], Path]) -> Callable[[Path], Path]:
    """A link to what is made elsewhere."""

    def linked(folder: Path) -> Path:
        (folder / "there").mkdir()
        (folder / "link.csv").symlink_to(place(folder / "there"))
        return folder / "link.csv"

    linked.__name__ = f"link to {place.__name__}"
    return linked


WRITERS: dict[str, Callable[[Path], object]] = {
    "plan": lambda path: PLAN.save(path),
    "release": lambda path: rs.release(PLAN, [1, 2, 3, 4]).save(path),
    "table": lambda path: rs.export(rs.release(PLAN, [1, 2, 3, 4]), path),
    "page": lambda path: write_report(rs.release(PLAN, [1, 2, 3, 4]), path),
}


@pytest.mark.parametrize("place", [pipe, directory, link_to_a_device], ids=lambda f: f.__name__)
@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
def test_no_link_to_a_device_is_replaced(
    writer: Callable[[Path], object], place: Callable[[Path], Path], tmp_path: Path
) -> None:
    """Seen before: a link such as /dev/stdin was gone, and a file stood in its place."""
    path = link_to(place)(tmp_path)
    leads_to = os.readlink(path)
    with pytest.raises(FileError, match=r"cannot write link.csv: it is a (pipe|folder|device)"):
        writer(path)
    assert os.readlink(path) == leads_to
    assert not stat.S_ISREG(path.stat().st_mode)


@pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("exists", [True, False])
def test_links_stay_links(writer: Callable[[Path], object], exists: bool, tmp_path: Path) -> None:
    """The file that they lead to is replaced, whole, or made."""
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "real.csv", tmp_path / "link.csv"
    link.symlink_to(Path("there", "real.csv"))
    (tmp_path / "again.csv").symlink_to("link.csv")
    if exists:
        target.write_text("before")
    writer(tmp_path / "again.csv")
    assert link.is_symlink()
    assert (tmp_path / "again.csv").is_symlink()
    assert target.is_file()
    assert target.read_bytes() != b"before"
    assert not list(tmp_path.rglob(".rowspace-*"))


@pytest.mark.parametrize("name", ["", ".", "..", "/", "a\0b.csv"])
def test_what_is_no_name_of_a_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some were a ValueError of pathlib."""
    monkeypatch.chdir(tmp_path)
    for writer in (PLAN.save, rs.release(PLAN, [1, 2, 3, 4]).save):
        with pytest.raises(FileError, match=r"a folder|no file name"):
            writer(name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", [pipe, link_to_a_device, directory], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "command",
    [
        ("release", "study.toml", "people.csv", "--no-ledger", "-o", "link.csv"),
        ("release", "study.toml", "people.csv", "--no-ledger", "-o", "link.release"),
        ("release", "study.toml", "people.csv", "--no-ledger", "-o", "link.xlsx"),
        ("plan", "study.toml", "--save", "link.plan"),
        ("init", "people.csv", "-o", "link.toml"),
        ("report", "a.release", "-o", "link.html"),
        ("combine", "a.release", "b.release", "-o", "link.csv"),
    ],
    ids=lambda command: f"{command[0]} {command[-1]}",
)
def test_no_link_to_a_device_is_replaced_by_a_command(
    command: tuple[str, ...], place: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(SMALL)
    Path("people.csv").write_text("age,sex\n1,F\n")
    for name in ("a.release", "b.release"):
        rs.release(PLAN, [1, 2, 3, 4]).save(name)
    link = Path(command[-1])
    link_to(place)(tmp_path).rename(link)
    ended = rowspace(*command, "--force")
    assert ended.code == 1
    assert re.search("a device or a pipe|it is a folder", " ".join(ended.err.split()))
    assert link.is_symlink()
    assert not stat.S_ISREG(link.stat().st_mode)


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
