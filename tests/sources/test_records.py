"""One line moves one count by one, or the file is refused: for any file and any line, whatever is in them."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import SourceError
from rowspace.formats import CSV
from rowspace.sources import blocks, count_cells, records
from rowspace.sources.blocks import record_blocks, split_records
from rowspace.sources.files import local_files
from rowspace.sources.records import Fault, MalformedRecord, RecordShape, cells_of, fault_of, read_block
from rowspace.sources.text import first_fault, text_table

DOMAIN = Domain(a=Categorical(["5", "x", "evil,1"], other="else"), b=Numeric(0, 4, bins=2))

# Everything that means something to a reader of CSV, and a little that does not.
PIECES = st.sampled_from(
    [
        b'"',
        b'""',
        b",",
        b"\n",
        b"\r",
        b"\r\n",
        b"x",
        b"5",
        b" ",
        b";",
        b"\0",
        "\ufeff".encode(),
        b"\xff",
        b"'",
        b"\\",
    ]
)
TEXTS = st.lists(PIECES, max_size=30).map(b"".join)
CELLS = st.sampled_from(
    [b"5", b"x", b'"5"', b'"evil,1"', b'"x""y"', b"", b'""', b'"', b'"x', b'x"', b"\r", b"\xc3"]
)
NUMBERS = st.sampled_from([b"1", b"3", b'"1"', b"", b'",1', b'1"', b"1\r", b"1,", b"9"])
LINES = st.one_of(
    st.tuples(CELLS, NUMBERS).map(b",".join),
    st.lists(PIECES.filter(lambda piece: b"\n" not in piece), max_size=8).map(b"".join),
)
SHAPES = st.builds(RecordShape, st.integers(1, 3), st.just(","), st.booleans())


def read(folder: Path, data: bytes, **declared: object) -> np.ndarray | None:
    """The counts, or None where the file is refused."""
    path = folder / "rows.csv"
    path.write_bytes(data)
    try:
        return count_cells(CSV(path, **declared), DOMAIN)  # type: ignore[arg-type]
    except SourceError:
        return None


def records_of(declared: CSV, data: bytes) -> Counter[tuple[str | None, ...]] | None:
    """How often each record is read, or None where the file is refused."""
    Path(declared.path).write_bytes(data)
    try:
        with pa.RecordBatchReader.from_stream(
            text_table(local_files(declared), DOMAIN, ("a", "b"))
        ) as batches:
            return Counter(tuple(row.values()) for batch in batches for row in batch.to_pylist())
    except (SourceError, pa.ArrowException):
        return None


@given(TEXTS, SHAPES)
@settings(max_examples=1500, deadline=None)
def test_blocks_are_read_as_their_records_are_one_by_one(text: bytes, shape: RecordShape) -> None:
    records = list(split_records(text + b"\n", shape.quoted_newlines))
    faults = [fault_of(record, shape) for record in records]
    assert sum(len(record) + 1 for record in records) == len(text + b"\n")
    first = next((fault for fault in faults if fault is not None), None)
    if first is not None:
        with pytest.raises(MalformedRecord) as refusal:
            read_block(text + b"\n", shape, range(shape.cells))
        assert refusal.value.fault == first
        return
    found = read_block(text + b"\n", shape, range(shape.cells))
    cells = [cells_of(record, shape) for record in records if record not in (b"", b"\r")]
    expected = [[cell.decode() or None for cell in record or ()] for record in cells]
    assert [list(row.values()) for row in found.to_pylist()] == expected


@given(
    st.lists(st.lists(st.text(st.sampled_from('",\n\r ;xé'), max_size=4), min_size=2, max_size=2), max_size=6)
)
@settings(max_examples=300, deadline=None)
def test_what_a_careful_writer_writes_is_read(rows: list[list[str]]) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, quoting=csv.QUOTE_ALL).writerows(rows)
    table = read_block(written.getvalue().encode() or b"\n", RecordShape(2, ",", True), [0, 1])
    assert [[cell or "" for cell in row.values()] for row in table.to_pylist()] == rows


@given(st.lists(TEXTS, max_size=6), st.integers(1, 7), st.booleans())
@settings(max_examples=500, deadline=None)
def test_where_blocks_are_cut_makes_no_difference(tmp_path_factory, texts, chunk, quoted_newlines) -> None:
    path = tmp_path_factory.getbasetemp() / "blocks.csv"
    path.write_bytes(b"".join(texts))
    declared = CSV(path, quoted_newlines=quoted_newlines)
    whole = b"".join(record_blocks(declared))
    with patch.object(blocks, "_CHUNK", chunk):
        pieces = list(record_blocks(declared))
    assert b"".join(pieces) == whole
    records = [record for piece in pieces for record in split_records(piece, quoted_newlines)]
    assert records == (list(split_records(whole, quoted_newlines)) if whole else [])


@given(st.lists(LINES, max_size=5), LINES, st.integers(0, 5), st.booleans(), st.booleans())
@example([b'5",1'], b'"evil,1', 0, False, True)
@example([b'5",1'], b'"evil,1', 1, True, True)
@example([b'",1', b'",1'], b'"",1', 1, True, True)
@example(["\ufeff5,1".encode()], b"5,1", 0, False, True)
@settings(max_examples=1000, deadline=None)
def test_a_line_adds_one_record_or_none_or_the_file_is_refused(
    tmp_path_factory, rows, line, place, quoted_newlines, ends
) -> None:
    path = tmp_path_factory.getbasetemp() / "rows.csv"
    declared = CSV(path, names=["a", "b"], quoted_newlines=quoted_newlines, strip=place % 2 == 0)
    before = records_of(declared, b"\n".join(rows) + b"\n" * ends)
    rows.insert(place, line)
    after = records_of(declared, b"\n".join(rows) + b"\n" * ends)
    if before is not None and after is not None:
        assert not before - after
        assert (after - before).total() <= 1


@given(st.lists(LINES, max_size=5), LINES, st.integers(0, 5))
@settings(max_examples=20, deadline=None)
def test_a_line_moves_one_count_by_one_or_the_file_is_refused(tmp_path_factory, rows, line, place) -> None:
    folder = tmp_path_factory.getbasetemp()
    before = read(folder, b"\n".join([b"a,b", *rows]))
    rows.insert(place, line)
    after = read(folder, b"\n".join([b"a,b", *rows]))
    assert before is None or after is None or abs(after - before).sum() <= 1


@pytest.mark.parametrize("quoted_newlines", [False, True])
def test_one_line_no_longer_swallows_a_hundred_thousand(tmp_path: Path, quoted_newlines: bool) -> None:
    rows = b"".join(b"%d,%d\n" % (k % 2 + 5, k % 4) for k in range(100_000))
    assert read(tmp_path, b"a,b\n" + rows, quoted_newlines=quoted_newlines).sum() == 100_000
    for added in (b'5",1\n', b'"evil,1\n', b'5",1\n"evil,1\n'):
        assert read(tmp_path, b"a,b\n" + rows + added + rows, quoted_newlines=quoted_newlines) is None
        assert read(tmp_path, b"a,b\n" + added + rows, quoted_newlines=quoted_newlines) is None


def test_records_longer_than_a_chunk_and_longer_than_allowed(tmp_path: Path) -> None:
    with (
        patch.object(blocks, "_CHUNK", 64),
        patch("rowspace.sources.records.LONGEST_RECORD", 1000),
        patch.object(blocks, "LONGEST_RECORD", 1000),
    ):
        for length, fits in (
            (900, True),
            (996, True),
            (997, True),
            (998, True),
            (999, False),
            (2000, False),
            (9000, False),
        ):
            for rows in ((b"", b""), (b"5,1\n" * 100, b"x,3\n" * 100)):
                long = b"x" * length + b",1\n"
                counts = read(tmp_path, b"a,b\n" + rows[0] + long + rows[1])
                assert (counts is not None) == fits
                assert counts is None or counts.sum() == 1 + len(b"".join(rows)) / 4


def test_the_first_fault_is_found_for_the_curator(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b'a,b\n5,1\n\n5,"1\n5\n')
    assert first_fault(CSV(path)) == (4, Fault.QUOTE)
    path.write_bytes(b"a,b\n5,1\n5\n")
    assert first_fault(CSV(path)) == (3, Fault.CELLS)
    path.write_bytes(b"a,b\n5,1\n")
    assert first_fault(CSV(path)) is None


def test_a_value_with_a_line_break_is_missing(tmp_path: Path) -> None:
    domain = Domain(a=Categorical(["x", "x\ny"], other="else"))
    path = tmp_path / "rows.csv"
    path.write_bytes(b'a,b\n"x\ny",1\r\n"x",1\r\n"x\r",1\n')
    assert count_cells(CSV(path, quoted_newlines=True, strip=True), domain).tolist() == [1, 0, 2]


def test_arrow_skips_no_record_of_one_empty_cell() -> None:
    assert read_block(b'""\n\nx\n\r\n""\r\n', RecordShape(1, ",", False), [0]).to_pylist() == [
        {"0": None},
        {"0": "x"},
        {"0": None},
    ]
    assert isinstance(read_block(b"\n\r\n", RecordShape(2, ",", False), [1]), pa.RecordBatch)


@pytest.mark.parametrize(
    "miscount", [lambda table: table.slice(1), lambda table: pa.concat_tables([table, table])]
)
def test_a_parser_that_finds_another_number_of_records_is_not_believed(
    miscount: Callable[[pa.Table], pa.Table], tmp_path: Path
) -> None:
    """Records are counted independently of the parser."""
    (tmp_path / "rows.csv").write_text("x,y\n1,a\n2,b\n3,c\n")
    domain, parse = Domain(x=Numeric(0, 10, bins=1)), records._parse
    assert count_cells(tmp_path / "rows.csv", domain).tolist() == [3]
    with (
        patch.object(records, "_parse", lambda *given: miscount(parse(*given))),
        pytest.raises(SourceError, match="cells separated by"),
    ):
        count_cells(tmp_path / "rows.csv", domain)
