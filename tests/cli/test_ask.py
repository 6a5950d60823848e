from __future__ import annotations

import json
from pathlib import Path

import rowspace as rs
from tests.cli.running import rowspace, unchanged
from tests.study.examples import SMALL

QUERIES = ["age < 5", "sex = 'F'", "age < 3 or age >= 18"]


def test_answers_are_those_of_the_release(released: Path) -> None:
    with unchanged(released.parent):
        document = json.loads(rowspace("ask", released, *QUERIES, "--json").out)
    expected = rs.Release.load(released).ask(QUERIES)
    assert [row["query"] for row in document["answers"]] == QUERIES
    assert [row["answer"] for row in document["answers"]] == expected["answer"].tolist()
    assert [row["high"] for row in document["answers"]] == expected["high"].tolist()


def test_the_table_holds_queries_and_intervals(released: Path) -> None:
    ended = rowspace("ask", released, *QUERIES, "--level", "0.9")
    assert ended.code == 0
    for words in (*QUERIES, "90 % interval", " to "):
        assert words in ended.out


def test_quiet_still_answers(released: Path) -> None:
    assert "age < 5" in rowspace("ask", released, "age < 5", "--quiet").out


def test_what_was_not_measured_is_refused_by_name(folder: Path) -> None:
    study, path = folder / "study.toml", folder / "total.release"
    study.write_text(SMALL.split("[[workload]]")[0] + "[[workload]]\ntotal = true\n")
    assert rowspace("release", "--no-ledger", study, folder / "people.csv", "-o", path, "-q").code == 0
    ended = rowspace("ask", path, "SELECT COUNT(*) FROM people", "sex = 'F'")
    assert ended.code == 1
    assert "enough to answer \"sex = 'F'\" without bias" in ended.err
