"""All counts of a release are of one state of the table."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import rowspace as rs
from rowspace.exceptions import SourceError
from rowspace.sources import coding, count_marginals

DOMAIN = rs.Domain(a=rs.Categorical(["x", "y"]), b=rs.Categorical(["x", "y"]))


def between_queries(monkeypatch: pytest.MonkeyPatch, write: Any) -> None:
    """Let somebody write after every query."""
    fetch = coding.fetch

    def fetch_and_write(*given: Any) -> Any:
        found = fetch(*given)
        write()
        return found

    for module in ("coding", "counting"):
        monkeypatch.setattr(f"rowspace.sources.{module}.fetch", fetch_and_write)


def one_query_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """No table is a sum of another, and no two are counted together."""
    monkeypatch.setattr("rowspace.sources.marginal_counting.tables_to_count", lambda sets, *_, **__: sets)
    monkeypatch.setattr("rowspace.sources.tallies._TABLES", 1)


def test_sqlite_counts_are_of_one_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every record has a = b in every state, and the writer flips both."""
    path = tmp_path / "people.sqlite"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE people (a TEXT, b TEXT)")
    writer.executemany("INSERT INTO people VALUES (?, ?)", [("x", "x")] * 10)
    flip = "UPDATE people SET a = CASE a WHEN 'x' THEN 'y' ELSE 'x' END, b = CASE b WHEN 'x' THEN 'y' ELSE 'x' END"

    def write() -> None:
        writer.execute(flip)
        writer.execute("INSERT INTO people SELECT * FROM people LIMIT 1")

    between_queries(monkeypatch, write)
    one_query_for_each(monkeypatch)
    tables = count_marginals(path, DOMAIN, [(0,), (1,)], table="people")
    assert tables.table((0,)).tolist() == tables.table((1,)).tolist() == [10, 0]
    assert writer.execute("SELECT count(*) FROM people").fetchone()[0] > 10
    writer.close()


def test_several_queries_without_a_snapshot_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an engine without transactions, whose tables one query counts, and then several."""
    path = tmp_path / "people.sqlite"
    with sqlite3.connect(path) as writer:
        writer.execute("CREATE TABLE people AS SELECT 'x' AS a, 'x' AS b")
    monkeypatch.setattr("rowspace.sources.snapshot._BEGIN", {})
    counted = count_marginals(path, DOMAIN, [(0,), (1,)], table="people")
    assert counted.table((0,)).tolist() == [1, 0]
    one_query_for_each(monkeypatch)
    with pytest.raises(SourceError, match="takes several queries"):
        count_marginals(path, DOMAIN, [(0,), (1,)], table="people")


@pytest.mark.parametrize("change", ["append", "replace", "write and set its time back"])
def test_a_file_that_changes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text("a,b\nx,x\ny,y\n")

    def write() -> None:
        if change == "append":
            with path.open("a") as file:
                file.write("x,y\n")
        elif change == "replace":
            other = tmp_path / "other.csv"
            other.write_text("a,b\nx,y\nx,y\n")
            other.rename(path)
        else:
            before = path.stat()
            path.write_text("a,b\nx,y\nx,y\n")
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    between_queries(monkeypatch, write)
    with pytest.raises(SourceError) as caught:
        count_marginals(path, DOMAIN, [(0,), (1,)])
    assert "changed while it was read" in str(caught.value) or "differ" in str(caught.value)
    monkeypatch.undo()
    count_marginals(path, DOMAIN, [(0,), (1,)])
