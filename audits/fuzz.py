"""Hostile input: every parser fed with spoilt and made-up input, and nothing but answers and `RowspaceError` back.

100,000 inputs for each parser, on all cores, fewer of those that take milliseconds for each (`FEWER`): a CSV file that
is counted by the engine takes 13, nearly all of it to compile queries that do not depend on the file, so that there
are 100,000 pairs of files as they are given to the engine instead (`lines`). Seeded, so that a failure can be had
again, on any number of cores. `python -m audits.fuzz csv plans` feeds some parsers only, and with `--write` renews
their rows of docs/audits.md.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache

from audits import Row, end, page
from audits.fuzzing import added_lines, archives, queries, tables, texts, trees
from audits.fuzzing.attack import Outcome, Parser, attack

LONG, SHORT = 100_000, 400
FEWER = {"csv": 10_000, "plans": 30_000, "releases": 30_000}
"""Inputs of parsers that take milliseconds for each."""
SHARD = 2_500
"""Inputs that one process draws at a stretch."""

PARSERS: dict[str, Callable[[], Parser]] = {
    "studies": texts.studies,
    "predicates": texts.conditions,
    "sql": queries.sql_texts,
    "targets": queries.targets,
    "csv": tables.csv_files,
    "domains": trees.domains,
    "workloads": trees.saved_workloads,
    "guarantees": trees.guarantees,
    "operators": trees.operators,
    "plans": archives.plan_files,
    "releases": archives.release_files,
    "lines": added_lines.added_lines,
}


def run(long: bool, names: Iterable[str] = PARSERS) -> list[Row]:
    """One row for each parser."""
    rows = []
    for name, outcome in _outcomes(names) if long else _few(names):
        required = "success or RowspaceError, at most 10 s of a processor each"
        rows.append(Row(_parser(name).name, str(outcome), required, not outcome.failures))
    return rows


def _few(names: Iterable[str]) -> Iterator[tuple[str, Outcome]]:
    """What came of a few inputs, in this process."""
    for name in names:
        yield name, _shard(name, 0, SHORT)


def _outcomes(names: Iterable[str]) -> Iterator[tuple[str, Outcome]]:
    """What came of many inputs, in as many processes as there are cores."""
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        running = {
            name: [pool.submit(_shard, name, at, SHARD) for at in range(FEWER.get(name, LONG) // SHARD)]
            for name in names
        }
        for name, shards in running.items():
            outcome = Outcome()
            for shard in shards:
                outcome.add(shard.result())
            print(f"fuzz: {_parser(name).name}: {outcome}", file=sys.stderr, flush=True)  # noqa: T201
            yield name, outcome


def _shard(name: str, at: int, inputs: int) -> Outcome:
    """What came of one stretch of inputs."""
    return attack(_parser(name), inputs, (list(PARSERS).index(name), at))


@cache
def _parser(name: str) -> Parser:
    """A parser, built once in each process."""
    return PARSERS[name]()


if __name__ == "__main__":
    asked = [name for name in sys.argv[1:] if name != "--write"]
    if unknown := set(asked) - set(PARSERS):
        raise SystemExit(f"expected parsers among {', '.join(PARSERS)}, got {', '.join(sorted(unknown))}")
    found = run(long=True, names=asked or PARSERS)
    if "--write" in sys.argv:
        page.renew_rows(page.PAGE, "fuzz", found)
    end(found, "fuzzing")
