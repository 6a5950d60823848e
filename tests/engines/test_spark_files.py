"""Spark with a writer running: files that change are refused, and one query sees one state of whatever it reads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rowspace as rs
from rowspace.exceptions import SourceError
from rowspace.sources import check_columns, count_marginals
from rowspace.sources.coding import fetch
from tests.sources.test_snapshot import one_query_for_each

DOMAIN = rs.Domain({name: rs.Categorical(["x", "y"]) for name in "abc"})
PAIRS = [(0, 1), (1, 2), (0, 2)]


def write(file: Path, value: str, records: int = 200) -> None:
    """A file of equal records in the place of the one there is, at once, with another time of change."""
    new = file.with_name(f".{file.name}")
    pq.write_table(pa.table({name: [value] * records for name in "abc"}), new)
    if file.exists():
        os.utime(new, ns=(file.stat().st_mtime_ns + 10**9,) * 2)
    new.replace(file)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Names that are patterns, or would be taken for columns, or are written otherwise in an address."""
    for name in ("part=7", "part=[x]{y}"):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "p 1%20,ü*.parquet", "x")
    return tmp_path


def sources(session: Any, folder: Path) -> dict[str, tuple[object, str | None]]:
    frame = session.read.parquet(str(folder))
    frame.createOrReplaceTempView("changing")
    return {
        "path": ("pyspark://", f"parquet.{folder}"),
        "view": ("pyspark://", "changing"),
        "frame": (frame.where("a IS NOT NULL"), None),
    }


CHANGES: dict[str, Callable[[Path], None]] = {
    "updated": lambda folder: write(next(folder.glob("*/*.parquet")), "y"),
    "one for another": lambda folder: write(next(folder.glob("*/*.parquet")), "x"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("by", ["path", "view", "frame"])
def test_files_that_change_are_refused(
    session: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, by: str, change: str
) -> None:
    """Between two queries, with as many records as before: nothing but the files tells."""
    source, table = sources(session, folder)[by]
    assert count_marginals(source, DOMAIN, PAIRS, table=table).table((0, 1)).tolist() == [[400, 0], [0, 0]]

    def fetch_and_change(*arguments: Any) -> Any:
        found = fetch(*arguments)
        CHANGES[change](folder)
        return found

    monkeypatch.setattr("rowspace.sources.coding.fetch", fetch_and_change)
    with pytest.raises(SourceError, match="was changed while it was read") as caught:
        count_marginals(source, DOMAIN, PAIRS, table=table)
    assert caught.value.transient
    assert str(folder) not in str(caught.value)


def test_a_file_more_or_less_is_refused(session: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the last query, so that the counts themselves cannot tell."""
    more = folder / "part=7" / "more.parquet"

    def grouped(*arguments: Any) -> Any:
        found = group(*arguments)
        more.unlink() if more.exists() else write(more, "x")
        return found

    from rowspace.sources.counting import grouped as group

    monkeypatch.setattr("rowspace.sources.tallies.grouped", grouped)
    for _ in range(2):
        with pytest.raises(SourceError, match="was changed while it was read"):
            count_marginals("pyspark://", DOMAIN, PAIRS, table=f"parquet.{folder}")


def test_with_a_writer_running(session: Any, folder: Path) -> None:
    """Records are flipped all the time: whatever is counted is of one state, and the rest is refused."""
    stop = threading.Event()

    def flip() -> None:
        value = "x"
        while not stop.wait(0.05):
            value = "y" if value == "x" else "x"
            for file in sorted(folder.glob("part*/*.parquet")):
                write(file, value)

    writer = threading.Thread(target=flip)
    writer.start()
    try:
        for _ in range(3):
            with pytest.raises(SourceError):
                count_marginals("pyspark://", DOMAIN, PAIRS, table=f"parquet.{folder}")
    finally:
        stop.set()
        writer.join()
    counted = count_marginals("pyspark://", DOMAIN, PAIRS, table=f"parquet.{folder}")
    assert counted.table((0, 1)).max() == 400


@pytest.mark.parametrize("tables_of_a_query", [256, 1])
def test_tables_are_of_the_same_records(
    session: Any, monkeypatch: pytest.MonkeyPatch, tables_of_a_query: int
) -> None:
    """Of a DataFrame that has other records every time: the margins of all tables are those of one read."""
    one_query_for_each(monkeypatch)
    monkeypatch.setattr("rowspace.sources.tallies._TABLES", tables_of_a_query)
    number = "CAST(reflect('java.lang.Math', 'random') AS DOUBLE)"  # rand() gives a plan the same numbers every time
    random = f"CASE WHEN {number} < 0.5 THEN 'x' ELSE 'y' END"
    frame = session.range(2000).selectExpr(*(f"{random} AS {name}" for name in "abc"))
    tables = count_marginals(frame, DOMAIN, PAIRS)
    ab, bc, ac = (tables.table(pair) for pair in PAIRS)
    assert np.array_equal(ab.sum(axis=1), ac.sum(axis=1))
    assert np.array_equal(ab.sum(axis=0), bc.sum(axis=1))
    assert np.array_equal(bc.sum(axis=0), ac.sum(axis=0))
    again = count_marginals(frame, DOMAIN, PAIRS)
    assert not np.array_equal(again.table((0, 1)), ab)
    assert not any(table.name.startswith("rowspace_") for table in session.catalog.listTables())


@pytest.mark.parametrize("times", [1, 2])
def test_an_executor_that_is_lost_with_what_it_kept(
    session: Any, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """All tables are counted anew, of one read, and progress never goes back; what fails again has failed."""
    one_query_for_each(monkeypatch)
    monkeypatch.setattr("rowspace.sources.tallies._TABLES", 1)
    number = "CAST(reflect('java.lang.Math', 'random') AS DOUBLE)"
    frame = session.range(2000).selectExpr(*(f"IF({number} < 0.5, 'x', 'y') AS {name}" for name in "abc"))
    queries, shares = [0], list[float]()

    def grouped(*arguments: Any) -> Any:
        queries[0] += 1
        if queries[0] in (2, 3)[:times]:
            raise SourceError("what an executor kept is lost")
        return group(*arguments)

    from rowspace.sources.counting import grouped as group

    monkeypatch.setattr("rowspace.sources.tallies.grouped", grouped)
    if times == 2:
        with pytest.raises(SourceError, match="is lost"):
            count_marginals(frame, DOMAIN, PAIRS)
        return
    tables = count_marginals(frame, DOMAIN, PAIRS, progress=shares.append)
    ab, bc, ac = (tables.table(pair) for pair in PAIRS)
    assert np.array_equal(ab.sum(axis=1), ac.sum(axis=1))
    assert np.array_equal(ab.sum(axis=0), bc.sum(axis=1))
    assert np.array_equal(bc.sum(axis=0), ac.sum(axis=0))
    assert shares == sorted(shares)
    assert not any(table.name.startswith("rowspace_") for table in session.catalog.listTables())


def test_columns_are_checked_without_a_job(session: Any, folder: Path) -> None:
    """No list of files is made where no record is read."""
    tracker = session.sparkContext.statusTracker()
    before = len(tracker.getJobIdsForGroup())
    check_columns(sources(session, folder)["frame"][0], DOMAIN)
    files = len(tracker.getJobIdsForGroup()) - before
    assert files <= 1, "reading the folder takes one job, to learn its columns"
