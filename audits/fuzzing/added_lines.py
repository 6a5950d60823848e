"""A CSV file, and the same with one more line: one count changes by at most one, or a file is refused.

Lines are drawn to be mostly well formed, with quotes, line ends, marks and bytes that belong nowhere among them; every
way to declare a file is used. The two files are read in pieces of different sizes, so nothing may depend on where they
are cut. Records are compared as the engine is given them, which takes a millisecond, and some files are also counted.
"""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import SourceError
from rowspace.formats import CSV
from rowspace.sources import blocks, count_cells, opening
from rowspace.sources.files import local_files
from rowspace.sources.text import text_table

from .attack import Parser
from .mutation import pick
from .scratch import put
from .tables import LentEngine

DOMAIN = Domain(a=Categorical(["5", "x", "évil,1"], other="else"), b=Numeric(0, 4, bins=2))

TEXTS = ("5", "x", "X", " x", '"5"', '"évil,1"', '"évil;1"', '"x""y"', "NA", "", '""', "x", "5", "表")
BROKEN = (
    '"',
    '"x',
    'x"',
    '"x"y',
    '"",""',
    "\r",
    "\0",
    "\ufeff",
    "\ufffe",
    "\x85",
    "\u2028",
    "a\rb",
    '","',
    '"\r',
)
NUMBERS = ("1", "3", "1", "3", '"1"', " 2 ", "", "NA", "9", "-1", "nan", "1e0")
WRONG = ('"1', '1"', ",1", '",1', "1,", "1,1", "x", '1"\r', '"', '",', '","')
BYTES = (b"\xff", b"\x81", b"\x00", b"\n", b"\r", b'"', b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe", b"\x1b$B")
ENCODINGS = ("utf-8", "utf-8", "utf-8", "latin-1", "utf-16", "utf-16-be", "shift_jis", "gb18030")
CHUNKS = (7, 16, 50, 2**22)
COUNTED = 50
MARKS = {"utf-8": b"", "utf-16": b"\xff\xfe"}

Given = tuple[dict[str, Any], str, bytes, bytes, tuple[int, int]]


def added_lines() -> Parser:
    """Pairs of files; refused when one of the two is."""
    engine = LentEngine()

    def read(given: Given) -> None:
        declared, name, before, after, chunks = given
        files = tuple(zip((before, after), chunks, strict=True))
        without, with_line = (_records(declared, name, *file) for file in files)
        assert not without - with_line
        assert (with_line - without).total() <= 1
        if len(before) % COUNTED == 1:  # few, and as good as by chance
            with patch.object(opening, "embedded_duckdb", engine.lend):
                counts = [_count(declared, name, *file) for file in files]
            assert int(np.abs(counts[1] - counts[0]).sum()) <= 1

    return Parser("CSV files with one more line", _draw, read)


def _records(declared: dict[str, Any], name: str, data: bytes, chunk: int) -> Counter[tuple[str | None, ...]]:
    """How often each record is in a file that is read in chunks of so many bytes."""
    with patch.object(blocks, "_CHUNK", chunk):
        table = text_table(local_files(CSV(_put(name, data), **declared)), DOMAIN, DOMAIN.names)
        try:
            with pa.RecordBatchReader.from_stream(table) as batches:
                return Counter(tuple(row.values()) for batch in batches for row in batch.to_pylist())
        except pa.ArrowException:
            # Arrow put our own error in its words.
            raise SourceError(str(table.failure)) from None


def _put(name: str, data: bytes) -> Path:
    """A file, compressed if its name says so."""
    return put(gzip.compress(data, 1) if name.endswith(".gz") else data, name)


def _count(declared: dict[str, Any], name: str, data: bytes, chunk: int) -> Any:
    """The counts of a file that is read in chunks of so many bytes."""
    with patch.object(blocks, "_CHUNK", chunk):
        return count_cells(CSV(_put(name, data), **declared), DOMAIN)


def _draw(rng: np.random.Generator) -> Given:
    """How a file is declared, its name, its bytes without and with the line, and the sizes of the chunks."""
    encoding = pick(rng, ENCODINGS)
    delimiter = pick(rng, (",", ",", ";"))
    declared: dict[str, Any] = {"encoding": encoding, "delimiter": delimiter}
    for key in ("strip", "ignore_case", "quoted_newlines"):
        declared[key] = bool(rng.random() < 0.5)
    if rng.random() < 0.5:
        declared["nulls"] = ["NA"]
    has_header = rng.random() < 0.5
    if not has_header:
        declared["names"] = ["a", "b"]
    broken = pick(rng, (0.0, 0.0, 0.1, 0.3))
    lines = [_line(rng, encoding, delimiter, broken) for _ in range(int(rng.integers(6)))]
    header = [_encoded(f"a{delimiter}b", encoding)] if has_header else []
    added = _line(rng, encoding, delimiter, pick(rng, (0.0, 0.3, 0.6)))
    place = int(rng.integers(len(lines) + 1))
    mark = MARKS.get(encoding, b"") or (
        b"\xef\xbb\xbf" if encoding == "utf-8" and rng.random() < 0.2 else b""
    )
    end = pick(rng, ("\n", "\n", "\r\n"))
    has_end = rng.random() < 0.7
    files = [
        _joined([*header, *chosen], mark, _encoded(end, encoding), has_end)
        for chosen in (lines, [*lines[:place], added, *lines[place:]])
    ]
    name = "rows.csv.gz" if rng.random() < 0.1 else "rows.csv"
    return declared, name, files[0], files[1], (pick(rng, CHUNKS), pick(rng, CHUNKS))


def _line(rng: np.random.Generator, encoding: str, delimiter: str, broken: float) -> bytes:
    """A line without its end, of which each cell is wrong with some probability."""
    cells = [
        pick(rng, BROKEN if rng.random() < broken else TEXTS),
        pick(rng, WRONG if rng.random() < broken else NUMBERS),
    ]
    line = _encoded(delimiter.join(cells), encoding)
    if rng.random() < broken / 2:
        place = int(rng.integers(len(line) + 1))
        wild = pick(rng, BYTES)
        # A line feed would make two lines of one; where characters have two bytes, so does half of one.
        wild = b"" if b"\n" in _encoded("\n", encoding) and wild == b"\n" else wild
        line = line[:place] + wild + line[place:]
    return line


def _encoded(text: str, encoding: str) -> bytes:
    """A piece of a file, without a mark."""
    return text.encode({"utf-16": "utf-16-le"}.get(encoding, encoding), "replace")


def _joined(lines: list[bytes], mark: bytes, end: bytes, has_end: bool) -> bytes:
    """The bytes of a file; the last line may lack its end."""
    return mark + end.join(lines) + (end if has_end and lines else b"")
