"""Plan and release files: one JSON document plus arrays in a zip archive, written whole or not at all.

Reading trusts nothing: no pickle, sizes are checked before memory is taken, and whatever is wrong is a `FileError`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import secrets
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from .exceptions import FileError

Arrays = dict[str, np.ndarray[Any, Any]]

MAX_BYTES = 2**33
"""Most bytes a file may unpack to."""

MAX_DOCUMENT = 2**26
"""Most bytes of the JSON document."""


def write_archive(
    path: str | os.PathLike[str], kind: str, version: int, body: dict[str, Any], arrays: Arrays
) -> None:
    """Write `body` and `arrays` to `path`: to a temporary file beside it, flushed to disk, then renamed."""
    content = archive_bytes(kind, version, body, arrays)
    write_whole(path, lambda file: file.write(content))


def archive_bytes(kind: str, version: int, body: dict[str, Any], arrays: Arrays) -> bytes:
    """What `write_archive` writes: equal input gives equal bytes, whenever it is packed."""
    document = json.dumps({"kind": kind, "version": version, "body": body}, allow_nan=False, indent=1)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        # Not writestr, which stamps the time of day on its entry.
        with archive.open("document.json", "w") as entry:
            entry.write(document.encode())
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.ascontiguousarray(array), allow_pickle=False)
    return packed.getvalue()


def write_whole(path: str | os.PathLike[str], fill: Any) -> None:
    """Call `fill(file)` on a temporary file and put it in place only when it is complete and on disk."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        # O_EXCL: never somebody else's file; mode 0666 less the umask: published files are readable as usual.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(descriptor, "wb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise FileError(f"cannot write {target.name}: {reason}; nothing was written") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def read_archive(path: str | os.PathLike[str], kind: str, version: int) -> tuple[dict[str, Any], Arrays]:
    """The body and arrays of a file that `write_archive` wrote with this kind and version."""
    name = Path(path).name
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if sum(entry.file_size for entry in entries) > MAX_BYTES:
                raise FileError(f"{name} is damaged: it unpacks to more than {MAX_BYTES} bytes")
            document = _read_entry(archive, "document.json", MAX_DOCUMENT)
            arrays = {
                entry.filename.removesuffix(".npy"): _read_array(archive, entry.filename)
                for entry in entries
                if entry.filename.endswith(".npy")
            }
        content = json.loads(document)
    except FileNotFoundError:
        raise FileError(f"{name} does not exist; expected a {kind} file") from None
    except OSError as error:
        raise FileError(f"cannot read {name}: {error.strerror or 'not a readable file'}") from None
    except (
        zipfile.BadZipFile,
        zlib.error,
        KeyError,
        ValueError,
        EOFError,
        NotImplementedError,
        RuntimeError,
    ):
        raise FileError(f"{name} is damaged or is no {kind} file") from None
    if (
        not isinstance(content, dict)
        or content.get("kind") != kind
        or not isinstance(content.get("body"), dict)
    ):
        raise FileError(f"{name} is no {kind} file")
    if content.get("version") != version:
        raise FileError(
            f"{name} has format version {content.get('version')!r}; this rowspace reads version {version}"
        )
    return content["body"], arrays


def _read_entry(archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    with archive.open(name) as entry:
        data = entry.read(limit + 1)
    if len(data) > limit:
        raise FileError(f"damaged file: {name} is larger than {limit} bytes")
    return data


def _read_array(archive: zipfile.ZipFile, name: str) -> np.ndarray[Any, Any]:
    # The header is read by numpy without pickle; the size it claims must match the bytes that are there.
    data = _read_entry(archive, name, MAX_BYTES)
    array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    if array.dtype.kind not in "iuf":
        raise ValueError("unexpected dtype")
    return array
