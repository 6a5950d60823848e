"""Tables of answers as CSV, Parquet or JSON, each with the privacy statement inside the file.

Written in portions, so that a release of any number of answers takes the memory of one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from rowspace.exceptions import InvalidInput
from rowspace.files import write_whole

from .release import Release

if TYPE_CHECKING:
    import pyarrow as pa


def export(release: Release, path: str | os.PathLike[str], level: float = 0.95) -> None:
    """Write the answers to a .csv, .parquet or .json file, whole or not at all.

    CSV carries the statement in leading lines that start with ``#`` (pandas: ``comment="#"``), Parquet in the
    schema's metadata under ``rowspace``, JSON in the field ``statement``.
    """
    writers = {".csv": _csv, ".parquet": _parquet, ".json": _json}
    suffix = Path(path).suffix.lower()
    if suffix not in writers:
        raise InvalidInput(f"expected a file ending in {', '.join(writers)}, got {Path(path).name!r}")
    write_whole(path, lambda file: writers[suffix](file, release, level))


def _csv(file: BinaryIO, release: Release, level: float) -> None:
    """The statement, the header, the answers; text in quotes, so that a label with a # in it is no comment."""
    import pyarrow.csv

    header = f"# {release.statement}\n# Intervals cover the true answer with probability {level:g}.\n"
    file.write(header.encode())
    schema, tables = _tables(release, level)
    with pyarrow.csv.CSVWriter(file, schema) as writer:
        for table in tables:
            writer.write_table(table)


def _parquet(file: BinaryIO, release: Release, level: float) -> None:
    """One row group for each portion."""
    import pyarrow.parquet

    notes = {"rowspace": json.dumps({"statement": release.statement, "level": level})}
    schema, tables = _tables(release, level)
    with pyarrow.parquet.ParquetWriter(file, schema.with_metadata(notes)) as writer:
        for table in tables:
            writer.write_table(table.replace_schema_metadata(notes))


def _json(file: BinaryIO, release: Release, level: float) -> None:
    """One object; its answers one to a line."""
    head = {"statement": release.statement, "privacy": release.plan.privacy.to_dict(), "level": level}
    file.write(json.dumps(head, ensure_ascii=False, allow_nan=False)[:-1].encode() + b', "answers": [')
    separator = b"\n"
    for portion in release.stream(level=level):
        for row in portion.to_dict(orient="records"):
            file.write(separator + json.dumps(row, ensure_ascii=False, allow_nan=False).encode())
            separator = b",\n"
    file.write(b"\n]}\n")


def _tables(release: Release, level: float) -> tuple[pa.Schema, Iterator[pa.Table]]:
    """The answers in portions, and the columns they share."""
    import pyarrow as pa

    frames = release.stream(level=level)
    first = pa.Table.from_pandas(next(frames), preserve_index=False)
    # Labels are text and answers are numbers in every portion, so the first one's types are those of all.
    rest = (pa.Table.from_pandas(frame, schema=first.schema, preserve_index=False) for frame in frames)
    return first.schema, chain([first], rest)
