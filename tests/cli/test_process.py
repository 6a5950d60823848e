"""The program as the shell sees it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import process


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
    assert ended.stderr == "error: No space left on device\n"


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


def test_an_interrupt_while_the_program_loads() -> None:
    interrupted = (
        "import sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'rowspace.cli.plan': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from rowspace.cli import main\n"
        "main(['plan', 'study.toml'])\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", interrupted], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


def test_an_interrupt(folder: Path) -> None:
    """Reading a pipe that nobody writes to is where the program can be caught at work."""
    pipe = folder / "pipe.toml"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "rowspace.cli", "plan", str(pipe)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    writer = os.open(pipe, os.O_WRONLY)  # returns once the program has opened the other end
    time.sleep(0.2)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    os.close(writer)
    assert running.returncode == 130
    assert "Traceback" not in out + err
