"""Real tables through the commands: init, check, plan, release, report; what is read is what pandas counts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.noise import InsecureSeededRandom
from rowspace.sources import count_cells
from rowspace.study import Study
from tests.cli.running import rowspace

from . import tables

RELEASES = int(os.environ.get("ROWSPACE_RELEASES", "40"))  # 200 in `make doors`


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("adult", marks=pytest.mark.long),
        pytest.param("congress", marks=pytest.mark.long),
        pytest.param("flights", marks=pytest.mark.long),
    ],
)
def test_from_the_file_to_the_report(name: str, tmp_path: Path) -> None:
    table = tables.flights(tmp_path) if name == "flights" else getattr(tables, name)()
    study, plan, made, answers, page = (
        tmp_path / file for file in ("study.toml", "made.plan", "made.release", "answers.csv", "page.html")
    )
    run("init", table.path, *table.options, "-o", study)
    assert "draft" in rowspace("release", study, table.path, "--no-ledger", "-o", made).err
    edited = study.read_text("utf-8").replace("draft = true", "") + f"\n[[workload]]\n{table.queries}\n"
    study.write_text(edited, "utf-8")

    looked = run("check", study, table.path)
    assert looked["rows"] == len(table.frame)
    missing = {column["name"]: column["missing"] for column in looked["attributes"]}
    assert missing == {column: int(table.frame[column].isna().sum()) for column in missing}

    run("plan", study, "--save", plan)
    run("release", study, table.path, "--plan", plan, "--no-ledger", "-o", made, "-o", answers)
    run("report", made, "-o", page)
    assert page.read_text("utf-8").lower().startswith("<!doctype html>")

    published = pd.read_csv(answers)
    counts = table.counts(published)
    # No answer of a whole release strays so far by chance: a wrong one would, in tables of thousands.
    assert (np.abs(published["answer"] - counts) / published["std_error"]).max() < 10
    check_coverage(rs.Plan.load(plan), Study.load(study), table, counts)


def check_coverage(plan: rs.Plan, study: Study, table: tables.RealTable, counts: np.ndarray) -> None:
    """Intervals at 95 % cover pandas' counts in 95 % of the releases, in every group."""
    cells = count_cells(study.data.source(str(table.path)), plan.domain)
    covered = []
    for seed in range(RELEASES):
        answers = rs.release(plan, cells, random=InsecureSeededRandom(seed)).answers()
        inside = (answers["low"] <= counts) & (counts <= answers["high"])
        covered.append(inside.groupby(answers["group"], sort=False).mean())
    shares = pd.DataFrame(covered)
    # One per cent, and what so many releases may be off by chance: the answers of one release are not independent.
    by_chance = 3.5 * np.maximum(shares.std() / np.sqrt(RELEASES), 0.0005)
    off = (shares.mean() - 0.95).abs()
    assert (off <= 0.01 + by_chance).all(), shares.mean()
    assert abs(shares.mean().mean() - 0.95) < 0.01


def run(*arguments: str | Path) -> Any:
    """The JSON document of a command that must succeed."""
    ended = rowspace(*arguments, "--json")
    assert ended.code == 0, ended.err
    return json.loads(ended.out)
