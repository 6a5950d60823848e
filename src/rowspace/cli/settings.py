"""What an operator sets once: the ledger, the dataset, the log and the threads.

An option of the command comes first, then the environment (ROWSPACE_LEDGER, ROWSPACE_DATASET, ROWSPACE_LOG,
ROWSPACE_THREADS), then a file: the one that ROWSPACE_CONFIG names, else `rowspace.toml` in the current folder, else
`[tool.rowspace]` of the `pyproject.toml` there.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

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
