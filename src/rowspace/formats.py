"""CSV: a text file of records, with everything about it declared; and how files and addresses tell what they are.

How a file is read may not depend on what is in it: a guess from some records would be about all of them. What is
declared here is public knowledge, as a domain is. Nothing here opens a file.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable
from dataclasses import dataclass, fields

from rowspace.exceptions import InvalidInput
from rowspace.notebook import one_line

#: How the names of files end that are read as CSV, as Parquet, and as databases of which kind.
CSV_ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
PARQUET_ENDINGS = (".parquet", ".pq")
DATABASE_ENDINGS = {".duckdb": "duckdb", ".ddb": "duckdb", ".sqlite": "sqlite", ".sqlite3": "sqlite"}
#: Schemes of addresses of files rather than databases, and what each is called in one form.
REMOTE_SCHEMES = {"s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs", "https": "https", "http": "http"}

SERVER_WAITS = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,
}
"""A PostgreSQL server that does not answer is given up after seconds; one that is gone without a word is noticed in
half a minute, where TCP by itself waits for hours."""


def is_remote(source: object) -> bool:
    """Whether a source is an address of files.

    >>> is_remote("s3://bucket/visits/"), is_remote("postgresql://host/visits"), is_remote("visits/")
    (True, False, False)
    """
    place = source.path if isinstance(source, CSV) else source
    scheme, colon, _ = place.partition("://") if isinstance(place, str) else ("", "", "")
    return bool(colon) and scheme.lower() in REMOTE_SCHEMES


_SINGLE_BYTE = (
    "ascii",
    "iso8859-1 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-10 iso8859-11",
    "iso8859-13 iso8859-14 iso8859-15 iso8859-16 koi8-r koi8-u mac-roman mac-cyrillic mac-greek mac-latin2 mac-turkish",
    "cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp437 cp850 cp852 cp855 cp857 cp858 cp866 cp874",
)
_SEVERAL_BYTES = (
    "utf-8 utf-8-sig utf-16 utf-16-le utf-16-be",
    "shift_jis cp932 euc_jp gbk gb2312 gb18030 big5 cp950 euc_kr cp949",
)

# Where a line begins, these keep nothing in mind of the lines before: one record cannot change how the next one is
# decoded. (Others do, such as UTF-7 and ISO-2022-JP.)
_ENCODINGS = frozenset(" ".join((*_SINGLE_BYTE, *_SEVERAL_BYTES)).split())


@dataclass(frozen=True)
class CSV:
    """A CSV file and how it is written; a source wherever a path is one.

    Args:
        path: The file, gzipped if its name ends in `.gz`.
        encoding: Such as "utf-8", "windows-1252", "latin-1", "utf-16", "shift_jis".
        delimiter: What separates the cells of a line: one character. Left out, it is the one of `,` `;` tab `|` that
            splits the header into most of the wanted names; without a header it is the comma.
        names: The names of the columns, if the file has no header line.
        nulls: Texts that mean a missing value, such as `["NA", "?"]`; an empty cell always does.
        strip: Whether spaces around values and names are none of theirs.
        ignore_case: Whether text is a category also when its letters are of the other case.
        quoted_newlines: Whether cells in quotes may have line breaks. A value with one counts as missing.

    Raises:
        InvalidInput: A declaration that cannot be.

    Example:
        >>> import rowspace as rs
        >>> rs.CSV("adult.data", names=["age", "workclass"], nulls=["?"], strip=True).nulls
        ('?',)
    """

    path: str | os.PathLike[str]
    encoding: str = "utf-8"
    delimiter: str | None = None
    names: Iterable[str] | None = None
    nulls: Iterable[str] = ()
    strip: bool = False
    ignore_case: bool = False
    quoted_newlines: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike):
            raise InvalidInput(f"expected the path of a CSV file, got {type(self.path).__name__}")
        object.__setattr__(self, "encoding", _codec(self.encoding))
        _check_delimiter(self.delimiter)
        object.__setattr__(self, "nulls", _texts("nulls", self.nulls))
        if self.names is not None:
            object.__setattr__(self, "names", _texts("names", self.names))
            _check_names(self.columns)
        for switch in ("strip", "ignore_case", "quoted_newlines"):
            if not isinstance(getattr(self, switch), bool):
                raise InvalidInput(f"expected {switch} to be true or false, got another value")

    def __repr__(self) -> str:
        said = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)[1:]
            if getattr(self, field.name) != field.default
        ]
        return one_line(f"CSV({', '.join([repr(os.fspath(self.path)), *said])})")

    @property
    def columns(self) -> tuple[str, ...]:
        """The declared names of the columns; none where the header says them."""
        return tuple(self.names or ())


def _codec(encoding: object) -> str:
    """Python's name of an encoding in which lines can be decoded one by one."""
    try:
        name = codecs.lookup(str(encoding)).name
    except (LookupError, ValueError):
        name = ""
    if name not in _ENCODINGS:
        raise InvalidInput(
            f"unknown encoding {str(encoding)[:100]!r}; expected for example 'utf-8', 'windows-1252', 'latin-1', "
            "'utf-16' or 'shift_jis'"
        )
    return "utf-8" if name == "utf-8-sig" else name


def _check_delimiter(delimiter: object) -> None:
    """One ASCII character that is part of no word and no line break."""
    if delimiter is None:
        return
    text = delimiter if isinstance(delimiter, str) else ""
    if len(text) != 1 or not text.isascii() or text.isalnum() or text in '"\r\n\0':
        raise InvalidInput(
            f"expected delimiter to be one character such as ',', ';', '|' or a tab, got {str(delimiter)[:20]!r}"
        )


def _texts(what: str, values: object) -> tuple[str, ...]:
    """A list of texts, as a tuple."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput(
            f'expected {what} as a list of texts such as ["a", "b"], got {type(values).__name__}'
        )
    texts = tuple(values)
    if not all(isinstance(text, str) for text in texts):
        raise InvalidInput(f'expected {what} as a list of texts such as ["a", "b"], got other things in it')
    return texts


def _check_names(names: tuple[str, ...]) -> None:
    """Names of columns: some, and each once."""
    if not names:
        raise InvalidInput("expected the names of all columns in names, got an empty list")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput(f"expected each column's name once in names, got {twice!r} twice")
