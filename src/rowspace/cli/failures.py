"""Expected failures: one line on standard error and an exit code. A bug keeps its traceback."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable

from rich.console import Console
from rich.text import Text

from rowspace.exceptions import RowspaceError

FAILED = 1
INTERRUPTED = 130

_LONGEST_LINE = 1000
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def exit_code(action: Callable[[], object]) -> int:
    """Run the command line and say how it ended: 0 done, 1 refused or failed, 2 misused, 128 + n by signal n."""
    try:
        return _code(action)
    except RowspaceError as error:
        return _fail(str(error))
    except MemoryError:
        return _fail("not enough memory; use fewer attributes or coarser bins")
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        _abandon_output()
        if error.errno == errno.EPIPE:  # the reader of a pipe has seen enough: nothing to say
            return FAILED
        return _fail(_about(error))


def _code(action: Callable[[], object]) -> int:
    """The exit code of an action that may end in `SystemExit`, with all its output delivered."""
    try:
        action()
        code: object = 0
    except SystemExit as end:
        code = end.code
    sys.stdout.flush()  # here, where a full disk can still be reported
    return code if isinstance(code, int) else FAILED if code else 0


def _about(error: OSError) -> str:
    """What failed and why; files say their name, standard output has none."""
    reason = error.strerror or type(error).__name__
    if isinstance(error.filename, str):
        return f"{error.filename}: {reason}"
    if error.errno in _NO_ROOM:
        return f"standard output cannot be written: {reason}; make room, or send it elsewhere"
    return reason


def _fail(message: str) -> int:
    """Print one line, whatever the message holds: pictures below it, or escape codes in file names."""
    line = "".join(c if c.isprintable() else " " for c in (message.splitlines() or [""])[0])
    line = line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + " …"
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(Text.assemble(("error: ", "bold red"), (line, "red")))
    return FAILED


def _abandon_output() -> None:
    """Send what is still buffered nowhere, or Python would fail on it again while it ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # not a real file: a test's
        return
