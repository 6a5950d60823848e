"""Columns and tables of any name: counted rightly or refused, and never taken for SQL."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import duckdb
import numpy as np
import pytest

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import InvalidDomain, SourceError
from rowspace.privacy import PureDP
from rowspace.sources import count_cells
from rowspace.study import Study, write_study
from tests.cli.running import rowspace
from tests.sources.kinds import KINDS

#: Names that end a quotation, a statement or a query, that engines or this library use themselves, or that are odd.
COLUMNS = (
    'a"b',
    "it's",
    "`tick`",
    'x"; DROP TABLE people; --',
    "x'; DROP TABLE people; --",
    "x) UNION SELECT 1; --",
    "/* comment */",
    "select",
    "GROUP BY",
    "null",
    "rowid",
    "count(*)",
    "*",
    "^a.*$",
    "a.b",
    "[a]",
    "{0} %s $1 ? :x",
    "back\\slash",
    "two  spaces",
    "naïve ☃ 表 🙂",
    "اسم",
    "e\u0301",
    "0",
    "-1",
    "column0",
    "value0",
    "code0",
    "code0_guess",
    "cell",
    "records",
    "inside",
    "unreadable0",
    "x" * 200,
)
TABLES = (*(name for name in COLUMNS if "." not in name), "a.b", "line\nbreak", "tab\t", " ", "y" * 300)

REFUSED_NAMES = (
    "",
    " padded ",
    "line\nbreak",
    "nul\x00",
    "esc\x1b[31m",
    "\u202eright to left",
    "\ud800",
    "x" * 201,
)

GROUPS = [COLUMNS[start : start + 6] for start in range(0, len(COLUMNS), 6)]


def rows_of(names: tuple[str, ...]) -> dict[str, list[object]]:
    """Numbers in the first half of the columns, text in the others; the last row is outside in every column."""
    return {
        name: [0, 1, 1, 2, 9] if at % 2 == 0 else ["a", "b'", 'c"', "a", "zz"]
        for at, name in enumerate(names)
    }


def domain_of(names: tuple[str, ...]) -> Domain:
    kinds = (Numeric(0, 3, bins=3), Categorical(["a", "b'", 'c"']))
    return Domain({name: kinds[at % 2] for at, name in enumerate(names)})


def expected(names: tuple[str, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    counts = np.zeros(domain_of(names).shape, np.int64)
    for number, text in ((0, 0), (1, 1), (1, 2), (2, 0)):
        counts[tuple(number if at % 2 == 0 else text for at in range(len(names)))] += 1
    return counts


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", GROUPS, ids=lambda names: names[0])
def test_columns_of_any_name(kind: str, names: tuple[str, ...], tmp_path: Path) -> None:
    source, table = KINDS[kind](rows_of(names), tmp_path)
    assert np.array_equal(count_cells(source, domain_of(names), table=table), expected(names))


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_tables_of_any_name(engine: str, tmp_path: Path) -> None:
    """All tables in one database, each with its own count; and all are there afterwards."""
    path = tmp_path / f"people.{engine}"
    connection = duckdb.connect(str(path)) if engine == "duckdb" else sqlite3.connect(path)
    for number, table in enumerate(TABLES):
        quoted = '"' + table.replace('"', '""') + '"'
        connection.execute(f"CREATE TABLE {quoted} (x INTEGER)")
        connection.executemany(f"INSERT INTO {quoted} VALUES (?)", [(0,)] * (number + 1))
    connection.commit()
    connection.close()
    domain = Domain(x=Numeric(0, 1, bins=1))
    found = [int(count_cells(path, domain, table=table)[0]) for table in TABLES]
    assert found == [number + 1 for number in range(len(TABLES))]
    assert int(count_cells(path, domain, table=TABLES[0])[0]) == 1
    for absent in ('people"; DROP TABLE "select', "no.such", "", "x\x00", "z" * 10_000):
        with pytest.raises(SourceError):
            count_cells(path, domain, table=absent)


@pytest.mark.parametrize("name", REFUSED_NAMES)
def test_names_that_could_forge_output_are_refused(name: str) -> None:
    with pytest.raises(InvalidDomain):
        Domain({name: Numeric(0, 1, bins=1)})


def test_columns_that_differ_in_case_only_are_told_apart_or_refused(tmp_path: Path) -> None:
    """Some engines cannot tell them apart; then there is no count, rather than a wrong one."""
    names = ("age", "sex", "AGE", "SEX")
    for kind, build in KINDS.items():
        folder = tmp_path / kind
        folder.mkdir()
        try:
            source, table = build(
                {"age": [0, 0], "sex": ["a", "a"], "AGE": [2, 2], "SEX": ["b'", "b'"]}, folder
            )
        except (duckdb.Error, sqlite3.Error):
            continue  # the engine itself has no such table
        try:
            counts = count_cells(source, domain_of(names), table=table)
        except SourceError:
            continue
        assert counts[0, 0, 2, 1] == counts.sum() == 2, kind


def test_studies_with_any_names(tmp_path: Path) -> None:
    """The same names through a study file and the command line, from CSV and from a database table of odd name."""
    for number, names in enumerate(GROUPS[:3]):
        folder = tmp_path / str(number)
        folder.mkdir()
        domain = domain_of(names)
        text = write_study("odd", domain, PureDP(1e6), [{"marginal": [name]} for name in names[:2]])
        table = 'people"; DROP TABLE x; -- ü'
        text += f'\n[data]\ntable = "{table.replace(chr(34), chr(92) + chr(34))}"\n'
        assert Study.parse(text).domain == domain
        (folder / "study.toml").write_text(text, encoding="utf-8")
        for kind in ("csv", "duckdb path"):
            source, _ = KINDS[kind](rows_of(names), folder)
            out = folder / f"{kind}.json"
            ended = rowspace("release", "--no-ledger", folder / "study.toml", source, "-o", out)
            assert ended.code == 0, ended.err
            answers = json.loads(out.read_text(encoding="utf-8"))["answers"]
            found = [round(row["answer"]) for row in answers]
            assert found == [1, 2, 1, 2, 1, 1]
