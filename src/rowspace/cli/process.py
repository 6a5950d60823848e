"""The process around the program: it leaves quietly when it is told to, and writes to whatever streams it was given.

Imports nothing that takes time, so that it is in force before anything that does.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

#: Ctrl-C, a polite kill, a terminal that was closed (not on every system).
_STOPS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

_INTERRUPTED = 128 + signal.SIGINT


def begin() -> None:
    """While the program loads there is nothing to tidy up: leave at once, with the shell's code for the signal."""
    _mend_streams()
    for number in _heeded():
        signal.signal(number, lambda number, _: os._exit(128 + number))


def guarded(run: Callable[[], int]) -> int:
    """The exit code of the program, whenever it is stopped. What is half done is undone on the way out."""
    try:
        for number in _heeded():
            signal.signal(number, _end)
        code = run()
    except KeyboardInterrupt:
        code = _INTERRUPTED
    for number in _STOPS:
        signal.signal(number, signal.SIG_IGN)  # all is done: what is left is the interpreter's own end
    return code


def _heeded() -> list[int]:
    """The signals that whoever started this process has not told it to ignore, as nohup does."""
    return [number for number in _STOPS if signal.getsignal(number) is not signal.SIG_IGN]


def _end(number: int, frame: FrameType | None) -> NoReturn:
    """End by an exception, so that temporary files are removed; not by the one that ends a search with its best."""
    sys.exit(128 + number)


def _mend_streams() -> None:
    """Closed streams take anything, and one that lacks a letter shows its number: a release is paid for by then."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
