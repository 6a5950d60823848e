"""What a large tree or wavelet costs, as multiples of one pass over the data: `python -m benchmarks.large_trees`.

Times are the best of several repeats, divided by the best `np.cumsum` of the same float64 vector in the same
run, so that they carry over between machines. "first" builds the operator too: a user pays that once. "measure"
adds exact Laplace noise at ε = 1. Memory is the peak of everything allocated on the way, the result included, in
vectors of n float64. Target: at most 40 passes and 10 vectors at n = 2²⁰.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import matmul

import numpy as np

from rowspace import PureDP
from rowspace import operators as op
from rowspace.measure import measure
from rowspace.operators.base import Array

from .harness import best_seconds, traced_peak

CASES: list[tuple[str, Callable[[], op.Operator]]] = [
    *((f"Hierarchy(2^{k})", lambda k=k: op.Hierarchy(2**k)) for k in range(16, 21)),
    ("Hierarchy(10^6, 10)", lambda: op.Hierarchy(10**6, 10)),
    ("Hierarchy(10^6, 2)", lambda: op.Hierarchy(10**6, 2)),
    *((f"Haar(2^{k})", lambda k=k: op.Haar(2**k)) for k in range(16, 21)),
]


COLUMNS = ("A@x", "first", "measure", "pinv@y", "first", "A@x mem", "measure mem", "pinv@y mem")


def _made_and_asked(make: Callable[[], op.Operator], x: Array) -> Array:
    return make() @ x


def _made_and_inverted(make: Callable[[], op.Operator], y: Array) -> Array:
    return make().pinv() @ y


def main() -> None:
    """Print one line per operator."""
    print(f"{'operator':20} {'cumsum ms':>9} " + " ".join(f"{name:>11}" for name in COLUMNS))
    for name, make in CASES:
        A = make()
        n = A.shape[1]
        x = np.random.default_rng(0).integers(0, 1000, n)
        y, inverse, reals = A @ x, A.pinv(), x.astype(np.float64)
        noise = PureDP(1.0).noise(A.integer_norm(1))
        unit = best_seconds(partial(np.cumsum, reals))
        works: list[Callable[[], object]] = [
            partial(matmul, A, x),
            partial(_made_and_asked, make, x),
            partial(measure, A, noise, x),
            partial(matmul, inverse, y),
            partial(_made_and_inverted, make, y),
        ]
        ratios = [best_seconds(work) / unit for work in works]
        vectors = [traced_peak(work) / (8 * n) for work in (works[1], works[2], works[4])]
        print(f"{name:20} {unit * 1e3:9.3f} " + " ".join(f"{value:11.2f}" for value in (*ratios, *vectors)))


if __name__ == "__main__":
    main()
