"""`rs.check`: every number is that of pandas, whatever holds the data; what a release refuses is found, not raised."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape

import rowspace as rs
from rowspace.exceptions import RowspaceError, SourceError
from rowspace.sources import count_cells
from rowspace.study import CHECK_WARNING
from tests.sources.kinds import KINDS

AGES = [0.0, 30.0, 30.5, 99.0, 100.0, 140.0, -3.0, None, 12.0, 64.0]
SEXES = ["F", "M", " M", "m", " f ", None, "F", "x", "x", "M"]
DAYS = ["2024-01-01", "2024-06-30", "2023-12-31", "2025-01-01", None] + ["2024-03-01"] * 5
CODES = [1, 2, 3, 9, 9, 9, 8, None, 1, 1]
WHO = ["a", "a", "a", "a", "b", "b", "c", "c", None, "d"]
ROWS = {"age": AGES, "sex": SEXES, "day": DAYS, "code": CODES, "who": WHO}

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 100, bins=10, integer=True),
    sex=rs.Categorical(["F", "M"]),
    day=rs.Dates("2024-01-01", "2025-01-01", every="month"),
    code=rs.Categorical([1, 2, 3]),
)


def column(found: rs.Check, name: str) -> Any:
    return next(each for each in found.columns if each.name == name)


def kinds(found: rs.Check, name: str | None) -> set[str]:
    return {finding.kind for finding in found.findings if finding.attribute == name}


def words(found: rs.Check, kind: str, name: str | None = None) -> str:
    return next(f.message for f in found.findings if f.kind == kind and f.attribute == name)


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_is_that_of_pandas(kind: str, tmp_path: Path) -> None:
    source, table = KINDS[kind](ROWS, tmp_path)
    found = rs.check(DOMAIN, source, table=table, unit=rs.PrivacyUnit("who", rows=2))
    frame = pd.DataFrame(ROWS)
    age, sex, code = frame["age"], frame["sex"], frame["code"]
    day = pd.to_datetime(frame["day"])
    start, end = pd.Timestamp("2024-01-01"), pd.Timestamp("2025-01-01")

    assert found.accepted
    assert (found.rows, found.counted) == (len(frame), frame["who"].notna().sum())
    of = column(found, "age")
    assert (of.known, of.missing) == (((age >= 0) & (age < 100)).sum(), age.isna().sum())
    assert (of.below, of.above, of.unlisted, of.unreadable) == ((age < 0).sum(), (age >= 100).sum(), 0, 0)
    assert of.decimals == (age.dropna() % 1 != 0).sum()
    assert (of.lowest, of.highest) == (age.min(), age.max())
    of = column(found, "sex")
    unlisted = sex[sex.notna() & ~sex.isin(["F", "M"])]
    assert (of.known, of.missing, of.unlisted) == (
        sex.isin(["F", "M"]).sum(),
        sex.isna().sum(),
        len(unlisted),
    )
    assert dict(of.values) == dict(Counter(unlisted))
    assert of.values[0] == ("x", 2)
    assert of.spaces == unlisted.str.strip().isin(["F", "M"]).sum() == 1
    assert of.case == unlisted.str.upper().isin(["F", "M"]).sum() == 1
    assert of.spaces_and_case == 1
    of = column(found, "day")
    assert (of.known, of.below, of.above, of.missing) == (
        ((day >= start) & (day < end)).sum(),
        (day < start).sum(),
        (day >= end).sum(),
        day.isna().sum(),
    )
    of = column(found, "code")
    assert (of.known, of.unlisted, of.missing) == (code.isin([1, 2, 3]).sum(), code.isin([8, 9]).sum(), 1)
    assert [number for _, number in of.values] == [3, 1]

    sizes = frame["who"].value_counts()
    assert found.unit is not None
    assert (found.unit.units, found.unit.rows, found.unit.largest) == (len(sizes), sizes.sum(), sizes.max())
    assert {cap.rows: cap.left_out for cap in found.unit.caps} == {
        cap: (sizes - cap).clip(lower=0).sum() for cap in (1, 2, 3, 5)
    }
    for share, size in found.unit.quantiles:
        assert size == np.quantile(sizes, share, method="inverted_cdf")
    assert "1 row (10.0 %) is of no privacy unit" in words(found, "unit")
    assert "leaves out 2 of 9 rows" in words(found, "cap")


DIRTY = """age,sex,day,flag,note,sex
12,F,2024-02-30,true,x,a
NA,M,2024-01-31,maybe,x,b
 7,F,2024-01-01T10:00:00Z,false,x,c
NA,?,,true,x,d
"""


def test_what_a_release_refuses_is_found_not_raised(tmp_path: Path) -> None:
    path = tmp_path / "dirty.csv"
    path.write_text(DIRTY)
    domain = rs.Domain(
        age=rs.Numeric(0, 100, bins=10),
        sex=rs.Categorical(["F", "M"]),
        day=rs.Dates("2024-01-01", "2025-01-01", every="month"),
        flag=rs.Categorical([False, True]),
        notes=rs.Categorical(["x"]),
        note=rs.Categorical(["x"]),
    )
    found = rs.check(domain, path)
    assert not found.accepted
    with pytest.raises(RowspaceError):
        rs.release(rs.plan(rs.workload.marginals(domain, up_to=1), rs.PureDP(1.0), effort="fast"), path)
    assert (column(found, "age").known, column(found, "age").unreadable) == (2, 2)
    assert column(found, "age").values == (("NA", 2),)
    assert 'nulls = ["NA"] in [data]' in words(found, "unreadable", "age")
    assert "expected one column 'sex', got 2" in words(found, "column", "sex")
    assert column(found, "day").values == (("2024-02-30", 1),)
    assert kinds(found, "day") >= {"unreadable", "zones", "missing"}
    assert column(found, "flag").values == (("maybe", 1),)
    assert "did you mean 'note'" in words(found, "column", "notes")
    assert kinds(found, "note") == {"constant"}
    declared = rs.check(domain.subset(["age"]), rs.CSV(path, nulls=["NA"]))
    assert declared.accepted
    assert (column(declared, "age").missing, column(declared, "age").unreadable) == (2, 0)


def test_a_wrong_type_is_a_finding() -> None:
    frame = pd.DataFrame({"age": ["1", None, "x"], "sex": [1, 2, 3], "odd": [1, "a", []]})
    domain = rs.Domain(
        age=rs.Numeric(0, 9, bins=9),
        sex=rs.Categorical(["F"]),
        odd=rs.Categorical(["a"]),
        no=rs.Categorical(["a"]),
    )
    found = rs.check(domain, frame)
    assert [f.kind for f in found.findings if f.refused] == ["type", "type", "column", "column"]
    assert "must hold numbers" in words(found, "type", "age")
    assert (column(found, "age").missing, column(found, "age").unreadable) == (1, 2)


def test_what_becomes_of_each_row_is_said() -> None:
    frame = pd.DataFrame(
        {"a": [-1.0, None], "b": [-1.0, None], "c": [-1.0, None], "d": ["z", None], "e": ["z", None]}
    )
    domain = rs.Domain(
        a=rs.Numeric(0, 9, bins=9),
        b=rs.Numeric(0, 9, bins=9, outside="clip"),
        c=rs.Numeric(0, 9, bins=9, outside="drop"),
        d=rs.Categorical(["y"], other="rest"),
        e=rs.Categorical(["y"], outside="drop"),
    )
    found = rs.check(domain, frame)
    assert "in no range of it, and in totals" in words(found, "outside", "a")
    assert "in the nearest bin" in words(found, "outside", "b")
    assert "in no range of it" in words(found, "missing", "b")
    assert "left out of every answer" in words(found, "outside", "c")
    assert "counted as 'rest'" in words(found, "unlisted", "d")
    assert "counted as 'rest'" in words(found, "missing", "d")
    assert "left out of every answer" in words(found, "unlisted", "e")
    assert found.counted == 0
    assert kinds(found, None) == {"dropped", "nothing"}
    assert "unknown" in kinds(found, "a")


def test_complete_columns_and_empty_tables() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [1, 2], "c": ["y", "y"]})
    domain = rs.Domain(
        a=rs.Numeric(0, 9, bins=9),
        b=rs.Numeric(0, 9, bins=9, outside="drop"),
        c=rs.Categorical(["y"], other="z"),
    )
    found = rs.check(domain, frame)
    assert words(found, "complete").startswith("every row has a known value of a. If that is public")
    assert kinds(rs.check(domain, frame[:0]), None) == {"empty"}
    lost = rs.check(domain.subset(["a"]), frame[["b"]])
    assert (lost.rows, lost.accepted) == (None, False)
    assert "not there" in str(lost)


def test_attributes_that_no_query_names_refuse_nothing(tmp_path: Path) -> None:
    text = """
        [study]
        name = "Few"
        [privacy]
        epsilon = 1.0
        [domain.age]
        type = "numeric"
        low = 0
        high = 9
        bins = 9
        [domain.sex]
        type = "categorical"
        categories = ["F"]
        outside = "drop"
        [[workload]]
        ranges = "age"
    """
    found = rs.check(rs.Study.parse(text), pd.DataFrame({"age": [1, 2], "sex": ["x", None]}))
    assert found.accepted
    assert found.counted == 2
    assert "unasked" in kinds(found, "sex")
    assert rs.check(rs.Study.parse(text), pd.DataFrame({"age": [1, 2]})).accepted
    strips = rs.Study.parse(text + '\n[data]\nnames = ["age", "sex"]\nstrip = true\n')
    (tmp_path / "few.data").write_text("1, F\n2, x\n")
    found = rs.check(strips, tmp_path / "few.data")
    assert (column(found, "sex").known, column(found, "sex").values) == (1, (("x", 1),))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty file"),
        (b"age\n\xff\n", "not utf-8"),
        (b"age,b\n1,2\n1\n", "record is number 3"),
        (b'age,b\n1,2"\n', "record is number 2"),
    ],
)
def test_bad_files_are_one_line(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_bytes(content)
    domain = rs.Domain(age=rs.Numeric(0, 9, bins=9))
    plan = rs.plan(rs.workload.identity(domain), rs.PureDP(1.0), effort="fast")
    with pytest.raises(SourceError) as released:
        rs.release(plan, tmp_path / "bad.csv")
    with pytest.raises(SourceError, match=said) as checked:
        rs.check(domain, tmp_path / "bad.csv")
    assert str(checked.value).startswith(str(released.value))


def test_a_file_of_headers_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "headers.csv").write_text("age\n")
    found = rs.check(rs.Domain(age=rs.Numeric(0, 9, bins=9)), tmp_path / "headers.csv")
    assert (found.rows, found.accepted, kinds(found, None)) == (0, True, {"empty"})


def test_it_is_shown_with_its_warning() -> None:
    frame = pd.DataFrame({"sex": ["<b>", "F"]})
    found = rs.check(rs.Domain(sex=rs.Categorical(["F", "M"])), frame)
    assert str(found).splitlines()[0] == CHECK_WARNING
    assert str(escape(CHECK_WARNING)) in found._repr_html_()
    assert "<b>" not in found._repr_html_()
    assert repr(found) == "<Check of 1 attributes; 2 rows: a release accepts this data>"
    told = json.loads(json.dumps(found.to_dict()))
    assert told["warning"] == CHECK_WARNING
    assert told["attributes"][0]["values"] == [["<b>", 1]]


def test_counts_are_no_records() -> None:
    with pytest.raises(RowspaceError, match="expected a path"):
        rs.check(DOMAIN, np.array([1, 2]))
    with pytest.raises(RowspaceError, match="expected a study or a domain"):
        rs.check("study.toml", "people.csv")  # type: ignore[arg-type]


def test_categories_that_are_alike_are_said() -> None:
    domain = rs.Domain(title=rs.Categorical(["Jr.", " Jr.", "Sr."]), sex=rs.Categorical(["F", "M"]))
    found = rs.check(domain, pd.DataFrame({"title": ["Jr.", " Jr.", "Sr."], "sex": ["F", "M", "M"]}))
    assert found.accepted
    assert 'the categories "Jr." and " Jr." differ only by spaces or case' in words(found, "alike", "title")
    assert "alike" not in kinds(found, "sex")


def test_bad_dates_in_a_frame_are_not_told_of_csv() -> None:
    """[data] and its nulls are for text files alone."""
    domain = rs.Domain(day=rs.Dates("2024-01-01", "2024-02-01", every="day"))
    rows = pd.DataFrame({"day": ["2024-01-02", "NA"]})
    with pytest.raises(SourceError, match="clean the column in a view or a frame") as refusal:
        count_cells(rows, domain)
    assert "nulls" not in str(refusal.value) + str(rs.check(domain, rows))
