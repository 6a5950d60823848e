"""What an operator sets once: the ledger, the dataset, the log and the threads.

An option of the command comes first, then the environment (ROWSPACE_LEDGER, ROWSPACE_DATASET, ROWSPACE_LOG,
ROWSPACE_THREADS), then a file: the one that ROWSPACE_CONFIG names, else `rowspace.toml` in the current folder, else
`[tool.rowspace]` of the `pyproject.toml` there.

`--log json`: a line of JSON for every charge and for the end of every command, on standard error or in a file.

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
import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rowspace._version import __version__
from rowspace.exceptions import InvalidInput

KEYS = {"ledger": str, "dataset": str, "log": str, "threads": int}

_WORDS = {str: "a text", int: "a whole number"}


def setting(name: str) -> str | None:
    """What is set under a name, in the environment or else in the file; None if nothing is.

    Raises:
        InvalidInput: The file is not there, no TOML, or has a key that means nothing.
    """
    value = os.environ.get(f"ROWSPACE_{name.upper()}") or _from_file().get(name)
    return None if value is None else str(value)


def threads() -> int | None:
    """How many threads engines and linear algebra may use."""
    value = setting("threads")
    if value is None:
        return None
    if not value.isascii() or not value.isdigit() or not 0 < int(value) <= 4096:
        raise InvalidInput("expected threads (ROWSPACE_THREADS) as a whole number above 0")
    return int(value)


def _from_file() -> dict[str, Any]:
    named = os.environ.get("ROWSPACE_CONFIG")
    if named:
        return _checked(_read(Path(named)), named)
    if Path("rowspace.toml").is_file():
        return _checked(_read(Path("rowspace.toml")), "rowspace.toml")
    if Path("pyproject.toml").is_file():
        tools = _read(Path("pyproject.toml")).get("tool")
        own = tools.get("rowspace", {}) if isinstance(tools, dict) else {}
        return _checked(own, "[tool.rowspace] of pyproject.toml")
    return {}


def _read(path: Path) -> dict[str, Any]:
    """A TOML file; the message quotes nothing of it, which may hold a password."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"the settings {path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise InvalidInput(
            f'the settings {path} are no TOML: expected lines such as ledger = "budget.db"'
        ) from None


def _checked(found: Any, where: str) -> dict[str, Any]:
    """The settings, each of a known name and kind."""
    if not isinstance(found, dict):
        raise InvalidInput(f'{where}: expected lines such as ledger = "budget.db"')
    for key, value in found.items():
        if key not in KEYS:
            raise InvalidInput(f"{where}: unknown key {key[:40]!r}; expected {', '.join(KEYS)}")
        if type(value) is not KEYS[key]:
            raise InvalidInput(f"{where}: expected {key} as {_WORDS[KEYS[key]]}")
    return found


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
