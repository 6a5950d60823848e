"""What a record of a CSV file may look like, said twice: of one record, exactly; and of a block of them, fast.

A cell stands in quotes as a whole, with the quotes inside it doubled, or has no quotes at all (RFC 4180). Every record
has as many cells as there are names. Anything else refuses the file. So what a record counts for depends on it alone:
in a file that is not refused, no record opens a quote that another one closes.

Arrow finds the cells, in blocks that have passed here, and must find as many records as are counted here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from rowspace.sources.blocks import (
    LINE_FEED,
    LONGEST_RECORD,
    QUOTE,
    RETURN,
    places_of,
    split_records,
    unquoted,
)

# Byte order marks, in either order. One that begins a line was the first thing of some file.
_MARKS = ("\n\ufeff".encode(), "\n\ufffe".encode())


class Fault(Enum):
    """Why a record is not as declared."""

    ENCODING = "not text in the declared encoding"
    LENGTH = "too long"
    LINE_BREAK = "a carriage return without a line feed"
    QUOTE = "a quote inside a cell, after one, or without its other half in the same line"
    CELLS = "more or fewer cells than there are names"


class MalformedRecord(Exception):
    """Some record is not as declared. Holds nothing of it."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.value)
        self.fault = fault


@dataclass(frozen=True)
class RecordShape:
    """How many cells a record has, what separates them, and whether those in quotes may have line breaks."""

    cells: int
    delimiter: str
    quoted_newlines: bool

    @cached_property
    def cell(self) -> re.Pattern[bytes]:
        """A cell and the delimiter after it."""
        mark = re.escape(self.delimiter.encode())
        inside = rb'[^"]' if self.quoted_newlines else rb'[^"\r\n]'
        # Possessive, since a cell is read one way only: so the time is linear.
        return re.compile(rb'(?:"((?:%b|"")*+)"|([^"\r\n%b]*+))%b' % (inside, mark, mark))


def cells_of(record: bytes, shape: RecordShape) -> list[bytes] | None:
    """The cells of one record, however many; None if its quotes or line breaks are wrong."""
    text = record.removesuffix(b"\r") + shape.delimiter.encode()
    cells, place = [], 0
    while place < len(text):
        found = shape.cell.match(text, place)
        if found is None:
            return None
        quoted, plain = found.groups()
        cells.append(plain if quoted is None else quoted.replace(b'""', b'"'))
        place = found.end()
    return cells


def fault_of(record: bytes, shape: RecordShape) -> Fault | None:
    """What is wrong with one record, if anything; the definition that `read_block` keeps to."""
    if len(record) > LONGEST_RECORD:
        return Fault.LENGTH
    if not _is_text(record):
        return Fault.ENCODING
    if record in (b"", b"\r"):  # an empty line is no record
        return None
    cells = cells_of(record, shape)
    if cells is not None:
        return None if len(cells) == shape.cells else Fault.CELLS
    without_returns = cells_of(record.replace(b"\r", b""), shape)
    return Fault.QUOTE if without_returns is None else Fault.LINE_BREAK


def complaint(shown: str, encoding: str, shape: RecordShape, fault: Fault) -> str:
    """What was expected of every line, and what to declare."""
    match fault:
        case Fault.ENCODING:
            return (
                f"{shown} is not {encoding} text: declare how it is encoded, for example "
                'encoding = "windows-1252" or "utf-16", in [data] of the study or in rs.CSV(…)'
            )
        case Fault.LENGTH:
            return (
                f"{shown}: expected records of at most {LONGEST_RECORD:,} bytes, got a longer one; is a quote or a "
                "line break missing?"
            )
        case Fault.LINE_BREAK:
            return (
                f"{shown}: expected lines that end in a line feed, or in a carriage return and a line feed, got a "
                "carriage return alone; convert the line ends"
            )
        case Fault.QUOTE:
            breaks = "" if shape.quoted_newlines else " and no line breaks"
            allow = (
                "" if shape.quoted_newlines else ", declare quoted_newlines = true if cells have line breaks"
            )
            return (
                f'{shown}: expected quotes (") around whole cells only, with quotes inside them doubled{breaks}, '
                f"got others; check the delimiter, here {shape.delimiter!r}{allow}, or write the file anew"
            )
    return (
        f"{shown}: expected {shape.cells} cells separated by {shape.delimiter!r} in every line, as many as "
        "there are names of columns, got more or fewer; put cells that have the separator in them in quotes"
    )


def read_block(block: bytes, shape: RecordShape, wanted: Sequence[int]) -> pa.RecordBatch:
    """The cells in the wanted columns of all records of a block, as text; an empty cell is NULL.

    Raises:
        Malformed: Some record is not as declared; it says what is wrong with the first of them.
    """
    if _passes(block, shape):
        number = _number_of_records(block, shape)
        if number == 0:
            names = [str(column) for column in wanted]
            return pa.record_batch([pa.array([], pa.string()) for _ in names], names)
        with suppress(pa.ArrowInvalid):  # a wrong number of cells; the text quotes them
            table = _parse(block, shape, wanted)
            if table.num_rows == number:
                return table.combine_chunks().to_batches()[0]
    faults = (fault_of(record, shape) for record in split_records(block, shape.quoted_newlines))
    raise MalformedRecord(next((fault for fault in faults if fault is not None), Fault.CELLS))


def _is_text(text: bytes) -> bool:
    """Whether bytes are UTF-8 text without NUL, and no line of it begins with a byte order mark."""
    if b"\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return not any(mark in text or text.startswith(mark[1:]) for mark in _MARKS)


def _passes(block: bytes, shape: RecordShape) -> bool:
    """Whether nothing but the number of cells can be wrong with the records of a block."""
    if len(block) > LONGEST_RECORD:  # rarely, so it need not be fast
        faults = (fault_of(record, shape) for record in split_records(block, shape.quoted_newlines))
        return all(fault is None for fault in faults)
    if not _is_text(block):
        return False
    if b'"' not in block:
        return b"\r" not in block or block.count(b"\r") == block.count(b"\r\n")
    codes = np.frombuffer(block, dtype=np.uint8)
    quotes, line_feeds, returns = (places_of(code, block) for code in (QUOTE, LINE_FEED, RETURN))
    opening, closing = quotes[0::2], quotes[1::2]
    if len(opening) != len(closing):
        return False
    mark = ord(shape.delimiter)
    before = codes[opening[opening > 0] - 1]
    # A quote right after a closing one is an opening one: together they are one quote inside the cell.
    fit = np.isin(before, (QUOTE, mark, LINE_FEED)).all()
    fit &= np.isin(codes[closing + 1], (QUOTE, mark, LINE_FEED, RETURN)).all()
    if shape.quoted_newlines:
        returns = unquoted(returns, quotes)
    else:
        fit &= len(unquoted(line_feeds, quotes)) == len(line_feeds)
    return bool(fit and (codes[returns + 1] == LINE_FEED).all())


def _number_of_records(block: bytes, shape: RecordShape) -> int:
    """How many records a block has that passed: lines outside quotes that are not empty."""
    ends = places_of(LINE_FEED, block)
    if shape.quoted_newlines:
        ends = unquoted(ends, places_of(QUOTE, block))
    lengths = np.diff(ends, prepend=-1) - 1
    before = np.frombuffer(block, dtype=np.uint8)[ends - 1]
    empty = (lengths == 0) | ((lengths == 1) & (before == RETURN))
    return len(ends) - int(np.count_nonzero(empty))


def _parse(block: bytes, shape: RecordShape, wanted: Sequence[int]) -> pa.Table:
    """The cells as Arrow finds them, told everything and left nothing to guess."""
    names = [str(column) for column in range(shape.cells)]
    chosen = [names[column] for column in wanted]
    return arrow_csv.read_csv(
        pa.BufferReader(block),
        arrow_csv.ReadOptions(column_names=names, use_threads=False, block_size=len(block) + 1),
        arrow_csv.ParseOptions(
            delimiter=shape.delimiter,
            quote_char='"' if b'"' in block else False,
            double_quote=True,
            escape_char=False,
            newlines_in_values=shape.quoted_newlines,
            ignore_empty_lines=True,
        ),
        arrow_csv.ConvertOptions(
            check_utf8=False,  # it is: `_is_text`
            include_columns=chosen,
            column_types=dict.fromkeys(chosen, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        ),
    )
