"""Laplace optimizers: expected error, time, and the cost of one step against dense algebra.

    python -m benchmarks.optimizers_laplace            # to 4096 cells, about two minutes
    python -m benchmarks.optimizers_laplace --large    # and 16,384 cells, some minutes

Errors are E(A, W) = sensitivity² · tr((AᵗA)⁺WᵗW): total squared error at unit noise variance.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

# Before numpy is imported: threads that wait for each other would be counted as work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy import linalg

from rowspace import operators as op
from rowspace.privacy import PureDP
from rowspace.strategy import Hierarchical, PIdentity
from rowspace.strategy.p_identity_loss import PIdentityLoss
from rowspace.strategy.p_identity_starts import levels, tent_start

UNIT = PureDP(2**0.5)  # noise of unit variance, so that total errors are E

FIGURES: list[tuple[str, op.Operator, float | None]] = [
    ("all ranges 64", op.Ranges(64), 32_100),
    ("all ranges 256", op.Ranges(256), 1.0675e6),
    ("all ranges 1024", op.Ranges(1024), 3.222e7),
    ("prefix 64", op.Prefix(64), 906.6),
    ("prefix 256", op.Prefix(256), 6_880),
    ("prefix 1024", op.Prefix(1024), 46_900),
    ("identity + total 256", op.Stack(op.Identity(256), op.Total(256)), 386.9),
    ("windows of 7 and 30, 1024", op.Stack(op.WidthRanges(1024, 7), op.WidthRanges(1024, 30)), None),
    ("all ranges 4096", op.Ranges(4096), None),
    ("prefix 4096", op.Prefix(4096), None),
]
LARGE: list[tuple[str, op.Operator, float | None]] = [
    ("all ranges 16384", op.Ranges(16384), None),
    ("prefix 16384", op.Prefix(16384), None),
]


def figures(cases: list[tuple[str, op.Operator, float | None]]) -> None:
    print(
        f"{'case':<26} {'figure':>10} {'reached':>12} {'ok':>3} {'steps':>6} {'seconds':>8} "
        f"{'rows':>5} {'identity':>10} {'best tree':>10} {'of tree':>8}"
    )
    for name, W, figure in cases:
        result = PIdentity().optimize(W, UNIT)
        tree = Hierarchical().optimize(W, UNIT).total_error
        ok = "" if figure is None else "yes" if result.total_error <= figure else "NO"
        m, n = result.strategy.shape
        print(
            f"{name:<26} {'' if figure is None else f'{figure:.5g}':>10} {result.total_error:>12.6g} {ok:>3} "
            f"{result.steps:>6} {result.seconds:>8.2f} {m - n:>5} {W.squared_frobenius():>10.4g} "
            f"{tree:>10.4g} {result.total_error / tree:>8.3f}",
            flush=True,
        )


def textbook_step(V: np.ndarray, theta: np.ndarray) -> tuple[float, np.ndarray]:
    """The textbook dense step, O(p n²): MVM with M = (AᵗA)⁻¹ by Woodbury, then −2·A·MVM through the scaling."""
    u = 1.0 + theta.sum(axis=0)
    S = linalg.inv(np.eye(len(theta)) + theta @ theta.T, assume_a="pos")
    scaled_V = V * u * u[:, None]
    half = scaled_V - theta.T @ (S @ (theta @ scaled_V))
    value = float(np.trace(half))
    MVM = (half - ((half @ theta.T) @ S) @ theta) * u * u[:, None]
    A = theta / u
    by_A = -2 * A @ MVM
    by_cells = -2 * np.diagonal(MVM) / u
    # The columns are divided by u = 1 + Σθ: entry (k, j) of Θ moves its own weight and shrinks the column.
    return value, by_A / u - (by_cells / u + np.einsum("kj,kj->j", by_A, A)) / u


def economical_step(V: np.ndarray, theta: np.ndarray) -> tuple[float, np.ndarray]:
    """Our formulas on plain arrays, one product with WᵗW: the hardest dense step to beat."""
    u = 1.0 + theta.sum(axis=0)
    X = theta * u
    Y = X @ V
    S = linalg.inv(np.eye(len(theta)) + theta @ theta.T, assume_a="pos")
    B, R = Y @ X.T, S @ Y
    value = float(u**2 @ np.diagonal(V)) - float(np.sum(S * B))
    gradient = 2 * (S @ B @ S @ theta - R * u + u * np.diagonal(V) - np.einsum("kj,kj->j", theta, R))
    return value, gradient


def cpu(step: Callable[[], object], repeats: int) -> float:
    """CPU seconds of one call, all threads together."""
    started = time.process_time()
    for _ in range(repeats):
        step()
    return (time.process_time() - started) / repeats


def step_cost(n: int, p: int, rounds: int = 15) -> None:
    """One step at n cells and p rows, structured and dense in turn; the medians."""
    W = op.Ranges(n)
    start = tent_start(W, levels(p))
    loss, x, V = start.loss, start.entries, W.gram().to_dense()
    theta = loss.support.matrix(x).toarray()
    check_agreement(loss(x), [dense(V, theta) for dense in (textbook_step, economical_step)], loss)
    steps = (lambda: loss(x), lambda: textbook_step(V, theta), lambda: economical_step(V, theta))
    ours, textbook, economical = np.median([[cpu(step, 5) for step in steps] for _ in range(rounds)], axis=0)
    print(f"one step, all ranges n = {n}, p = {p}: {1e3 * ours:.2f} ms CPU")
    print(
        f"  textbook dense step          {1e3 * textbook:8.2f} ms, ratio {ours / textbook:.3f} (figure: 0.25)"
    )
    print(f"  our formulas on dense arrays {1e3 * economical:8.2f} ms, ratio {ours / economical:.3f}")


def check_agreement(
    ours: tuple[float, np.ndarray], dense: list[tuple[float, np.ndarray]], loss: PIdentityLoss
) -> None:
    """All steps compute the same numbers, or the comparison means nothing."""
    value, gradient = (loss.unit * part for part in ours)
    for dense_value, dense_gradient in dense:
        assert np.isclose(value, dense_value, rtol=1e-9)
        assert np.allclose(gradient, loss.support.gather(dense_gradient), rtol=1e-6, atol=1e-9 * loss.unit)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="also 16,384 cells")
    arguments = parser.parse_args()
    step_cost(1024, 64)
    figures(FIGURES + (LARGE if arguments.large else []))
