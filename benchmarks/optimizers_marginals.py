"""Strategies of tables: error, certificate and time; measuring and answering without the cells, and with them.

    python -m benchmarks.optimizers_marginals            # some minutes
    python -m benchmarks.optimizers_marginals --large    # and 100 attributes from end to end, 10⁸ cells: some GB

Errors are E(A, W) = sensitivity² · tr((AᵗA)⁺WᵗW): total squared error at unit noise variance. Seconds are CPU seconds.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from itertools import combinations
from math import sqrt

import numpy as np

from rowspace import operators as op
from rowspace import tables
from rowspace.measure import measure
from rowspace.privacy import ZCDP, PureDP
from rowspace.strategy import (
    GaussianOptimal,
    Marginals,
    Residual,
    Strategy,
    WorstQueryResult,
    noisy_values,
    to_integers,
)
from rowspace.tables import Piece, ProductWorkload, gather

LAPLACE, GAUSSIAN = PureDP(2**0.5), ZCDP(0.5)  # noise of unit variance, so that total errors are E

Kind = Callable[[int], op.Operator]


def asked(sizes: tuple[int, ...], ways: range, kind: Kind = op.Identity) -> ProductWorkload:
    """All products of as many attributes as `ways` says, each asked by its kind of queries."""
    by_size = {n: kind(n) for n in set(sizes)}
    pieces = [Piece((i,), by_size[n]) for i, n in enumerate(sizes)]
    return gather(sizes, ((1.0, own) for k in ways for own in combinations(pieces, k)))


TOTALS: list[tuple[str, Marginals | Residual, ProductWorkload, float | None]] = [
    ("Laplace, <= 2-way of 10^5", Marginals(), asked((10,) * 5, range(3)), 98_360),
    ("Laplace, <= 2-way of 10^8", Marginals(), asked((10,) * 8, range(3)), 1.9211e6),
    ("Laplace, 3-way of 10^8", Marginals(), asked((10,) * 8, range(3, 4)), 8.94e7),
    ("Laplace, 2-way, mixed sizes", Marginals(), asked((2, 3, 5, 7, 11, 13, 40), range(2, 3)), None),
    ("Laplace, 2-way of 4^13", Marginals(), asked((4,) * 13, range(2, 3)), None),
    ("Laplace, 2-way of 10^30", Marginals(), asked((10,) * 30, range(2, 3)), None),
    ("Gaussian, <= 3-way of 10^10", Residual(), asked((10,) * 10, range(4)), 10_888_529.55),
    ("Gaussian, <= 3-way of 10^30", Residual(), asked((10,) * 30, range(4)), 1.01421e10),
    ("Gaussian, <= 3-way of 10^50", Residual(), asked((10,) * 50, range(4)), 2.26899e11),
    ("Gaussian, <= 3-way of 10^100", Residual(), asked((10,) * 100, range(4)), 1.49123e13),
]

WORST = [(10, 105.031), (30, 2540.44), (100, 91_960.9)]

PRODUCTS: list[tuple[str, Kind, int, float]] = [
    ("prefixes", op.Prefix, 10, 19.08),
    ("prefixes", op.Prefix, 30, 85.2),
    ("ranges", op.Ranges, 10, 24.16),
    ("ranges", op.Ranges, 30, 117.0),
]


def totals() -> None:
    print(f"{'case':<30} {'figure':>12} {'reached':>14} {'ratio':>8} {'tables':>7} {'seconds':>8}")
    for name, optimizer, W, figure in TOTALS:
        begin = time.process_time()
        result = optimizer.optimize(W, GAUSSIAN if isinstance(optimizer, Residual) else LAPLACE)
        taken = time.process_time() - begin
        assert isinstance(result.strategy, tables.TableOperator)
        print(
            f"{name:<30} {'' if figure is None else f'{figure:.7g}':>12} {result.total_error:>14.8g} "
            f"{result.ratio:>8.4f} {len(result.strategy.sets):>7} {taken:>8.2f}",
            flush=True,
        )


def worst_cells() -> None:
    print(f"\n{'worst cell of <= 3-way':<30} {'figure':>12} {'reached':>14} {'gap':>8} {'seconds':>8}")
    for d, figure in WORST:
        W = asked((10,) * d, range(4))
        begin = time.process_time()
        result = Residual(objective="max").optimize(W, GAUSSIAN)
        taken = time.process_time() - begin
        assert isinstance(result, WorstQueryResult)
        gap = result.max_error / result.max_lower_bound - 1
        print(f"10^{d:<27} {figure:>12.7g} {result.max_error:>14.7g} {gap:>8.1e} {taken:>8.2f}", flush=True)


def products() -> None:
    print(
        f"\n{'<= 3-way products, n = 10':<30} {'figure':>12} {'RMSE':>14} {'integers':>9} {'ratio':>6} {'seconds':>8}"
    )
    for name, kind, d, figure in PRODUCTS:
        W = asked((10,) * d, range(4), kind)
        begin = time.process_time()
        result = Residual().optimize(W, GAUSSIAN)
        taken = time.process_time() - begin
        integers, noise = to_integers(result.strategy, GAUSSIAN)
        assert isinstance(integers, tables.TableOperator)
        rounded = sqrt(noise.variance * integers.trace_of_products(W) / W.queries)
        print(
            f"{name + f' of {d}':<30} {figure:>12} {sqrt(result.total_error / W.queries):>14.4f} "
            f"{rounded:>9.4f} {result.ratio:>6.3f} {taken:>8.2f}",
            flush=True,
        )


def beside_the_optimum() -> None:
    """How near strategies of tables and their bound are to the optimum over all strategies, from both sides."""
    print(f"\n{'<= 2-way products of three':<36} {'strategy / optimum':>19} {'optimum / bound':>16}")
    mixed = [op.Prefix(4), op.Identity(4), op.Ranges(4)]
    for kinds in (mixed, [op.Prefix(6)] * 3, [op.Ranges(6)] * 3):
        pieces = [Piece((i,), kind) for i, kind in enumerate(kinds)]
        name = ", ".join(f"{type(kind).__name__}({kind.shape[1]})" for kind in kinds)
        _beside_the_optimum(name, [own for k in range(3) for own in combinations(pieces, k)])
    cells = [Piece((i,), op.Identity(n)) for i, n in enumerate((16, 4, 3))]
    asked_apart = [own for k in range(3) for own in combinations(cells, k)]
    _beside_the_optimum("cells of (16, 4, 3), and Ranges(16)", [*asked_apart, (Piece((0,), op.Ranges(16)),)])


def _beside_the_optimum(name: str, parts: list[tuple[Piece, ...]]) -> None:
    sizes = {piece.axes[0]: piece.operator.shape[1] for part in parts for piece in part}
    W = gather([sizes[i] for i in range(len(sizes))], ((1.0, part) for part in parts))
    rows = []
    for part in parts:
        asked_of = {piece.axes[0]: piece.operator for piece in part}
        rows.append(op.Kronecker(*(asked_of.get(i, op.Total(n)) for i, n in enumerate(W.sizes))))
    best = GaussianOptimal().optimize(op.Stack(*rows), GAUSSIAN).total_error
    result = Residual().optimize(W, GAUSSIAN)
    print(f"{name:<36} {result.total_error / best:>19.4f} {best / result.lower_bound:>16.4f}", flush=True)


class NoRecords:
    """Counts of an empty table: measuring is then noise and arithmetic, without a source."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.sizes = sizes

    def table(self, attributes: tuple[int, ...]) -> np.ndarray:
        return np.zeros(tuple(self.sizes[i] for i in attributes), dtype=np.int64)


def from_end_to_end(d: int) -> None:
    """Select, measure (noise included, no data) and answer all marginals of up to three of d attributes."""
    times = [time.process_time()]
    W = asked((10,) * d, range(4))
    times.append(time.process_time())
    strategy = Residual().propose(W, GAUSSIAN)
    times.append(time.process_time())
    integers, noise = to_integers(strategy, GAUSSIAN)
    assert isinstance(integers, tables.TableOperator)
    times.append(time.process_time())
    measured = measure(integers, noise, NoRecords(W.sizes))
    times.append(time.process_time())
    answers = Strategy.of(integers).estimate(noisy_values(integers, measured.answers)).answers(W)
    times.append(time.process_time())
    took = ", ".join(
        f"{name} {seconds:.2f} s"
        for name, seconds in zip(
            ("workload", "select", "integers", "measure", "reconstruct"), np.diff(times), strict=True
        )
    )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\n<= 3-way of 10^{d}: {took}; {len(answers):,} answers, {memory:.2f} GB at most", flush=True)


def passes(attributes: int) -> None:
    """Measuring all tables of up to two of many attributes, and the cells back from them."""
    W = asked((10,) * attributes, range(3))
    A = Residual().propose(W, GAUSSIAN).integer_form(20)[0]
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
    parser.add_argument(
        "--large", action="store_true", help="also 100 attributes from end to end, and 10⁸ cells"
    )
    arguments = parser.parse_args()
    from_end_to_end(50)
    totals()
    worst_cells()
    products()
    beside_the_optimum()
    passes(8 if arguments.large else 7)
    if arguments.large:
        from_end_to_end(100)
