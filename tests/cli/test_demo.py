from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from rowspace import planning, sample
from rowspace.study import Study
from tests.cli.running import rowspace, unchanged


def test_the_demo_shows_plan_answers_and_what_is_next(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    ended = rowspace("demo", "-o", folder)
    assert ended.code == 0, ended.err
    words = " ".join(ended.out.split())
    for expected in (
        "no data has been touched",
        "best possible",
        "95 % interval",
        "invented",
        "rowspace ask",
        "The report",
    ):
        assert expected in words
    assert sorted(path.name for path in folder.iterdir()) == [
        "answers.csv",
        "answers.csv-metadata.json",
        "people.parquet",
        "people.release",
        "report.html",
        "study.plan",
        "study.toml",
    ]
    # The data, its release and the released answers cannot be taken for one another by their names.
    assert "std_error" not in pd.read_parquet(folder / "people.parquet").columns
    assert "std_error" in (folder / "answers.csv").read_text()
    page = (folder / "report.html").read_text()
    assert "<h1>People</h1>" in page
    assert "Histogram" in page
    assert rowspace("ask", folder / "people.release", "age between 30 and 39").code == 0
    with unchanged(folder):
        assert rowspace("demo", "-o", folder).code == 1


@pytest.mark.long
def test_the_demo_for_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study.load(sample.people_path().with_name("people.toml"))
    plan = planning.plan(study.workload, study.privacy, effort="fast")
    monkeypatch.setattr("rowspace.planning.plan", lambda *_, **__: plan)
    document = json.loads(rowspace("demo", "--json").out)
    assert document["plan"]["ratio"] >= 1
    for row in document["answers"]:
        # Nine standard errors: Laplace sums pass that with probability below 10⁻⁵ each at the very worst, and
        # sums of the many variables here below 10⁻⁹.
        assert abs(row["answer"] - row["truth"]) < 9 * row["std_error"]
