"""Tables of answers as CSV, Parquet, JSON or Excel, each with the privacy statement in the file or right beside it.

Written in portions, so that a release of any number of answers takes the memory of one.

Answers as an Excel workbook: the statement on the first sheet, then one sheet for each group of queries.

Every text is written as text, so that a label that looks like a formula or a link is neither.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import quote

from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.files import write_whole
from rowspace.planning import DiscoveryPlan, Plan
from rowspace.workload import Part, Workload

from .answer_columns import notes_of
from .combined import Combined, CombinedPlan
from .consistent import Consistent
from .discovered import Discovery
from .release import Release

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from xlsxwriter import Workbook
    from xlsxwriter.worksheet import Worksheet

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


COLUMNS = {
    "answer": "the noisy count, or the sum, mean or variance of a measure",
    "std_error": "its standard error, in counts or in the unit of the measure",
    "low": "lower end of its confidence interval",
    "high": "upper end of its confidence interval",
}
"""What the columns of figures hold; all others are labels."""


def metadata_file(path: str | os.PathLike[str]) -> Path:
    """Where readers of such files look for it: ``NAME.csv-metadata.json``."""
    return Path(path).with_name(f"{Path(path).name}-metadata.json")


def csv_metadata(name: str, schema: pa.Schema, notes: Mapping[str, Any]) -> bytes:
    """The metadata of a CSV file with these columns; the notes in one text, and field by field."""
    described = " ".join(str(notes[key]) for key in ("statement", "intervals") if key in notes)
    document = {
        "@context": ["http://www.w3.org/ns/csvw", {"@language": "en"}],
        "url": quote(os.fsencode(name)),  # names of files are bytes
        "dc:description": described,
        "notes": [dict(notes)],
        "dialect": {"encoding": "utf-8", "header": True, "delimiter": ",", "quoteChar": '"'},
        "tableSchema": {"columns": [_column(field.name, field.type) for field in schema]},
    }
    return (json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()


def _column(name: str, kind: pa.DataType) -> dict[str, Any]:
    """One column: labels are text, whatever they look like."""
    import pyarrow as pa

    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        datatype = "integer" if pa.types.is_integer(kind) else "number"
        described = {"dc:description": COLUMNS[name]} if name in COLUMNS else {}
        return {"titles": name, "datatype": datatype, **described}
    return {"titles": name, "datatype": "string"}


MOST_ROWS = 2**20 - 1
"""Most answers of a sheet: Excel has 2²⁰ rows, and one is the header."""

MOST_SHEETS = 250
"""Most groups of queries: each is a sheet, and a file of its own while it is written."""

_LONGEST_NAME = 31
_FORBIDDEN = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
_ABOUT = "About"
_ADVICE = "write .csv or .parquet instead"


def check_sheets(workload: Workload) -> None:
    """Refuse what Excel cannot hold, and a missing library, before anything is measured."""
    _library()
    sizes = {name: sum(part.size for part in parts) for name, parts in _groups(workload).items()}
    if len(sizes) > MOST_SHEETS:
        raise TooLarge(
            f"expected at most {MOST_SHEETS} groups of queries, each a sheet of a workbook, got {len(sizes):,}; "
            f"{_ADVICE}"
        )
    for name, size in sizes.items():
        if size > MOST_ROWS:
            raise TooLarge(f"a sheet of Excel holds {MOST_ROWS:,} answers, {name!r} has {size:,}; {_ADVICE}")


def write_sheets(
    file: BinaryIO, workload: Workload, portions: Iterable[pd.DataFrame], notes: Mapping[str, Any]
) -> None:
    """Write the workbook; portions are tables of the workload's answers, in its order."""
    groups = _groups(workload)
    names = sheet_names(groups)
    with _workbook(file) as book:
        bold = book.add_format({"bold": True})
        _about(book.add_worksheet(_ABOUT), bold, groups, names, notes)
        sheets = {group: book.add_worksheet(name) for group, name in names.items()}
        rows = dict.fromkeys(groups, 0)
        for portion in portions:
            for group, own in portion.groupby(portion.columns[0], sort=False):
                frame = _own_columns(own, workload, groups[str(group)])
                sheet = sheets[str(group)]
                if not rows[str(group)]:
                    _row(sheet, 0, frame.columns.tolist(), bold)
                    sheet.freeze_panes(1, 0)
                for number, values in enumerate(frame.itertuples(index=False), start=rows[str(group)] + 1):
                    _row(sheet, number, values)
                rows[str(group)] += len(frame)


def sheet_names(groups: Iterable[str]) -> dict[str, str]:
    """A name that Excel takes for every group: at most 31 characters, none alike but for case.

    >>> sheet_names(["age × sex", "a/b: [c]", "x" * 40, "x" * 50])["x" * 50]
    'xxxxxxxxxxxxxxxxxxxxxxxxxxx (2)'
    """
    taken = {_ABOUT.casefold(), "history"}  # Excel keeps the second for itself
    found = {}
    for group in groups:
        plain = _FORBIDDEN.sub(" ", group).strip(" '") or "queries"
        name, number = plain[:_LONGEST_NAME].rstrip(" '"), 1
        while name.casefold() in taken:
            number += 1
            tail = f" ({number})"
            name = plain[: _LONGEST_NAME - len(tail)].rstrip(" '") + tail
        taken.add(name.casefold())
        found[group] = name
    return found


def _about(
    sheet: Worksheet,
    bold: Any,
    groups: Mapping[str, list[Part]],
    names: Mapping[str, str],
    notes: Mapping[str, Any],
) -> None:
    """The statement, what the columns hold, and what is on which sheet."""
    sheet.set_column(0, 0, 28)
    sheet.set_column(1, 1, 100)
    lines: list[tuple[Any, ...]] = [(key, str(value)) for key, value in notes.items()]
    lines += [(), *COLUMNS.items(), (), ("sheet", "queries", "answers")]
    lines += [(names[group], group, sum(part.size for part in parts)) for group, parts in groups.items()]
    for number, line in enumerate(lines):
        _row(sheet, number, line[:1], bold)
        _row(sheet, number, line[1:], first=1)


def _row(sheet: Worksheet, number: int, values: Iterable[Any], look: Any = None, first: int = 0) -> None:
    """One row: numbers as numbers, everything else as text."""
    for column, value in enumerate(values, start=first):
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            refused = sheet.write_number(number, column, value, look)
        else:
            refused = sheet.write_string(number, column, str(value), look)
        if refused:
            raise TooLarge(f"a text or a row is longer than a sheet of Excel can hold; {_ADVICE}")


def _own_columns(frame: pd.DataFrame, workload: Workload, parts: list[Part]) -> pd.DataFrame:
    """The columns that say something about a group: not its name, nor attributes that it sums out."""
    names = workload.columns
    labels = frame.columns[1 : 1 + len(names)]
    if len(frame.columns) < 1 + len(names):  # so many attributes that one column says it in words
        return frame.iloc[:, 1:]
    used = set(Workload(workload.domain, parts).columns)
    idle = [label for label, name in zip(labels, names, strict=True) if name not in used]
    return frame.drop(columns=[frame.columns[0], *idle])


def _groups(workload: Workload) -> dict[str, list[Part]]:
    """The parts of every group, in the order of the workload."""
    groups: dict[str, list[Part]] = {}
    for part in workload.shown.parts:
        groups.setdefault(part.group, []).append(part)
    return groups


@contextmanager
def _workbook(file: BinaryIO) -> Iterator[Workbook]:
    """A workbook that keeps one row of each sheet in memory, and takes nothing for a formula, link or number."""
    options = {
        "constant_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
    }
    with TemporaryDirectory(prefix="rowspace-") as folder:  # the library's own files, gone whatever happens
        book = _library().Workbook(file, options | {"tmpdir": folder})
        # Not the time of day: one release is the same file whenever it is written, as a retry has to be.
        book.set_properties({"created": datetime(1980, 1, 1)})
        try:
            yield book
        finally:
            book.close()


def _library() -> Any:
    try:
        import xlsxwriter
    except ModuleNotFoundError:
        raise InvalidInput(
            'writing .xlsx needs a library that is not installed: pip install "rowspace[xlsx]", or write .csv'
        ) from None
    return xlsxwriter
