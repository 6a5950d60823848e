"""CSV files as tables of text: read as they are declared, and nothing is guessed from records.

    bytes → blocks of records (`blocks`) → checked, cells (`records`) → values (here) → the engine, batch by batch

Engines guess delimiters, quotes and types from the first thousands of rows, and find records in parallel from the
middle of a file, where a quote may mean anything. So they are given cells, never a CSV file.
"""

from __future__ import annotations

import os
import zlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.compute as pc

from rowspace.domain import Categorical, Domain
from rowspace.exceptions import InvalidInput, SourceError
from rowspace.formats import CSV
from rowspace.sources.blocks import record_blocks, split_records
from rowspace.sources.columns import require_columns
from rowspace.sources.files import DataFile, FileSet
from rowspace.sources.records import (
    Fault,
    MalformedRecord,
    RecordShape,
    cells_of,
    complaint,
    fault_of,
    read_block,
)
from rowspace.sources.silence import attempt

_DELIMITERS = (",", ";", "\t", "|")

# What reading and decompressing raise.
_DAMAGES = (OSError, EOFError, zlib.error)

# Each holds a block and its cells: some 20 MB.
_MOST_THREADS = 16


@dataclass(frozen=True)
class TextFile:
    """One CSV file: what its records look like, in which cell each column is, and the columns that its folders name."""

    csv: CSV
    shape: RecordShape
    places: Mapping[str, int]
    partitions: Mapping[str, str | None] = field(default_factory=dict)

    def cells(self, block: bytes) -> Iterator[tuple[str, pa.Array]]:
        """The cells of a block of its records, by columns."""
        found = read_block(block, self.shape, list(self.places.values()))
        for k, name in enumerate(self.places):
            yield name, found.column(k)
        for name, value in self.partitions.items():
            yield name, pa.repeat(pa.scalar(value, pa.string()), found.num_rows)


@dataclass
class TextTable:
    """The wanted columns of CSV files, as text, for an engine that takes Arrow streams: as often as it asks for one.

    `shown`: the source, as messages name it. `form`: how all of the files are written.
    `lowered`: columns in small letters, where case is to be ignored and no category says how they are spelt.
    `failure` is why a file could not be read, once it could not: engines put it in words of their own.
    """

    shown: str
    form: CSV
    files: Sequence[TextFile]
    columns: Sequence[str]
    categories: Mapping[str, pa.Array] = field(default_factory=dict)
    lowered: frozenset[str] = frozenset()
    failure: str | None = None

    @property
    def schema(self) -> pa.Schema:
        """All text."""
        return pa.schema([(name, pa.string()) for name in self.columns])

    def __arrow_c_schema__(self) -> object:
        """The columns, before any is read."""
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The records from the first to the last, file by file."""
        reader = pa.RecordBatchReader.from_batches(self.schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """The records in blocks, which several threads read ahead."""
        threads = min(os.cpu_count() or 1, _MOST_THREADS)
        running: deque[tuple[TextFile, Future[pa.RecordBatch]]] = deque()
        file = self.files[0]
        try:
            with ThreadPoolExecutor(threads) as pool:
                for read in self.files:
                    for block in _records(read.csv):
                        running.append((read, pool.submit(self._batch, read, block)))
                        if len(running) > threads:
                            file, next_batch = running.popleft()
                            yield next_batch.result()
                while running:
                    file, next_batch = running.popleft()
                    yield next_batch.result()
        except MalformedRecord as malformed:
            # Damage is said first wherever it is: how far threads have read ahead must make no difference.
            fault = None if any(_is_damaged(one.csv) for one in self.files) else malformed.fault
        except _DAMAGES:
            fault = None
        else:
            return
        self.failure = (
            _unreadable(self.shown, self.files)
            if fault is None
            else complaint(self.shown, self.form.encoding, file.shape, fault)
        )
        raise SourceError(self.failure)

    def _batch(self, file: TextFile, block: bytes) -> pa.RecordBatch:
        """The values of a block of records."""
        values = {name: self._values(name, cells) for name, cells in file.cells(block)}
        return pa.record_batch([values[name] for name in self.columns], schema=self.schema)

    def _values(self, name: str, cells: pa.Array) -> pa.Array:
        """What cells of a column mean, each by itself."""
        missing = pa.array(["", *self.form.nulls], pa.string())
        if self.form.quoted_newlines:
            # So a line that is added inside a cell changes nothing: the cell had a line break before.
            cells = _without(cells, pc.match_substring_regex(cells, "[\r\n]"))
        if self.form.strip:
            cells = pc.utf8_trim_whitespace(cells)
        if len(missing) > 1 or self.form.strip:
            cells = _without(cells, pc.is_in(cells, missing))
        if name in self.categories:
            spelt = self.categories[name]
            found = pc.index_in(pc.utf8_lower(cells), pc.utf8_lower(spelt))
            cells = pc.coalesce(spelt.take(found), cells)
        if name in self.lowered:
            cells = pc.utf8_lower(cells)
        return cells


def text_table(files: FileSet, domain: Domain, names: Sequence[str]) -> TextTable:
    """The columns of these names of CSV files; looks at their headers only, if there are any.

    Raises:
        SourceError: A file has no column of some name, or several.
    """
    form = files.csv_of(files.files[0])
    found = [_text_file(files, file, names, is_first=k == 0) for k, file in enumerate(files.files)]
    return TextTable(files.shown, form, found, names, _spellings(form, domain))


def _text_file(files: FileSet, file: DataFile, names: Sequence[str], *, is_first: bool) -> TextFile:
    """One of the files, which must have the columns that the first one has."""
    csv = files.csv_of(file)
    shape, header = _shape(csv, files.shown, names)
    columns = [*header, *files.partitions]
    try:
        require_columns(names, columns, may_be_data=None if csv.columns else "line")
    except SourceError:
        if is_first:
            raise
        raise SourceError(
            f"the files of {files.shown} differ in their columns: expected every one to have "
            f"{', '.join(map(repr, names))}, each once; write the files alike, or name those that are by a pattern"
        ) from None
    values = {name: value for name, value in file.partitions if name in names}
    return TextFile(csv, shape, {name: header.index(name) for name in names if name not in values}, values)


def register(backend: Any, table: TextTable) -> Any:
    """A text table as an Ibis table of an embedded DuckDB, which reads the files for every query anew."""
    view = ibis.util.gen_name("csv")
    failure = _unreadable(table.shown, table.files)
    attempt(lambda: backend.con.register(view, table), failure)
    return attempt(lambda: backend.table(view), failure)


def column_names(files: FileSet, wanted: Sequence[str] = ()) -> list[str]:
    """The names of all columns, as they are in the first header or were declared: perhaps empty, or twice the same."""
    first = files.csv_of(files.files[0])
    return [*_shape(first, files.shown, wanted)[1], *files.partitions]


def first_fault(csv: CSV) -> tuple[int, Fault] | None:
    """The number of the first record (from 1, the header included) that is not as declared and why; None if all are.

    Not private, and slow: for the curator of the data.
    """
    shape, _ = _shape(csv, str(csv.path), ())
    number = 0
    for block in record_blocks(csv):
        for record in split_records(block, csv.quoted_newlines):
            number += 1
            fault = fault_of(record, shape)
            if fault is not None:
                return number, fault
    return None


def _is_damaged(csv: CSV) -> bool:
    """Whether the file cannot be read to its end."""
    try:
        deque(record_blocks(csv), maxlen=0)
    except _DAMAGES:
        return True
    return False


def _records(csv: CSV) -> Iterator[bytes]:
    """The blocks of the file, without the header."""
    blocks = record_blocks(csv)
    if not csv.columns:
        first = next(blocks, b"")
        header = next(split_records(first, csv.quoted_newlines), b"")
        yield first[len(header) + 1 :]
    yield from blocks


def _shape(csv: CSV, shown: str, wanted: Sequence[str]) -> tuple[RecordShape, list[str]]:
    """What records look like, and the names of their columns, by the header and by what is declared."""
    if csv.columns:
        delimiter = csv.delimiter or ","
        return RecordShape(len(csv.columns), delimiter, csv.quoted_newlines), list(csv.columns)
    block: bytes = attempt(lambda: next(record_blocks(csv), b""), _unreadable(shown, [csv]))
    line = next(split_records(block, csv.quoted_newlines))
    if line in (b"", b"\r"):
        raise SourceError(
            f"expected a first line that names the columns in {shown}, got an empty {'line' if block else 'file'}; "
            'write the names there, or declare them: names = ["age", …]'
        )
    marks = _DELIMITERS if csv.delimiter is None else (csv.delimiter,)
    headers = {mark: _header(csv, line, RecordShape(1, mark, csv.quoted_newlines)) for mark in marks}
    best = max(marks, key=lambda mark: (len(set(headers[mark]) & set(wanted)), len(headers[mark])))
    if not headers[best]:
        shape = RecordShape(1, best, csv.quoted_newlines)
        raise SourceError(complaint(shown, csv.encoding, shape, fault_of(line, shape) or Fault.QUOTE))
    return RecordShape(len(headers[best]), best, csv.quoted_newlines), headers[best]


def _header(csv: CSV, line: bytes, shape: RecordShape) -> list[str]:
    """The names in the header line; none if it cannot be read so."""
    if fault_of(line, shape) not in (None, Fault.CELLS):
        return []
    names = [cell.decode() for cell in cells_of(line, shape) or ()]
    return [name.strip() for name in names] if csv.strip else names


def _spellings(csv: CSV, domain: Domain) -> dict[str, pa.Array]:
    """How the categories are spelt, of every attribute of text, where case is to be ignored."""
    if not csv.ignore_case:
        return {}
    spellings = {}
    for name, attribute in domain.attributes:
        if isinstance(attribute, Categorical) and attribute.type is str:
            spellings[name] = pa.array(attribute.values, pa.string())
            if len(pc.unique(pc.utf8_lower(spellings[name]))) < len(spellings[name]):
                raise InvalidInput(
                    f"ignore_case makes two categories of {name!r} the same; leave one of them out, or declare the "
                    "file without ignore_case"
                )
    return spellings


def _without(cells: pa.Array, which: pa.Array) -> pa.Array:
    """The cells with NULL in place of some."""
    return pc.if_else(which, pa.scalar(None, pa.string()), cells)


def _unreadable(shown: str, files: Sequence[TextFile] | Sequence[CSV]) -> str:
    paths = [Path(file.path if isinstance(file, CSV) else file.csv.path) for file in files]
    compressed = " and undamaged gzip" if any(path.suffix.lower() == ".gz" for path in paths) else ""
    return f"{shown} cannot be read as CSV: expected a file that may be read{compressed}"
