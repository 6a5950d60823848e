"""Tables of answers as CSV, Parquet, JSON or Excel, each with the privacy statement in the file or right beside it.

Written in portions, so that a release of any number of answers takes the memory of one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from rowspace.exceptions import InvalidInput
from rowspace.files import write_whole
from rowspace.planning import DiscoveryPlan, Plan

from .combined import Combined, CombinedPlan
from .consistent import Consistent
from .csvw import csv_metadata, metadata_file
from .discovered import Discovery
from .notes import notes_of
from .release import Release
from .spreadsheet import check_sheets, write_sheets

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

EXPORTS = (".csv", ".parquet", ".json", ".xlsx")


def export(
    release: Release | Combined | Consistent | Discovery, path: str | os.PathLike[str], level: float = 0.95
) -> None:
    """Write the answers to a .csv, .parquet, .json or .xlsx file, whole or not at all.

    release: a release, several combined, consistent counts, which have no intervals and say that they are biased, or a
    discovery (not as .xlsx).
    path: where to write; its ending says the format. level: the confidence level of the intervals.

    CSV is the header and the answers, nothing else: pandas, R and Excel read it as it is. Its statement stands beside
    it in ``NAME.csv-metadata.json``, in the vocabulary of the W3C's "CSV on the Web". Parquet has it in the schema's
    metadata under ``rowspace``, JSON in the field ``statement``, Excel on the first sheet, before one sheet for each
    group of queries (needs the extra ``rowspace[xlsx]``).

    >>> import tempfile, pandas as pd, rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4))
    >>> made = rs.release(rs.plan(rs.workload.marginal(domain, "age"), rs.PureDP(1.0)), [10, 20, 30, 40])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export(made, f"{folder}/answers.csv")
    ...     pd.read_csv(f"{folder}/answers.csv").columns.tolist()
    ['group', 'age', 'answer', 'std_error', 'low', 'high']
    """
    if not isinstance(release, Release | Combined | Consistent | Discovery):
        raise InvalidInput(
            f"expected a release, several combined, consistent counts or a discovery, got {type(release).__name__}"
        )
    plan = release.release.plan if isinstance(release, Consistent) else release.plan
    check_export(plan, path)
    content = _Content(release, plan, level, Path(path))
    writers = {".csv": _csv, ".parquet": _parquet, ".json": _json, ".xlsx": _xlsx}
    write_whole(path, lambda file: writers[_suffix(path)](file, content))


def check_export(plan: Plan | CombinedPlan | DiscoveryPlan, path: str | os.PathLike[str]) -> None:
    """Refuse, before anything is measured, a file that could not be written."""
    if _suffix(path) not in EXPORTS:
        raise InvalidInput(f"expected a file ending in {', '.join(EXPORTS)}, got {Path(path).name!r}")
    if _suffix(path) == ".xlsx":
        if isinstance(plan, DiscoveryPlan):
            raise InvalidInput(
                "a discovery is written as .csv, .parquet or .json: spreadsheets have too few rows"
            )
        check_sheets(plan.workload)


def exported_files(path: str | os.PathLike[str]) -> list[Path]:
    """Every file that `export` writes for this name.

    >>> [found.name for found in exported_files("answers.csv")]
    ['answers.csv', 'answers.csv-metadata.json']
    """
    return [Path(path), *([metadata_file(path)] if _suffix(path) == ".csv" else [])]


@dataclass(frozen=True)
class _Content:
    """What is written, and the level of its intervals."""

    source: Release | Combined | Consistent | Discovery
    plan: Plan | CombinedPlan | DiscoveryPlan
    level: float
    path: Path

    @property
    def notes(self) -> dict[str, Any]:
        """What goes with the answers."""
        return notes_of(self.source, None if isinstance(self.source, Consistent) else self.level)

    def portions(self) -> Iterator[pd.DataFrame]:
        """The answers, as many at a time as fit."""
        if isinstance(self.source, Consistent):
            return iter([self.source.answers()])
        if isinstance(self.source, Discovery):
            return iter([self.source.answers(self.level)])
        return self.source.stream(level=self.level)


def _csv(file: BinaryIO, content: _Content) -> None:
    """The header and the answers; text in quotes, numbers without. Beside them what they are."""
    import pyarrow.csv

    schema, tables = _tables(content)
    with pyarrow.csv.CSVWriter(file, schema) as writer:
        for table in tables:
            writer.write_table(table)
    file.flush()
    # When all answers are written and before they are in place: neither is ever there without the other.
    sidecar = csv_metadata(content.path.name, schema, content.notes)
    write_whole(metadata_file(content.path), lambda beside: beside.write(sidecar))


def _parquet(file: BinaryIO, content: _Content) -> None:
    """One row group for each portion."""
    import pyarrow.parquet

    notes = {"rowspace": json.dumps(content.notes, ensure_ascii=False)}
    schema, tables = _tables(content)
    with pyarrow.parquet.ParquetWriter(file, schema.with_metadata(notes)) as writer:
        for table in tables:
            writer.write_table(table.replace_schema_metadata(notes))


def _json(file: BinaryIO, content: _Content) -> None:
    """One object; its answers one to a line."""
    head = content.notes | {"privacy": content.plan.privacy.to_dict()}
    file.write(json.dumps(head, ensure_ascii=False, allow_nan=False)[:-1].encode() + b', "answers": [')
    separator = b"\n"
    for portion in content.portions():
        # A mean that has no answer is null.
        for row in portion.astype(object).where(portion.notna(), None).to_dict(orient="records"):
            file.write(separator + json.dumps(row, ensure_ascii=False, allow_nan=False).encode())
            separator = b",\n"
    file.write(b"\n]}\n")


def _xlsx(file: BinaryIO, content: _Content) -> None:
    """A workbook."""
    assert not isinstance(content.plan, DiscoveryPlan)
    write_sheets(file, content.plan.workload, content.portions(), content.notes)


def _tables(content: _Content) -> tuple[pa.Schema, Iterator[pa.Table]]:
    """The answers in portions, and the columns they share."""
    import pyarrow as pa

    frames = content.portions()
    first = pa.Table.from_pandas(next(frames), preserve_index=False)
    # Labels are text and answers are numbers in every portion, so the first one's types are those of all.
    rest = (pa.Table.from_pandas(frame, schema=first.schema, preserve_index=False) for frame in frames)
    return first.schema, chain([first], rest)


def _suffix(path: str | os.PathLike[str]) -> str:
    return Path(path).suffix.lower()
