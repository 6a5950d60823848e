"""Section 4: error profiles, their decomposition, and strategies that share one."""

from __future__ import annotations

import numpy as np

from rowspace import error
from rowspace import operators as op
from rowspace.operators import Vector
from rowspace.privacy import PureDP

from .extent import Extent
from .record import Chapter, Claim, Matrix, Source, Table, close, confirm, number, numbers

UNIT = PureDP(1.0)

H4_PROFILE = ((13, -8, -1, -1), (-8, 13, -1, -1), (-1, -1, 13, -8), (-1, -1, -8, 13))
Y4_PROFILE = ((3, -1, 0, 0), (-1, 3, 0, 0), (0, 0, 3, -1), (0, 0, -1, 3))

H_PRIME = ((-1.32, -1.32, -1.32, -1.32), (0.87, 0.87, -0.87, -0.87), (-0.71, 0.71, 0, 0), (0, 0, -0.71, 0.71))
Y_PRIME = ((1.73, 0.58, 0, 0), (0, 1.63, 0, 0), (0, 0, 1.73, 0.58), (0, 0, 0, 1.63))


def profiles(extent: Extent) -> Chapter:
    """Figures 3 and 4, Examples 5 to 7, Theorem 2."""
    example, table = _single_and_total()
    h, y = h_prime(), y_prime()
    return Chapter(
        key="profiles",
        short="Error",
        title="The analysis of error (§4)",
        summary="A strategy's error is its squared sensitivity times its profile (AᵗA)⁻¹; rotations change "
        "only the first.",
        claims=(_figure_3(), example, _natural_strategies(), _figure_4(h, y), _theorem_2(extent)),
        matrices=(
            Matrix.of("(H₄ᵗH₄)⁻¹", "Figure 3 (b)", 21 * error.profile(op.Hierarchy(4)), "1/21 ×"),
            Matrix.of("(Y₄ᵗY₄)⁻¹", "Figure 3 (c)", 8 * error.profile(op.Haar(4)), "1/8 ×"),
            Matrix.of("H′", "Figure 4 (a)", np.round(h, 2)),
            Matrix.of("Y′", "Figure 4 (b)", np.round(y, 2)),
        ),
        tables=(table,),
    )


def h_prime() -> Vector:
    """H′ without rounding: the Haar vectors of length one, each times the root of its eigenvalue of H₄ᵗH₄."""
    unit = op.Haar(4).to_dense()
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    return np.asarray(np.sqrt([7.0, 3.0, 1.0, 1.0])[:, None] * unit * np.array([[-1], [1], [-1], [-1]]))


def y_prime() -> Vector:
    """Y′ without rounding: the triangular root of Y₄ᵗY₄."""
    return np.asarray(np.linalg.cholesky(op.Haar(4).gram().to_dense()).T)


def _figure_3() -> Claim:
    source = Source(
        "figure-3",
        "Figure 3",
        "The error profiles of I₄, H₄ and Y₄; every profile is symmetric and positive definite",
        "error.profile",
        "tests/error/test_profile.py::test_the_papers_profiles",
    )
    ours = [error.profile(A) for A in (op.Identity(4), op.Hierarchy(4), op.Haar(4))]
    printed = [np.eye(4), np.array(H4_PROFILE) / 21, np.array(Y4_PROFILE) / 8]
    least = min(float(np.linalg.eigvalsh(M)[0]) for M in ours)
    return confirm(
        source,
        "I; (1/21)[13, −8, −1, −1; …]; (1/8)[3, −1, 0, 0; …]",
        f"all entries the same; smallest eigenvalue {number(least)}",
        holds=all(close(M, P, 1e-12) for M, P in zip(ours, printed, strict=True)) and least > 0,
        smallest_eigenvalue=least,
    )


def _single_and_total() -> tuple[Claim, Table]:
    source = Source(
        "example-5",
        "Example 5",
        "I₄ is best for single counts; for the sum of all counts H₄ and Y₄ approach it at n = 4 and are far "
        "better at large n",
        "error.query_errors",
        "tests/error/test_analysis.py::test_errors_are_the_papers_formulas",
    )
    rows: list[tuple[str, float, float, float]] = []
    for n in (4, 1024):
        single = op.Dense(np.eye(1, n))
        queries: tuple[tuple[str, op.Operator], ...] = (("one count", single), ("all counts", op.Total(n)))
        for name, w in queries:
            i, h, y = (error.max_error(A, w, UNIT) for A in (op.Identity(n), op.Hierarchy(n), op.Haar(n)))
            rows.append((f"{name}, n = {n}", i, h, y))
    one, every, _, many = (row[1:] for row in rows)
    return (
        confirm(
            source,
            "I₄ lowest for one count",
            f"one count {numbers(one)}; all counts {numbers(every)}; all counts at n = 1024 {numbers(many)}",
            holds=one[0] < min(one[1:]) and every[0] < min(every[1:]) and many[0] > 5 * max(many[1:]),
        ),
        Table(
            "single-and-total",
            "Error of one count and of the total",
            "Expected squared error at ε = 1.",
            ("query", "Iₙ", "Hₙ", "Yₙ"),
            tuple(rows),
        ),
    )


def _natural_strategies() -> Claim:
    source = Source(
        "example-6",
        "Example 6",
        "TotalError_I(W) = (2/ε²) tr(WᵗW), and with W as its own strategy (2/ε²) Δ_W² n, below the Laplace "
        "mechanism's (2/ε²) Δ_W² m",
        "strategy.WorkloadItself",
        "tests/strategy/test_classical.py::test_workload_itself_costs_its_rank",
    )
    W = op.Ranges(8)
    rows, n = W.shape
    delta = W.max_column_norm(1)
    plain = error.total_error(op.Identity(n), W, UNIT)
    itself = error.total_error(W, W, UNIT)
    laplace = 2 * delta**2 * rows
    return confirm(
        source,
        f"{number(2 * W.squared_frobenius())}; {number(2 * delta**2 * n)}; {number(laplace)} (all ranges, n = 8)",
        f"{number(plain)}; {number(itself)}; {number(laplace)}",
        holds=close(plain, 2 * W.squared_frobenius())
        and close(itself, 2 * delta**2 * n)
        and itself < laplace,
        identity=plain,
        itself=itself,
        laplace=laplace,
    )


def _figure_4(h: Vector, y: Vector) -> Claim:
    source = Source(
        "figure-4",
        "Figure 4, Example 7",
        "H′ and Y′ have the profiles of H₄ and Y₄ at sensitivities 2.896 and 2.210 instead of 3",
        "error.profile_equivalent",
        "tests/error/test_profile.py::test_h_prime_and_y_prime_are_profile_equivalent_with_less_sensitivity",
    )
    same_profile = error.profile_equivalent(op.Dense(h), op.Hierarchy(4)) and error.profile_equivalent(
        op.Dense(y), op.Haar(4)
    )
    same_entries = np.abs(h - H_PRIME).max() <= 0.005 + 1e-9 and np.abs(y - Y_PRIME).max() <= 0.005 + 1e-9
    found = [op.Dense(A).max_column_norm(1) for A in (h, y)]
    return confirm(
        source,
        "2.896, 2.210",
        f"{numbers(found)}; the same profiles, entries equal to two decimals",
        holds=bool(same_profile and same_entries) and [round(value, 3) for value in found] == [2.896, 2.210],
        hierarchy=found[0],
        wavelet=found[1],
    )


def _theorem_2(extent: Extent) -> Claim:
    source = Source(
        "theorem-2",
        "Theorem 2",
        "The strategies with profile M are exactly Q diag(1/√λ) Pᵗ with orthonormal columns of Q",
        "error.strategy_from_profile",
        "tests/error/test_profile.py::test_every_rotation_achieves_the_profile",
    )
    rng = np.random.default_rng(2)
    there, back = 0.0, 0.0
    for _ in range(extent.trials):
        B = rng.normal(size=(4, 4))
        M = np.linalg.inv(B.T @ B)
        M = (M + M.T) / 2
        Q = np.linalg.qr(rng.normal(size=(6, 4)))[0]
        A = error.strategy_from_profile(M, Q)
        there = max(there, float(np.abs(error.profile(A) - M).max() / np.abs(M).max()))
        # And back: any strategy with this profile, here B itself, has such a Q.
        plain = error.strategy_from_profile(M).to_dense()
        rotation = B @ np.linalg.inv(plain)
        back = max(back, float(np.abs(rotation.T @ rotation - np.eye(4)).max()))
    return confirm(
        source,
        "equivalent",
        f"{extent.trials} random profiles: M achieved to {number(there, 2)}, Q orthogonal to {number(back, 2)}",
        holds=there < 1e-6 and back < 1e-6,
        profile_error=there,
        orthogonality_error=back,
    )
