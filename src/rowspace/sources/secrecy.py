"""The border where errors, warnings and logs of other libraries lose their text."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from rowspace.exceptions import RowspaceError, SourceError
from rowspace.sources.silence import silence

__all__ = ["attempt", "end_quietly"]

_Result = TypeVar("_Result")

#: What a server's SQLSTATE, or its first two characters, says about why: a code holds no data.
_REASONS = {
    "42501": "these credentials may not read it",
    "57P": "the server ended the connection",
    "08": "the connection was lost",
    "53": "the server has no disk, memory or connections left",
    "57014": "the server cancelled the query, perhaps after a time limit of its own",
}


#: What says that the process is to end, and nothing about data.
_COMMANDS = (KeyboardInterrupt, SystemExit, GeneratorExit)


def attempt(action: Callable[[], _Result], failure: str) -> _Result:
    """Return what `action` returns; if it fails, raise a SourceError that says `failure` and nothing else.

    Engines quote data in their messages ("Could not convert string '…' to DOUBLE"), so neither their text
    nor the exception itself may survive: not as a message, not as `__cause__`, not as `__context__`.

    Guarantees:
        - No text of the failure is kept, whatever its type:
          `test_secrecy.py::test_attempt_keeps_nothing_of_the_failure`. A server's error code is put in our own
          words: `test_secrecy.py::test_codes_of_servers_become_words`.
        - No warning of another library is shown: `test_secrecy.py::test_attempt_silences_warnings`. Nothing is logged:
          `test_silence.py::test_nothing_is_logged_by_an_engine`; and nothing is written to the process's own streams:
          `test_silence.py::test_a_child_process_says_nothing`,
          `tests/engines/test_silence.py::test_a_child_process_says_nothing`.
    """
    try:
        with silence():
            return action()
    except (RowspaceError, *_COMMANDS):
        raise  # written by us, free of data
    except (
        BaseException
    ) as error:  # any type: every engine, driver and file format has its own, Rust's panics too
        reason = _reason(error)
    # Raised here rather than in the handler, where Python would keep the failure as __context__.
    raise SourceError(f"{failure} ({reason})" if reason else failure)


def end_quietly(action: Callable[[], object]) -> None:
    """End a connection; that it may be lost already is no failure any more, and its text may quote data."""
    with suppress(SourceError):
        attempt(action, "it had ended before")


def _reason(error: BaseException) -> str | None:
    """Why, in words of our own, where a server gave a code."""
    code = getattr(error, "sqlstate", None)
    if not isinstance(code, str):
        return None
    return next((words for known, words in _REASONS.items() if code.startswith(known)), None)
