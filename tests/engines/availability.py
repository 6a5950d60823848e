"""Engines that a machine may lack: tests skip with the reason, unless the environment insists.

`ROWSPACE_ENGINES=postgres,spark` (what `make test-engines` sets) makes a missing engine a failure, so that a
green run proves that the engines were there.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import NoReturn

import pytest

VARIABLE = "ROWSPACE_ENGINES"


def unavailable(engine: str, reason: str) -> NoReturn:
    """Skip, or fail where the engine was asked for."""
    if engine in os.environ.get(VARIABLE, "").replace(",", " ").split():
        pytest.fail(f"{VARIABLE} asks for {engine}, but {reason}")
    pytest.skip(f"{engine}: {reason}")


def kill_all(pid: int) -> None:
    """End a process and all below it, the topmost first, so that it starts none anew."""
    said = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    below: dict[int, list[int]] = {}
    for line in said.splitlines():
        child, parent = map(int, line.split())
        below.setdefault(parent, []).append(child)
    found = [pid]
    for one in found:
        found += below.get(one, [])
    for one in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)
