"""Gaussian optima: error, certificate, eigendecompositions and time against one `scipy.linalg.eigh` of that size.

Run with `python -m benchmarks.optimizers_gaussian` from the root of the repository.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from scipy import linalg

from rowspace import ZCDP
from rowspace.operators import Operator, Prefix, Ranges
from rowspace.strategy import GaussianOptimal, WorstQueryResult

UNIT = ZCDP(0.5)
"""Noise of variance 1 at unit sensitivity: errors read as E."""


@dataclass(frozen=True)
class Case:
    name: str
    workload: Operator
    optimizer: GaussianOptimal
    to_reach: float | None


CASES = [
    *(
        Case(f"ranges {n}", Ranges(n), GaussianOptimal(), figure)
        for n, figure in ((64, 11024.4), (256, 276929.0), (1024, 6.48433e6))
    ),
    *(
        Case(f"prefix {n}", Prefix(n), GaussianOptimal(), figure)
        for n, figure in ((64, 282.201), (256, 1631.40), (1024, 8944.33))
    ),
    Case("ranges 1024, ratio 1.001", Ranges(1024), GaussianOptimal(gap=1e-3), None),
    Case("prefix 1024, ratio 1.001", Prefix(1024), GaussianOptimal(gap=1e-3), None),
    Case("worst query, prefix 256", Prefix(256), GaussianOptimal(objective="max"), 7.55),
    Case("worst query, ranges 64", Ranges(64), GaussianOptimal(objective="max"), None),
]


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def main() -> None:
    print(
        f"{'case':26}{'figure':>12}{'reached':>14}{'gap':>10}{'eigendec.':>11}{'seconds':>9}{'eigh s':>9}{'ratio':>8}"
    )
    for case in CASES:
        V = case.workload.gram().to_dense()
        # The machine may be shared: the yardstick is taken before and after.
        yardstick = seconds(partial(linalg.eigh, V))
        result = case.optimizer.optimize(case.workload, UNIT)
        yardstick = (yardstick + seconds(partial(linalg.eigh, V))) / 2
        worst = isinstance(result, WorstQueryResult)
        reached = result.max_error if isinstance(result, WorstQueryResult) else result.total_error
        gap = (result.max_ratio if isinstance(result, WorstQueryResult) else result.ratio) - 1
        figure = "" if case.to_reach is None else f"{'<' if worst else ''}{case.to_reach:.6g}"
        print(
            f"{case.name:26}{figure:>12}{reached:14.7g}{gap:10.1e}{result.steps:11d}"
            f"{result.seconds:9.2f}{yardstick:9.3f}{result.seconds / yardstick:8.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
