"""Targets, what-if tables and SQL at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import rowspace as rs
from tests.cli.running import rowspace
from tests.study.examples import changed


def test_targets_find_epsilon(folder: Path) -> None:
    plan = folder / "study.plan"
    ended = rowspace(
        "plan", folder / "study.toml", "--target", "ranges: ±40 @95%", "--target", "sex: ±20", "--save", plan, "--json"
    )  # fmt: skip
    figures = json.loads(ended.out)
    assert [target["group"] for target in figures["targets"]] == ["ranges of age", "sex"]
    assert all(target["reached"] <= target["half_width"] for target in figures["targets"])
    assert rs.Plan.load(plan).privacy == rs.PureDP(figures["epsilon"])


def test_targets_are_shown(folder: Path) -> None:
    ended = rowspace("plan", folder / "study.toml", "--target", "±60", "--effort", "fast")
    assert ended.code == 0
    assert "reached" in ended.out
    assert "±60 @95%" in ended.out


def test_targets_out_of_reach(folder: Path) -> None:
    ended = rowspace(
        "plan", folder / "study.toml", "--target", "ranges: ±1", "--cap", "0.1", "--effort", "fast"
    )
    assert ended.code == 1
    assert "the best reachable is ±" in " ".join(ended.err.split())


def test_errors_at_several_epsilons(folder: Path) -> None:
    arguments = ("plan", folder / "study.toml", "--epsilons", "0.1,0.5,1", "--effort", "fast")
    ended = rowspace(*arguments)
    assert "ε 0.5" in ended.out
    points = json.loads(rowspace(*arguments, "--json").out)["what_if"]
    assert [point["epsilon"] for point in points] == [0.1, 0.5, 1]
    assert points[0]["groups"][0]["rmse"] > 5 * points[2]["groups"][0]["rmse"]


def test_bad_options(folder: Path) -> None:
    for code, *option in (
        (1, "--epsilons", "some"),
        (1, "--epsilons", "0"),
        (1, "--target", "x"),
        (2, "--target", "±5", "--epsilon", "1"),
    ):
        ended = rowspace("plan", folder / "study.toml", *option)
        assert ended.code == code
        assert ended.err.startswith("error: ")
        assert len(ended.err.strip().splitlines()) == 1


def test_sql_questions(released: Path) -> None:
    text = "SELECT sex, COUNT(*) FROM people GROUP BY sex"
    ended = rowspace("ask", released, "age < 5", text, "--json")
    answers = json.loads(ended.out)["answers"]
    assert [answer["query"] for answer in answers] == ["age < 5", "sex = F", "sex = M"]
    refused = rowspace("ask", released, "SELECT AVG(age) FROM people")
    assert refused.code == 1
    assert "line 1, column 8: AVG is not a count" in refused.err


def test_studies_name_sql(folder: Path) -> None:
    (folder / "queries.sql").write_text(
        "-- name: grown up\nSELECT sex, COUNT(*) FROM people WHERE age >= 10 GROUP BY sex"
    )
    study = folder / "study.toml"
    study.write_text(changed('ranges = "age"', 'sql_file = "queries.sql"'))
    assert "grown up" in rowspace("plan", study, "--effort", "fast").out
    study.write_text(changed('ranges = "age"', "sql = 'SELECT COUNT(*) AS everyone FROM people'"))
    assert "everyone" in rowspace("plan", study, "--effort", "fast").out
    study.write_text(changed('ranges = "age"', 'sql = "queries.sql"'))
    assert "write sql_file" in " ".join(rowspace("plan", study).err.split())
    for name in ("/etc/passwd", "../queries.sql", "queries.txt", "missing.sql"):
        study.write_text(changed('ranges = "age"', f'sql_file = "{name}"'))
        ended = rowspace("plan", study)
        assert ended.code == 1
        assert "sql_file" in ended.err
