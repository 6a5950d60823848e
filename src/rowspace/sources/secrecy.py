"""The border where errors and warnings of other libraries lose their text."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeVar

from rowspace.exceptions import RowspaceError, SourceError

__all__ = ["attempt"]

_Result = TypeVar("_Result")


def attempt(action: Callable[[], _Result], failure: str) -> _Result:
    """Return what `action` returns; if it fails, raise a SourceError that says `failure` and nothing else.

    Engines quote data in their messages ("Could not convert string '…' to DOUBLE"), so neither their text
    nor the exception itself may survive: not as a message, not as `__cause__`, not as `__context__`.

    Guarantees:
        - No text of the failure is kept, whatever its type:
          `test_secrecy.py::test_attempt_keeps_nothing_of_the_failure`.
        - No warning of another library is shown: `test_secrecy.py::test_attempt_silences_warnings`.
    """
    try:
        with warnings.catch_warnings():
            # Warnings may quote data too. (DuckDB 2 also deprecates a method that Ibis 12 still calls.)
            warnings.simplefilter("ignore")
            return action()
    except RowspaceError:
        raise  # written by us, free of data
    except Exception:  # any type: every engine, driver and file format has its own
        pass
    # Raised here rather than in the handler, where Python would keep the failure as __context__.
    raise SourceError(failure)
