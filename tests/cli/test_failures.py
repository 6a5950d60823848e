"""How the program ends when the world around it fails."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from tests.cli.running import rowspace


def failing(error: BaseException) -> Callable[..., NoReturn]:
    def action(*_: object, **__: object) -> NoReturn:
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "there"), 1, "error: there: Permission denied"),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            1,
            "error: standard output cannot be written: No space left on device; make room, or send it elsewhere",
        ),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 1, ""),
        (MemoryError(), 1, "error: not enough memory; use fewer attributes or coarser bins"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_failures_of_the_world(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, words: str
) -> None:
    monkeypatch.setattr("rowspace.planning.plan", failing(error))
    ended = rowspace("plan", folder / "study.toml")
    assert ended.code == code
    assert ended.out == ""
    assert ended.err.strip() == words


def test_a_bug_keeps_its_traceback(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rowspace.planning.plan", failing(ZeroDivisionError("a bug")))
    with pytest.raises(ZeroDivisionError):
        rowspace("plan", folder / "study.toml")
