"""Exports are written in portions, read back as one table with defaults, and say what they are."""

from __future__ import annotations

import csv
import json
import math
import sys
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow.parquet as pq
import pytest

import rowspace as rs
from rowspace.exceptions import FileError, InvalidInput, TooLarge
from rowspace.releases import Release, check_export, exported_files
from rowspace.releases.export import sheet_names

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 5, bins=5, outside="clip"),
    home=rs.Categorical(['flat "A"', "house, small", "plot #3", "=1+1", "@x"], other="else"),
)
FORMATS = [".csv", ".parquet", ".json", ".xlsx"]


@pytest.fixture(scope="module")
def in_portions() -> Release:
    """A release whose every stream comes in portions of three answers or one group."""
    workload = rs.workload.marginals(DOMAIN, up_to=2) + rs.workload.marginal(DOMAIN, "age")
    made = rs.release(rs.plan(workload, rs.ZCDP(0.5)), [3] * 30)

    class InPortions(Release):
        def stream(self, rows: int = 3, level: float = 0.95) -> Any:
            return super().stream(rows, level)

    return InPortions(made.plan, made.noisy_answers)


@pytest.fixture(scope="module")
def left_out() -> Release:
    """Records are left out in both ways."""
    domain = rs.Domain(age=rs.Numeric(0, 4, bins=4, outside="drop"))
    privacy = rs.PureDP(1.0, unit=rs.privacy.PrivacyUnit("person_id", rows=5))
    rows = pd.DataFrame({"age": [0, 1, 1, 9], "person_id": [1, 2, 2, 3]})
    return rs.release(rs.plan(rs.workload.marginal(domain, "age"), privacy), rows)


def read(path: Path) -> pd.DataFrame:
    """What people do: no options."""
    if path.suffix == ".csv":
        return pd.read_csv(path)
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pandas()
    return pd.DataFrame(json.loads(path.read_text())["answers"])


def notes(path: Path) -> dict[str, Any]:
    """What a file says about its answers."""
    if path.suffix == ".csv":
        return json.loads(path.with_name(f"{path.name}-metadata.json").read_text())["notes"][0]
    if path.suffix == ".parquet":
        return json.loads(pq.read_schema(path).metadata[b"rowspace"])
    if path.suffix == ".json":
        return json.loads(path.read_text())
    about = openpyxl.load_workbook(path).worksheets[0]
    return {row[0]: row[1] for row in about.iter_rows(values_only=True, max_col=2)}


def test_there_is_more_than_one_portion(in_portions: Release) -> None:
    assert len(list(in_portions.stream())) > 2


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
def test_what_is_written_is_the_table_of_answers(in_portions: Release, tmp_path: Path, suffix: str) -> None:
    rs.export(in_portions, tmp_path / f"a{suffix}")
    pd.testing.assert_frame_equal(
        read(tmp_path / f"a{suffix}"), in_portions.answers(), check_dtype=False, rtol=1e-15
    )


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_file_says_what_its_intervals_cover(
    in_portions: Release, left_out: Release, tmp_path: Path, suffix: str
) -> None:
    rs.export(in_portions, tmp_path / f"all{suffix}", level=0.9)
    rs.export(left_out, tmp_path / f"some{suffix}", level=0.9)
    everybody, some = notes(tmp_path / f"all{suffix}"), notes(tmp_path / f"some{suffix}")
    assert everybody["intervals"] == "Each interval by itself covers the true count with probability 0.9."
    assert "population" not in everybody
    assert everybody["statement"] == in_portions.statement
    assert (
        some["intervals"]
        == "Each interval by itself covers the count among the records that are counted with probability 0.9."
    )
    assert some["population"] == left_out.plan.population
    assert some["population"] in some["statement"]
    assert "unbiased for the records that are counted" in some["statement"]


def test_a_csv_file_is_a_header_and_answers_and_says_what_it_is_beside(
    in_portions: Release, tmp_path: Path
) -> None:
    target = tmp_path / "my answers.csv"
    rs.export(in_portions, target)
    assert sorted(tmp_path.iterdir()) == sorted(exported_files(target))
    with target.open(newline="", encoding="utf-8") as file:
        assert next(csv.reader(file)) == in_portions.answers().columns.tolist()
    beside = json.loads((tmp_path / "my answers.csv-metadata.json").read_text())
    assert beside["@context"][0] == "http://www.w3.org/ns/csvw"
    assert beside["url"] == "my%20answers.csv"
    columns = {column["titles"]: column["datatype"] for column in beside["tableSchema"]["columns"]}
    assert list(columns) == in_portions.answers().columns.tolist()
    assert columns["age"] == "string"
    assert columns["answer"] == "number"


def test_answers_never_lie_without_their_statement(in_portions: Release, tmp_path: Path) -> None:
    (tmp_path / "a.csv-metadata.json").mkdir()
    with pytest.raises(FileError):
        rs.export(in_portions, tmp_path / "a.csv")
    assert not (tmp_path / "a.csv").exists()


def test_a_workbook_has_a_sheet_for_each_group(in_portions: Release, tmp_path: Path) -> None:
    rs.export(in_portions, tmp_path / "a.xlsx")
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    answers = in_portions.answers()
    assert book.sheetnames == ["About", "total", "age", "home", "age × home"]
    for group, own in answers.groupby("group", sort=False):
        header, *rows = book[str(group)].iter_rows(values_only=True)
        used = [name for name in ("age", "home") if name in str(group)]
        assert list(header) == [*used, "answer", "std_error", "low", "high"]
        # Excel keeps sixteen digits.
        found = pd.DataFrame(rows, columns=list(header))
        pd.testing.assert_frame_equal(
            found, own[list(header)].reset_index(drop=True), check_dtype=False, rtol=1e-14
        )
    assert (book.properties.creator, book.properties.lastModifiedBy) == (None, None)


def test_labels_that_look_like_formulas_are_text(in_portions: Release, tmp_path: Path) -> None:
    rs.export(in_portions, tmp_path / "a.xlsx")
    cells = [cell for row in openpyxl.load_workbook(tmp_path / "a.xlsx")["home"].iter_rows() for cell in row]
    assert {"=1+1", "@x"} <= {cell.value for cell in cells}
    assert {cell.data_type for cell in cells} == {"s", "n"}


def test_sheets_have_names_that_excel_takes() -> None:
    groups = ["a/b: [c]*?\\", "'quoted'", "A" * 40, "a" * 40, "a" * 31, "about", "History", ":", "sex", "SEX"]
    names = list(sheet_names(groups).values())
    assert len({name.casefold() for name in names} | {"about", "history"}) == len(groups) + 2
    for name in names:
        assert 0 < len(name) <= 31
        assert not set(name) & set("[]:*?/\\")
        assert name == name.strip("' ")


def test_what_excel_cannot_hold_is_refused_before_anything_is_written(
    in_portions: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a.xlsx"
    long = rs.Domain(x=rs.Numeric(0, 2000, bins=2000))
    ranges = rs.plan(rs.workload.ranges(long, "x"), rs.ZCDP(0.5), effort="fast")
    with pytest.raises(TooLarge, match=r"holds 1,048,575 answers, 'ranges of x' has 2,001,000; write \.csv"):
        check_export(ranges, target)
    names = [f"a{number}" for number in range(24)]
    wide = rs.Domain({name: rs.Categorical(["x", "y"]) for name in names})
    many = rs.plan(rs.workload.marginals(wide, exactly=2), rs.ZCDP(0.5), effort="fast")
    with pytest.raises(TooLarge, match="expected at most 250 groups of queries"):
        check_export(many, target)
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(InvalidInput, match=r"rowspace\[xlsx\]"):
        rs.export(in_portions, target)
    monkeypatch.undo()
    monkeypatch.setattr(sys.modules["rowspace.releases.export"], "_about", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        rs.export(in_portions, target)
    assert list(tmp_path.iterdir()) == []


def test_a_text_that_excel_would_cut_is_refused(tmp_path: Path) -> None:
    domain = rs.Domain(x=rs.Categorical(["a" * 40_000, "b"], other="else"))
    made = rs.release(rs.plan(rs.workload.marginal(domain, "x"), rs.PureDP(1.0)), [1, 2, 3])
    with pytest.raises(TooLarge, match="longer than a sheet of Excel can hold"):
        rs.export(made, tmp_path / "a.xlsx")


def test_an_unknown_ending(in_portions: Release, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"\.csv, \.parquet, \.json, \.xlsx, got 'a\.txt'"):
        rs.export(in_portions, tmp_path / "a.txt")


@pytest.mark.parametrize("suffix", FORMATS)
def test_consistent_counts_say_that_they_are_biased(suffix: str, tmp_path: Path) -> None:
    domain = rs.Domain(age=rs.Numeric(0, 4, bins=4), sex=rs.Categorical(["M", "F"]))
    made = rs.release(rs.plan(rs.workload.marginal(domain, "age", "sex"), rs.PureDP(1.0)), [7] * 8)
    whole = made.consistent(integral=True)
    path = tmp_path / f"whole{suffix}"
    rs.export(whole, path)
    said = notes(path)
    assert "Biased post-processing" in said["statement"]
    assert "intervals" not in said
    if suffix == ".csv":
        assert read(path)["answer"].tolist() == whole.answers()["answer"].tolist()
    rs.export(made.combine(made_again(made)).consistent(), tmp_path / f"both{suffix}")
    with pytest.raises(InvalidInput, match="expected a release"):
        rs.export(whole.answers(), path)  # type: ignore[arg-type]


def made_again(made: Release) -> Release:
    """Another release of the same plan."""
    return rs.release(made.plan, [7] * 8)


def test_numbers_at_hardly_any_noise_are_those_of_pandas(tmp_path: Path) -> None:
    people = pd.DataFrame({"age": [0, 1, 1, 3, 3, 3], "home": ["@x", "=1+1", "=1+1", "@x", "plot #3", "?"]})
    plan = rs.plan(rs.workload.marginal(DOMAIN, "home"), rs.PureDP(1e4))
    for suffix in FORMATS:
        rs.export(rs.release(plan, people), tmp_path / f"a{suffix}")
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx")["home"]
    rows = [row[:2] for row in sheet.iter_rows(values_only=True, min_row=2)]
    frames = [read(tmp_path / f"a{suffix}") for suffix in FORMATS[:3]]
    for found in (dict(rows), *(dict(zip(f["home"], f["answer"], strict=True)) for f in frames)):
        for label, count in people["home"].value_counts().items():
            assert math.isclose(found["else" if label == "?" else label], count, abs_tol=1e-6)
