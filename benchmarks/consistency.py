"""What consistency does to the error on the bundled sample at ε = 1: unbiased, non-negative and whole answers.

    python -m benchmarks.consistency [releases]

Every release draws fresh noise; errors are against the true counts, root mean square over the workload's answers and
the releases. `rounding adds` is what whole numbers add to the error of the non-negative ones. Combined: two releases
at half the ε each, against one at the whole.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import rowspace as rs
from rowspace.releases import consistent_counts
from rowspace.sample import EDUCATION, REGIONS, people_path
from rowspace.sources import count_cells

EPSILON = 1.0
AGE = rs.Numeric(0, 100, bins=100, outside="clip")
SMALL = rs.Domain(
    age=AGE,
    sex=rs.Categorical(["F", "M"], outside="drop"),
    region=rs.Categorical(list(REGIONS), outside="drop"),
)
WIDE = rs.Domain(
    age=rs.Numeric(0, 100, bins=20, outside="clip"),
    sex=rs.Categorical(["F", "M"], outside="drop"),
    region=rs.Categorical(list(REGIONS), outside="drop"),
    education=rs.Categorical(list(EDUCATION), outside="drop"),
    household_size=rs.Numeric(1, 9, bins=8, outside="drop"),
)


def workloads() -> dict[str, tuple[rs.Workload, bool]]:
    """What is asked of the sample, and whether to treat it as too large for cells."""
    ranges, pairs = rs.workload.ranges(SMALL, "age"), rs.workload.marginals(SMALL, up_to=2)
    return {
        "ranges of age, all 2-way tables": (ranges + pairs, False),
        "every cell": (rs.workload.identity(SMALL), False),
        "all tables (cube)": (rs.workload.cube(SMALL), False),
        "ranges of age by sex": (rs.workload.product(SMALL, age="ranges", sex="identity"), False),
        "2-way tables of 5 attributes": (rs.workload.marginals(WIDE, up_to=2), False),
        "the same, by tables": (rs.workload.marginals(WIDE, up_to=2), True),
    }


def errors(workload: rs.Workload, releases: int) -> dict[str, float]:
    """Root mean square errors of three kinds of answers, and seconds for a release's consistent answers."""
    plan = rs.plan(workload, rs.PureDP(EPSILON), effort="fast")
    counts = count_cells(people_path(), plan.domain).ravel()
    truth = plan.workload.operator() @ counts.astype(float)
    squares: dict[str, list[float]] = {"unbiased": [], "non-negative": [], "whole": []}
    seconds = 0.0
    for _ in range(releases):
        release = rs.release(plan, counts)
        started = time.perf_counter()
        found = {
            "unbiased": release.answers(),
            "non-negative": release.consistent().answers(),
            "whole": release.consistent(integral=True).answers(),
        }
        seconds += time.perf_counter() - started
        for kind, table in found.items():
            squares[kind].append(float(np.mean((table["answer"] - truth) ** 2)))
    return {kind: float(np.sqrt(np.mean(own))) for kind, own in squares.items()} | {
        "seconds": seconds / releases
    }


def combined(releases: int) -> tuple[float, float, float]:
    """Errors of one release at ε/2, of two of them combined, and of one release at ε."""
    workload = rs.workload.ranges(SMALL, "age") + rs.workload.marginal(SMALL, "sex")
    half, whole = (rs.plan(workload, rs.PureDP(e), effort="fast") for e in (EPSILON / 2, EPSILON))
    counts = count_cells(people_path(), half.domain).ravel()
    truth = half.workload.operator() @ counts.astype(float)
    squares = []
    for _ in range(releases):
        one, two = rs.release(half, counts), rs.release(half, counts)
        tables = (one.answers(), one.combine(two).answers(), rs.release(whole, counts).answers())
        squares.append([float(np.mean((table["answer"] - truth) ** 2)) for table in tables])
    first, both, once = np.sqrt(np.mean(squares, axis=0)).tolist()
    return first, both, once


def main() -> None:
    releases = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    print(f"RMSE over {releases} releases at ε = {EPSILON:g} on the sample")
    print(
        f"  {'workload':<34}{'unbiased':>10}{'non-neg.':>10}{'whole':>10}{'rounding adds':>15}{'seconds':>9}"
    )
    limit = consistent_counts.CELL_LIMIT
    for name, (workload, tables) in workloads().items():
        consistent_counts.CELL_LIMIT = 0 if tables else limit
        found = errors(workload, releases)
        adds = 100 * (found["whole"] / found["non-negative"] - 1)
        figures = "".join(f"{found[kind]:>10.3f}" for kind in ("unbiased", "non-negative", "whole"))
        print(f"  {name:<34}{figures}{adds:>13.1f} %{found['seconds']:>9.2f}")
    consistent_counts.CELL_LIMIT = limit
    first, both, once = combined(10 * releases)
    print(f"  one release at ε/2: {first:.3f}; two combined: {both:.3f}; one at ε: {once:.3f}")


if __name__ == "__main__":
    main()
