"""Folders, patterns, partitions and addresses: many files are one table, or one clear refusal."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowspace as rs
from rowspace.exceptions import RowspaceError, SourceError
from rowspace.sources import count_cells, count_marginals, source_digest
from rowspace.sources.drafting import sketch_columns
from rowspace.sources.opening import open_table
from rowspace.study import check

DOMAIN = rs.Domain(
    year=rs.Categorical([2023, 2024], other="unknown"),
    region=rs.Categorical(["a/b", "north"], other="elsewhere"),
    age=rs.Numeric(0, 100, bins=4, outside="clip"),
)
SETS = [(0,), (1,), (2,), (0, 2), (0, 1, 2)]


def people(seed: int = 0, number: int = 400) -> pd.DataFrame:
    """Records with missing values in every column."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "year": rng.choice([2023, 2024, 2025], number),
            "region": rng.choice(["a/b", "north", None], number),
            "age": rng.uniform(-10, 110, number).round(1),
            "name": rng.choice(["x", 'y "z", w'], number),
        }
    )
    frame.loc[::7, "age"] = None
    return frame


def expected(frame: pd.DataFrame) -> Any:
    """The counts of pandas' rows over all cells of the domain; a record without an age is in none."""
    cells = np.zeros(DOMAIN.shape, np.int64)
    years, regions = {2023: 0, 2024: 1}, {"a/b": 0, "north": 1}
    known = frame[frame.age.notna()]
    for year, region, age in zip(known.year, known.region, known.age, strict=True):
        place = int(min(max(age // 25, 0), 3))
        cells[years.get(int(year), 2), regions.get(region, 2), place] += 1
    return cells


def write(frame: pd.DataFrame, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.name.endswith(".parquet"):
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)


def partitioned(frame: pd.DataFrame, root: Path, ending: str) -> None:
    """As Spark and Hive write it: values in the names of folders, escaped."""
    names = {"a/b": "a%2Fb", "north": "north"}
    for (year, region), part in frame.groupby(["year", "region"], dropna=False):
        folder = root / f"year={year}" / f"region={names.get(region, '__HIVE_DEFAULT_PARTITION__')}"
        write(part.drop(columns=["year", "region"]), folder / f"part-0{ending}")
    (root / "_SUCCESS").write_text("")
    (root / ".part-0.crc").write_text("no record")


ENDINGS = [".parquet", ".csv", ".csv.gz"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_folder_and_patterns_of_it_are_pandas_counts(ending: str, tmp_path: Path) -> None:
    frame, root = people(), tmp_path / "visits [1]"
    parts = np.array_split(np.arange(len(frame)), 5)
    for k, rows in enumerate(parts):
        part = frame.iloc[rows]
        write(part if k % 2 else part[["age", "region", "year"]], root / f"{k % 2}" / f"part-{k}{ending}")
    escaped = str(root).replace("[", "[[]")
    for source in (root, str(root), f"{root}/", f"{escaped}/**/*{ending}", f"{escaped}/*/part-?{ending}"):
        assert count_cells(source, DOMAIN).reshape(DOMAIN.shape).tolist() == expected(frame).tolist()
    some = frame.iloc[np.concatenate([parts[1], parts[3]])]
    assert (count_cells(f"{escaped}/1/*", DOMAIN).reshape(DOMAIN.shape) == expected(some)).all()
    tables = count_marginals(root, DOMAIN, SETS)
    assert (tables.table((0, 2)) == expected(frame).sum(axis=1)).all()


@pytest.mark.parametrize("ending", ENDINGS)
def test_partitions_are_columns_of_text(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, root = people(1), tmp_path / "year=1999" / "it's visits"  # a folder above the first adds no column
    partitioned(frame, root, ending)
    monkeypatch.chdir(tmp_path)
    here = root.relative_to(tmp_path)
    for source in (root, f"{root}/year=*/*/*{ending}", here, f"./{here}/", f"year=1999/../{here}/*/*/*"):
        assert (count_cells(source, DOMAIN).reshape(DOMAIN.shape) == expected(frame)).all()
    north = count_cells(f"{root}/*/region=north/*", DOMAIN).reshape(DOMAIN.shape)
    assert (north == expected(frame[frame.region == "north"])).all()
    # Partitions of the pattern's own folder are none of its columns.
    with pytest.raises(SourceError, match="'year'"):
        count_cells(f"{root}/year=2024/*/*{ending}", DOMAIN)
    # A folder whose value is no year changes how no other is read: it is refused, as text in a CSV file is.
    write(frame.head(3)[["age", "name"]], root / "year=secret" / "region=north" / f"part-0{ending}")
    with pytest.raises(SourceError, match="column 'year' must hold integers") as caught:
        count_cells(root, DOMAIN)
    assert "secret" not in str(caught.value)


def test_partitions_are_looked_up_by_the_block(tmp_path: Path) -> None:
    """A join would hash the name of its file for every record, and read the value of each."""
    partitioned(people(), tmp_path / "visits", ".parquet")
    with open_table(tmp_path / "visits", DOMAIN, None) as opened:
        plan = opened.backend.con.execute("EXPLAIN " + opened.backend.compile(opened.rows)).fetchall()[0][1]
    assert "HASH_JOIN" not in plan.upper().replace(" ", "_")


def test_every_way_to_use_a_source_takes_a_folder(tmp_path: Path) -> None:
    frame, root = people(2), tmp_path / "visits"
    partitioned(frame, root, ".parquet")
    sketched = {sketch.name: sketch.kind for sketch in sketch_columns(root)}
    assert sketched == {"age": "numbers", "name": "text", "year": "numbers", "region": "text"}
    looked = check(DOMAIN, root)
    assert looked.accepted
    assert {column.name: column.missing for column in looked.columns}["region"] == int(
        frame.region.isna().sum()
    )
    assert {column.name: column.type for column in looked.columns}["year"] == "text"
    plan = rs.plan(rs.workload.marginal(DOMAIN, "year", "region"), rs.PureDP(1e4))
    answers = rs.release(plan, root).answers().set_index(["year", "region"]).answer
    keys = frame.assign(region=frame.region.fillna("elsewhere"), year=frame.year.replace({2025: "unknown"}))
    for key, count in keys.groupby(["year", "region"]).size().items():
        assert answers[tuple(map(str, key))] == pytest.approx(count, abs=0.5)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_one_line_more_in_one_file_moves_one_count(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever the line, the other files are read as before, or all are refused."""
    root = tmp_path_factory.mktemp("lines")
    domain = rs.Domain(
        a=rs.Categorical(["x", "y"], other="other"), k=rs.Categorical(["1", "2"], other="other")
    )
    cell = st.sampled_from(["x", "y", '"x"', '"', 'x"', "", '"x,y"', "\r", "\ufeffx", "x\0"])
    lines = st.lists(st.tuples(cell, cell).map(",".join), max_size=4)
    files = {f"k={k}/{n}.csv": data.draw(lines) for k in (1, 2) for n in ("a", "b")}
    where, more = data.draw(st.sampled_from(sorted(files))), data.draw(st.tuples(cell, cell).map(",".join))
    found = []
    for added in ([], [more]):
        for name, own in files.items():
            text = "\n".join(["a,b", *own, *(added if name == where else [])])
            (root / name).parent.mkdir(exist_ok=True)
            with gzip.open(f"{root / name}.gz", "wb") as file:
                file.write(text.encode())
        try:
            found.append(count_cells(root, domain).astype(int))
        except SourceError:
            return
    assert np.abs(found[0] - found[1]).sum() <= 1


def between_queries(monkeypatch: pytest.MonkeyPatch, change: Callable[[], None]) -> None:
    """Let somebody change the files after the first query."""
    from rowspace.sources import coding

    fetch, calls = coding.fetch, []

    def fetch_and_change(*given: Any) -> Any:
        found = fetch(*given)
        if not calls:
            calls.append(change())
        return found

    for module in ("coding", "counting"):
        monkeypatch.setattr(f"rowspace.sources.{module}.fetch", fetch_and_change)


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
@pytest.mark.parametrize("change", ["appears", "vanishes", "is written", "is renamed"])
def test_files_that_change_are_refused(
    change: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, root = people(), tmp_path / "visits"
    for k in range(3):
        write(frame.iloc[k::3], root / f"part-{k}{ending}")
    last = root / f"part-2{ending}"

    def act() -> None:
        if change == "appears":
            write(frame, root / f"part-3{ending}")
        elif change == "vanishes":
            last.unlink()
        elif change == "is renamed":
            last.rename(root / f"part-9{ending}")
        else:
            write(frame, last)

    between_queries(monkeypatch, act)
    with pytest.raises(SourceError, match="was changed while it was read") as caught:
        count_marginals(root, DOMAIN, SETS)
    assert caught.value.transient
    monkeypatch.undo()
    count_marginals(root, DOMAIN, SETS)


def _other_columns(root: Path) -> None:
    write(people()[["age", "region"]], root / "b.parquet")


def _other_types(root: Path) -> None:
    write(people().astype({"year": str}), root / "b.parquet")


def _other_case(root: Path) -> None:
    write(people().assign(AGE=1), root / "b.parquet")


def _other_kind(root: Path) -> None:
    write(people(), root / "b.csv")


def _no_data(root: Path) -> None:
    (root / "notes.md").write_text("Ms Secret")


def _linked(root: Path) -> None:
    os.symlink(root / "a.parquet", root / "b.parquet")


def _hard_linked(root: Path) -> None:
    os.link(root / "a.parquet", root / "b.parquet")


def _uneven(root: Path) -> None:
    write(people(), root / "secret=Ms Secret" / "b.parquet")


def _twice(root: Path) -> None:
    (root / "year=2023").mkdir()
    (root / "a.parquet").rename(root / "year=2023" / "a.parquet")


def _delta(root: Path) -> None:
    (root / "_delta_log").mkdir()


def _damaged(root: Path) -> None:
    (root / "b.parquet").write_bytes(b"Ms Secret" * 100)


def _pipe(root: Path) -> None:
    os.mkfifo(root / "b.parquet")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_other_columns, "differ in their columns: expected 'year' once in every one"),
        (_other_types, "differ in their columns: expected 'year' of one type"),
        (_other_case, "differ in their columns: expected 'age' once in every one"),
        (_other_kind, "files of one kind"),
        (_no_data, "got others; name the files"),
        (_linked, "each file of .* once"),
        (_hard_linked, "each file of .* once"),
        (_uneven, "with and without some"),
        (_twice, "expected one column 'year', got 2"),
        (_delta, "Delta, Iceberg or Hudi"),
        (_damaged, "cannot be read as Parquet"),
        (_pipe, "a device or a pipe"),
    ],
)
def test_files_that_do_not_go_together_are_refused(
    make: Callable[[Path], None], message: str, tmp_path: Path
) -> None:
    """In one line, which quotes no name of a file that was found, as it may hold a value."""
    root = tmp_path / "visits"
    write(people(), root / "a.parquet")
    make(root)
    with pytest.raises(SourceError, match=message) as caught:
        count_cells(root, DOMAIN)
    assert "Secret" not in str(caught.value)
    assert "b.parquet" not in str(caught.value)


def test_csv_files_of_other_columns_are_refused(tmp_path: Path) -> None:
    for name, header in (("a", "year,region,age"), ("b", "year,Ms Secret,age")):
        (tmp_path / f"{name}.csv").write_text(f"{header}\n2024,north,3\n")
    with pytest.raises(SourceError, match="differ in their columns") as caught:
        count_cells(tmp_path, DOMAIN)
    assert "Secret" not in str(caught.value)
    with pytest.raises(SourceError, match=r"expected files at .*\*\.tsv, got none"):
        count_cells(tmp_path / "*.tsv", DOMAIN)


def test_a_declared_form_is_that_of_every_file(tmp_path: Path) -> None:
    for k in range(3):
        (tmp_path / f"part-{k}").write_text("2024; NORTH ;30\nNA;north;31\n")
    form = rs.CSV(
        tmp_path, names=["year", "region", "age"], delimiter=";", nulls=["NA"], strip=True, ignore_case=True
    )
    found = count_cells(form, DOMAIN).reshape(DOMAIN.shape)
    assert (found[1, 1, 1], found[2, 1, 1], found.sum()) == (3, 3, 6)


def test_check_tells_the_curator_which_record(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("year,region,age\n2024,north,3\n")
    (tmp_path / "b.csv").write_text('year,region,age\n2024,north,3\n2024,no"rth,3\n')
    with pytest.raises(SourceError, match=r"the first such record is number 3 of .*b\.csv"):
        check(DOMAIN, tmp_path)
    with pytest.raises(SourceError) as caught:
        count_cells(tmp_path, DOMAIN)
    assert "b.csv" not in str(caught.value)


def test_a_folder_is_one_source_however_it_is_written(tmp_path: Path) -> None:
    """So it is charged to one budget."""
    partitioned(people(), tmp_path / "visits", ".parquet")
    root = tmp_path / "visits"

    def names(source: object) -> set[str]:
        return set((source_digest(source, None) or "").split())

    one_file = next(root.glob("year=2024/*/*.parquet"))
    for other in (f"{root}/", f"{root}/*/*/*.parquet", f"{root}/**/*", rs.CSV(root), one_file):
        assert names(root) & names(other)
    write(people(), tmp_path / "other" / "a.parquet")
    assert not names(root) & names(tmp_path / "other")
    assert names("s3://bucket/visits/") == names("s3a://bucket/visits/*.parquet")
    assert (
        names("https://host/a.csv?sig=1") == names("https://host/a.csv?sig=2") != names("https://host/b.csv")
    )


@pytest.mark.parametrize(
    "address",
    ["s3://bucket/visits/*.parquet", "gs://bucket/a.csv", "https://host.invalid/a.csv?token=secret"],
)
def test_what_an_address_lacks_is_said_in_one_line(address: str) -> None:
    """Without the extension, which this test neither has nor fetches, or without the server."""
    with pytest.raises(RowspaceError, match=r"needs DuckDB's extension httpfs|cannot be read") as caught:
        count_cells(address, DOMAIN)
    said = str(caught.value)
    assert "\n" not in said
    assert not any(part in said for part in ("secret", "bucket", "host.invalid"))
