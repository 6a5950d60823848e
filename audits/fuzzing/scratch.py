"""A folder for the files that parsers want."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

_kept: list[Any] = []


@cache
def scratch() -> Path:
    """The folder of this process, gone when it ends."""
    folder = tempfile.TemporaryDirectory(prefix="rowspace-fuzz-")
    _kept.append(folder)
    return Path(folder.name)


def put(data: bytes, name: str) -> Path:
    """A file with these bytes."""
    path = scratch() / name
    path.write_bytes(data)
    return path
