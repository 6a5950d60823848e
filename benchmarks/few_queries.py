"""SQL dashboards at their optimum: error, certificate, CPU seconds and memory, each case in a process of its own.

    python -m benchmarks.few_queries            (`--large`: 5,000 statements, two minutes and 2 GB)

E is the total squared error of the integers that are asked, at noise of variance 1 for a sensitivity of 1.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

import rowspace as rs

PEOPLE = rs.Domain(
    age=rs.Numeric(0, 100, bins=100, integer=True),
    sex=rs.Categorical(["F", "M"]),
    region=rs.Categorical([f"r{i}" for i in range(50)]),
    edu=rs.Categorical([f"e{i}" for i in range(5)]),
)


def statements(count: int) -> rs.Workload:
    """Counts by age and region, by sex, by education: a third each."""
    rng = np.random.default_rng(7)
    texts = []
    for i in range(count):
        a, b = sorted(rng.integers(0, 100, 2).tolist())
        r = rng.integers(0, 50)
        texts.append(
            (
                f"SELECT COUNT(*) FROM t WHERE age BETWEEN {a} AND {b} AND region = 'r{r}'",
                f"SELECT sex, COUNT(*) FROM t WHERE age >= {a} GROUP BY sex",
                f"SELECT edu, COUNT(*) FROM t WHERE region = 'r{r}' AND age <= {b} GROUP BY edu",
            )[i % 3]
        )
    return rs.workload.sql(PEOPLE, ";".join(texts))


def conjunctions(cells: int) -> rs.Workload:
    """40 conditions on five attributes of so many cells each."""
    rng = np.random.default_rng(3)
    names = [f"a{i}" for i in range(5)]
    domain = rs.Domain({name: rs.Numeric(0, cells, bins=cells, integer=True) for name in names})
    texts = []
    for _ in range(40):
        ends = (sorted(rng.integers(0, cells, 2).tolist()) for _ in names)
        texts.append(
            " and ".join(f"{name} between {a} and {b}" for name, (a, b) in zip(names, ends, strict=True))
        )
    return rs.workload.predicates(domain, texts)


def tables_and_predicates() -> rs.Workload:
    """All tables of two of five attributes, and 30 predicates that tie three of them."""
    rng = np.random.default_rng(5)
    sizes = {"a": 6, "b": 5, "c": 4, "d": 8, "e": 20}
    domain = rs.Domain({name: rs.Numeric(0, n, bins=n, integer=True) for name, n in sizes.items()})
    texts = []
    for _ in range(30):
        own = [list(sizes)[k] for k in rng.choice(5, 3, replace=False)]
        x, y, z = (f"{name} <= {rng.integers(0, sizes[name])}" for name in own)
        texts.append(f"({x} and {y}) or {z}")
    return rs.workload.marginals(domain, up_to=2) + rs.workload.predicates(domain, texts)


GAUSS, LAPLACE = rs.ZCDP(0.5), rs.PureDP(2**0.5)

CASES: dict[str, tuple[Callable[[], rs.Workload], rs.privacy.Privacy, str]] = {
    "50 statements, Gaussian": (lambda: statements(50), GAUSS, "402.5, 5 s"),
    "300 statements, Gaussian": (lambda: statements(300), GAUSS, "3,915, 60 s"),
    "50 statements, Laplace": (lambda: statements(50), LAPLACE, "7,845, 10 s"),
    "two-way tables + 30 predicates": (tables_and_predicates, GAUSS, "ratio 1.03"),
    "40 conjunctions, 3,125 cells": (lambda: conjunctions(5), GAUSS, "5 s, 1 GB"),
    "40 conjunctions, 248,832 cells": (lambda: conjunctions(12), GAUSS, "5 s, 1 GB"),
    "40 conjunctions, 9.8 million cells": (lambda: conjunctions(25), GAUSS, "5 s, 1 GB"),
    "5,000 statements, Gaussian": (lambda: statements(5000), GAUSS, "300 s, 2 GB"),
}


def measured(name: str) -> str:
    """One row, measured in this process."""
    make, privacy, goal = CASES[name]
    workload = make()
    started = time.process_time()
    plan = rs.plan(workload, privacy)
    error = plan.total_error
    seconds = time.process_time() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return f"{name:36}{goal:>14}{error:14.6g}{plan.ratio:9.4f}{seconds:9.1f}{memory:8.2f}"


def rows(large: bool) -> Iterator[str]:
    """One process after the other."""
    for name in CASES:
        if large or not name.startswith("5,000"):
            command = [sys.executable, "-m", "benchmarks.few_queries", "--case", name]
            yield subprocess.run(command, capture_output=True, text=True, check=True).stdout.rstrip()


def main() -> None:
    if "--case" in sys.argv:
        print(measured(sys.argv[-1]))
        return
    print(f"{'case':36}{'to reach':>14}{'E':>14}{'ratio':>9}{'CPU s':>9}{'GB':>8}")
    for row in rows("--large" in sys.argv):
        print(row, flush=True)


if __name__ == "__main__":
    main()
