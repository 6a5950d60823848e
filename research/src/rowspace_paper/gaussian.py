"""Section 5.2.1 and Appendix B: (ε, δ)-differential privacy by Gaussian noise."""

from __future__ import annotations

from math import log

from rowspace import error
from rowspace import operators as op
from rowspace.privacy import ApproxDP, ApproxDPTheorem3, PureDP, gaussian_delta, paper_gaussian_sigma

from .extent import Extent
from .record import Chapter, Claim, Source, Table, close, confirm, correct, number, refute

EPSILONS = (0.1, 1.0, 4.0)
DELTAS = (1e-2, 1e-6, 1e-9)


def gaussian(extent: Extent) -> Chapter:
    """The theorem on Gaussian noise that the full version adds, and what the text concludes from it."""
    theorem, table = _calibration()
    return Chapter(
        key="gaussian",
        short="Gaussian",
        title="Gaussian noise (§5.2.1, Appendix B)",
        summary="The full version's added theorem is right but spends several times the noise it needs; and "
        "Gaussian noise is not always the better choice.",
        claims=(theorem, _scale(), _always_better()),
        tables=(table,),
    )


def _calibration() -> tuple[Claim, Table]:
    source = Source(
        "gaussian-theorem",
        "Gaussian theorem, Appendix B",
        "Noise N(0, 8 ln(2/δ)) times ‖W‖₂/ε is (ε, δ)-differentially private for ε ≤ 8 ln(2/δ)",
        "privacy.ApproxDPTheorem3",
        "tests/privacy/test_calibration.py::test_theorem_3_is_private",
    )
    rows = []
    for epsilon in (*EPSILONS, None):
        for delta in DELTAS:
            budget = 8 * log(2 / delta) * (1 - 1e-12) if epsilon is None else epsilon
            spent = gaussian_delta(paper_gaussian_sigma(budget, delta), budget)
            needed = ApproxDP(budget, delta).unit_variance
            rows.append((budget, delta, spent, ApproxDPTheorem3(budget, delta).unit_variance / needed))
    factors = [row[3] for row in rows]
    return (
        confirm(
            source,
            "private",
            f"{len(rows)} pairs up to the largest ε: the δ spent is never above the one promised; "
            f"{number(min(factors), 3)} to {number(max(factors), 3)} times the variance that is needed",
            holds=all(row[2] <= row[1] for row in rows),
            least_factor=min(factors),
            largest_factor=max(factors),
        ),
        Table(
            "calibration",
            "The paper's Gaussian noise against the least that is private",
            "δ spent is computed from the exact privacy curve of the Gaussian mechanism. The last ε of each "
            "δ is the largest the theorem allows.",
            ("ε", "δ promised", "δ spent", "variance / least variance"),
            tuple(rows),
        ),
    )


def _scale() -> Claim:
    source = Source(
        "gaussian-scale",
        "§5.2.1",
        "For given δ the Gaussian noise added is Θ(ε²‖A‖₂²), the Laplace noise Ω(ε²‖A‖₂²)",
        "error.noise_level",
        "tests/error/test_analysis.py::test_errors_are_the_papers_formulas",
    )
    A = op.Hierarchy(8)
    ratios = [
        error.noise_level(A, make(2.0)) / error.noise_level(A, make(1.0))
        for make in (PureDP, lambda epsilon: ApproxDPTheorem3(epsilon, 1e-6))
    ]
    return correct(
        source,
        "grows like ε²",
        f"doubling ε multiplies both variances by {number(ratios[0])} and {number(ratios[1])}",
        "Θ(‖A‖₂²/ε²) and Ω(‖A‖₂²/ε²)",
        wrong=max(ratios) < 1,
        right=all(abs(ratio - 0.25) < 1e-9 for ratio in ratios),
    )


def _always_better() -> Claim:
    source = Source(
        "relaxing-helps",
        "§5.2.1",
        "Relaxing ε- to (ε, δ)-differential privacy will always lead to better utility",
        "error.total_error",
        "tests/error/test_analysis.py::test_gaussian_is_never_worse_than_the_papers_calibration",
    )
    n = 64
    laplace, paper, analytic = (
        error.total_error(op.Identity(n), op.Identity(n), privacy) / n
        for privacy in (PureDP(1.0), ApproxDPTheorem3(1.0, 1e-6), ApproxDP(1.0, 1e-6))
    )
    W = op.Ranges(n)
    both = [error.total_error(W, W, privacy) for privacy in (PureDP(1.0), ApproxDPTheorem3(1.0, 1e-6))]
    # Δ² over ‖·‖₂² is 1056 for all ranges asked directly; the two noises differ by 8 ln(2/δ)/2.
    expected = 4 * log(2e6) / (W.max_column_norm(1) ** 2 / W.max_column_norm(2) ** 2)
    return refute(
        source,
        "always better",
        f"counts of cells at ε = 1, δ = 10⁻⁶: variance {number(laplace)} with Laplace noise, "
        f"{number(paper)} with the paper's Gaussian, {number(analytic)} with the least Gaussian; all ranges "
        f"asked directly, n = 64: Gaussian over Laplace {number(both[1] / both[0], 3)}",
        "better only where Δ_A² exceeds 4 ln(2/δ)·‖A‖₂²: for many overlapping queries, not for few",
        wrong=paper > laplace and analytic > laplace,
        right=close(both[1] / both[0], expected, 1e-6) and expected < 1,
        laplace=laplace,
        paper_gaussian=paper,
        least_gaussian=analytic,
    )
