"""Hear everything that is said while something runs: file descriptors, logs of every level, warnings, whole errors."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Heard:
    """How a run ended and all it said."""

    ending: str
    out: str
    err: str

    @property
    def everything(self) -> str:
        """All text at once."""
        return "\n".join((self.ending, self.out, self.err))


def listen(action: Callable[[], object]) -> Heard:
    """Run an action in this process. `ending` is its exit code or its error with the whole chain of causes."""
    out, err = io.StringIO(), io.StringIO()
    handler, root = logging.StreamHandler(err), logging.getLogger()
    level = root.level
    ending = "0"
    with tempfile.TemporaryFile() as descriptors, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        saved = [os.dup(1), os.dup(2)]
        root.addHandler(handler)
        root.setLevel(logging.DEBUG)
        try:
            for number in (1, 2):
                os.dup2(descriptors.fileno(), number)
            with redirect_stdout(out), redirect_stderr(err):
                action()
        except SystemExit as end:
            ending = str(end.code)
        except Exception as error:  # whatever it is, the question is what it says
            ending = _everything_said_by(error)
        finally:
            for number, kept in zip((1, 2), saved, strict=True):
                os.dup2(kept, number)
                os.close(kept)
            root.setLevel(level)
            root.removeHandler(handler)
        descriptors.seek(0)
        written = descriptors.read().decode(errors="replace")
        said = "".join(f"{w.category.__name__}: {w.message}\n" for w in warned)
    return Heard(ending, out.getvalue() + written, err.getvalue() + said)


def _everything_said_by(error: BaseException) -> str:
    """The formatted chain, and causes and notes that formatting would hide."""
    said = "".join(traceback.format_exception(error))
    chain: list[BaseException | None] = [error]
    while chain:
        link = chain.pop()
        if link is not None:
            said += repr(link) + repr(link.args) + repr(getattr(link, "__notes__", []))
            chain += [link.__cause__, link.__context__]
    return said


def listen_to_process(folder: Path, *arguments: str) -> Heard:
    """Run the command line in a process of its own, with progress lines as on a terminal and all warnings on."""
    command = [sys.executable, "-X", "dev", "-W", "always::UserWarning", "-m", "rowspace.cli", *arguments]
    environment = {**os.environ, "FORCE_COLOR": "1", "PYTHONFAULTHANDLER": "1"}
    ended = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, check=False, timeout=300
    )
    return Heard(
        str(ended.returncode), ended.stdout.decode(errors="replace"), ended.stderr.decode(errors="replace")
    )
