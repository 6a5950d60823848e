"""The command line: commands only. What they do is in the library; how it looks is in `rowspace.report`.

The words of commands are in `commands`, which load nothing; what they do is here, loaded when one runs.
`program` brings them together; `process` is about signals and standard streams, `screen` writes to the terminal,
`outputs` decides which files may be written, and `failures` turns every expected failure into one line (or a JSON
document) and an exit code.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

from . import process

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and end the process; with `arguments` it is somebody else's, whose signals stay."""
    if arguments is None:
        process.begin()
    from .program import run  # here: it takes a second, in which an interrupt is to end quietly too

    if arguments is not None:
        sys.exit(run(arguments))
    sys.exit(process.guarded(run))
