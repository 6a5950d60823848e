"""A studio in a process of its own, as the command starts it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType


def _heed_interrupts() -> None:
    """Tests that are started in the background of a shell ignore Ctrl-C, and so would all that they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Studio:
    """A studio until the block ends. link: what it prints."""

    def __init__(self, study: Path, *words: str) -> None:
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - open while the process writes
        command = [sys.executable, "-m", "rowspace", "studio", str(study), *words, "--no-browser"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self.errors, text=True, preexec_fn=_heed_interrupts
        )
        assert self.process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/sign-in\?token=\S+", self.process.stdout.readline())
        assert found is not None, self.said()
        self.link = found.group()

    def said(self) -> str:
        """What it has written to standard error."""
        self.errors.seek(0)
        return self.errors.read()

    def interrupt(self) -> int:
        """Press Ctrl-C, and wait for the end."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(120)

    def __enter__(self) -> Studio:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.interrupt()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.errors.close()
