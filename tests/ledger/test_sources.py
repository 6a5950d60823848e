"""One source, one budget: a second one would let the same people be spent on twice."""

from __future__ import annotations

import hashlib
import sqlite3
import warnings
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa
import pytest

import rowspace as rs
from rowspace.exceptions import LedgerError
from rowspace.ledger import Ledger
from rowspace.sources import source_digest
from tests.cli.running import rowspace
from tests.ledger.examples import COUNTS, charge_one_source_twice, plan
from tests.study.examples import SMALL


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    (tmp_path / "people.csv").write_text("age\n1\n2\n")
    (tmp_path / "link.csv").symlink_to("people.csv")
    made = Ledger(tmp_path / "budget.db")
    for name in ("people", "census"):
        made.create(name, rs.PureDP(1.0))
    return made


def test_a_second_budget_for_the_same_source_needs_a_word(ledger: Ledger, tmp_path: Path) -> None:
    tenth = plan(rs.PureDP(0.1))
    rs.release(tenth, tmp_path / "people.csv", ledger=ledger, dataset="people")
    rs.release(tenth, str(tmp_path / "people.csv"), ledger=ledger, dataset="people")
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "people.csv")
    for path in (
        tmp_path / "people.csv",
        tmp_path / "link.csv",
        tmp_path / "hard.csv",
        f"{tmp_path}/../{tmp_path.name}/people.csv",
    ):
        with pytest.raises(LedgerError, match=r"'people' before.*--second-budget"):
            rs.release(tenth, path, ledger=ledger, dataset="census")
    assert ledger.history("census") == []
    rs.release(tenth, tmp_path / "people.csv", ledger=ledger, dataset="census", second_budget=True)
    assert len(ledger.history("census")) == 1


def test_it_is_decided_by_the_charge_not_by_the_check(ledger: Ledger) -> None:
    tenth = plan(rs.PureDP(0.1))
    ledger.charge(tenth, b"", "people", source="a")
    for attempt in (ledger.check, lambda *given, **named: ledger.charge(given[0], b"", given[1], **named)):
        with pytest.raises(LedgerError, match="second budget"):
            attempt(tenth, "census", source="a")
    ledger.charge(tenth, b"", "census", source="b")
    assert len(ledger.history("census")) == 1


def test_two_charges_at_once_do_not_pass_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    charged, refused = charge_one_source_twice(tmp_path / "new.db", monkeypatch)
    assert charged == "charged"
    assert "a second budget for the same people" in refused


def test_what_has_no_place_is_not_compared(ledger: Ledger) -> None:
    for name in ("people", "census"):
        rs.release(plan(rs.PureDP(0.1)), COUNTS, ledger=ledger, dataset=name)


def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(SMALL)
    Path("people.csv").write_text("age,sex\n1,F\n")
    for name in ("one", "two"):
        assert rowspace("budget", "create", "b.db", name, "--epsilon", "3").code == 0
    command = (
        "release",
        "study.toml",
        "people.csv",
        "--ledger",
        "b.db",
        "-o",
        "r.release",
        "--force",
        "--dataset",
    )
    assert rowspace(*command, "one").code == 0
    refused = rowspace(*command, "two")
    assert refused.code == 1
    assert "--second-budget" in refused.err
    assert rowspace(*command, "two", "--second-budget").code == 0


def same(one: tuple[Any, str | None], other: tuple[Any, str | None]) -> bool:
    """Whether two sources share a name."""
    names = [(source_digest(*source) or "").split() for source in (one, other)]
    return bool(set(names[0]) & set(names[1]))


def test_addresses_of_one_server_are_one() -> None:
    here = ("postgresql://host/db", "people")
    for other in (
        ("postgres://eve:secret@HOST/db", "people"),
        ("postgresql://host/db?connect_timeout=3", "people"),
        ("postgresql://host:5432/db", "people"),
        ("postgresql://h%6Fst/d%62", "people"),
        ("postgresql://eve@/db?host=host", "people"),
        ("postgresql:///?host=host&port=5432&dbname=db", "people"),
        ("postgresql://host/db", "public.people"),
        ("postgresql://host/db", "db.public.people"),
        ("postgresql://host/db/public", "people"),
    ):
        assert same(here, other), other
    for other in (
        ("postgresql://host/db", "places"),
        ("postgresql://host/db", "PEOPLE"),
        ("postgresql://host/db", "archive.people"),
        ("postgresql://host/db/archive", "people"),
        ("postgresql://host2/db", "people"),
        ("postgresql://host:5433/db", "people"),
        ("postgresql://host/db2", "people"),
        ("mysql://host/db", "people"),
    ):
        assert not same(here, other), other
    assert same(("postgresql://localhost/db", "t"), ("postgresql://[::1]:5432/db", "t"))
    assert same(("postgresql:///db/archive", "t"), ("postgresql://127.0.0.1/db", "archive.t"))
    assert not same(("postgresql://[2001:db8::1]/db", "t"), ("postgresql://[2001:db8::2]/db", "t"))


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_tables_of_a_database_file_are_one_however_they_are_written(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"register.{kind}"
    with closing(duckdb.connect(str(path)) if kind == "duckdb" else sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE people (age INTEGER)")
        connection.execute("CREATE TABLE places (age INTEGER)")
        connection.commit()
    (tmp_path / f"hard.{kind}").hardlink_to(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Ibis 12 calls a method that DuckDB 2 deprecates
        tables = getattr(ibis, kind).connect(path)
        people, places = tables.table("people"), tables.table("places")
    here = (path, "people")
    for other in (
        (f"{kind}://{path}", "people"),
        (str(path), "main.people"),
        (path, "PEOPLE"),
        (path, "Main.People"),
        (tmp_path / f"hard.{kind}", "people"),
        (people, None),
        (people.filter(people.age > 1), None),
        (people.join(places, "age"), None),
    ):
        assert same(here, other), other
    for other in ((path, "places"), (path, "archive.people"), (places, None), (tmp_path / "x", "people")):
        assert not same(here, other), other
    assert source_digest(ibis.memtable(pa.table({"age": [1]})), None) is None


def test_charges_of_version_0_1_are_known_as_they_were_written(ledger: Ledger, tmp_path: Path) -> None:
    """They kept one digest, of the path and the table as written."""
    path = tmp_path / "people.csv"
    before = hashlib.sha256(f"file\0{path.resolve()}\0".encode()).hexdigest()
    ledger.charge(plan(rs.PureDP(0.1)), b"", "people", source=before)
    with pytest.raises(LedgerError, match="second budget"):
        rs.release(plan(rs.PureDP(0.1)), path, ledger=ledger, dataset="census")
    server = hashlib.sha256(b"postgres\0host:5432/db?\0public.t").hexdigest()
    assert server in (source_digest("postgresql://host:5432/db", "public.t") or "")
