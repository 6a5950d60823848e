"""One contender of one case, or one goal, in a process of its own: `python -m benchmarks.worker`. Prints JSON.

A process of its own, so that memory is only its own and one library's threads do not disturb another's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict

from .harness import Case, Contender, measured
from .records import Reached, Record

LIMIT = 900
"""Seconds that one contender may take in all."""


def run_contender(case: Case, contender: Contender) -> Iterator[Record]:
    """Its records, from a process of its own; a failure is a record too."""
    output, failure = _python("contender", f"{case.topic}/{case.name}", contender.name)
    done = [Record(**json.loads(line)) for line in output.splitlines()]
    yield from done
    for size in sorted(case.sizes)[len(done) :]:
        yield Record(case.topic, case.name, contender.name, size, note=failure)


def run_goal(name: str) -> Reached | str:
    """What is reached, or why it is not known."""
    output, failure = _python("goal", name)
    return Reached(name, tuple(json.loads(output))) if output else failure


def _python(*arguments: str) -> tuple[str, str]:
    """What a process printed, and why it stopped early if it did."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.worker", *arguments]
    try:
        ended = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, timeout=LIMIT, env=environment, check=False
        )
    except subprocess.TimeoutExpired as late:
        printed = late.stdout or b""
        return printed.decode() if isinstance(printed, bytes) else printed, f"stopped after {LIMIT} s"
    return ended.stdout, f"failed with code {ended.returncode}"


def main() -> None:
    """Do what the arguments name."""
    match sys.argv[1:]:
        case ["contender", place, name]:
            from .side_by_side import CASES

            case = next(case for case in CASES if f"{case.topic}/{case.name}" == place)
            for record in measured(case, case.contender(name), case.sizes):
                print(json.dumps(asdict(record)), flush=True)
        case ["goal", name]:
            from .goals import GOALS

            goal = next(goal for goal in GOALS if goal.name == name)
            print(json.dumps(goal.measure()), flush=True)


if __name__ == "__main__":
    main()
