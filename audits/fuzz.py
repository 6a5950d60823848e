"""Hostile input: every parser fed with spoilt and made-up input, and nothing but answers and `RowspaceError` back.

At least 100,000 inputs for each parser; 4,000 for CSV files, each of which starts an engine. Seeded, so that a failure
can be had again.
"""

from __future__ import annotations

from collections.abc import Callable

from audits import Row, end
from audits.fuzzing import archives, queries, texts, trees
from audits.fuzzing.attack import Parser, attack

LONG, SHORT = 100_000, 400

PARSERS: dict[str, Callable[[], Parser]] = {
    "studies": texts.studies,
    "predicates": texts.conditions,
    "sql": queries.sql_texts,
    "targets": queries.targets,
    "csv": texts.csv_files,
    "domains": trees.domains,
    "workloads": trees.saved_workloads,
    "guarantees": trees.guarantees,
    "operators": trees.operators,
    "plans": archives.plan_files,
    "releases": archives.release_files,
}

# An engine is started for each of these, so that they take a hundred times longer.
SLOW = {"csv": 25}


def inputs_for(name: str, long: bool) -> int:
    """How many inputs a parser gets."""
    return max(20, (LONG if long else SHORT) // SLOW.get(name, 1))


def run(long: bool) -> list[Row]:
    """One row for each parser."""
    rows = []
    for seed, (name, build) in enumerate(PARSERS.items()):
        parser = build()
        outcome = attack(parser, inputs_for(name, long), seed)
        rows.append(
            Row(
                parser.name, str(outcome), "success or RowspaceError, at most 10 s each", not outcome.failures
            )
        )
    return rows


if __name__ == "__main__":
    end(run(long=True), "fuzzing")
