"""The program as the shell sees it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import process


@pytest.fixture(autouse=True)
def _as_from_a_terminal() -> Iterator[None]:
    """Signals that these tests were started to ignore, in the background or by nohup, are not ignored by children."""
    ignored = [
        number
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is signal.SIG_IGN
    ]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


def test_exit_codes_and_streams(folder: Path) -> None:
    done = process("plan", folder / "study.toml", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["queries"] == 212
    refused = process("plan", folder / "nothing.toml")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("error: expected a study file")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_under_standard_output(folder: Path) -> None:
    command = [sys.executable, "-m", "rowspace.cli", "plan", str(folder / "study.toml")]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60
        )
    assert ended.returncode == 1
    assert ended.stderr.startswith(
        "error: standard output cannot be written: No space left on device; make room"
    )


@pytest.mark.parametrize("option", [[], ["--json"]])
def test_a_closed_pipe(folder: Path, option: list[str]) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [sys.executable, "-m", "rowspace.cli", "plan", str(folder / "study.toml"), *option]
    ended = subprocess.run(
        command, stdout=write_end, stderr=subprocess.PIPE, text=True, check=False, timeout=60
    )
    os.close(write_end)
    assert ended.returncode == 1
    assert ended.stderr == ""


ENTRIES = {
    "script": "from rowspace.cli import main; main()",
    "python -m rowspace": "import runpy; runpy.run_module('rowspace', run_name='__main__', alter_sys=True)",
    "python -m rowspace.cli": "import runpy; runpy.run_module('rowspace.cli', run_name='__main__', alter_sys=True)",
}


@pytest.mark.parametrize(
    ("entry", "stop", "module"),
    [
        *((entry, signal.SIGINT, "numpy") for entry in ENTRIES),
        ("script", signal.SIGINT, "typer"),
        ("script", signal.SIGINT, "rowspace.cli.plan"),
        ("python -m rowspace", signal.SIGTERM, "numpy"),
        ("script", signal.SIGHUP, "typer"),
    ],
)
def test_a_signal_while_the_program_loads(entry: str, stop: signal.Signals, module: str) -> None:
    """Quiet from the first library that takes time: one is sent just as some module is about to be loaded."""
    stopped = (
        "import os, sys\n"
        "class Stop:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), {int(stop)})\n"
        "sys.meta_path.insert(0, Stop())\n"
        f"{ENTRIES[entry]}\n"
    )
    command = [sys.executable, "-c", stopped, "plan", "study.toml"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (128 + stop, "", "")


STOPPED_WRITING = """
import os, sys
import rowspace.files as files
number, fsync = int(sys.argv.pop()), files.os.fsync
def stop(descriptor):
    fsync(descriptor)
    os.kill(os.getpid(), number)
files.os.fsync = stop
from rowspace.cli import main
main()
"""


@pytest.mark.parametrize(
    "stop",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGINT, marks=pytest.mark.long),
        pytest.param(signal.SIGHUP, marks=pytest.mark.long),
    ],
)
def test_a_signal_between_charge_and_output(folder: Path, stop: signal.Signals) -> None:
    """Nothing half-written is left, and one line says how to have what was paid for."""
    ledger = folder / "budget.db"
    assert process("budget", "create", ledger, "people", "--epsilon", "1").returncode == 0
    before = {path.name for path in folder.iterdir()}
    command = ["release", folder / "study.toml", folder / "people.csv", "--ledger", ledger]
    command += ["-o", folder / "a.csv", int(stop)]
    ended = subprocess.run(
        [sys.executable, "-c", STOPPED_WRITING, *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 128 + stop
    advice = f"the charge is made; have the release at no cost: rowspace budget resume {ledger} 1 -o FILE\n"
    assert (ended.stdout, ended.stderr) == ("", advice)
    assert {path.name for path in folder.iterdir()} == before


STOPPED_PLANNING = """
import os, signal, time
from rowspace import planning
plan = planning.plan
def search(*arguments, **settings):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    except KeyboardInterrupt:
        return plan(*arguments, **settings)
planning.plan = search
from rowspace.cli import main
main()
"""


def test_an_interrupt_while_planning_does_not_go_on_to_release(folder: Path) -> None:
    """In Python an interrupt ends a search with the best so far; a command must end altogether."""
    command = ["release", "--no-ledger", folder / "study.toml", folder / "people.csv", "-o", folder / "a.csv"]
    ended = subprocess.run(
        [sys.executable, "-c", STOPPED_PLANNING, *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")
    assert not (folder / "a.csv").exists()


def test_a_signal_that_is_ignored_stays_ignored(folder: Path) -> None:
    """As under nohup."""
    command = ["nohup", sys.executable, "-c", STOPPED_WRITING, "plan", str(folder / "study.toml")]
    command += ["--save", str(folder / "a.plan"), str(int(signal.SIGHUP))]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
    assert ended.returncode == 0
    assert (folder / "a.plan").exists()


@pytest.mark.parametrize("stream", [1, 2])
def test_a_closed_stream(folder: Path, stream: int) -> None:
    """Closed standard output or standard error is nobody listening, no failure."""
    command = f"exec '{sys.executable}' -m rowspace plan '{folder / 'study.toml'}' --json {stream}>&-"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(
    "encoding",
    [
        "ascii",
        pytest.param("ascii:surrogateescape", marks=pytest.mark.long),
        pytest.param("utf-8:strict", marks=pytest.mark.long),
    ],
)
def test_a_terminal_that_lacks_letters(folder: Path, encoding: str) -> None:
    """Neither an error's sign nor a file name that is no text may end a command after the budget is charged."""
    name = os.fsdecode(os.fsencode(folder) + b"/odd-\xff.csv")
    release = ("release", "--no-ledger", folder / "study.toml", folder / "people.csv", "-o", name)
    for command in (("plan", folder / "study.toml"), release, (*release, "--json", "--force")):
        ended = process(*command, PYTHONIOENCODING=encoding)
        assert (ended.returncode, ended.stderr) == (0, "")
    assert json.loads(ended.stdout)["files"] == [name]


WAITING = """
import time
from rowspace.study import Study
def load(path):
    print("at work", flush=True)
    time.sleep(60)
Study.load = load
from rowspace.cli import main
main()
"""


def test_an_interrupt(folder: Path) -> None:
    """Caught at work: between reading a study and the end."""
    command = [sys.executable, "-c", WAITING, "plan", str(folder / "study.toml")]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    assert running.stdout.readline() == "at work\n"
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Traceback" not in out + err
