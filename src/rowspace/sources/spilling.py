"""Where an embedded engine may put what does not fit in memory: a folder that only this user can look into.

What is spilled holds records as they are. The folder has mode 0700 and is removed with the connection. A lock on it is
held as long as the process lives, so that what a killed one left is known, and removed by the next that starts.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

__all__ = ["private_folder"]

_PREFIX = "rowspace-spill-"


def private_folder() -> tuple[Path, Callable[[], None]]:
    """A new folder of mode 0700 below the system's (or TMPDIR), and how to remove it."""
    _sweep(Path(tempfile.gettempdir()))
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        held = _lock(folder)
        # Between the two somebody else's sweep could have found it without a lock.
        if held is not None and folder.is_dir():
            break

    def remove() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)

    return folder, remove


def _sweep(parent: Path) -> None:
    """Remove the folders of this user that nobody holds."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            held = _lock(folder)
            if held is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(held)


def _lock(folder: Path) -> int | None:
    """A descriptor that holds the folder; None if somebody else does, or it is gone."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
