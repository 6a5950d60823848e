"""One source, one budget: a second one would let the same people be spent on twice."""

from __future__ import annotations

from pathlib import Path

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
    for path in (tmp_path / "people.csv", tmp_path / "link.csv", f"{tmp_path}/../{tmp_path.name}/people.csv"):
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


def test_addresses_of_one_server_are_one() -> None:
    digests = {
        source_digest(url, "people")
        for url in (
            "postgresql://host/db",
            "postgres://eve:secret@HOST/db",
            "postgresql://host/db?connect_timeout=3",
        )
    }
    assert len(digests) == 1
    others = {
        source_digest("postgresql://host/db", "places"),
        source_digest("postgresql://host2/db", "people"),
    }
    assert len(others - digests) == 2
    assert source_digest("duckdb:///tmp/x.duckdb", "t") == source_digest("/tmp/x.duckdb", "t")
