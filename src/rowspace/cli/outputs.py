"""Which files may be written: decided for all of them before anything is planned, measured or spent."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from rowspace.exceptions import FileError
from rowspace.files import write_whole


def check_writable(paths: Sequence[Path], *, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Refuse, before any work, what could not be written in the end.

    Raises:
        FileError: A file exists (and `force` is off), its folder does not, two names are one file, or it is
            one of the `inputs`, which not even `force` overwrites.
    """
    seen: set[Path] = set()
    read = {path.resolve() for path in inputs}
    for path in paths:
        target = path.absolute()
        if target in seen:
            raise FileError(f"{path} is named twice as an output; name it once")
        seen.add(target)
        if target.resolve() in read:
            raise FileError(f"cannot write {path}: it is also read; choose another name")
        if target.is_dir():
            raise FileError(f"cannot write {path}: it is a folder")
        if not target.parent.is_dir():
            raise FileError(f"cannot write {path}: there is no folder {target.parent}; create it first")
        if not os.access(target.parent, os.W_OK):
            raise FileError(f"cannot write {path}: no permission to write in its folder")
        if target.exists() and not force:
            raise FileError(
                f"{path} exists and is left as it is; choose another name, or overwrite with --force"
            )


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    write_whole(path, lambda file: file.write(text.encode()))
