"""The proof of Theorem 11: the queries it names, and its formula."""

from __future__ import annotations

import numpy as np

from rowspace import error
from rowspace import operators as op
from rowspace.privacy import PureDP

from .extent import Extent
from .record import Claim, Source, confirm, correct, number, superscript
from .worst_queries import hierarchy, profile_term, wavelet, worst_predicate, worst_range

UNIT = PureDP(1.0)
TEST = "tests/paper/test_worst_queries.py::test_worst_queries_by_brute_force"


def proof_claims(extent: Extent) -> tuple[Claim, ...]:
    """Its worst range, its worst predicate, its total error."""
    return _proof_range(extent), _proof_predicate(extent), _squared()


def proof_range(centre: int, power: int) -> tuple[int, int]:
    """The range of the proof of Theorem 11, cells centre ± (4^power − 1)/3 counted from one: first, one past last."""
    reach = (4**power - 1) // 3
    return centre - reach - 1, centre + reach


def _proof_range(extent: Extent) -> Claim:
    source = Source(
        "theorem-11-range",
        "Theorem 11, proof",
        "The range from 2ᵏ − (4^(⌊(k−1)/2⌋+1) − 1)/3 to 2ᵏ + (4^(⌊(k−1)/2⌋+1) − 1)/3 has error Θ(log³ n)",
        "rowspace_paper.worst_queries.worst_range",
        TEST,
    )
    powers = range(4, extent.growth_power + 1)
    printed_outside = all(proof_range(2**k, (k - 1) // 2 + 1)[1] > 2**k for k in powers)
    # Moving the centre is not enough: for odd k the printed power of 4 is 2n, and the range is wider than the domain.
    odd_outside = all(proof_range(2 ** (k - 1), (k - 1) // 2 + 1)[0] < 0 for k in powers if k % 2)
    shares = []
    for k in powers:
        first, last = proof_range(2 ** (k - 1), k // 2)
        w = np.zeros(2**k)
        w[first:last] = 1.0
        shares.append(profile_term(wavelet(k), w) / worst_range(wavelet(k)))
    return correct(
        source,
        "centre 2ᵏ, power ⌊(k−1)/2⌋ + 1",
        f"centre 2ᵏ⁻¹, power ⌊k/2⌋: {number(min(shares), 3)} to {number(max(shares), 3)} of the largest "
        f"error of any range under Yₙ, n = 2⁴ … 2{superscript(extent.growth_power)}",
        "2ᵏ is the end of the domain: the text is for n = 2ᵏ⁺¹. For n = 2ᵏ the centre is 2ᵏ⁻¹ and the power ⌊k/2⌋",
        wrong=printed_outside and odd_outside,
        right=min(shares) > 0.5,
        least_share=min(shares),
        largest_share=max(shares),
    )


def _proof_predicate(extent: Extent) -> Claim:
    source = Source(
        "theorem-11-predicate",
        "Theorem 11, proof",
        "The query (0, 1, 0, 1, …) has error Θ(n log² n), the order of the worst predicate",
        "rowspace_paper.worst_queries.worst_predicate",
        TEST,
    )
    shares = []
    for k in range(4, extent.predicate_power + 1):
        spectrum = hierarchy(k)
        w = np.tile([0.0, 1.0], 2 ** (k - 1))
        shares.append(profile_term(spectrum, w) / worst_predicate(spectrum))
    return confirm(
        source,
        "Θ(n log² n)",
        f"at least {number(min(shares), 4)} of the error of the worst predicate under Hₙ, n up to "
        f"2{superscript(extent.predicate_power)}",
        holds=min(shares) > 0.5,
        least_share=min(shares),
    )


def _squared() -> Claim:
    source = Source(
        "theorem-11-total",
        "Theorem 11, proof",
        "TotalError_A(W) = (2/ε²) Δ_A tr(W(AᵗA)⁻¹Wᵗ)",
        "error.total_error",
        "tests/error/test_analysis.py::test_errors_are_the_papers_formulas",
    )
    n = 16
    A, W = op.Haar(n), op.Ranges(n)
    dense = W.to_dense()
    trace = float(np.trace(dense @ np.linalg.inv(A.gram().to_dense()) @ dense.T))
    summed = float(error.query_errors(A, W, UNIT).sum())
    delta = A.max_column_norm(1)
    return correct(
        source,
        f"Δ: {number(2 * delta * trace)} (Y₁₆, all ranges)",
        f"Δ²: {number(2 * delta**2 * trace)}, the sum of the errors of all queries",
        "Δ_A², as in Proposition 4",
        wrong=abs(2 * delta * trace / summed - 1) > 0.1,
        right=abs(2 * delta**2 * trace / summed - 1) < 1e-9,
        printed=2 * delta * trace,
        corrected=2 * delta**2 * trace,
    )
