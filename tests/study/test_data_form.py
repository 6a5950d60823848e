"""[data]: a CSV file is read as it is declared, by every command; anything else as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput
from rowspace.sources import count_cells
from rowspace.study import Study
from tests.cli.running import rowspace, unchanged
from tests.study.examples import SMALL

FORM = """
[data]
encoding = "windows-1252"
delimiter = ";"
names = ["age", "sex", "place"]
nulls = ["NA", "?"]
strip = true
ignore_case = true
quoted_newlines = true
"""
ROWS = "".join(f'{k % 20}; {"fFmM"[k % 4]} ;"Zür\nich"\n' for k in range(400)) + "NA;F;x\n3;?;x\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(SMALL + FORM)
    (tmp_path / "people.data").write_bytes(ROWS.encode("windows-1252"))
    return tmp_path


def test_a_study_declares_the_file(folder: Path) -> None:
    study = Study.load(folder / "study.toml")
    source = study.source(folder / "people.data")
    assert source == rs.CSV(
        str(folder / "people.data"),
        "windows-1252",
        ";",
        ["age", "sex", "place"],
        ["NA", "?"],
        True,
        True,
        True,
    )
    assert count_cells(source, study.domain).sum() == 400
    assert count_cells(source, study.domain).sum(axis=0).tolist() == [200, 200]


def test_a_study_without_a_form_leaves_the_source_alone(folder: Path) -> None:
    assert Study.parse(SMALL).source("people.csv") == "people.csv"
    assert Study.parse(SMALL).source("postgresql://host/db") == "postgresql://host/db"


@pytest.mark.parametrize(
    "address", ["people.parquet", "people.duckdb", "people.sqlite", "postgresql://host/db"]
)
def test_the_form_is_never_ignored(address: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"\[data\] declares a CSV file \(encoding, .*another kind of source"
    ):
        Study.parse(SMALL + FORM).source(address)


def test_release_reads_it(folder: Path) -> None:
    ended = rowspace(
        "release", folder / "study.toml", folder / "people.data", "--no-ledger", "-o", folder / "p.csv"
    )
    assert ended.code == 0, ended.err


def test_a_wrong_form_is_one_line_and_charges_nothing(folder: Path) -> None:
    ledger = folder / "budget.db"
    assert rowspace("budget", "create", ledger, "people", "--epsilon", "3").code == 0
    for old, new, words in (
        ('"windows-1252"', '"utf-8"', "is not utf-8 text"),
        ("quoted_newlines = true", "", "quoted_newlines = true"),
        ('delimiter = ";"', "", "check the delimiter, here ','"),
        ('"place"]', '"place", "more"]', "expected 4 cells"),
        ('nulls = ["NA", "?"]', "", "column 'age' must hold numbers"),
    ):
        (folder / "wrong.toml").write_text((SMALL + FORM).replace(old, new))
        with unchanged(folder):
            arguments = ("wrong.toml", "people.data", "budget.db")
            study, data, budget = (folder / name for name in arguments)
            ended = rowspace("release", study, data, "--ledger", budget, "-o", folder / "p.csv")
        assert ended.code == 1
        assert words in " ".join(ended.err.split())
        assert "Traceback" not in ended.err
        assert "rich" not in ended.err


def test_init_takes_the_form_and_writes_it(folder: Path) -> None:
    options = ["--encoding", "windows-1252", "--delimiter", ";", "--names", "age,sex,place", "--null", "NA"]
    options += ["--null", "?", "--strip", "--ignore-case", "--quoted-newlines"]
    ended = rowspace("init", folder / "people.data", *options, "-o", folder / "draft.toml")
    assert ended.code == 0, ended.err
    draft = Study.load(folder / "draft.toml")
    assert draft.data == Study.load(folder / "study.toml").data
    assert len(draft.domain["sex"].values) == 2
    asked = Study.load(folder / "study.toml").domain
    assert count_cells(draft.source(folder / "people.data"), asked).sum() == 400


def test_init_says_what_to_declare(folder: Path) -> None:
    (folder / "people.csv").write_bytes("age,place\n1,Zürich\n".encode("latin-1"))
    ended = rowspace("init", folder / "people.csv", "-o", folder / "draft.toml")
    assert ended.code == 1
    assert "is not utf-8 text" in ended.err
    assert "Z" not in ended.err.replace(str(folder), "")


def test_init_lists_columns_that_have_one_name(folder: Path) -> None:
    (folder / "people.csv").write_text("age,sex,age\n1,F,2\n3,M,4\n")
    assert rowspace("init", folder / "people.csv", "-o", folder / "draft.toml").code == 0
    assert "# Left out: 'age', several columns have this name" in (folder / "draft.toml").read_text()
    (folder / "study.toml").write_text(SMALL)
    ended = rowspace(
        "release", folder / "study.toml", folder / "people.csv", "--no-ledger", "-o", folder / "p.csv"
    )
    assert ended.code == 1
    assert "expected one column 'age', got 2" in ended.err
