"""``rowspace discover`` and ``rowspace bounds``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from tests.cli.running import rowspace, unchanged

PROMISE = ("--epsilon", 1, "--delta", 1e-8)


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """Two diagnoses that many have, and one that one person has; incomes around 1,000."""
    path = tmp_path / "visits.csv"
    frame = pd.DataFrame({"diagnosis": ["flu"] * 300 + ["asthma"] * 200 + ["rare"], "town": ["x"] * 501})
    frame.assign(income=np.linspace(600, 1000, 501), person=np.arange(501)).to_csv(path, index=False)
    return path


def budget(folder: Path, *how: object) -> Path:
    path = folder / "budget.db"
    how = how or ("--delta", 1e-6, "--composition", "basic")
    assert rowspace("budget", "create", path, "visits", "--epsilon", 3, *how).code == 0
    return path


def test_discover_writes_what_the_library_finds(visits: Path, tmp_path: Path) -> None:
    ledger = budget(tmp_path)
    targets = [tmp_path / f"d.{ending}" for ending in ("toml", "csv", "discovery", "json", "parquet")]
    outputs = [word for target in targets for word in ("-o", target)]
    ended = rowspace("discover", visits, "diagnosis", *PROMISE, "--ledger", ledger, *outputs)
    assert ended.code == 0, ended.err
    assert "2 values found" in ended.out
    assert "charged ε 1, δ 1e-8 to visits; 2 of 3 epsilon left" in " ".join(ended.out.split())
    assert "rare" not in ended.out
    found = rs.Discovery.load(tmp_path / "d.discovery")
    assert found.values == (("asthma", "flu"),)
    assert pd.read_csv(tmp_path / "d.csv")["answer"].tolist() == found.noisy_counts.tolist()
    assert rs.Ledger(ledger).resume(1) == (tmp_path / "d.discovery").read_bytes()
    assert "rare" not in "".join(path.read_text() for path in tmp_path.glob("d.[tcj]*"))
    # The attributes go into a study as they are.
    study = '[study]\nname = "V"\n[privacy]\nepsilon = 1.0\n[[workload]]\nmarginal = ["diagnosis"]\n'
    attribute = rs.Study.parse(study + (tmp_path / "d.toml").read_text()).domain["diagnosis"]
    assert attribute == found.categorical


def test_resume_gives_it_again(visits: Path, tmp_path: Path) -> None:
    ledger, first, again = budget(tmp_path), tmp_path / "d.discovery", tmp_path / "again.discovery"
    assert (
        rowspace("discover", visits, "diagnosis", "town", *PROMISE, "--ledger", ledger, "-o", first).code == 0
    )
    ended = rowspace("budget", "resume", ledger, 1, "-o", again, "-o", tmp_path / "again.csv", "--json")
    assert ended.code == 0, ended.err
    assert again.read_bytes() == first.read_bytes()
    assert json.loads(ended.out)["answers"] == pd.read_csv(tmp_path / "again.csv").to_dict(orient="records")
    ended = rowspace("budget", "resume", ledger, 1, "-o", tmp_path / "again.release")
    assert (ended.code, ended.err.count("\n")) == (1, 1)
    assert ".discovery" in ended.err
    assert rowspace("budget", "show", ledger).code == 0
    assert rowspace("budget", "history", ledger).code == 0


def test_discover_for_machines(visits: Path, tmp_path: Path) -> None:
    out = tmp_path / "d.csv"
    unit = ("--privacy-unit", "person", "--max-keys-per-unit", 2, "--at-least", 50)
    ended = rowspace("discover", visits, "diagnosis", *PROMISE, "--no-ledger", *unit, "-o", out, "--json")
    document = json.loads(ended.out)
    assert document["least"] == 50
    assert document["charge"] is None
    assert document["privacy"]["unit"] == {"column": "person", "rows": 2}
    assert [row["diagnosis"] for row in document["answers"]] == ["asthma", "flu"]
    assert "among what is shown" in document["intervals"]


def test_bounds(visits: Path, tmp_path: Path) -> None:
    ledger, out = budget(tmp_path), tmp_path / "b.release"
    ended = rowspace("bounds", visits, "income", "--epsilon", 2, "--ledger", ledger, "-o", out)
    assert ended.code == 0, ended.err
    assert "Bounds of income: from 512 to 1024" in ended.out
    found = rs.Bounds(rs.Release.load(out))
    assert (found.low, found.high) == (512.0, 1024.0)
    ended = rowspace("bounds", visits, "income", "--rho", 0.5, "--no-ledger", "--json")
    assert json.loads(ended.out)["low"] == 512.0


@pytest.mark.parametrize(
    "words",
    [
        ["discover", "VISITS", "diagnosis", *PROMISE, "--no-ledger"],
        ["discover", "VISITS", "diagnosis", *PROMISE, "--no-ledger", "-o", "x.xlsx"],
        ["discover", "VISITS", "diagnosis", *PROMISE, "-o", "x.csv"],
        ["discover", "VISITS", "nothing", *PROMISE, "--no-ledger", "-o", "x.csv"],
        ["discover", "VISITS", "diagnosis", "--epsilon", 0, "--delta", 1e-8, "--no-ledger", "-o", "x.csv"],
        ["discover", "VISITS", "diagnosis", *PROMISE, "--ledger", "BUDGET", "-o", "x.csv"],
        ["bounds", "VISITS", "income", "--no-ledger"],
        ["bounds", "VISITS", "income", "--epsilon", 9, "--ledger", "BUDGET"],
        ["bounds", "VISITS", "diagnosis", "--epsilon", 1, "--no-ledger"],
        ["bounds", "VISITS", "income", "--epsilon", 1, "--inside", 2, "--ledger", "BUDGET"],
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(words: list[object], visits: Path, tmp_path: Path) -> None:
    ledger = budget(tmp_path, "--neighbours", "add-remove")
    places = {"VISITS": visits, "BUDGET": ledger, "x.csv": tmp_path / "x.csv", "x.xlsx": tmp_path / "x.xlsx"}
    with unchanged(tmp_path):
        ended = rowspace(*(places.get(word, word) for word in words))  # type: ignore[call-overload]
    assert ended.code in (1, 2)
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1
    assert rs.Ledger(ledger).history() == []


def test_what_was_found_is_combined_with_a_release(visits: Path, tmp_path: Path) -> None:
    found, made = tmp_path / "d.discovery", tmp_path / "v.release"
    rs.discover(visits, "diagnosis", privacy=rs.ApproxDP(1.0, 1e-8)).save(found)
    domain = rs.Domain(diagnosis=rs.Discovery.load(found).categorical)
    rs.release(rs.plan(rs.workload.identity(domain), rs.PureDP(0.5)), visits).save(made)
    ended = rowspace("combine", found, made, "--ask", "diagnosis = 'flu'", "--json")
    assert ended.code == 0, ended.err
    both = rs.combine([rs.Release.load(made), rs.Discovery.load(found)])
    (row,) = json.loads(ended.out)["answers"]
    assert row["answer"] == both.ask("diagnosis = 'flu'")["answer"][0]
    assert "1 release and 1 discovery combined" in " ".join(rowspace("combine", made, found).out.split())
    assert "d.discovery: " in rowspace("combine", made, found, found).err
