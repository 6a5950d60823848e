"""From the bytes of a CSV file to blocks of whole records, as UTF-8 text.

A record is a line. Where cells in quotes may have line breaks it ends at the first line break that has an even number
of quotes before it. Blocks are cut between records, so where they are cut makes no difference to what is in them.
"""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import numpy.typing as npt

from rowspace.formats import CSV

QUOTE, LINE_FEED, RETURN = b'"\n\r'

Places = npt.NDArray[np.intp]

#: Bytes of a record, as UTF-8, above which a file is refused: an engine has to hold it.
LONGEST_RECORD = 2**24

# Bytes read at a time: no more than the longest record, so that only the first record of a block can be longer.
_CHUNK = 2**22


# What is no text in its encoding becomes what is no UTF-8 text either, in the same place: there it is found.
_INVALID = "rowspace.invalid"
codecs.register_error(_INVALID, lambda error: ("\udfff", cast("UnicodeDecodeError", error).end))


def record_blocks(csv: CSV) -> Iterator[bytes]:
    """The file as UTF-8 text in blocks of whole records, each with a line feed at its end, without a byte order mark.

    A record longer than `LONGEST_RECORD` comes cut short, but longer than that all the same.

    Raises:
        OSError, EOFError, zlib.error: It cannot be read or decompressed.
    """
    rest = b""
    for chunk in _utf8_chunks(csv):
        text = rest + chunk
        end = _end_of_records(text, csv.quoted_newlines)
        if end:
            yield text[:end]
        rest = text[end:]
        if len(rest) > LONGEST_RECORD:
            yield rest + b"\n"
            return
    if rest:
        yield rest + b"\n"


def split_records(block: bytes, quoted_newlines: bool) -> Iterator[bytes]:
    """The records of a block one by one, slowly, without their line feeds."""
    record: list[bytes] = []
    quotes = 0
    for line in block.removesuffix(b"\n").split(b"\n"):
        record.append(line)
        quotes += line.count(b'"')
        if not quoted_newlines or quotes % 2 == 0:
            yield b"\n".join(record)
            record = []
    if record:
        yield b"\n".join(record)


def unquoted(places: Places, quotes: Places) -> Places:
    """Those of some places in a text that are outside cells in quotes: an even number of quotes is before them."""
    outside: Places = places[np.searchsorted(quotes, places) % 2 == 0]
    return outside


def places_of(code: int, text: bytes) -> Places:
    """Where a byte stands in a text."""
    return np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == code)


def _end_of_records(text: bytes, quoted_newlines: bool) -> int:
    """Where the last whole record of a text ends."""
    if not quoted_newlines or b'"' not in text:
        return text.rfind(b"\n") + 1
    ends = unquoted(places_of(LINE_FEED, text), places_of(QUOTE, text))
    return int(ends[-1]) + 1 if ends.size else 0


def _utf8_chunks(csv: CSV) -> Iterator[bytes]:
    """The file decompressed, and in UTF-8 whatever its encoding; without a byte order mark at its beginning."""
    with _open(Path(csv.path)) as file:
        if csv.encoding == "utf-8":
            start = file.read(len(codecs.BOM_UTF8))
            if start != codecs.BOM_UTF8:
                yield start
            yield from iter(lambda: file.read(_CHUNK), b"")
            return
        is_first = True
        texts = _decoded(file, csv.encoding)
        for text in _without_shifted_lines(texts) if csv.encoding.startswith("utf-16") else texts:
            yield (text.removeprefix("\ufeff") if is_first else text).encode("utf-8", "surrogatepass")
            is_first = is_first and not text


def _decoded(file: BinaryIO, encoding: str) -> Iterator[str]:
    """The file as text of at most `_CHUNK` bytes of UTF-8 at a time; lone surrogates for what is no text."""
    decoder = codecs.getincrementaldecoder(encoding)(errors=_INVALID)
    if encoding == "utf-16":
        # Without a mark that tells the order of bytes, the first record would decide it for all others.
        start = file.read(2)
        if start and start not in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            yield "\udfff"
            return
        decoder.decode(start)
    # A character of one byte may become one of three.
    for chunk in iter(lambda: file.read(_CHUNK // 3 + 1), b""):
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def _without_shifted_lines(texts: Iterator[str]) -> Iterator[str]:
    """Text from UTF-16, with a lone surrogate in it wherever a line ends in the middle of a character.

    There a line of an odd number of bytes has shifted those after it, up to the next such line, into one long cell of
    other characters. (The end of a line is found in either order of bytes. A text that is meant so, say a letter of
    Gujarati followed by U+2000, is refused too.)
    """
    held = ""  # the last character, whose second half may be the first half of the end of a line
    for text in texts:
        units = np.frombuffer((held + text).encode("utf-16-le", "surrogatepass"), dtype="<u2").copy()
        high, low = units >> 8, units & 255
        ends = (high[:-1] == LINE_FEED) & (low[1:] == 0) | (low[:-1] == 0) & (high[1:] == LINE_FEED)
        units[1:][ends] = 0xDFFF
        checked = units.tobytes().decode("utf-16-le", "surrogatepass")
        held = checked[-1:]
        yield checked[:-1]
    yield held


def _open(path: Path) -> BinaryIO:
    """The file, decompressed if its name says so."""
    return cast("BinaryIO", gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb"))
