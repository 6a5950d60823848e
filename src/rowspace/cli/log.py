"""`--log json`: a line of JSON for every charge and for the end of every command, on standard error or in a file.

Who ran it, on which machine, under which job, what was charged for which plan. Nothing of the data is in it: no answer,
no message, no path.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from rowspace._version import __version__
from rowspace.exceptions import InvalidInput

from .settings import setting

#: Where a scheduler's run has its id, the first that is set.
JOBS = ("ROWSPACE_JOB", "AIRFLOW_CTX_DAG_RUN_ID", "DBT_CLOUD_RUN_ID", "SLURM_JOB_ID")

_LOGGER = "rowspace"


class Log:
    """The lines of one command; without a place for them, none."""

    def __init__(self, place: str | None, words: Sequence[str]) -> None:
        self._start = time.monotonic()
        self._command = " ".join(_command(words))
        self._handler = None if place is None else _handler(place)
        if self._handler is not None:
            logger = logging.getLogger(_LOGGER)
            self._before = (logger.level, logger.propagate)
            self._handler.setFormatter(_Lines(self._command))
            logger.addHandler(self._handler)
            logger.setLevel(logging.INFO)
            logger.propagate = False

    def end(self, code: int) -> None:
        """Say how it ended, and close the log."""
        if self._handler is None:
            return
        seconds = round(time.monotonic() - self._start, 3)
        logger = logging.getLogger(_LOGGER)
        logger.info("end", extra={"rowspace": {"exit": code, "seconds": seconds}})
        logger.removeHandler(self._handler)
        logger.level, logger.propagate = self._before
        self._handler.close()


class _Lines(logging.Formatter):
    """Records as JSON."""

    def __init__(self, command: str) -> None:
        super().__init__()
        job = next((os.environ[name] for name in JOBS if os.environ.get(name)), None)
        self._all = {
            "command": command,
            "version": __version__,
            "who": _who(),
            "host": platform.node(),
            "job": job,
        }

    def format(self, record: logging.LogRecord) -> str:
        """One line; what is no event of ours is only named."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        about = {"time": moment, "event": record.getMessage() if hasattr(record, "rowspace") else record.name}
        return json.dumps(about | self._all | {"pid": record.process} | getattr(record, "rowspace", {}))


def wanted(words: list[str]) -> tuple[str | None, list[str]]:
    """Where the log goes, and the words of the command without the option that says so, which may stand anywhere."""
    own = words[: words.index("--")] if "--" in words else words
    rest, place = list(words), setting("log")
    for at, word in enumerate(own):
        if word == "--log" and at + 1 < len(own):
            place = own[at + 1]
            del rest[at : at + 2]
            break
        if word.startswith("--log="):
            place = word.removeprefix("--log=")
            del rest[at]
            break
    return place, rest


def _handler(place: str) -> logging.Handler:
    """Standard error, or a file that is added to."""
    kind, _, file = place.partition(":")
    if kind != "json":
        raise InvalidInput("expected --log json, for standard error, or --log json:FILE")
    if not file:
        return logging.StreamHandler(sys.stderr)
    try:
        return logging.FileHandler(file, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"the log cannot be written: {error.strerror}; name another file") from None


def _command(words: Sequence[str]) -> list[str]:
    """The command without its arguments, which name files."""
    named = [word for word in words[:2] if word.isalpha()]
    return named if named[:1] == ["budget"] else named[:1]


def _who() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"
