"""Figures that were set as goals for tables of many attributes and for large data, and what is reached.

    python -m benchmarks.goals            # all, some minutes and 6 GB
    python -m benchmarks.goals products   # those whose name contains the word

E is the total squared error at noise of unit variance and unit sensitivity; RMSE is that of one answer, likewise.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

import rowspace as rs
from rowspace import operators as op
from rowspace import strategy
from rowspace.measure import measure

from . import beside_evidence, drawn, interactive, session_growth
from .harness import best, resident_peak
from .records import Reached
from .side_by_side import releasing, tables

GAUSSIAN, LAPLACE = rs.ZCDP(0.5), rs.PureDP(2**0.5)

ABOUT_EXACT = 1 + 1e-5
"""Goals are stated in six digits."""


@dataclass(frozen=True)
class Goal:
    """Numbers to stay below, and how they are measured."""

    name: str
    what: str
    limits: tuple[float, ...]
    measure: Callable[[], tuple[float, ...]]
    is_quick: bool = False

    def is_met(self, values: tuple[float, ...]) -> bool:
        """Whether every number is within its limit."""
        return all(value <= limit * ABOUT_EXACT for value, limit in zip(values, self.limits, strict=True))


def cube(attributes: int) -> rs.Domain:
    return rs.Domain({f"a{i}": rs.Categorical(range(10), outside="drop") for i in range(attributes)})


def cpu(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def optimal_tables(*attributes: int) -> tuple[float, ...]:
    """E of the strategy for all tables of up to three, and the certified ratio of the last."""
    results = [strategy.Residual().optimize(tables.queries(d).products(), GAUSSIAN) for d in attributes]
    return (*(result.total_error for result in results), max(result.ratio for result in results))


def worst_cells(*attributes: int) -> tuple[float, ...]:
    """The largest variance of a cell, the certified ratio, and the CPU seconds of the last."""
    worst = strategy.Residual(objective="max")
    workloads = [tables.queries(d).products() for d in attributes]
    found = [cpu(partial(worst.optimize, W, GAUSSIAN)) for W in workloads]
    results = [result for result, _ in found]
    return (*(r.max_error for r in results), max(r.max_ratio for r in results), found[-1][1])


def products_up_to_three(family: str, attributes: int) -> float:
    """RMSE of all products of one-dimensional queries about up to three attributes of ten cells."""
    domain = rs.Domain({f"a{i}": rs.Numeric(0, 10, bins=10, outside="drop") for i in range(attributes)})
    sets = [chosen for k in range(1, 4) for chosen in combinations(domain.names, k)]
    parts = [rs.workload.product(domain, dict.fromkeys(chosen, family)).parts[0] for chosen in sets]
    W = rs.Workload(domain, [*rs.workload.total(domain).parts, *parts]).products()
    return float((strategy.Residual().optimize(W, GAUSSIAN).total_error / W.queries) ** 0.5)


def laplace_tables(attributes: int, **choice: Any) -> float:
    W = rs.workload.marginals(cube(attributes), **choice).products()
    return strategy.Marginals().optimize(W, LAPLACE).total_error


def products(privacy: Any, optimizer: strategy.Product) -> tuple[float, ...]:
    pairs = ((op.Ranges(64), op.Ranges(64)), (op.Prefix(64), op.Identity(64)))
    return tuple(optimizer.optimize(op.Kronecker(*pair), privacy).total_error for pair in pairs)


def many_tables(attributes: int) -> tuple[float, ...]:
    """CPU seconds to select, measure and reconstruct, and the gigabytes of the largest of them."""
    W = tables.queries(attributes).products()
    select = best(lambda: strategy.Residual().optimize(W, GAUSSIAN)).cpu
    (_, measuring), first = resident_peak(lambda: cpu(tables.measure_tables(attributes)))
    (_, answering), second = resident_peak(lambda: cpu(tables.answer_tables(attributes)))
    return select, measuring, answering, max(first or 0, second or 0) / 1e9


def every_cell() -> tuple[float, ...]:
    """Seconds for 10⁸ estimates from tables of up to two, and gigabytes beyond the result."""
    plan = rs.plan(rs.workload.marginals(cube(8), up_to=2), GAUSSIAN)
    noisy = measure(plan.strategy, plan.noise, tables.NoRecords()).answers
    release = rs.Release(plan, noisy)
    start = time.perf_counter()
    estimate, peak = resident_peak(lambda: release.estimate)
    return time.perf_counter() - start, ((peak or 0) - np.asarray(estimate).nbytes) / 1e9


def against_group_bys() -> tuple[float, ...]:
    """Ten million records: the whole release over the plain GROUP BYs, in time on the clock."""
    ours, plain = best(releasing.ours(10**7), 3), best(releasing.floor(10**7), 3)
    return (ours.elapsed / plain.elapsed,)


def one_command() -> tuple[float, ...]:
    """Minutes and gigabytes of `rowspace release` for 19,900 tables, CSV included."""
    start = time.perf_counter()
    _, peak = resident_peak(releasing.one_command(200))
    return (time.perf_counter() - start) / 60, (peak or 0) / 1e9


GOALS = (
    Goal(
        "tables, total error",
        "tables of up to 3 of 10 / 30 / 50 / 100 attributes of 10 values, Gaussian noise: E; over the lower bound",
        (10_888_529.56, 1.01421e10, 2.26899e11, 1.49123e13, 1.001),
        lambda: optimal_tables(10, 30, 50, 100),
    ),
    Goal(
        "tables, worst cell",
        "the same, variance of the worst cell, 10 / 30 / 100 attributes; over the lower bound; CPU s of the last",
        (105.031, 2540.44, 91960.9, 1.0001, 3.0),
        lambda: worst_cells(10, 30, 100),
    ),
    Goal(
        "products of prefixes",
        "products of prefixes of up to 3 of 10 / 30 attributes of 10 cells, Gaussian noise: RMSE",
        (19.08, 85.2),
        lambda: (products_up_to_three("prefixes", 10), products_up_to_three("prefixes", 30)),
    ),
    Goal(
        "products of ranges",
        "products of ranges of up to 3 of 10 / 30 attributes of 10 cells, Gaussian noise: RMSE",
        (24.16, 117.0),
        lambda: (products_up_to_three("ranges", 10), products_up_to_three("ranges", 30)),
    ),
    Goal(
        "fifty attributes",
        "tables of up to 3 of 50 attributes: select / measure / reconstruct, CPU s; GB",
        (0.2, 6.0, 4.0, 1.5),
        lambda: many_tables(50),
    ),
    Goal(
        "a hundred attributes",
        "the same, 100 attributes, 162 million answers: GB; CPU s without a limit",
        (np.inf, np.inf, np.inf, 12.0),
        lambda: many_tables(100),
    ),
    Goal(
        "tables, Laplace noise",
        "tables of up to 2 of 5 / 8 attributes, all tables of 3 of 8, Laplace noise: E",
        (98_360, 1.9211e6, 8.94e7),
        lambda: (laplace_tables(5, up_to=2), laplace_tables(8, up_to=2), laplace_tables(8, exactly=3)),
        is_quick=True,
    ),
    Goal(
        "products, Laplace noise",
        "ranges(64) × ranges(64) / prefixes(64) × cells(64), Laplace noise: E",
        (1.036e9, 58_020),
        lambda: products(LAPLACE, strategy.Product()),
    ),
    Goal(
        "products, Gaussian noise",
        "the same, Gaussian noise: E",
        (1.21538e8, 18_061),
        lambda: products(GAUSSIAN, strategy.Product()),
    ),
    Goal(
        "drawn, plain counts",
        "all ranges as drawn: 64 cells at ε = 3 / 5 / 8, 20 at ε = 1, 20 at ρ = 5 / 10: total squared error",
        (5_046.6, 625.1, 30.8, 2_835.7, 20.5, 0.14),
        drawn.totals,
    ),
    Goal(
        "drawn, census union",
        "census tables over 29,440 cells, Gaussian noise: error drawn over the real product's; over the bound",
        (1.015, 1.08),
        drawn.census_ratios,
    ),
    Goal(
        "certificates, Laplace noise",
        "cells and total of 256 / ranges of 7 cells: over the lower bound",
        (1.10, 1.14),
        drawn.laplace_ratios,
    ),
    Goal(
        "streams of questions",
        "200 ranges and the dashboard one by one, ρ over knowing all beforehand; Covid questions, in single ones",
        (1.15, 1.3, 8.0),
        interactive.prices,
    ),
    Goal(
        "planning beside evidence",
        "256 cells: largest ratio to the bound, largest CPU time over that of a plan without, ms of such a plan; 100 "
        "attributes: CPU time over that of a plan without",
        (1.001, 10.0, np.inf, 2.0),
        beside_evidence.figures,
    ),
    Goal(
        "a long session",
        "10,000 questions over 1,000 cells: ms of a free / paid one; last tenth over the first; s to open it anew",
        (5.0, 300.0, 1.3, 10.0),
        session_growth.figures,
    ),
    Goal(
        "every cell",
        "estimates of all 10⁸ cells from tables of up to 2 of 8 attributes: seconds; GB beyond the result",
        (8.0, 2.0),
        every_cell,
    ),
    Goal(
        "against GROUP BYs",
        "10 million records in Parquet, tables of up to 2 of 5 attributes, whole release over plain GROUP BYs",
        (3.0,),
        against_group_bys,
    ),
    Goal(
        "one command",
        "19,900 tables of 200 attributes, 100,000 records, `rowspace release` to a CSV file: minutes; GB",
        (10.0, 4.0),
        one_command,
    ),
)


def main() -> None:
    """Measure the goals that are named on the command line, or all."""
    words = sys.argv[1:]
    for goal in GOALS:
        if not words or any(word in goal.name for word in words):
            reached = Reached(goal.name, goal.measure())
            figures = " / ".join(f"{value:.7g}" for value in reached.values)
            print(
                f"{goal.name:<26} {figures}   {'reached' if goal.is_met(reached.values) else 'NOT REACHED'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
