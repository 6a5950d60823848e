"""Sections 1 and 2: linear queries, sensitivity, the Laplace mechanism."""

from __future__ import annotations

import numpy as np

from rowspace import error
from rowspace import operators as op
from rowspace.privacy import PureDP

from .extent import Extent
from .record import Chapter, Claim, Matrix, Source, close, confirm, correct, number, numbers

UNIT = PureDP(1.0)

H4 = ((1, 1, 1, 1), (1, 1, 0, 0), (0, 0, 1, 1), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
Y4 = ((1, 1, 1, 1), (1, 1, -1, -1), (1, -1, 0, 0), (0, 0, 1, -1))


def background(extent: Extent) -> Chapter:
    """Figure 1, Examples 1 and 2, Propositions 1 and 2."""
    return Chapter(
        key="background",
        short="Queries",
        title="Queries and the Laplace mechanism (§1, §2)",
        summary="The three running strategies, what a record can change in their answers, and why "
        "overlapping queries waste budget.",
        claims=(_duplicates(), _matrices(), _sensitivities(), _over_all_rows(), _privacy_loss()),
        matrices=(
            Matrix.of("I₄", "Figure 1", op.Identity(4).to_dense()),
            Matrix.of("H₄", "Figure 1", op.Hierarchy(4).to_dense()),
            Matrix.of("Y₄", "Figure 1", op.Haar(4).to_dense()),
        ),
    )


def _duplicates() -> Claim:
    source = Source(
        "duplicate-query",
        "§1",
        "Asking one query twice doubles the noise of each answer, and their average is worse than one answer",
        "error.total_error",
        "tests/error/test_analysis.py::test_errors_are_the_papers_formulas",
    )
    once, twice = op.Total(4), op.Dense(np.ones((2, 4)))
    one, both = (error.total_error(A, once, UNIT) for A in (once, twice))
    spread = error.noise_level(twice, UNIT) / error.noise_level(once, UNIT)
    return confirm(
        source,
        "noise doubled; average less accurate",
        f"noise × {number(spread**0.5)}; squared error {number(one)} once, {number(both)} averaged",
        holds=close(spread, 4) and both > one,
        once=one,
        twice=both,
    )


def _matrices() -> Claim:
    source = Source(
        "figure-1",
        "Figure 1",
        "The query matrices I₄, H₄ and Y₄, each of full rank",
        "operators.Hierarchy",
        "tests/operators/test_paper_matrices.py::test_strategies",
    )
    ours = [A.to_dense() for A in (op.Identity(4), op.Hierarchy(4), op.Haar(4))]
    printed = [np.array(matrix) for matrix in (np.eye(4), H4, Y4)]
    same = [np.array_equal(A, P) for A, P in zip(ours, printed, strict=True)]
    ranks = [int(np.linalg.matrix_rank(A)) for A in ours]
    return confirm(
        source,
        "4 × 4, 7 × 4, 4 × 4; full rank",
        f"entry by entry the same; ranks {numbers(ranks)} (the caption's W₄ is Y₄)",
        holds=all(same) and ranks == [4, 4, 4],
    )


def _sensitivities() -> Claim:
    source = Source(
        "example-2",
        "Example 2",
        "Sensitivities of I₄, H₄ and Y₄",
        "operators.Operator.max_column_norm",
        "tests/operators/test_paper_matrices.py::test_strategies",
    )
    found = [A.max_column_norm(1) for A in (op.Identity(4), op.Hierarchy(4), op.Haar(4))]
    return confirm(
        source,
        "1, 3, 3",
        numbers(found),
        holds=found == [1, 3, 3],
        identity=found[0],
        hierarchy=found[1],
        wavelet=found[2],
    )


def _over_all_rows() -> Claim:
    source = Source(
        "proposition-1",
        "Proposition 1",
        "Sensitivity of a matrix Q is max over columns j of Σ |q_ij|, summed over i = 1…n",
        "operators.Operator.max_column_norm",
        "tests/privacy/test_sensitivity.py::test_sensitivity_of_real_matrices",
    )
    W = op.Ranges(4)
    # One record more in cell j: the definition on the left of the printed equation, for every j.
    by_definition = max(float(np.abs(W @ unit).sum()) for unit in np.eye(4))
    printed = float(np.abs(W.to_dense()[:4]).sum(axis=0).max())
    return correct(
        source,
        f"Σ over i = 1…n: {number(printed)} for all ranges of 4 cells",
        f"{number(by_definition)} by definition",
        "the sum goes over all m rows",
        wrong=printed != by_definition,
        right=W.max_column_norm(1) == by_definition,
        printed=printed,
        definition=by_definition,
    )


def _privacy_loss() -> Claim:
    source = Source(
        "proposition-2",
        "Propositions 2, 3",
        "Laplace noise of scale Δ/ε on every answer, and any post-processing of it, is ε-differentially private",
        "privacy.PureDP",
        "tests/audit/test_calibration.py::test_every_plan",
    )
    # log of the density ratio is at most ‖Q(x − x′)‖₁/scale, attained far out in one orthant.
    losses = {}
    for name, A in (("I₄", op.Identity(4)), ("H₄", op.Hierarchy(4)), ("Y₄", op.Haar(4))):
        scale = (error.noise_level(A, UNIT) / 2) ** 0.5
        losses[name] = max(float(np.abs(A @ unit).sum()) for unit in np.eye(4)) / scale
    return confirm(
        source,
        "privacy loss at most ε",
        "largest loss, in ε: " + ", ".join(f"{name} {number(loss)}" for name, loss in losses.items()),
        holds=close(list(losses.values()), [1, 1, 1]),
    )
