"""The command line: commands only. What they do is in the library; how it looks is in `rowspace.report`.

One file for each command, brought together in `program`; `screen` writes to the terminal, `outputs` decides which
files may be written, and `failures` turns every expected failure into one line and an exit code.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and end the process."""
    try:
        from .program import run  # here: it takes a second, in which an interrupt is to end quietly too
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    sys.exit(run(arguments))
