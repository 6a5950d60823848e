"""Appendices A, E and G: scaling strategies, the wavelet as published, the geometry of profiles."""

from __future__ import annotations

from math import asin, cos, degrees, log2, pi, sin, sqrt

import numpy as np

from rowspace import error
from rowspace import operators as op
from rowspace.operators import Vector
from rowspace.privacy import PureDP

from .extent import Extent
from .record import Chapter, Chart, Claim, Matrix, Series, Source, close, confirm, correct, number, numbers

UNIT = PureDP(1.0)
M_2 = ((2.0, -1.5), (-1.5, 2.0))


def appendix(extent: Extent) -> Chapter:
    """Propositions 5, 6 and 8, Examples 8 and 9, Figure 5."""
    return Chapter(
        key="appendix",
        short="Appendix",
        title="Scaling, the published wavelet, ellipses (Appendices A, E, G)",
        summary="Equal noise on every row is no restriction; a profile is an ellipse, its sensitivity "
        "another matter.",
        claims=(
            _multiples(),
            _unequal_noise(),
            _published_wavelet(),
            _ellipse(),
            _near_the_diagonal(),
            _second_strategy(),
        ),
        matrices=(Matrix.of("A₂", "Example 9", np.round(_a_2(), 4)),),
        charts=(_figure_5(),),
    )


def _multiples() -> Claim:
    source = Source(
        "proposition-5",
        "Proposition 5",
        "A multiple kA, k ≠ 0, has the same error; Δ_kA = kΔ_A",
        "operators.Scaled",
        "tests/error/test_analysis.py::test_a_scalar_multiple_changes_no_error",
    )
    A, W = op.Hierarchy(8), op.Ranges(8)
    k = -7.5
    same = close(error.query_errors(k * A, W, UNIT), error.query_errors(A, W, UNIT))
    delta = (k * A).max_column_norm(1)
    return correct(
        source,
        f"Δ_kA = kΔ_A = {number(k * A.max_column_norm(1))} for k = −7.5, H₈",
        f"{number(delta)}; all errors are the same",
        "Δ_kA = |k|Δ_A; the proposition itself holds",
        wrong=k * A.max_column_norm(1) < 0,
        right=same and close(delta, abs(k) * A.max_column_norm(1)),
    )


def _unequal_noise() -> Claim:
    source = Source(
        "proposition-6",
        "Proposition 6",
        "Unequal noise b_i on the rows of A is equal noise b on the rows b/b_i · A",
        "operators.Weighted",
        "tests/error/test_analysis.py::test_unequal_noise_is_equal_noise_on_scaled_rows",
    )
    rng = np.random.default_rng(66)
    A = op.Hierarchy(8)
    scales = rng.uniform(0.5, 3.0, A.shape[0])
    b = 2.0
    R = b / scales
    B = op.Weighted(R, A)
    # y′ = R⁻¹(Bx + Lap(b)) has the answers of A and noise of scale b/r_i on each row, independent: the same law.
    answers = close(np.diag(1 / R) @ B.to_dense(), A.to_dense())
    noise = close(b / R, scales)
    # Estimates too: weighted least squares on A is least squares on B.
    weighted = np.linalg.inv((A.to_dense().T / scales**2) @ A.to_dense())
    profiles = close(weighted / b**2, error.profile(B))
    return confirm(
        source,
        "equal in distribution",
        "the same answers and the same scale of every row's noise for random b_i; and the same error profile",
        holds=answers and noise and profiles,
    )


def _published_wavelet() -> Claim:
    source = Source(
        "proposition-8",
        "Proposition 8, Appendix E",
        "The wavelet as Xiao et al. publish it, averages with noise (1 + log n)/(ε·W(c)), is Yₙ with equal noise",
        "operators.Haar",
        "tests/error/test_hierarchy_and_wavelet.py::test_wavelet_as_published_is_ours",
    )
    n = 16
    Z, support = published_wavelet(n)
    scales = (1 + log2(n)) / support
    theirs = np.linalg.inv(Z) * scales
    ours = np.linalg.inv(op.Haar(n).to_dense()) * op.Haar(n).max_column_norm(1)
    return confirm(
        source,
        "equal in distribution",
        f"n = {n}: R·A = Yₙ and A⁻¹R⁻¹(1 + log n) = Yₙ⁻¹Δ, entry by entry",
        holds=close(support[:, None] * Z, op.Haar(n).to_dense()) and close(theirs, ours),
    )


def published_wavelet(n: int) -> tuple[Vector, Vector]:
    """Half the difference of the averages of the two halves of every node, and the leaves of each, by definition."""
    rows, support = [np.full(n, 1 / n)], [n]
    size = n
    while size > 1:
        for start in range(0, n, size):
            row = np.zeros(n)
            half = size // 2
            row[start : start + half], row[start + half : start + size] = 1 / half / 2, -1 / half / 2
            rows.append(row)
            support.append(size)
        size //= 2
    return np.stack(rows), np.array(support, dtype=float)


def _ellipse() -> Claim:
    source = Source(
        "example-8",
        "Example 8",
        "M₂ = [2, −1.5; −1.5, 2] has eigenvalues 7/2 and 1/2; the ellipse is stretched by √7 along y = x",
        "error.decompose",
        "tests/error/test_profile.py::test_the_papers_two_by_two_example",
    )
    parts = error.decompose(M_2)
    stretch = sqrt(parts.values[0] / parts.values[1])
    direction = parts.vectors[:, 1]
    return confirm(
        source,
        "7/2, 1/2; √7; 45°",
        f"{numbers(list(parts.values))}; {number(stretch)}; "
        f"{number(degrees(abs(np.arctan2(direction[1], direction[0]))) % 90)}°",
        holds=close(parts.values, [3.5, 0.5])
        and close(stretch, sqrt(7))
        and close(abs(direction), np.full(2, sqrt(0.5))),
        stretch=stretch,
    )


def _near_the_diagonal() -> Claim:
    source = Source(
        "figure-5",
        "Figure 5, Example 8",
        "w M₂ wᵗ < w M₁ wᵗ for queries near and along y = x",
        "error.plot_profile",
        "tests/drawing/test_plots.py::test_points_of_the_ellipse_have_profile_term_one",
    )
    # 7/2 sin² + 1/2 cos² < 1 where sin² of the angle to y = x is below 1/6.
    angle = degrees(asin(sqrt(1 / 6)))
    inside, outside = (_turned(np.deg2rad(angle + turn)) for turn in (-0.01, 0.01))
    terms = [float(w @ np.array(M_2) @ w) for w in (inside, outside)]
    return confirm(
        source,
        "near and along y = x",
        f"within {number(angle, 4)}° of it",
        holds=terms[0] < 1 < terms[1],
        angle=angle,
    )


def _turned(angle: float) -> Vector:
    """The query of length one at an angle to y = x."""
    return np.array([cos(pi / 4 + angle), sin(pi / 4 + angle)])


def _a_2() -> Vector:
    turn = np.array([[cos(pi / 4), -sin(pi / 4)], [sin(pi / 4), cos(pi / 4)]])
    return np.asarray(np.diag([sqrt(2 / 7), sqrt(2)]) @ turn)


def _second_strategy() -> Claim:
    source = Source(
        "example-9",
        "Example 9",
        "A₂ = [1/√7, −1/√7; 1, 1] achieves M₂; its higher sensitivity makes its advantage along y = x less "
        "pronounced",
        "error.strategy_from_profile",
        "tests/error/test_profile.py::test_the_papers_two_by_two_example",
    )
    A = op.Dense(_a_2())
    printed = np.array([[1 / sqrt(7), -1 / sqrt(7)], [1, 1]])
    delta = A.max_column_norm(1)
    # With sensitivity: Δ²(1/2 + 3 sin²) < 1.
    angle = degrees(asin(sqrt((1 / delta**2 - 0.5) / 3)))
    return confirm(
        source,
        "Δ higher than 1",
        f"the same entries and profile; Δ = {number(delta)}, so A₂ has less error than A₁ only within "
        f"{number(angle, 3)}° of y = x",
        holds=close(A.to_dense(), printed) and close(error.profile(A), M_2) and delta > 1,
        sensitivity=delta,
        angle=angle,
    )


def _figure_5() -> Chart:
    angle = np.linspace(0, 2 * pi, 121)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    series = []
    for name, M in (("w M₁ wᵗ = 1", np.eye(2)), ("w M₂ wᵗ = 1", np.array(M_2))):
        parts = error.decompose(M)
        x, y = parts.vectors @ (circle / np.sqrt(parts.values)[:, None])
        series.append(Series.of(name, x, y))
    delta = op.Dense(_a_2()).max_column_norm(1)
    series.append(Series.of("Δ² w M₂ wᵗ = 1", np.array(series[1].x) / delta, np.array(series[1].y) / delta))
    return Chart(
        "figure-5",
        "Figure 5: the ellipses of two profiles",
        "Queries (w₁, w₂) whose profile term is one: M₁ a circle, M₂ an ellipse along y = x. Where a curve "
        "lies farther out, queries have less error. The third curve is what remains of M₂ once the "
        "sensitivity of A₂ is paid.",
        "weight of the first cell",
        tuple(series),
        equal=True,
    )
