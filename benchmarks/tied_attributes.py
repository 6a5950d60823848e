"""Queries that tie attributes together, planned by a matrix for every residual, and marginals of many attributes.

Run with `python -m benchmarks.tied_attributes` from the root of the repository (`--large` adds all sets of up to three
of 200 attributes, half a minute). Errors are of the integers that are asked, at unit variance; QuerySmasher's figures
are its published algorithm's on the same queries.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from itertools import combinations

import numpy as np

import rowspace as rs

UNIT = rs.ZCDP(0.5)
CELLS = 10


def domain(number: int, cells: int = CELLS) -> rs.Domain:
    return rs.Domain(
        {f"a{i}": rs.Numeric(0, cells, bins=cells, integer=True, outside="drop") for i in range(number)}
    )


def pairs(number: int, one: str, tie: str) -> rs.Workload:
    """Ranges or prefixes of each attribute, and sums or differences up to c of all pairs."""
    D = domain(number)
    parts: list[rs.Workload] = [getattr(rs.workload, one)(D, name) for name in D.names]
    for a, b in combinations(D.names, 2):
        if tie == "sums":
            asked = [f"{a} + {b} <= {c}" for c in range(2 * CELLS - 1)]
        else:
            asked = [f"{a} - {b} <= {c} and {b} - {a} <= {c}" for c in range(CELLS)]
        parts.append(rs.workload.predicates(D, asked))
    return sum(parts[1:], parts[0])


def random_pairs(number: int, rows: int) -> rs.Workload:
    """Random 0/1 matrices over the joint cells of all pairs."""
    D, rng = domain(number), np.random.default_rng(0)
    parts = [
        rs.workload.matrix(rng.integers(0, 2, (rows, CELLS**2)), D, a, b) for a, b in combinations(D.names, 2)
    ]
    return sum(parts[1:], parts[0])


def cases(large: bool) -> Iterator[tuple[str, rs.Workload, str, float | None]]:
    """(what is asked, the workload, E or RMSE, the figure to reach)."""
    for number, figure in ((3, 2.956), (5, 4.40), (10, 7.75), (20, 14.4)):
        yield (
            f"ranges of 1, x + y <= c of pairs, d = {number}",
            pairs(number, "ranges", "sums"),
            "RMSE",
            figure,
        )
    for number, figure in ((4, 2265), (10, 61_600)):
        yield (
            f"prefixes of 1, x + y <= c of pairs, d = {number}",
            pairs(number, "prefixes", "sums"),
            "E",
            figure,
        )
    yield "prefixes of 1, |x - y| <= c of pairs, d = 10", pairs(10, "prefixes", "differences"), "E", 38_700
    for rows in (10, 50):
        yield f"random 0/1 matrices of {rows} rows, pairs of 5", random_pairs(5, rows), "E", None
    yield "up to 3-way marginals, d = 50", rs.workload.marginals(domain(50), up_to=3), "E", None
    if large:
        yield "up to 3-way marginals, d = 200", rs.workload.marginals(domain(200, 3), up_to=3), "E", None


def main() -> None:
    print(f"{'case':46}{'':6}{'to reach':>10}{'reached':>14}{'ratio':>8}{'CPU s':>8}")
    for name, workload, unit, figure in cases("--large" in sys.argv[1:]):
        started = time.process_time()
        plan = rs.plan(workload, UNIT)
        seconds = time.process_time() - started
        reached = plan.rmse if unit == "RMSE" else plan.total_error
        to_reach = "" if figure is None else f"{figure:g}"
        print(f"{name:46}{unit:6}{to_reach:>10}{reached:14.6g}{plan.ratio:8.3f}{seconds:8.2f}", flush=True)


if __name__ == "__main__":
    main()
