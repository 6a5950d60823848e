"""Which files may be written: decided for all of them before anything is planned, measured or spent."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from rowspace.exceptions import FileError
from rowspace.files import write_whole


def check_writable(paths: Sequence[Path], *, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Refuse, before any work, what could not be written in the end.

    Raises:
        FileError: A file exists (and `force` is off), its folder does not or takes no files, two names are one
            file, or it is one of the `inputs`, which not even `force` overwrites.
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
        if target.exists() and not force:
            raise FileError(
                f"{path} exists and is left as it is; choose another name, or overwrite with --force"
            )
        _try_folder(path, target.parent)


def _try_folder(path: Path, folder: Path) -> None:
    """Make a file in the folder and let it go: permissions alone do not tell of read-only and special folders."""
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise FileError(
            f"cannot write {path}: its folder takes no files ({reason}); choose another"
        ) from None


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    write_whole(path, lambda file: file.write(text.encode()))
