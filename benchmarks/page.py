"""docs/benchmarks.md, made from records: ratios first, no promise about any machine's seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from . import growth_figures
from .catalogue import PROGRAMS
from .goals import GOALS
from .harness import Case
from .records import OURS, Reached, Record
from .side_by_side import CASES, TOPICS

INTRODUCTION = """# Benchmarks

*Written by `make bench` (`python -m benchmarks --write`), which installs the peers into an environment of its own.*

Every contender runs in a process of its own, with its **floor** beside it: something that anybody who does this work
must at least do (for sampling: what numpy takes without any guarantee), timed moments before in the same process. A
ratio to the floor carries over between machines, and survives neighbours; a second does not, so there are none in the
tables that compare. How to read them:

- **CPU ÷ floor**: processor time of all threads, best of several; **clock ÷ floor**: the same on the clock.
- **peak memory**: by how much the process grew beyond its input, whoever allocated.
- **error ÷ ours**: total squared error at equal privacy; 4 means that twice the ε is needed for answers as good
  as rowspace's. E is the same as a number, at noise of unit variance and unit sensitivity.
"""

HEADINGS = {
    "planning": "Planning",
    "measuring": "Measuring",
    "reconstructing": "Reconstructing",
    "sampling": "Sampling",
    "counting": "Counting",
    "releasing": "Releasing",
}


def write(records: Sequence[Record], reached: Sequence[Reached], docs: Path) -> None:
    """Write the page and one figure for each topic."""
    sections = [INTRODUCTION, _in_short(records)]
    for topic in TOPICS:
        cases = [case for case in CASES if case.topic == topic]
        of_topic = [record for record in records if record.topic == topic]
        name = f"bench-{topic}.svg"
        growth_figures.draw(cases, of_topic, docs / "figures" / name)
        sections.append(
            f"## {HEADINGS[topic]}\n\n![{HEADINGS[topic]}: time by size, both logarithmic](figures/{name})\n"
        )
        sections += [_section(case, [r for r in of_topic if r.case == case.name]) for case in cases]
    sections += [_goals(reached), _programs()]
    (docs / "benchmarks.md").write_text("\n".join(sections))


def _in_short(records: Sequence[Record]) -> str:
    """Every peer at the largest size that it and rowspace did, in multiples of rowspace."""
    ours = {(r.topic, r.case, r.size): r for r in records if r.contender == OURS and r.cpu is not None}
    rows = []
    for case in CASES:
        for contender in case.contenders:
            done = [
                (own, theirs)
                for theirs in records
                if (theirs.topic, theirs.case, theirs.contender) == (case.topic, case.name, contender.name)
                and contender.name != OURS
                and theirs.cpu is not None
                and (own := ours.get((case.topic, case.name, theirs.size))) is not None
            ]
            if done:
                own, theirs = max(done, key=lambda pair: pair[0].size)
                size = f"{theirs.size:,} {case.size_of}"
                rows.append((f"{case.topic}: {case.name}", size, contender.name, *_multiples(own, theirs)))
    head = ("work", "size", "instead of rowspace", "CPU ÷ ours", "peak memory ÷ ours", "error ÷ ours")
    return f"## In short\n\n{_table(head, rows)}"


def _multiples(own: Record, theirs: Record) -> tuple[str, str, str]:
    time = (_ratio(theirs.cpu, theirs.floor_cpu) or 0) / (_ratio(own.cpu, own.floor_cpu) or math.inf)
    # Below a megabyte the process does not grow, and a ratio would say nothing.
    large = own.peak_bytes is not None and theirs.peak_bytes is not None and own.peak_bytes > 2**20
    memory = _digits(_ratio(theirs.peak_bytes, own.peak_bytes)) if large else "–"
    error = _error_ratio(theirs.error, own.error)
    return ("nothing to do", "–", error) if _is_nothing(theirs) else (_digits(time), memory, error)


def _section(case: Case, records: Sequence[Record]) -> str:
    """One case: what it is, and a row for each size and contender."""
    own_errors = {r.size: r.error for r in records if r.contender == OURS}
    order = [contender.name for contender in case.contenders]
    known = [r for r in records if r.contender in order]
    rows = []
    for r in sorted(known, key=lambda r: (r.size, order.index(r.contender))):
        start = (f"{r.size:,}", f"**{OURS}**" if r.contender == OURS else r.contender)
        if r.cpu is None:
            rows.append((*start, r.note, "", "", *(("", "") if case.error_of else ())))
            continue
        cells = (
            _digits(_ratio(r.cpu, r.floor_cpu)),
            _digits(_ratio(r.elapsed, r.floor_elapsed)),
            _bytes(r.peak_bytes),
        )
        errors = (
            _error_ratio(r.error, own_errors.get(r.size)),
            "–" if r.error is None else f"{r.error:,.6g}",
        )
        if _is_nothing(r):
            cells = ("nothing to do", "–", "–")
        rows.append((*start, *cells, *(errors if case.error_of else ())))
    head: tuple[str, ...] = (case.size_of, "", "CPU ÷ floor", "clock ÷ floor", "peak memory")
    head += ("error ÷ ours", case.error_of) if case.error_of else ()
    text = f"### {case.name[0].upper()}{case.name[1:]}\n\nFloor: {case.floor.name}. {case.remark}".rstrip()
    return f"{text}\n\n{_table(head, rows)}"


def _goals(reached: Sequence[Reached]) -> str:
    values = {one.goal: one.values for one in reached}
    rows = []
    for goal in GOALS:
        found = values.get(goal.name)
        verdict = "not run" if found is None else "yes" if goal.is_met(found) else "**no**"
        numbers = (
            ""
            if found is None
            else " / ".join(f"{value:,.4g}" if value < 100 else f"{value:,.7g}" for value in found)
        )
        limits = " / ".join("–" if math.isinf(limit) else f"{limit:,.7g}" for limit in goal.limits)
        rows.append((goal.what, limits, numbers, verdict, f'`python -m benchmarks.goals "{goal.name}"`'))
    head = ("figure", "to reach", "measured", "reached", "command")
    return (
        "## Goals\n\nFigures that were set beforehand, in six digits: reached means to one part in 100,000. Errors "
        "are those of the strategy in real numbers; the "
        "integers that are asked may add some tenths of a percent. The goals in "
        f"seconds are for two cores of a small server.\n\n{_table(head, rows)}"
    )


def _programs() -> str:
    rows = [(f"`python -m benchmarks.{name}`", shows) for name, shows in PROGRAMS.items()]
    return f"## All programs\n\n{_table(('command', 'shows'), rows)}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _ratio(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below


def _error_ratio(error: float | None, ours: float | None) -> str:
    """More digits than times have: errors are computed, not clocked."""
    ratio = _ratio(error, ours)
    return "–" if ratio is None else f"{ratio:.4f}" if ratio < 10 else f"{ratio:,.4g}"


def _is_nothing(record: Record) -> bool:
    """Whether there was no work: about a microsecond, the call itself."""
    return record.cpu is not None and record.cpu < 2e-6


def _digits(ratio: float | None) -> str:
    """Two or three digits: more would not repeat."""
    if ratio is None:
        return "–"
    if ratio < 0.01:
        return "< 0.01"
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def _bytes(count: int | None) -> str:
    if count is None:
        return "–"
    return "< 1 MB" if count < 10**6 else f"{count / 1e6:,.0f} MB"
