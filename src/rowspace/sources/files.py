"""Which files a source is: one, a folder of them, or those that a pattern names, as one table.

All are CSV or all are Parquet. Folders called `year=2024` below the first one give a column `year` (Hive partitions),
always text: whether a value is a number its attribute decides, never the other folders. What stands in the name of a
file or folder that was found may be somebody's value, so no message quotes it: only what the caller wrote.
"""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from rowspace.exceptions import SourceError
from rowspace.formats import CSV, CSV_ENDINGS, DATABASE_ENDINGS, PARQUET_ENDINGS

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"

#: A folder with one of these is a table with a history: some of its files hold records that were deleted or replaced.
HISTORIES = ("_delta_log", ".hoodie")


@dataclass(frozen=True)
class DataFile:
    """One file: where it is, the values of its partition columns, and what would differ had it been written since."""

    path: str
    partitions: tuple[tuple[str, str | None], ...] = ()
    state: tuple[object, ...] = ()


@dataclass(frozen=True)
class FileSet:
    """Files of one kind, in the order of their names.

    shown: the source as messages name it. form: how they are written if they are CSV, None for Parquet.
    """

    shown: str
    files: tuple[DataFile, ...]
    form: CSV | None

    @property
    def partitions(self) -> list[str]:
        """The columns that are in the names of folders, the same for every file."""
        return [name for name, _ in self.files[0].partitions]

    def csv_of(self, file: DataFile) -> CSV:
        """One of the files as it is declared."""
        assert self.form is not None, "asked of CSV files only"
        return replace(self.form, path=file.path)


def local_files(source: str | Path | CSV) -> FileSet:
    """The files at a path, in a folder, or of a pattern such as `data/*.parquet` or `data/**/*.csv.gz`.

    Raises:
        SourceError: There are none, they are of several kinds, or one of them is there twice.
    """
    form = source if isinstance(source, CSV) else None
    place = Path(source.path if isinstance(source, CSV) else source)
    root = root_of(place)
    if root is None:
        _require_file(place, declared=form is not None)
        return file_set(str(place), [DataFile(str(place), state=_state(place))], form)
    paths = paths_in(place)
    if not any(path.is_file() for path in paths):
        raise SourceError(
            f"expected files at {place}, got none; check the path; ** stands for any folders, as in data/**/*.parquet"
        )
    if any((root / name).is_dir() for name in HISTORIES) or any((root / "metadata").glob("*.metadata.json")):
        raise history(str(place))
    files = [DataFile(str(path), partitions_of(path.relative_to(root)), _state(path)) for path in paths]
    _refuse_twins(place, files)
    return file_set(str(place), files, form)


def paths_in(place: Path) -> list[Path]:
    """What is in a folder, at any depth and not hidden, or what a pattern names; folders themselves are left out."""
    pattern = f"{glob.escape(str(place))}/**/*" if place.is_dir() else str(place)
    found = {Path(name) for name in glob.iglob(pattern, recursive=True)}
    if place.is_dir():
        found = {path for path in found if not is_hidden(path.relative_to(place))}
    return [path for path in found if not path.is_dir()]


def root_of(place: Path) -> Path | None:
    """The folder that is meant, or that a pattern looks in; None for a single file, whatever is in its name."""
    if place.is_file():
        return None
    if place.is_dir():
        return place
    fixed = list(takewhile(lambda part: not glob.has_magic(part), place.parts))
    return None if len(fixed) == len(place.parts) else Path(*fixed)


def may_read(place: Path, output: Path) -> bool:
    """Whether a file that is to be written would be one of a folder's or pattern's the next time."""
    root = root_of(place)
    if root is None:
        return False
    target = Path(os.path.realpath(output))
    if place.is_dir():
        return target.is_relative_to(os.path.realpath(place)) and is_data(target.name)
    pattern = Path(os.path.realpath(root), *place.parts[len(root.parts) :])
    return fnmatch.fnmatch(str(target), str(pattern).replace("**/", "*"))


def is_data(name: str) -> bool:
    """Whether the name of a file tells that it is CSV or Parquet."""
    return name.lower().endswith((*CSV_ENDINGS, *PARQUET_ENDINGS))


def file_set(shown: str, files: Sequence[DataFile], form: CSV | None) -> FileSet:
    """Files that go together, of one kind and with the same partition columns.

    Raises:
        SourceError: They do not go together.
    """
    kinds = {_kind(file.path) for file in files}
    if form is None and None in kinds:
        raise SourceError(
            f"expected names that end in {', '.join((*CSV_ENDINGS, *PARQUET_ENDINGS))} in {shown}, got others; name "
            "the files that are meant by a pattern such as folder/*.parquet, or declare how they are written as CSV"
        )
    if len(kinds - {None}) > 1 or (form is not None and "Parquet" in kinds):
        raise SourceError(
            f"expected files of one kind in {shown}, got CSV and Parquet; name one kind by a pattern such as "
            "folder/*.parquet"
        )
    if len({frozenset(name for name, _ in file.partitions) for file in files}) > 1:
        raise SourceError(
            f"expected folders such as year=2024 with the same names before the = above all files of {shown}, got "
            "files with and without some; name the files that are meant by a pattern"
        )
    if form is None and kinds == {"CSV"}:
        form = CSV(files[0].path)
    return FileSet(shown, tuple(sorted(files, key=lambda file: file.path)), form)


def partitions_of(below: Path | PurePosixPath) -> tuple[tuple[str, str | None], ...]:
    """The columns and values in the names of folders between the first one and a file."""
    pairs = [part.partition("=") for part in below.parts[:-1] if "=" in part]
    return tuple(
        (unquote(name), None if value in ("", _NO_VALUE) else unquote(value)) for name, _, value in pairs
    )


def is_hidden(below: Path | PurePosixPath) -> bool:
    """Whether a name or one of its folders begins with a dot or an underscore: marks of those who wrote the files."""
    return any(part.startswith(".") or (part.startswith("_") and "=" not in part) for part in below.parts)


def history(shown: str) -> SourceError:
    """The refusal of a table with a history."""
    return SourceError(
        f"{shown} is a table of Delta, Iceberg or Hudi, whose files also hold records that were deleted or replaced; "
        "read it through an engine that knows the format, such as Spark"
    )


def _kind(path: str) -> str | None:
    name = path.partition("?")[0].lower()
    return "CSV" if name.endswith(CSV_ENDINGS) else "Parquet" if name.endswith(PARQUET_ENDINGS) else None


def _require_file(path: Path, *, declared: bool) -> None:
    """Refuse a path that is no file, or whose name does not tell what it is."""
    if not declared and not is_data(path.name):
        known = ", ".join((*CSV_ENDINGS, *PARQUET_ENDINGS, *DATABASE_ENDINGS))
        raise SourceError(
            f"the name of {path} does not tell its format: expected one of {known}, a folder, a pattern, or a database "
            "URL; a CSV file of any name is declared as one by [data] of the study, by an option of init such as "
            '--names age,sex (for a file without a header line) or --delimiter ",", or by rs.CSV(…)'
        )
    if not path.is_file():
        raise SourceError(f"expected a file at {path}, got nothing there; check the path")


def _refuse_twins(place: Path, files: Sequence[DataFile]) -> None:
    """Refuse a file that is there under two names: every record of it would count twice."""
    if len({file.state[:2] for file in files}) < len(files):
        raise SourceError(
            f"expected each file of {place} once, got one under two names (links); name the files by a pattern that "
            "leaves the other out"
        )


def _state(path: Path) -> tuple[object, ...]:
    """Which file it is and when it was last written; the last of these times nobody can set back."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        raise SourceError(
            "a file of the source is gone, or may not be looked at; check the permissions of its folder"
        ) from None
    if not path.is_file():
        raise SourceError("expected regular files in the source, got a device or a pipe")
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
