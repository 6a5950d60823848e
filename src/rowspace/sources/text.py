"""CSV files: the header line decides how the file is read, and nothing else does.

Engines guess delimiters, quotes, comments and types from the first thousands of rows. A guess that depends
on the data can turn out differently for two tables that differ in one record, so none is made.
"""

from __future__ import annotations

import csv
import glob
import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from rowspace.exceptions import SourceError
from rowspace.sources.columns import require_columns
from rowspace.sources.secrecy import attempt

__all__ = ["read_csv"]

_DELIMITERS = (",", ";", "\t", "|")


def read_csv(backend: Any, path: Path, names: Sequence[str]) -> Any:
    """The columns of these names of a CSV file, all of type text; an empty cell is NULL.

    The file is UTF-8 (a byte order mark may come first), perhaps gzipped, with a header line, `"` as quote
    and one of `,` `;` tab `|` as delimiter: the one that splits the header into the most of these
    names.
    """
    unreadable = (
        f"{path} cannot be read as CSV: expected UTF-8 text with a header line and as many cells in every "
        "line; the engine's message is withheld because it may quote data"
    )
    headers = attempt(lambda: {delimiter: _header(path, delimiter) for delimiter in _DELIMITERS}, unreadable)
    delimiter = max(_DELIMITERS, key=lambda d: len(set(headers[d]) & set(names)))
    header = headers[delimiter]
    if not header:
        raise SourceError(f"{path} is empty: expected a CSV file with a header line")
    require_columns(names, header, headers_may_be_data=True)
    # Positions instead of the file's own names, which may be empty or twice the same outside the domain.
    positional = {f"column{position}": "VARCHAR" for position in range(len(header))}
    table = attempt(
        lambda: backend.read_csv(
            glob.escape(str(path)),
            auto_detect=False,
            header=True,
            delim=delimiter,
            quote='"',
            escape='"',
            columns=positional,
        ),
        unreadable,
    )
    return table.select(**{name: table[f"column{header.index(name)}"] for name in names})


def _header(path: Path, delimiter: str) -> list[str]:
    """The cells of the first line."""
    with _open_text(path) as lines:
        return next(csv.reader(lines, delimiter=delimiter), [])


def _open_text(path: Path) -> IO[str]:
    """The file as text, decompressed if its name says so."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")
