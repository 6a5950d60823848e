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
from rowspace.sources.blocks import LONGEST_RECORD, record_blocks, split_records
from rowspace.sources.columns import require_columns
from rowspace.sources.records import Fault, Malformed, Shape, cells_of, fault_of, read_block
from rowspace.sources.silence import attempt

_DELIMITERS = (",", ";", "\t", "|")

# What reading and decompressing raise.
_DAMAGES = (OSError, EOFError, zlib.error)

# Each holds a block and its cells: some 20 MB.
_MOST_THREADS = 16


@dataclass
class TextTable:
    """The wanted columns of a CSV file, as text, for an engine that takes Arrow streams: as often as it asks for one.

    `lowered`: columns in small letters, where case is to be ignored and no category says how they are spelt.
    `failure` is why the file could not be read, once it could not: engines put it in words of their own.
    """

    csv: CSV
    shape: Shape
    columns: Mapping[str, int]
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
        """The records from the first to the last."""
        reader = pa.RecordBatchReader.from_batches(self.schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """The records in blocks, which several threads read ahead."""
        threads = min(os.cpu_count() or 1, _MOST_THREADS)
        running: deque[Future[pa.RecordBatch]] = deque()
        try:
            with ThreadPoolExecutor(threads) as pool:
                for block in _records(self.csv):
                    running.append(pool.submit(self._batch, block))
                    if len(running) > threads:
                        yield running.popleft().result()
                while running:
                    yield running.popleft().result()
        except Malformed as malformed:
            # Damage is said first wherever it is: how far threads have read ahead must make no difference.
            fault = None if _is_damaged(self.csv) else malformed.fault
        except _DAMAGES:
            fault = None
        else:
            return
        self.failure = _unreadable(self.csv) if fault is None else _complaint(self.csv, self.shape, fault)
        raise SourceError(self.failure)

    def _batch(self, block: bytes) -> pa.RecordBatch:
        """The values of a block of records."""
        cells = read_block(block, self.shape, list(self.columns.values()))
        values = [self._values(name, cells.column(k)) for k, name in enumerate(self.columns)]
        return pa.record_batch(values, schema=self.schema)

    def _values(self, name: str, cells: pa.Array) -> pa.Array:
        """What cells of a column mean, each by itself."""
        missing = pa.array(["", *self.csv.nulls], pa.string())
        if self.csv.quoted_newlines:
            # So a line that is added inside a cell changes nothing: the cell had a line break before.
            cells = _without(cells, pc.match_substring_regex(cells, "[\r\n]"))
        if self.csv.strip:
            cells = pc.utf8_trim_whitespace(cells)
        if len(missing) > 1 or self.csv.strip:
            cells = _without(cells, pc.is_in(cells, missing))
        if name in self.categories:
            spelt = self.categories[name]
            found = pc.index_in(pc.utf8_lower(cells), pc.utf8_lower(spelt))
            cells = pc.coalesce(spelt.take(found), cells)
        if name in self.lowered:
            cells = pc.utf8_lower(cells)
        return cells


def text_table(csv: CSV, domain: Domain, names: Sequence[str]) -> TextTable:
    """The columns of these names of a CSV file; looks at the header only, if there is one."""
    shape, header = _shape(csv, names)
    require_columns(names, header, may_be_data=None if csv.columns else "line")
    return TextTable(csv, shape, {name: header.index(name) for name in names}, _spellings(csv, domain))


def register(backend: Any, table: TextTable) -> Any:
    """A text table as an Ibis table of an embedded DuckDB, which reads the file for every query anew."""
    view = ibis.util.gen_name("csv")
    attempt(lambda: backend.con.register(view, table), _unreadable(table.csv))
    return attempt(lambda: backend.table(view), _unreadable(table.csv))


def column_names(csv: CSV, wanted: Sequence[str] = ()) -> list[str]:
    """The names of all columns, as they stand in the header or were declared: perhaps empty, or twice the same."""
    return _shape(csv, wanted)[1]


def first_fault(csv: CSV) -> tuple[int, Fault] | None:
    """The number of the first record (from 1, the header included) that is not as declared and why; None if all are.

    Not private, and slow: for the curator of the data.
    """
    shape, _ = _shape(csv, ())
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


def _shape(csv: CSV, wanted: Sequence[str]) -> tuple[Shape, list[str]]:
    """What records look like, and the names of their columns, by the header and by what is declared."""
    if csv.columns:
        delimiter = csv.delimiter or ","
        return Shape(len(csv.columns), delimiter, csv.quoted_newlines), list(csv.columns)
    block: bytes = attempt(lambda: next(record_blocks(csv), b""), _unreadable(csv))
    line = next(split_records(block, csv.quoted_newlines))
    if line in (b"", b"\r"):
        raise SourceError(
            f"expected a first line that names the columns in {csv.path}, got an empty {'line' if block else 'file'}; "
            'write the names there, or declare them: names = ["age", …]'
        )
    marks = _DELIMITERS if csv.delimiter is None else (csv.delimiter,)
    headers = {mark: _header(csv, line, Shape(1, mark, csv.quoted_newlines)) for mark in marks}
    best = max(marks, key=lambda mark: (len(set(headers[mark]) & set(wanted)), len(headers[mark])))
    if not headers[best]:
        shape = Shape(1, best, csv.quoted_newlines)
        raise SourceError(_complaint(csv, shape, fault_of(line, shape) or Fault.QUOTE))
    return Shape(len(headers[best]), best, csv.quoted_newlines), headers[best]


def _header(csv: CSV, line: bytes, shape: Shape) -> list[str]:
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


def _unreadable(csv: CSV) -> str:
    compressed = " and undamaged gzip" if Path(csv.path).suffix.lower() == ".gz" else ""
    return f"{csv.path} cannot be read as CSV: expected a file that may be read{compressed}"


def _complaint(csv: CSV, shape: Shape, fault: Fault) -> str:
    """What was expected of every line, and what to declare."""
    match fault:
        case Fault.ENCODING:
            return (
                f"{csv.path} is not {csv.encoding} text: declare how it is encoded, for example "
                'encoding = "windows-1252" or "utf-16", in [data] of the study or in rs.CSV(…)'
            )
        case Fault.LENGTH:
            return (
                f"{csv.path}: expected records of at most {LONGEST_RECORD:,} bytes, got a longer one; is a quote or a "
                "line break missing?"
            )
        case Fault.LINE_BREAK:
            return (
                f"{csv.path}: expected lines that end in a line feed, or in a carriage return and a line feed, got a "
                "carriage return alone; convert the line ends"
            )
        case Fault.QUOTE:
            breaks = "" if shape.quoted_newlines else " and no line breaks"
            allow = (
                "" if shape.quoted_newlines else ", declare quoted_newlines = true if cells have line breaks"
            )
            return (
                f'{csv.path}: expected quotes (") around whole cells only, with quotes inside them doubled{breaks}, '
                f"got others; check the delimiter, here {shape.delimiter!r}{allow}, or write the file anew"
            )
    return (
        f"{csv.path}: expected {shape.cells} cells separated by {shape.delimiter!r} in every line, as many as "
        "there are names of columns, got more or fewer; put cells that have the separator in them in quotes"
    )
