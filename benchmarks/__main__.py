"""All side by side, and the goals: `make bench`, or

python -m benchmarks                    # everything, some minutes; records go to out/bench
python -m benchmarks planning sampling  # some topics; "goals" is one
python -m benchmarks --write            # and the page docs/benchmarks.md with its figures, from all records
python -m benchmarks --quick            # one small size each in this process, to see that all of it runs
python -m benchmarks none --write       # only write the page
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from . import page
from .goals import GOALS
from .harness import measured
from .records import FOLDER, Reached, Record, load, save
from .side_by_side import CASES, TOPICS
from .worker import run_contender, run_goal

ROOT = Path(__file__).parent.parent
KNOWN = (*TOPICS, "goals", "none")


def main(arguments: list[str] | None = None, folder: Path = FOLDER, docs: Path = ROOT / "docs") -> None:
    """Measure what is asked for, keep it, and write the page if that is wanted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument(
        "topics", nargs="*", metavar="TOPIC", help=f"{', '.join(KNOWN)}; all if none is named"
    )
    parser.add_argument(
        "--only", metavar="WORD", default="", help="cases, contenders and goals with it in their name"
    )
    parser.add_argument("--quick", action="store_true", help="one small size each, in this process")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md and its figures")
    asked = parser.parse_args(arguments)
    if unknown := set(asked.topics) - set(KNOWN):
        parser.error(f"expected some of {', '.join(KNOWN)}, got {', '.join(unknown)}")
    if asked.quick:  # never among the real ones
        folder = docs = folder / "quick"
    topics = asked.topics or [*TOPICS, "goals"]
    for record in _records(topics, asked.only, quick=asked.quick):
        print(_line(record), flush=True)
        save([record], [], folder)
    if "goals" in topics:
        for reached in _goals(asked.only, quick=asked.quick):
            save([], [reached], folder)
    if asked.write:
        page.write(*load(folder), docs)


def _records(topics: list[str], word: str, *, quick: bool) -> Iterable[Record]:
    for case in CASES:
        if case.topic in topics:
            for contender in case.contenders:
                if word not in f"{case.name}, {contender.name}":
                    continue
                if quick:
                    yield from measured(case, contender, (case.quick,), patience=0.0)
                else:
                    yield from run_contender(case, contender)


def _goals(word: str, *, quick: bool) -> Iterable[Reached]:
    for goal in GOALS:
        if (quick and not goal.is_quick) or word not in goal.name:
            continue
        reached = Reached(goal.name, goal.measure()) if quick else run_goal(goal.name)
        if isinstance(reached, Reached):
            verdict = "reached" if goal.is_met(reached.values) else "NOT REACHED"
            print(f"{goal.name}: {' / '.join(f'{v:.7g}' for v in reached.values)}: {verdict}", flush=True)
            yield reached
        else:
            print(f"{goal.name}: {reached}", flush=True)


def _line(record: Record) -> str:
    place = f"{record.topic}: {record.case}: {record.contender}: {record.size:,}"
    if record.cpu is None or not record.floor_cpu or record.elapsed is None:
        return f"{place}: {record.note}"
    error = "" if record.error is None else f", error {record.error:.6g}"
    return f"{place}: {record.cpu / record.floor_cpu:.3g} × floor, {record.elapsed:.3g} s{error}"


if __name__ == "__main__":
    main()
