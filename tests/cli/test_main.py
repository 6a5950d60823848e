from __future__ import annotations

import pytest

from rowspace import __version__
from tests.cli.running import rowspace

COMMANDS = ("demo", "init", "plan", "release", "ask", "combine", "report", "paper", "schema", "budget")


def test_version() -> None:
    assert rowspace("--version").out == f"rowspace {__version__}\n"


def test_help_lists_every_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    ended = rowspace("--help")
    assert ended.code == 0
    assert "\x1b" not in ended.out
    for command in COMMANDS:
        assert f" {command} " in ended.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_examples(command: str) -> None:
    ended = rowspace(command, "--help")
    assert ended.code == 0
    assert "Examples" in ended.out
    assert f"rowspace {command}" in ended.out


@pytest.mark.parametrize(
    "command", [[], *([name] for name in COMMANDS), ["budget", "create"], ["budget", "resume"]]
)
def test_help_fits_80_columns(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    lines = rowspace(*command, "--help").out.splitlines()
    start = next(index for index, line in enumerate(lines) if line.strip() == "Examples")
    examples = lines[start + 1 : lines.index(" " * 80, start)]
    assert examples
    assert all(line.startswith("   rowspace ") for line in examples), (
        "an example was wrapped or lost its margin"
    )
    assert not any("<bool>" in line for line in lines)
