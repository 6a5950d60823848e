"""Tables of answers as CSV, Parquet or JSON, each with the privacy statement inside the file.

Written in portions, so that a release of any number of answers takes the memory of one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from rowspace.exceptions import InvalidInput
from rowspace.files import write_whole

from .combined import Combined
from .consistent import Consistent
from .release import Release

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def export(
    release: Release | Combined | Consistent, path: str | os.PathLike[str], level: float = 0.95
) -> None:
    """Write the answers to a .csv, .parquet or .json file, whole or not at all.

    release: a release, several combined, or consistent counts, which have no intervals and say that they are biased.
    path: where to write; its ending says the format. level: the confidence level of the intervals.

    CSV carries the statement in leading lines that start with ``#`` (pandas: ``comment="#"``), Parquet in the
    schema's metadata under ``rowspace``, JSON in the field ``statement``.

    >>> import tempfile, rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4))
    >>> made = rs.release(rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(1.0)), [10, 20, 30, 40])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rs.export(made, folder + "/answers.csv")
    """
    writers = {".csv": _csv, ".parquet": _parquet, ".json": _json}
    suffix = Path(path).suffix.lower()
    if suffix not in writers:
        raise InvalidInput(f"expected a file ending in {', '.join(writers)}, got {Path(path).name!r}")
    if not isinstance(release, Release | Combined | Consistent):
        raise InvalidInput(
            f"expected a release, several combined or consistent counts, got {type(release).__name__}"
        )
    content = _Content(release, level)
    write_whole(path, lambda file: writers[suffix](file, content))


@dataclass(frozen=True)
class _Content:
    """What is written, and the level of its intervals."""

    source: Release | Combined | Consistent
    level: float

    @property
    def notes(self) -> dict[str, str | float]:
        """What goes with the answers."""
        own: dict[str, str | float] = {"statement": self.source.statement}
        return own | ({} if isinstance(self.source, Consistent) else {"level": self.level})

    def portions(self) -> Iterator[pd.DataFrame]:
        """The answers, as many at a time as fit."""
        if isinstance(self.source, Consistent):
            return iter([self.source.answers()])
        return self.source.stream(level=self.level)


def _csv(file: BinaryIO, content: _Content) -> None:
    """The statement, the header, the answers; text in quotes, so that a label with a # in it is no comment."""
    import pyarrow.csv

    notes = content.notes
    file.write(f"# {notes['statement']}\n".encode())
    if "level" in notes:
        held = f"# Each interval by itself covers the true answer with probability {notes['level']:g}.\n"
        file.write(held.encode())
    schema, tables = _tables(content)
    with pyarrow.csv.CSVWriter(file, schema) as writer:
        for table in tables:
            writer.write_table(table)


def _parquet(file: BinaryIO, content: _Content) -> None:
    """One row group for each portion."""
    import pyarrow.parquet

    notes = {"rowspace": json.dumps(content.notes)}
    schema, tables = _tables(content)
    with pyarrow.parquet.ParquetWriter(file, schema.with_metadata(notes)) as writer:
        for table in tables:
            writer.write_table(table.replace_schema_metadata(notes))


def _json(file: BinaryIO, content: _Content) -> None:
    """One object; its answers one to a line."""
    source = content.source.release if isinstance(content.source, Consistent) else content.source
    head = {"statement": content.source.statement, "privacy": source.plan.privacy.to_dict()} | content.notes
    file.write(json.dumps(head, ensure_ascii=False, allow_nan=False)[:-1].encode() + b', "answers": [')
    separator = b"\n"
    for portion in content.portions():
        for row in portion.to_dict(orient="records"):
            file.write(separator + json.dumps(row, ensure_ascii=False, allow_nan=False).encode())
            separator = b",\n"
    file.write(b"\n]}\n")


def _tables(content: _Content) -> tuple[pa.Schema, Iterator[pa.Table]]:
    """The answers in portions, and the columns they share."""
    import pyarrow as pa

    frames = content.portions()
    first = pa.Table.from_pandas(next(frames), preserve_index=False)
    # Labels are text and answers are numbers in every portion, so the first one's types are those of all.
    rest = (pa.Table.from_pandas(frame, schema=first.schema, preserve_index=False) for frame in frames)
    return first.schema, chain([first], rest)
