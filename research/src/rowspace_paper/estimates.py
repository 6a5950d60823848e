"""Section 3: estimates by least squares, the matrix mechanism, strategies of deficient rank."""

from __future__ import annotations

import numpy as np

from rowspace import error
from rowspace import operators as op
from rowspace.privacy import PureDP

from .extent import Extent
from .record import Chapter, Claim, Matrix, Source, Table, close, confirm, number, numbers

UNIT = PureDP(1.0)

H4_PINV = (
    (3, 5, -2, 13, -8, -1, -1),
    (3, 5, -2, -8, 13, -1, -1),
    (3, -2, 5, -1, -1, 13, -8),
    (3, -2, 5, -1, -1, -8, 13),
)
Y4_INVERSE = ((0.25, 0.25, 0.5, 0), (0.25, 0.25, -0.5, 0), (0.25, -0.25, 0, 0.5), (0.25, -0.25, 0, -0.5))

DRAWS = 40_000


def estimates(extent: Extent) -> Chapter:
    """Figure 2, Examples 3 and 4, Theorem 1, Propositions 3 and 4, §3.3."""
    limit, table = _regularized()
    return Chapter(
        key="estimates",
        short="Mechanism",
        title="The matrix mechanism (§3)",
        summary="Answers to the strategy are turned into one consistent estimate; no other linear one is better.",
        claims=(_reconstructions(), _ways_to_estimate(), _gauss_markov(extent), _simulated(), limit),
        matrices=(
            Matrix.of("H₄⁺", "Figure 2 (b)", 21 * op.Hierarchy(4).pinv().to_dense(), "1/21 ×"),
            Matrix.of("Y₄⁻¹", "Figure 2 (c)", op.Haar(4).pinv().to_dense()),
        ),
        tables=(table,),
    )


def _reconstructions() -> Claim:
    source = Source(
        "figure-2",
        "Figure 2, Example 3",
        "The reconstruction matrices I₄⁻¹, H₄⁺ and Y₄⁻¹",
        "operators.Operator.pinv",
        "tests/operators/test_paper_matrices.py::test_pseudo_inverse_of_h4",
    )
    pairs = (
        (op.Identity(4), np.eye(4)),
        (op.Hierarchy(4), np.array(H4_PINV) / 21),
        (op.Haar(4), np.array(Y4_INVERSE)),
    )
    distance = max(float(np.abs(A.pinv().to_dense() - printed).max()) for A, printed in pairs)
    return confirm(
        source,
        "x̂₁ = 3/21 y₁ + 5/21 y₂ − 2/21 y₃ + 13/21 y₄ − …",
        f"all entries the same (largest difference {number(distance, 2)})",
        holds=distance < 1e-12,
        largest_difference=distance,
    )


def _ways_to_estimate() -> Claim:
    source = Source(
        "example-4",
        "Example 4",
        "y₄, y₂ − y₅ and y₁ − y₃ − y₅ all estimate x₁; least squares combines them",
        "error.query_variances",
        "tests/error/test_analysis.py::test_moments_are_those_of_the_coefficients",
    )
    ways = np.array([[0, 0, 0, 1, 0, 0, 0], [0, 1, 0, 0, -1, 0, 0], [1, 0, -1, 0, -1, 0, 0]], dtype=float)
    H = op.Hierarchy(4)
    first_cell = np.eye(4)[0]
    unbiased = close(ways @ H.to_dense(), np.tile(first_cell, (3, 1)))
    variances = (ways**2).sum(axis=1)
    best = float(error.query_variances(H, op.Dense(first_cell[None, :]))[0])
    return confirm(
        source,
        "three different unbiased estimates",
        f"variances {numbers(list(variances))} per unit of noise; least squares {number(best)} = 13/21",
        holds=unbiased and close(best, 13 / 21) and best < variances.min(),
        least_squares=best,
    )


def _gauss_markov(extent: Extent) -> Claim:
    source = Source(
        "theorem-1",
        "Theorem 1",
        "x̂ = A⁺y is unbiased and has the least variance of all unbiased linear estimates",
        "reconstruct.estimate_counts",
        "tests/test_mechanism.py::test_standardized_errors",
    )
    rng = np.random.default_rng(1)
    least = np.inf
    for _ in range(extent.trials):
        A = rng.normal(size=(9, 5))
        pinv = np.linalg.pinv(A)
        # Every other left inverse is A⁺ + Z(I − AA⁺).
        other = pinv + rng.normal(scale=0.3, size=(5, 9)) @ (np.eye(9) - A @ pinv)
        w = rng.normal(size=5)
        least = min(least, float(np.sum((w @ other) ** 2) / np.sum((w @ pinv) ** 2)))
    return confirm(
        source,
        "no other estimate is better",
        f"{extent.trials} random strategies, queries and other estimates: variance at least "
        f"{number(least, 4)} times that of A⁺y",
        holds=least >= 1,
        least_ratio=least,
    )


def _simulated() -> Claim:
    source = Source(
        "proposition-4",
        "Proposition 4",
        "Error_A(w) = (2/ε²) Δ_A² w(AᵗA)⁻¹wᵗ, and TotalError_A(W) = (2/ε²) Δ_A² tr((AᵗA)⁻¹WᵗW)",
        "error.total_error",
        "tests/error/test_analysis.py::test_errors_are_the_papers_formulas",
    )
    rng = np.random.default_rng(4)
    ratios = []
    for A in (op.Identity(8), op.Hierarchy(8), op.Haar(8)):
        W = op.Ranges(8)
        noise = rng.laplace(scale=A.max_column_norm(1), size=(DRAWS, A.shape[0]))
        errors = noise @ A.pinv().to_dense().T @ W.to_dense().T
        ratios.append(float((errors**2).sum() / DRAWS / error.total_error(A, W, UNIT)))
    return confirm(
        source,
        "formula",
        f"{DRAWS:,} simulated answers to all ranges, n = 8, over the formula: I {number(ratios[0], 4)}, H "
        f"{number(ratios[1], 4)}, Y {number(ratios[2], 4)}",
        # Their standard errors are below 0.005.
        holds=all(abs(ratio - 1) < 0.03 for ratio in ratios),
        identity=ratios[0],
        hierarchy=ratios[1],
        wavelet=ratios[2],
    )


def _regularized() -> tuple[Claim, Table]:
    source = Source(
        "rank-deficient",
        "§3.3",
        "δI added to a deficient strategy B supports all queries; those B does not support get extreme error",
        "strategy.RegularizedGaussian",
        "tests/error/test_analysis.py::test_a_deficient_strategy_answers_what_it_supports",
    )
    B = op.Dense(np.array([[1.0, 1, 0, 0], [0, 0, 1, 1]]))
    inside, outside = op.Dense(np.ones((1, 4))), op.Dense(np.eye(1, 4))
    direct = float(error.query_variances(B, inside)[0])
    rows = []
    for delta in (1.0, 1e-2, 1e-4):
        A = op.Stack(B, delta * op.Identity(4))
        rows.append((delta, *(float(error.query_variances(A, w)[0]) for w in (inside, outside))))
    return (
        confirm(
            source,
            "supported queries keep their error",
            f"δ = {number(rows[-1][0])}: supported {number(rows[-1][1])} (B alone {number(direct)}), "
            f"unsupported {number(rows[-1][2])}",
            holds=close(rows[-1][1], direct, 1e-6) and rows[-1][2] > 1e6,
            supported=rows[-1][1],
            direct=direct,
            unsupported=rows[-1][2],
        ),
        Table(
            "regularized",
            "Adding δI to a strategy of deficient rank",
            "B asks two halves of four cells. Variance per unit of noise.",
            ("δ", "total (supported)", "first cell (not supported)"),
            tuple(rows),
        ),
    )
