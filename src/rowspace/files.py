"""Plan and release files: one JSON document plus arrays in a zip archive, written whole or not at all.

Reading trusts nothing: no pickle, sizes are checked before memory is taken, and whatever is wrong is a `FileError`.

Guarantees
- Any bytes give a document and arrays or one `FileError`
  (tests/hostile/test_fuzz.py::test_plan_files, tests/hostile/test_fuzz.py::test_release_files).
- A file of c bytes makes at most 2²⁸ + 64·c bytes of arrays and a document of at most `MAX_ITEMS` values, decided
  before they are unpacked (tests/hostile/test_bounded.py::test_a_hostile_file_fails_fast_and_small).
- Reading evaluates nothing: no pickle, no literals, a header must match one pattern
  (tests/hostile/test_bounded.py::test_reading_a_file_executes_nothing).
- Only regular files are read or replaced: a device, a pipe or a folder, or a link to one, is one clear error, and
  nothing waits for it; links stay links (tests/hostile/test_regular_files.py::test_only_regular_files_are_read,
  ::test_no_device_is_replaced, ::test_links_stay_links).
- Hidden files that killed processes left are swept
  (tests/hostile/test_regular_files.py::test_abandoned_files_are_swept).
- What was written can be read (tests/hostile/test_bounded.py::test_what_could_not_be_read_is_not_written).
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import math
import os
import re
import secrets
import stat
import struct
import time
import zipfile
import zlib
from abc import ABC, abstractmethod
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self

import numpy as np

from .exceptions import FileError

Arrays = dict[str, np.ndarray[Any, Any]]

MAX_BYTES = 2**33
"""Most bytes a file may unpack to."""

MAX_DOCUMENT = 2**26
"""Most bytes of the JSON document."""

MAX_ITEMS = 2**23
"""Most values in the JSON document, by its commas and brackets: parsed, each takes tens of bytes."""

MAX_ENTRIES = 2**20
"""Most entries of the archive."""

# Noise does not compress: an archive that unpacks to far more than it weighs is made to fill memory.
_FREE_BYTES = 2**28
_MAX_RATIO = 64
_LONGEST_HEADER = 256

_NAME_LENGTH = 26
"""Where in the header of an entry stands how long its name is, and its extra field."""

_KEPT_BYTES = 2**20
"""Most bytes of an array that is remembered."""

_TEMPORARY = re.compile(r"\.rowspace-[0-9a-f]{16}")
_ABANDONED = 3600.0

# What numpy writes for the arrays of a plan, and nothing else: whole or real numbers, in C order.
_HEADER = re.compile(
    rb"\{'descr': '([<>|](?:[iu][1248]|f[248]))', 'fortran_order': False, "
    rb"'shape': \(((?:\d{1,18}, ?)*\d{0,18})\), \} *\n"
)

_KIND = re.compile(rb'\{\s*"kind": "([a-z ]{1,40})"')


def write_archive(
    path: str | os.PathLike[str],
    kind: str,
    version: int,
    body: dict[str, Any],
    arrays: Arrays,
    *,
    secret: bool = False,
) -> None:
    """Write `body` and `arrays` to `path`: to a temporary file beside it, flushed to disk, then renamed.

    secret: whether nobody but the user may read it.
    """
    content = archive_bytes(kind, version, body, arrays)
    write_whole(path, lambda file: file.write(content), secret=secret)


def archive_bytes(kind: str, version: int, body: dict[str, Any], arrays: Arrays) -> bytes:
    """What `write_archive` writes: equal input gives equal bytes, whenever it is packed."""
    document = json.dumps(
        {"kind": kind, "version": version, "body": body}, allow_nan=False, indent=1
    ).encode()
    if not _is_readable(document) or len(arrays) >= MAX_ENTRIES:
        raise FileError(
            f"cannot write this {kind}: its description exceeds {MAX_DOCUMENT:,} bytes, {MAX_ITEMS:,} values or "
            f"{MAX_ENTRIES:,} arrays, more than is read back; nothing was written"
        )
    size = len(document) + sum(array.nbytes + _LONGEST_HEADER for array in arrays.values())
    if size > MAX_BYTES:
        raise FileError(
            f"cannot write this {kind}: it takes {size:,} bytes, and at most {MAX_BYTES:,} are read back; nothing was "
            "written"
        )
    content = _pack(document, arrays, zipfile.ZIP_DEFLATED)
    # What compresses better than is believed of it, such as zeros without noise, is kept as it is.
    return content if size <= _most_bytes(len(content)) else _pack(document, arrays, zipfile.ZIP_STORED)


def _pack(document: bytes, arrays: Arrays, method: int) -> bytes:
    """The archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method, compresslevel=1) as archive:
        # Not writestr, which stamps the time of day on its entry.
        with archive.open("document.json", "w") as entry:
            entry.write(document)
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.ascontiguousarray(array), allow_pickle=False)
    return packed.getvalue()


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """A regular file for reading; an `OSError` for a folder, a device or a pipe, which could never end.

    >>> open_regular("/dev/null")
    Traceback (most recent call last):
    ...
    OSError: [Errno 22] it is a device, not a regular file
    """
    # Looked at before, because opening a device can set it going, and after, in case it was another then.
    require_regular(os.stat(path))
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe must not make us wait
    try:
        require_regular(os.fstat(descriptor))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def require_regular(status: os.stat_result) -> None:
    """An `OSError` that says what it is, unless it is a regular file."""
    if stat.S_ISREG(status.st_mode):
        return
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    what = kinds.get(stat.S_IFMT(status.st_mode), "a device")
    raise OSError(errno.EINVAL, f"it is {what}, not a regular file")


def write_whole(path: str | os.PathLike[str], fill: Any, *, secret: bool = False) -> None:
    """Call `fill(file)` on a temporary file and put it in place only when it is complete and on disk.

    A symbolic link stays: the file that it leads to is replaced, or made if there is none. secret: whether nobody but
    the user may read it.
    """
    temporary = None
    try:
        place = _place(Path(path))
        _sweep(place.absolute().parent)
        temporary = place.with_name(f".rowspace-{secrets.token_hex(8)}")  # short: a long name must fit too
        # O_EXCL: never somebody else's file; mode 0666 less the umask: published files are readable as usual.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if secret else 0o666)
        with os.fdopen(descriptor, "wb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, place)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise FileError(f"cannot write {Path(path).name or path}: {reason}; nothing was written") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def _place(path: Path) -> Path:
    """Where a file of this name is written, links followed; an `OSError` for a folder, a device or a pipe."""
    try:
        # Links of the system, such as /dev/stdin, lead where no path does: what they lead to is asked for first.
        with contextlib.suppress(FileNotFoundError):
            require_regular(os.stat(path))
    except ValueError:
        raise OSError(errno.EINVAL, "that is no file name") from None
    return Path(os.path.realpath(path)) if os.path.islink(path) else path


def _sweep(folder: Path) -> None:
    """Remove what killed processes left here: hidden files of ours that nobody has written to for an hour."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                ours = _TEMPORARY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
                if ours and time.time() - entry.stat(follow_symlinks=False).st_mtime > _ABANDONED:
                    os.unlink(entry.path)


def read_archive(path: str | os.PathLike[str], kind: str, version: int) -> tuple[dict[str, Any], Arrays]:
    """The body and arrays of a file that `write_archive` wrote with this kind and version."""
    name = Path(path).name
    try:
        with open_regular(path) as file:
            return unpack_archive(file, name, kind, version)
    except FileNotFoundError:
        raise FileError(f"{name} does not exist; expected a {kind} file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "that is no file name"
        raise FileError(f"cannot read {name}: {reason}") from None


def unpack_archive(file: BinaryIO, name: str, kind: str, version: int) -> tuple[dict[str, Any], Arrays]:
    """The body and arrays of an archive that is called `name`."""
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            _check_entries(entries, file.seek(0, os.SEEK_END))
            document = _read_document(archive)
            arrays = {
                entry.filename.removesuffix(".npy"): _read_array(file, entry)
                for entry in entries
                if entry.filename.endswith(".npy")
            }
        content = json.loads(document)
    except FileError as error:
        raise FileError(f"{name} is damaged: {error}") from None
    except (
        zipfile.BadZipFile,
        zlib.error,
        KeyError,
        ValueError,
        EOFError,
        NotImplementedError,
        RuntimeError,
        struct.error,
    ):
        raise FileError(f"{name} is damaged or is no {kind} file") from None
    if (
        not isinstance(content, dict)
        or content.get("kind") != kind
        or not isinstance(content.get("body"), dict)
    ):
        raise FileError(f"{name} is no {kind} file")
    if content.get("version") != version:
        got = repr(content.get("version"))[:20]
        raise FileError(f"{name} has format version {got}; this rowspace reads version {version}")
    return content["body"], arrays


def archive_kind(content: bytes) -> str | None:
    """What the bytes of an archive say they are, without unpacking more than that; None if they say nothing.

    >>> archive_kind(archive_bytes("rowspace plan", 1, {}, {}))
    'rowspace plan'
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, archive.open("document.json") as entry:
            found = _KIND.match(entry.read(_LONGEST_HEADER))
    except (
        zipfile.BadZipFile,
        zlib.error,
        KeyError,
        ValueError,
        EOFError,
        NotImplementedError,
        RuntimeError,
    ):
        return None
    return found[1].decode() if found else None


class Archived(ABC):
    """A value with a file of its own, an archive: the same bytes every time, so that their digest identifies it."""

    _archive: ClassVar[tuple[str, int]]
    """The kind of its file, such as "rowspace release", and the version of the format."""

    @abstractmethod
    def _encode(self) -> tuple[dict[str, Any], Arrays]:
        """The body and the arrays of its file."""

    @classmethod
    @abstractmethod
    def _decode(cls, body: dict[str, Any], arrays: Arrays) -> Self:
        """The value of a file that may come from anyone."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write its file, whole or not at all.

        path: where to write; by custom it ends in .release or .discovery.

        >>> from rowspace.sample import small_release
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     small_release().save(folder + "/small.release")
        ...     os.listdir(folder)
        ['small.release']
        """
        content = self.to_bytes()
        write_whole(path, lambda file: file.write(content))

    def to_bytes(self) -> bytes:
        """What `save` writes.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> release.to_bytes() == release.to_bytes()
        True
        """
        return archive_bytes(*self._archive, *self._encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` or the command line wrote, trusting nothing in it.

        path: the file.

        >>> import rowspace as rs
        >>> rs.Discovery.load("nowhere.discovery")
        Traceback (most recent call last):
        ...
        rowspace.exceptions.FileError: nowhere.discovery does not exist; expected a rowspace discovery file
        """
        return cls._decode(*read_archive(path, *cls._archive))

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """The value of `to_bytes`, such as a ledger keeps; trusting nothing in it.

        content: the bytes.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> type(release).from_bytes(release.to_bytes()).plan.privacy == release.plan.privacy
        True
        """
        kind, version = cls._archive
        return cls._decode(
            *unpack_archive(io.BytesIO(content), kind.replace("rowspace", "the"), kind, version)
        )


def _check_entries(entries: list[zipfile.ZipInfo], packed: int) -> None:
    """Refuse, from the table of contents alone, an archive that is made to fill memory."""
    if len(entries) > MAX_ENTRIES:
        raise FileError(f"it has more than {MAX_ENTRIES:,} entries")
    if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
        # Other methods may ask for gigabytes before the first byte.
        raise FileError("it is compressed in a way that rowspace does not write")
    limit = _most_bytes(packed)
    if sum(entry.file_size for entry in entries) > limit:
        raise FileError(f"it unpacks to more than {limit:,} bytes")


def _most_bytes(packed: int) -> int:
    """Most bytes that an archive of so many may unpack to."""
    return min(MAX_BYTES, _FREE_BYTES + _MAX_RATIO * packed)


def _read_document(archive: zipfile.ZipFile) -> bytes:
    """The JSON document, within limits."""
    with archive.open("document.json") as entry:
        document = entry.read(MAX_DOCUMENT + 1)
    if not _is_readable(document):
        raise FileError(f"its description exceeds {MAX_DOCUMENT:,} bytes or {MAX_ITEMS:,} values")
    return document


def _is_readable(document: bytes) -> bool:
    """Whether parsing the document takes bounded memory; commas inside texts count too."""
    items = document.count(b",") + document.count(b"[") + document.count(b"{")
    return len(document) <= MAX_DOCUMENT and items <= MAX_ITEMS


def _read_array(file: BinaryIO, entry: zipfile.ZipInfo) -> np.ndarray[Any, Any]:
    """One array, read-only. That of a strategy is in each of thousands of releases: it is unpacked once."""
    file.seek(entry.header_offset + _NAME_LENGTH)
    name, extra = struct.unpack("<HH", file.read(4))
    file.seek(name + extra, os.SEEK_CUR)
    unpacked = _array if entry.file_size <= _KEPT_BYTES else _array.__wrapped__
    return unpacked(file.read(entry.compress_size), entry.compress_type, entry.file_size, entry.CRC)


@lru_cache(maxsize=32)
def _array(packed: bytes, method: int, size: int, crc: int) -> np.ndarray[Any, Any]:
    """What an entry holds. Its header is matched, never evaluated, and must claim the size that is there."""
    stored = method == zipfile.ZIP_STORED
    data = packed if stored else zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, size + 1)
    if len(data) != size or zlib.crc32(data) != crc:
        raise ValueError("expected the bytes that were written")
    start = 10 + int.from_bytes(data[8:10], "little")
    header = _HEADER.fullmatch(data[10:start])
    if data[:8] != b"\x93NUMPY\x01\x00" or header is None:
        raise ValueError("expected an array")
    dtype = np.dtype(header[1].decode())
    shape = tuple(int(length) for length in header[2].replace(b" ", b"").split(b",") if length)
    if math.prod(shape) * dtype.itemsize != size - start:
        raise ValueError("expected as many numbers as the header says")
    return np.frombuffer(data, dtype=dtype, offset=start).reshape(shape)
