"""``rowspace check``: for the curator only, and it says so; `release` says nothing of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rowspace.study import CHECK_WARNING
from tests.cli.running import Ended, rowspace, unchanged

STUDY = """
[study]
name = "Visits"
[privacy]
epsilon = 1.0
privacy_unit = "who"
max_rows_per_unit = 1
[domain.age]
type = "numeric"
low = 0
high = 20
bins = 20
[domain.sex]
type = "categorical"
categories = ["F", "M"]
[[workload]]
marginal = ["age", "sex"]
"""
ROWS = "who,age,sex\n1,3,F\n1,77123,Zebra\n2,5, M\n3,,M\n"


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "visits.csv").write_text(ROWS)
    return tmp_path


def checked(folder: Path, *options: str) -> Ended:
    with unchanged(folder):
        return rowspace("check", folder / "study.toml", folder / "visits.csv", *options)


def test_the_table_stands_under_the_warning(visits: Path) -> None:
    ended = checked(visits)
    said = " ".join(ended.out.split())
    assert (ended.code, ended.err) == (0, "")
    assert said.startswith(CHECK_WARNING)
    assert "4 rows: a release accepts this data" in said
    assert "known missing outside unlisted ─" in said  # nothing is unreadable: no column for it
    assert "age text 2 1 1 0" in said
    assert "sex text 2 0 0 2" in said
    assert '" M" 1, "Zebra" 1' in said
    assert "write strip = true in [data]" in said
    assert "rows left out by a cap of 1: 1 (25.0 %), 2: 0" in said


def test_json(visits: Path) -> None:
    told = json.loads(checked(visits, "--json").out)
    assert (told["warning"], told["study"], told["accepted"], told["rows"]) == (
        CHECK_WARNING,
        "Visits",
        True,
        4,
    )
    age, sex = told["attributes"]
    assert (age["known"], age["missing"], age["above"], age["highest"]) == (2, 1, 1, 77123)
    assert sex["values"] == [[" M", 1], ["Zebra", 1]]
    assert told["unit"]["caps"][0] == {"rows": 1, "left_out": 1, "share": 0.25}
    assert told["unit"]["advised_cap"] == 2


def test_the_exit_code_says_whether_a_release_accepts_the_data(visits: Path) -> None:
    (visits / "visits.csv").write_text(ROWS.replace("1,3,F", "1,three,F"))
    ended = checked(visits)
    assert ended.code == 1
    assert 'refused: age: 1 row cannot be read as a number ("three" 1)' in " ".join(ended.out.split())
    assert json.loads(checked(visits, "--json").out)["accepted"] is False
    released = rowspace("release", visits / "study.toml", visits / "visits.csv", "--no-ledger")
    assert released.code == 1
    (visits / "visits.csv").write_bytes(b"who,age,sex\n\xff\n")
    ended = checked(visits)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.count("\n") == 1
    assert "is not utf-8 text" in ended.err


def test_release_prints_none_of_it(visits: Path) -> None:
    """Another table with the same answers gives the same words: no value, no number of lost rows."""
    ended = rowspace(
        "release", visits / "study.toml", visits / "visits.csv", "--no-ledger", "-o", visits / "a.csv"
    )
    assert ended.code == 0
    for secret in ("77123", "Zebra", '" M"', "curator"):
        assert secret not in ended.out + ended.err + (visits / "a.csv").read_text()


def test_release_sends_people_here_first() -> None:
    assert "rowspace check" in rowspace("release", "--help").out


def test_it_needs_data(visits: Path) -> None:
    ended = rowspace("check", visits / "study.toml")
    assert ended.code == 1
    assert "expected DATA" in ended.err
