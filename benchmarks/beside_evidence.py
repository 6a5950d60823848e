"""Planning against evidence: certified ratio, and CPU time beside planning without, at 256 cells and in tables.

    python -m benchmarks.beside_evidence

What was released first, and what is planned then, both with ρ = 0.25.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import rowspace as rs

CELLS = 256
DOMAIN = rs.Domain(age=rs.Numeric(0, CELLS, bins=CELLS, integer=True, outside="drop"))
BUDGET = rs.ZCDP(0.25)


def width_ranges(width: int) -> rs.Workload:
    """All ranges of one width."""
    rows = [[low <= cell < low + width for cell in range(CELLS)] for low in range(CELLS - width + 1)]
    return rs.workload.matrix(np.array(rows, dtype=float), DOMAIN, "age")


def lower_ranges() -> rs.Workload:
    """Ranges within the lower half."""
    half = CELLS // 2
    rows = [[a <= cell <= b for cell in range(CELLS)] for a in range(half) for b in range(a, half)]
    return rs.workload.matrix(np.array(rows, dtype=float), DOMAIN, "age")


def cases() -> dict[str, tuple[rs.Workload, rs.Workload]]:
    """(what is known, what is asked), by name."""
    prefixes, ranges = rs.workload.prefixes(DOMAIN, "age"), rs.workload.ranges(DOMAIN, "age")
    cells = rs.workload.marginal(DOMAIN, "age")
    return {
        "prefixes, then ranges of width 8": (prefixes, width_ranges(8)),
        "cells, then prefixes": (cells, prefixes),
        "ranges, then cells": (ranges, cells),
        "prefixes, then ranges": (prefixes, ranges),
        "prefixes, then ranges of the lower half": (prefixes, lower_ranges()),
    }


def cpu(work: Callable[[], Any]) -> tuple[Any, float]:
    """What it returns, and the least CPU seconds of three runs."""
    seconds = []
    for _ in range(3):
        started = time.process_time()
        found = work()
        seconds.append(time.process_time() - started)
    return found, min(seconds)


def dense() -> list[tuple[str, float, float, float]]:
    """(name, ratio to the bound, CPU seconds, those without evidence)."""
    out = []
    for name, (before, asked) in cases().items():
        earlier = rs.release(rs.plan(before, BUDGET), np.zeros(CELLS, dtype=int))
        _, alone = cpu(lambda asked=asked: rs.plan(asked, BUDGET))  # type: ignore[misc]
        made, beside = cpu(lambda asked=asked, e=earlier: rs.plan(asked, BUDGET, given=[e]))  # type: ignore[misc]
        out.append((name, made.ratio, beside, alone))
    return out


def in_tables(attributes: int = 100) -> tuple[float, float, float]:
    """(ratio to the bound, CPU seconds, those without evidence) of all pairs beside all single attributes."""
    domain = rs.Domain({f"a{i}": rs.Categorical(range(5), outside="drop") for i in range(attributes)})
    pairs, ones = (rs.workload.marginals(domain, up_to=k) for k in (2, 1))
    people = np.zeros((10, attributes), dtype=int)
    import pandas as pd

    earlier = rs.release(rs.plan(ones, BUDGET), pd.DataFrame(people, columns=list(domain.names)))
    _, alone = cpu(lambda: rs.plan(pairs, BUDGET))
    made, beside = cpu(lambda: rs.plan(pairs, BUDGET, given=[earlier]))
    return made.ratio, beside, alone


def figures() -> tuple[float, ...]:
    """The largest ratio and time over that without evidence, that time, and the same quotient in tables."""
    found = dense()
    ratio, beside, alone = in_tables()
    worst = max(found, key=lambda one: one[2] / one[3])
    return max(ratio, *(one[1] for one in found)), worst[2] / worst[3], 1000 * worst[3], beside / alone


if __name__ == "__main__":
    for name, ratio, beside, alone in dense():
        print(f"{name:<42} ratio {ratio:.5f}, {beside:.2f} CPU s beside {alone:.2f}: × {beside / alone:.1f}")
    ratio, beside, alone = in_tables()
    print(f"{'100 attributes, all pairs':<42} ratio {ratio:.7f}, {beside:.2f} CPU s beside {alone:.2f}")
