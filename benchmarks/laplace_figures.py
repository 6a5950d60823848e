"""Plans under Laplace noise: permuted ranges, uneven marginals, one attribute past 4,096 cells.

    python -m benchmarks.laplace_figures            # about two minutes

E is the total squared error of the integers that are asked, at noise of variance 1 for a sensitivity of 1.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

# Before numpy is imported: threads that wait for each other would be counted as work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import rowspace as rs
from rowspace import operators as op

UNIT = rs.PureDP(2**0.5)
ADULT = (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)
LOANS = (101, 101, 101, 101, 3, 8, 36, 6, 51, 4, 5, 15)


def domain(*sizes: int) -> rs.Domain:
    """Whole numbers; records outside are not counted."""
    return rs.Domain(
        {f"a{i}": rs.Numeric(0, n, bins=n, integer=True, outside="drop") for i, n in enumerate(sizes)}
    )


def permuted_ranges(n: int) -> rs.Workload:
    """All ranges over cells in another order, as an array."""
    order = np.random.default_rng(0).permutation(n)
    return rs.workload.matrix(op.Ranges(n).to_dense()[:, order], domain(n))


CASES: dict[str, tuple[Callable[[], rs.Workload], str]] = {
    "permuted ranges 256": (lambda: permuted_ranges(256), "1 s"),
    "up to two of Adult's sizes": (lambda: rs.workload.marginals(domain(*ADULT), up_to=2), "3.89e8"),
    "up to two of Loans' sizes": (lambda: rs.workload.marginals(domain(*LOANS), up_to=2), "1.908e8"),
    "ranges 8,192": (lambda: rs.workload.ranges(domain(8192), "a0"), "4.60e9, 60 s"),
    "prefix 8,192": (lambda: rs.workload.prefixes(domain(8192), "a0"), "60 s"),
}


def main() -> None:
    print(f"{'case':30}{'to reach':>14}{'E':>14}{'ratio':>9}{'CPU s':>9}")
    for name, (make, goal) in CASES.items():
        workload = make()
        started = time.process_time()
        plan = rs.plan(workload, UNIT)
        seconds = time.process_time() - started
        print(f"{name:30}{goal:>14}{plan.total_error:14.6g}{plan.ratio:9.3f}{seconds:9.1f}", flush=True)


if __name__ == "__main__":
    main()
