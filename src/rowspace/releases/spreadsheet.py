"""Answers as an Excel workbook: the statement on the first sheet, then one sheet for each group of queries.

Every text is written as text, so that a label that looks like a formula or a link is neither.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.workload import Part, Workload

from .csvw import COLUMNS

if TYPE_CHECKING:
    import pandas as pd
    from xlsxwriter import Workbook
    from xlsxwriter.worksheet import Worksheet

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
