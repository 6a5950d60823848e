"""Time and memory of a piece of work, and how a contender is run: one process, all sizes, its floor beside it.

Ratios are taken between numbers of one process, moments apart, so that they carry over between machines and survive
neighbours. CPU time is that of all threads together.
"""

from __future__ import annotations

import importlib.util
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .records import Record

Work = Callable[[], Any]


@dataclass(frozen=True)
class Timing:
    """Seconds on the clock, and of processors."""

    elapsed: float
    cpu: float


def once(work: Work, calls: int = 1) -> Timing:
    """One timing of some calls in a row, divided by their number."""
    cpu, start = time.process_time(), time.perf_counter()
    for _ in range(calls):
        work()
    return Timing((time.perf_counter() - start) / calls, (time.process_time() - cpu) / calls)


def _once_kept(work: Work, results: list[Any]) -> Timing:
    """One timing of a call whose result is kept."""
    return once(lambda: results.append(work()))


def best(work: Work, repeats: int = 7, patience: float = 2.0) -> Timing:
    """The least of several timings, the least disturbed one; of one only, if that takes longer than `patience`."""
    warm_up = once(work)
    if warm_up.elapsed > patience:
        return warm_up
    calls = max(1, int(1e-3 / max(warm_up.elapsed, 1e-9)))  # so that reading the clock costs nothing
    taken = [once(work, calls)]
    until = time.perf_counter() + patience
    while len(taken) < repeats and time.perf_counter() < until:
        taken.append(once(work, calls))
    return Timing(min(t.elapsed for t in taken), min(t.cpu for t in taken))


def best_seconds(work: Work, repeats: int = 7, patience: float = 60.0) -> float:
    """The least of several timings on the clock."""
    return best(work, repeats, patience).elapsed


def traced_peak(work: Work) -> int:
    """Peak of what Python and numpy allocate for `work`, its result included; other libraries are not seen."""
    tracemalloc.start()
    result = work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del result
    return peak


def resident_peak(work: Work) -> tuple[Any, int | None]:
    """The result, and by how many bytes the process grew at its peak, whoever allocated; None off Linux."""
    reset = Path("/proc/self/clear_refs")
    if not reset.exists():
        return work(), None
    before = _memory("VmRSS")
    reset.write_text("5")  # the high-water mark starts again from here
    result = work()
    return result, max(0, _memory("VmHWM") - before)


def _memory(field: str) -> int:
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith(field)))


@dataclass(frozen=True)
class Contender:
    """Somebody's way to do the work of a case."""

    name: str
    prepare: Callable[[int], Work]
    """From a size to the work that is timed, its input ready."""
    error: Callable[[int, Any], float] | None = None
    """The expected error of what the work returned, in the unit of the case."""
    needs: str | None = None
    """A package that must be there."""
    largest: int | None = None
    """It takes minutes beyond this size."""


@dataclass(frozen=True)
class Case:
    """The same work done by several at several sizes, beside a floor."""

    topic: str
    name: str
    size_of: str
    sizes: tuple[int, ...]
    quick: int
    floor: Contender
    contenders: tuple[Contender, ...]
    error_of: str = ""
    remark: str = ""

    def contender(self, name: str) -> Contender:
        """The one of that name."""
        return next(c for c in self.contenders if c.name == name)


def measured(
    case: Case, contender: Contender, sizes: tuple[int, ...], patience: float = 2.0
) -> Iterator[Record]:
    """The contender at these sizes, smallest first, in this process."""
    for size in sorted(sizes):
        place = (case.topic, case.name, contender.name, size)
        if contender.needs is not None and importlib.util.find_spec(contender.needs) is None:
            yield Record(*place, note=f"{contender.needs} is not installed")
        elif contender.largest is not None and size > contender.largest:
            yield Record(*place, note="not run: minutes")
        else:
            floor = best(case.floor.prepare(size), patience=patience)
            work = contender.prepare(size)
            results: list[Any] = []
            first, peak = resident_peak(partial(_once_kept, work, results))
            error = None if contender.error is None else float(contender.error(size, results[0]))
            results.clear()
            own = first if first.elapsed > patience else best(work, patience=patience)
            yield Record(*place, own.elapsed, own.cpu, floor.elapsed, floor.cpu, peak, error)
