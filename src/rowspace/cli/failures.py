"""Expected failures: one line on standard error and an exit code. A bug keeps its traceback.

With ``--json`` the failure is the JSON document: ``{"error": {"kind": …, "message": …}}`` on standard output. What may
pass by itself (a busy ledger, a server that is away) ends with a code of its own and has ``"transient":
true`` there, so that a scheduler knows what to try again.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable

import typer

from rowspace.exceptions import RowspaceError

FAILED = 1
MISUSED = 2
TRANSIENT = 75  # EX_TEMPFAIL of sysexits.h
INTERRUPTED = 130

_LONGEST_LINE = 1000
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

#: Everything that is wrong with the words of a command: the parent of BadParameter, which Typer does not export.
_Misuse: type[Exception] = typer.BadParameter.__bases__[0]


def exit_code(action: Callable[[], object], *, as_json: bool = False) -> int:
    """Run the command line and say how it ended: by the codes above, or 0 when it is done."""
    try:
        return _code(action)
    except RowspaceError as error:
        return _fail(type(error).__name__, str(error), as_json, transient=error.transient)
    except _Misuse as error:
        return _fail_misused(error, as_json)
    except MemoryError:
        return _fail("MemoryError", "not enough memory; use fewer attributes or coarser bins", as_json)
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        _abandon_output()
        if error.errno == errno.EPIPE:  # the reader of a pipe has seen enough: nothing to say
            return FAILED
        return _fail("OSError", _about(error), as_json)


def _code(action: Callable[[], object]) -> int:
    """The exit code of an action that returns it or ends in `SystemExit`, with all its output delivered."""
    try:
        code = action()
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


def _fail_misused(error: Exception, as_json: bool) -> int:
    """Say what is wrong with the words of a command, and where its help is; a group without a command is its help."""
    context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
    if type(error).__name__ == "NoArgsIsHelpError":  # its help is printed already
        return MISUSED
    # What a command raises itself is said as it is: "Invalid value: " before it says nothing.
    own = isinstance(error, typer.BadParameter) and parameter is None and error.param_hint is None
    said = error.message if own else error.format_message()  # type: ignore[attr-defined]
    said = said.replace("Value error, ", "")
    said = (said[:1].lower() + said[1:]).rstrip(".")
    help_page = "" if context is None else f"; see {context.command_path} --help"
    _fail("UsageError", f"{said}{help_page}", as_json)
    return MISUSED


def _fail(kind: str, message: str, as_json: bool, *, transient: bool = False) -> int:
    """Print one line, whatever the message holds: pictures below it, or escape codes in file names."""
    line = "".join(c if c.isprintable() else " " for c in (message.splitlines() or [""])[0])
    line = line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + " …"
    if as_json:
        # In ASCII: whatever standard output takes, and whatever is wrong with a name.
        failure = {"kind": kind, "message": line, **({"transient": True} if transient else {})}
        sys.stdout.write(json.dumps({"error": failure}, indent=2) + "\n")
        return TRANSIENT if transient else FAILED
    from rich.console import Console  # here: most commands end well, and Tab needs none of it
    from rich.text import Text

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(Text.assemble(("error: ", "bold red"), (line, "red")))
    return TRANSIENT if transient else FAILED


def _abandon_output() -> None:
    """Send what is still buffered nowhere, or Python would fail on it again while it ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # not a real file: a test's
        return
