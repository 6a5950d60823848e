"""Files on object stores and web servers, through DuckDB's own readers: `s3://`, `gs://`, `https://`.

DuckDB reads Parquet where it lies, by ranges. A CSV file is fetched whole, once, into the private folder of the
connection and read from there as every other (`text`), since DuckDB's reader of CSV guesses. DuckDB's extension
`httpfs` must have been installed, and is never fetched from here. Credentials are DuckDB's: from the environment
(AWS_ACCESS_KEY_ID, …) or from a secret that was made persistent in DuckDB. No message quotes an address, which may hold
a signature.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from rowspace.exceptions import SourceError
from rowspace.formats import CSV, REMOTE_SCHEMES
from rowspace.sources.files import (
    HISTORIES,
    DataFile,
    FileSet,
    file_set,
    history,
    is_data,
    is_hidden,
    partitions_of,
)
from rowspace.sources.silence import attempt

_WILDCARDS = "*["

_INSTALL = "python -c \"import duckdb; duckdb.sql('INSTALL httpfs')\""


def remote_files(source: str | CSV, backend: Any) -> FileSet:
    """The files at an address, below a folder that ends in `/`, or of a pattern; patterns on object stores only.

    Raises:
        SourceError: There are none, they may not be read, or DuckDB lacks the extension.
    """
    form = source if isinstance(source, CSV) else None
    address = _plain(str(source.path if isinstance(source, CSV) else source))
    scheme = address.partition("://")[0]
    shown = f"the {scheme}:// address"
    _require_httpfs(backend, scheme)
    pattern, root = _pattern(address), root_address(address)
    if root is None:
        paths = [pattern]
    else:
        found = _query(backend, "SELECT file FROM glob(?)", [pattern], shown)
        paths = [path for (path,) in found if not path.endswith("/")]
        below = {path: PurePosixPath(path.removeprefix(root)) for path in paths}
        if any(part in HISTORIES for path in below.values() for part in path.parts):
            raise history(shown)
        if address.endswith("/"):
            paths = [path for path in paths if not is_hidden(below[path])]
    if not paths:
        raise SourceError(
            f"expected files at {shown}, got none; a folder ends in /, as in s3://bucket/visits/"
        )
    if form is None and root is None and not is_data(urlsplit(address).path):
        raise SourceError(
            f"the name at {shown} does not tell its format: expected one that ends in .csv or .parquet, a folder that "
            "ends in /, or a declaration of a CSV file"
        )
    states = _states(backend, paths, shown)
    files = [
        DataFile(path, () if root is None else partitions_of(below[path]), states.get(path, ()))
        for path in paths
    ]
    return file_set(shown, files, form)


def root_address(address: str) -> str | None:
    """The folder of an address, or the one that a pattern looks in, with a / at its end; None for a single file."""
    scheme, _, rest = _plain(address).partition("://")
    if scheme in ("https", "http"):
        return None
    if rest.endswith("/"):
        return f"{scheme}://{rest}"
    places = [rest.index(mark) for mark in _WILDCARDS if mark in rest]
    return f"{scheme}://{rest[: min(places)].rpartition('/')[0]}/" if places else None


def fetched(files: FileSet, backend: Any, folder: Path) -> FileSet:
    """CSV files copied into a folder of ours, one after the other: what is counted is what was there once."""
    copies = []
    for number, file in enumerate(files.files):
        gz = ".gz" if urlsplit(file.path).path.lower().endswith(".gz") else ""
        copy = folder / f"{number}.csv{gz}"
        [(content,)] = _query(backend, "SELECT content FROM read_blob(?)", [file.path], files.shown)
        with open(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as target:
            target.write(content)
        copies.append(replace(file, path=str(copy)))
    return replace(files, files=tuple(copies))


def _plain(address: str) -> str:
    scheme, _, rest = address.partition("://")
    return f"{REMOTE_SCHEMES[scheme.lower()]}://{rest}"


def _pattern(address: str) -> str:
    """What DuckDB is asked for: everything below a folder."""
    is_folder = address.endswith("/") and root_address(address) is not None
    return f"{address}**" if is_folder else address


def _require_httpfs(backend: Any, scheme: str) -> None:
    """Load the extension, or say how it is installed."""
    try:
        attempt(lambda: backend.raw_sql("LOAD httpfs"), "")
    except SourceError:
        raise SourceError(
            f"{scheme}:// needs DuckDB's extension httpfs, which is not installed here: {_INSTALL} installs it once, "
            "where there is a network; or copy the files to a disk"
        ) from None


def _states(backend: Any, paths: list[str], shown: str) -> dict[str, tuple[object, ...]]:
    """Size and time of the last change of every file, which servers tell without sending it."""
    found = _query(
        backend, "SELECT filename, size, epoch_us(last_modified) FROM read_blob(?)", [paths], shown
    )
    return {name: tuple(state) for name, *state in found}


def _query(backend: Any, sql: str, values: list[Any], shown: str) -> list[Any]:
    return attempt(
        lambda: backend.con.execute(sql, values).fetchall(),
        f"the files at {shown} cannot be read: check the address and the network, and the credentials, which come from "
        "the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION) or from a persistent secret of DuckDB "
        "(CREATE PERSISTENT SECRET)",
    )
