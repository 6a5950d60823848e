from __future__ import annotations

import json
from pathlib import Path

import rowspace as rs
from tests.cli.running import rowspace, unchanged

QUERIES = ["age < 5", "sex = 'F'", "age >= 18 or sex = 'M'"]


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
