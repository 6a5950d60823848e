"""Parquet files as one table: the wanted columns, of one kind of type in every file.

DuckDB would widen types until all files agree, so that one file with text among numbers makes text of all. Here the
files must agree before they are read.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from typing import Any

import ibis
import pyarrow as pa

from rowspace.exceptions import SourceError
from rowspace.sources.columns import require_columns
from rowspace.sources.files import FileSet
from rowspace.sources.silence import attempt

_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_FLOATS = ("FLOAT", "DOUBLE")


def parquet_columns(backend: Any, files: FileSet) -> list[str]:
    """The columns of the first file, by the file's own names, and the partition columns."""
    return [*(name for name, _ in _columns(backend, files)[0]), *files.partitions]


def read_parquet(backend: Any, files: FileSet, names: Sequence[str]) -> Any:
    """An Ibis table with at least these columns, of all files.

    Raises:
        SourceError: Some column is missing, there twice, or of another type in some file.
    """
    # By the files' own names: where two differ in case only, DuckDB gives one of them another.
    columns = _columns(backend, files)
    require_columns(names, [*(name for name, _ in columns[0]), *files.partitions])
    stored = [name for name in names if name not in files.partitions]
    for others in columns[1:]:
        _require_same(files.shown, stored, columns[0], others)
    apart = [name for name in names if name in files.partitions]
    if any(name in apart for others in columns for name, _ in others):
        raise SourceError(
            f"a column of {files.shown} is in the names of folders and in some of the files; rename one of them"
        )
    view, mark = ibis.util.gen_name("parquet"), ibis.util.gen_name("file")
    # Not by Ibis, which makes paths absolute: then no row would be known to be of a file.
    listed = ", ".join("'" + path.replace("'", "''") + "'" for path in _paths(files))
    how = f"hive_partitioning = false, union_by_name = {len(files.files) > 1}, filename = '{mark}'"
    values = "".join(
        f", {value} AS {_quoted(name)}" for name, value in _partitions(backend, files, mark, apart)
    )
    sql = f'CREATE TEMPORARY VIEW "{view}" AS SELECT *{values} FROM read_parquet([{listed}], {how})'
    attempt(lambda: backend.con.execute(sql), _damaged(files))
    return attempt(lambda: backend.table(view), _damaged(files)).select(*names)


def _partitions(backend: Any, files: FileSet, mark: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The partition columns, each with SQL for its value in the file that a row is of.

    Not DuckDB's own, which take folders above ours for partitions, too, and the first of a name for the value. Lists of
    one row rather than a join: a block of records is of one file, so that its value is looked up, and read, once.
    """
    if not names:
        return
    values = [dict(file.partitions) for file in files.files]
    columns = {name: pa.array([[found[name] for found in values]], pa.list_(pa.string())) for name in names}
    lists = ibis.util.gen_name("partitions")
    table = pa.table({mark: [[file.path for file in files.files]], **columns})
    attempt(lambda: backend.con.register(lists, table), _damaged(files))
    for name in names:
        position = f'list_position((SELECT "{mark}" FROM "{lists}"), "{mark}")'
        yield name, f'list_extract((SELECT {_quoted(name)} FROM "{lists}"), {position})'


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _require_same(
    shown: str, names: Sequence[str], one: list[tuple[str, str]], other: list[tuple[str, str]]
) -> None:
    """Raise unless a file has these columns as the first one has."""
    found = [name for name, _ in other]
    types, others = dict(one), dict(other)
    for name in names:
        if found.count(name) != 1 or sum(known.casefold() == name.casefold() for known in found) != 1:
            raise SourceError(
                f"the files of {shown} differ in their columns: expected {name!r} once in every one, got a file where "
                "it is missing or not alone; write the files alike, or name those that are by a pattern"
            )
        if types[name] != others[name]:
            raise SourceError(
                f"the files of {shown} differ in their columns: expected {name!r} of one type in every one, got "
                "several; write the files alike, or name those that are by a pattern"
            )


def _columns(backend: Any, files: FileSet) -> list[list[tuple[str, str]]]:
    """Names and kinds of the columns of every file, which its footer tells."""
    sql = "SELECT file_name, name, num_children, duckdb_type FROM parquet_schema(?)"
    entries = attempt(lambda: backend.con.execute(sql, [_paths(files)]).fetchall(), _damaged(files))
    by_file: dict[str, list[tuple[str, int, str]]] = {}
    for file, name, children, kind in entries:
        by_file.setdefault(file, []).append((name, children or 0, kind))
    if set(by_file) != {file.path for file in files.files}:  # by these names rows are known to be of a file
        raise SourceError(_damaged(files))
    return [_top_level(by_file[file.path]) for file in files.files]


def _top_level(entries: list[tuple[str, int, str]]) -> list[tuple[str, str]]:
    """The columns among all nodes of a schema, which come in depth-first order after the root."""
    columns, below = [], 0
    for name, children, kind in entries[1:]:
        if below == 0:
            columns.append((name, _kind(kind)))
        below = max(0, below - 1) + children
    return columns


def _kind(kind: str | None) -> str:
    """What a type is compared by: widths are widened without a loss."""
    kind = kind or "nested"
    return "integer" if kind in _INTEGERS else "float" if kind in _FLOATS else kind.partition("(")[0]


def _paths(files: FileSet) -> list[str]:
    """Escaped, since DuckDB takes the names of files for patterns."""
    return [file.path if "://" in file.path else glob.escape(file.path) for file in files.files]


def _damaged(files: FileSet) -> str:
    return f"{files.shown} cannot be read as Parquet: it is damaged, or something else"
