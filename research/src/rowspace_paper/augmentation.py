"""Section 5.3 and Appendix D: rows that are added to a strategy."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from rowspace import error, strategy
from rowspace import operators as op
from rowspace.operators import Vector

from .extent import Extent
from .programs import LAPLACE
from .record import Chapter, Claim, Source, close, confirm, number, refute


def augmentation(extent: Extent) -> Chapter:
    """Theorem 8 and the heuristic that follows from it."""
    return Chapter(
        key="augmentation",
        short="Augmenting",
        title="Augmentation (§5.3, Appendix D)",
        summary="More noisy answers never make the profile worse; completing deficient columns costs no "
        "sensitivity.",
        claims=(_never_worse(extent), _equality(extent), _sensitivity(extent), _strictness()),
    )


def _never_worse(extent: Extent) -> Claim:
    source = Source(
        "theorem-8",
        "Theorem 8",
        "Adding the rows of any B to A makes no query's profile term larger",
        "strategy.augment",
        "tests/strategy/test_augment.py::test_no_query_gets_worse",
    )
    rng = np.random.default_rng(8)
    largest = 0.0
    for _ in range(extent.trials):
        A, B = rng.normal(size=(7, 5)), rng.normal(size=(int(rng.integers(1, 8)), 5))
        # The largest ratio over all queries is an eigenvalue of the pair of profiles.
        before, after = (linalg.inv(G) for G in (A.T @ A, A.T @ A + B.T @ B))
        largest = max(
            largest, float(linalg.eigh((after + after.T) / 2, (before + before.T) / 2, eigvals_only=True)[-1])
        )
    return confirm(
        source,
        "never larger",
        f"{extent.trials} random pairs, all queries: at most {number(largest, 8)} times the profile term before",
        holds=largest <= 1 + 1e-8,
        largest_ratio=largest,
    )


def _equality(extent: Extent) -> Claim:
    source = Source(
        "theorem-8-equality",
        "Theorem 8",
        "The profile term stays the same only for queries AᵗAw with Bw = 0; there are such if and only if B "
        "is not of full column rank",
        "strategy.augment",
        "tests/strategy/test_augment.py::test_no_query_gets_worse",
    )
    rng = np.random.default_rng(80)
    same, different = 0.0, np.inf
    for _ in range(extent.trials):
        A, B = rng.normal(size=(7, 5)), rng.normal(size=(3, 5))
        G = A.T @ A
        kernel = linalg.null_space(B)
        w = G @ kernel @ rng.normal(size=kernel.shape[1])
        same = max(same, abs(_ratio(G, B, w) - 1))
        different = min(different, 1 - _ratio(G, B, rng.normal(size=5)))
        full = rng.normal(size=(6, 5))
        different = min(different, 1 - _ratio(G, full, w))
    return confirm(
        source,
        "equality exactly there",
        f"{extent.trials} random pairs: unchanged to {number(same, 2)} there; elsewhere, and for B of full "
        f"rank, less by at least {number(different, 2)}",
        holds=same < 1e-8 and different > 1e-10,
        unchanged_to=same,
    )


def _ratio(G: Vector, B: Vector, w: Vector) -> float:
    """Profile term of w after adding B over the one before."""
    return float((w @ linalg.solve(G + B.T @ B, w)) / (w @ linalg.solve(G, w)))


def _sensitivity(extent: Extent) -> Claim:
    source = Source(
        "completing-columns",
        "§5.3",
        "Completing deficient columns does not raise the sensitivity and never hurts",
        "strategy.augment",
        "tests/strategy/test_augment.py::test_sensitivity_stays",
    )
    rng = np.random.default_rng(81)
    raised, worst = 0.0, 0.0
    for _ in range(extent.trials // 4):
        A = op.Dense(rng.normal(size=(6, 6)))
        more = strategy.augment(A, LAPLACE)
        raised = max(raised, more.max_column_norm(1) / A.max_column_norm(1))
        W = op.Ranges(6)
        worst = max(worst, error.total_error(more, W, LAPLACE) / error.total_error(A, W, LAPLACE))
    return confirm(
        source,
        "sensitivity unchanged",
        f"{extent.trials // 4} random strategies, all ranges: sensitivity at most {number(raised, 6)} "
        f"times, total error at most {number(worst, 4)} times what it was",
        holds=raised <= 1 + 1e-12 and worst <= 1 + 1e-9,
        sensitivity_ratio=raised,
        error_ratio=worst,
    )


def _strictness() -> Claim:
    source = Source(
        "completing-strictly",
        "§5.3",
        "It is guaranteed to strictly improve any query with a non-zero coefficient in an augmented column",
        "error.query_variances",
        "tests/strategy/test_augment.py::test_no_query_gets_worse",
    )
    # The paper's own M₂: the estimates of the first cell and of w = [3, 4] are uncorrelated, (M₂w)₁ = 0.
    A = error.strategy_from_profile([[2, -1.5], [-1.5, 2]])
    more = op.Stack(A, op.Dense(np.array([[0.5, 0.0]])))
    w, other = op.Dense(np.array([[3.0, 4.0]])), op.Dense(np.array([[3.0, 3.0]]))
    unchanged = float(error.query_variances(more, w)[0] / error.query_variances(A, w)[0])
    improved = float(error.query_variances(more, other)[0] / error.query_variances(A, other)[0])
    return refute(
        source,
        "strictly smaller whenever w_j ≠ 0",
        "the profile M₂ and a row for the first cell: the error of w = [3, 4] stays, that of [3, 3] falls "
        f"to {number(improved, 4)} of what it was",
        "strict exactly where (Mw)_j ≠ 0 for an augmented column j, as Theorem 8 itself says",
        wrong=close(unchanged, 1, 1e-9),
        right=improved < 1 - 1e-3,
        unchanged=unchanged,
        improved=improved,
    )
