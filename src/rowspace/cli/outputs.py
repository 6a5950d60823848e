"""Which files may be written: decided for all of them before anything is planned, measured or spent."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rowspace.exceptions import FileError, InvalidInput
from rowspace.files import write_whole

PAGES = (".html", ".htm")
"""Endings of web pages."""


def check_writable(paths: Sequence[Path], *, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Refuse, before any work, what could not be written in the end.

    Raises:
        FileError: A file exists (and `force` is off), its folder does not or takes no files, two names are one
            file, or it is one of the `inputs`, which not even `force` overwrites.
    """
    seen: set[str] = set()
    read = {os.path.realpath(path) for path in inputs}
    for path in paths:
        # A link stays and the file that it leads to is written: two links to one file are one output.
        target = os.path.realpath(path)
        folder = Path(target).parent if os.path.islink(path) else path.absolute().parent
        if _is_data_of(inputs, Path(target)):
            raise FileError(
                f"cannot write {path}: it would be part of the data the next time; choose another folder"
            )
        if target in read:
            raise FileError(f"cannot write {path}: it is also read; choose another name")
        if os.path.isdir(path):
            raise FileError(f"cannot write {path}: it is a folder; name a file in it")
        if not os.path.isdir(folder):
            raise FileError(f"cannot write {path}: there is no folder {folder}; create it first")
        if os.path.exists(path) and not os.path.isfile(path):
            raise FileError(f"cannot write {path}: it is a device or a pipe; name a file")
        if target in seen:
            raise FileError(f"{path} is named twice as an output; name it once")
        seen.add(target)
        if os.path.lexists(path) and not force:
            raise FileError(
                f"{path} exists and is left as it is; choose another name, or overwrite with --force"
            )
        _try(path, folder)


def _is_data_of(inputs: Sequence[Path], target: Path) -> bool:
    """Whether a file would be in a folder or of a pattern that is read."""
    many = [place for place in inputs if not place.is_file()]
    if not many:
        return False
    from rowspace.sources import may_read

    return any(may_read(place, target) for place in many)


def check_endings(paths: Sequence[Path], known: Sequence[str]) -> None:
    """Refuse a name whose ending does not tell one of the formats that are written.

    Raises:
        InvalidInput: A name ends otherwise.
    """
    for path in paths:
        if path.suffix.lower() not in known:
            raise InvalidInput(f"expected an output ending in one of {', '.join(known)}, got {path.name!r}")


def make_folder(folder: Path) -> None:
    """Make a folder for several files, unless it is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise FileError(
            f"expected a folder to write to, and {folder} is a file; choose another name"
        ) from None
    except OSError as error:
        raise FileError(f"cannot make the folder {folder}: {_reason(error)}; choose another") from None


def _try(path: Path, folder: Path) -> None:
    """Look the name up, make a file beside it and let it go: permissions alone do not tell of special folders."""
    try:
        with contextlib.suppress(FileNotFoundError):
            os.stat(path)
    except OSError as error:
        raise FileError(f"cannot write {path}: {_reason(error)}; choose another name") from None
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise FileError(
            f"cannot write {path}: its folder takes no files ({_reason(error)}); choose another"
        ) from None


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    write_whole(path, lambda file: file.write(text.encode()))
