"""Strategies for workloads of marginals: error, certificate, time; and measuring and reconstructing many cells.

    python -m benchmarks.optimizers_marginals            # about a minute
    python -m benchmarks.optimizers_marginals --large    # and reconstructing 10⁸ cells, some GB

Errors are E(A, W) = sensitivity² · tr((AᵗA)⁺WᵗW): total squared error at unit noise variance.
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations

import numpy as np

from rowspace import operators as op
from rowspace.privacy import ZCDP, PureDP
from rowspace.strategy import Marginals, Residual
from rowspace.strategy.result import Optimizer

LAPLACE, GAUSSIAN = PureDP(2**0.5), ZCDP(0.5)  # noise of unit variance, so that total errors are E


def marginals(sizes: tuple[int, ...], ways: range) -> op.Operator:
    """All marginals over as many attributes as `ways` says."""
    identities, totals = [op.Identity(n) for n in sizes], [op.Total(n) for n in sizes]
    return op.Stack(
        *(
            op.Kronecker(*(identities[i] if i in chosen else totals[i] for i in range(len(sizes))))
            for k in ways
            for chosen in combinations(range(len(sizes)), k)
        )
    )


CASES: list[tuple[str, Optimizer, tuple[int, ...], range, float | None]] = [
    ("Laplace, <= 2-way of 10^5", Marginals(), (10,) * 5, range(3), 98_360),
    ("Laplace, <= 2-way of 10^8", Marginals(), (10,) * 8, range(3), 1.9211e6),
    ("Laplace, 3-way of 10^8", Marginals(), (10,) * 8, range(3, 4), 8.94e7),
    ("Laplace, 2-way, mixed sizes", Marginals(), (2, 3, 5, 7, 11, 13, 40), range(2, 3), None),
    ("Laplace, 2-way of 4^13", Marginals(), (4,) * 13, range(2, 3), None),
    ("Laplace, 2-way of 10^30", Marginals(), (10,) * 30, range(2, 3), None),
    ("Gaussian, <= 3-way of 10^10", Residual(), (10,) * 10, range(4), 10_888_529.55),
    ("Gaussian, <= 3-way of 10^30", Residual(), (10,) * 30, range(4), 1.01421e10),
    ("Gaussian, <= 3-way of 10^50", Residual(), (10,) * 50, range(4), 2.26899e11),
]


def figures() -> None:
    print(f"{'case':<30} {'figure':>12} {'reached':>14} {'ratio':>8} {'tables':>7} {'seconds':>8}")
    for name, optimizer, sizes, ways, figure in CASES:
        W = marginals(sizes, ways)
        result = optimizer.optimize(W, GAUSSIAN if isinstance(optimizer, Residual) else LAPLACE)
        assert isinstance(result.strategy, op.SubsetOperator)
        print(
            f"{name:<30} {'' if figure is None else f'{figure:.7g}':>12} {result.total_error:>14.8g} "
            f"{result.ratio:>8.4f} {len(result.strategy.sets):>7} {result.seconds:>8.2f}",
            flush=True,
        )


def passes(attributes: int) -> None:
    """Measuring all tables of up to two of many attributes, and the cells back from them."""
    sizes = (10,) * attributes
    A = Residual().propose(marginals(sizes, range(3)), GAUSSIAN).integer_form(20)[0]
    x = np.random.default_rng(0).integers(0, 5, A.shape[1])
    begin = time.perf_counter()
    y = A @ x
    measured = time.perf_counter()
    A.pinv() @ y
    print(
        f"<= 2-way of 10^{attributes}: answers {measured - begin:.2f} s, x̂ {time.perf_counter() - measured:.2f} s"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="also 10⁸ cells")
    arguments = parser.parse_args()
    figures()
    passes(8 if arguments.large else 7)
