"""Section 6.2, Theorem 11: how the largest and the total error grow with n."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rowspace import error
from rowspace import operators as op
from rowspace.operators.base import Vector
from rowspace.privacy import PureDP

from .extent import Extent
from .record import Chapter, Chart, Claim, Series, Source, Table, confirm, correct, number
from .worst_queries import Spectrum, hierarchy, profile_term, wavelet, worst_predicate, worst_range

UNIT = PureDP(1.0)
TEST = "tests/paper/test_worst_queries.py::test_worst_queries_by_brute_force"


@dataclass(frozen=True)
class Grown:
    """One error of one strategy on n = 2^k cells, k = first … last, without its power of n (and 2ⁿ)."""

    first: int
    errors: Vector

    @property
    def powers(self) -> Vector:
        """log₂ n."""
        return np.arange(self.first, self.first + len(self.errors), dtype=float)

    def log_exponent(self) -> float:
        """The p for which errors^(1/p) is closest to a straight line in log n.

        A fit of log error against log log n would be far off: (log n + 1)²(a log n + b) needs log n in the thousands to
        look like a cube. A line allows for the terms of lower order.
        """
        candidates = np.arange(0.5, 6.0, 0.01)
        return float(min(candidates, key=self._bend))

    def _bend(self, p: float) -> float:
        """How far errors^(1/p) is from a line, relative to its rise."""
        root = self.errors ** (1 / p)
        line = np.polynomial.Polynomial.fit(self.powers, root, 1)
        return float(np.linalg.norm(root - line(self.powers)) / (root[-1] - root[0]))


def growth(extent: Extent) -> Chapter:
    """The table of Theorem 11, its proof's queries, and how Hₙ and Yₙ divide the ranges between them."""
    claims, table, chart = _theorem_11(extent)
    return Chapter(
        key="growth",
        title="Growth of the error (§6.2, Theorem 11)",
        summary="Exact errors: of all ranges by closed forms, of the worst range and the worst predicate by recursion over "
        "the tree, of all predicates through their Gram matrix.",
        claims=(*claims, _proof_range(extent), _proof_predicate(extent), _squared(extent)),
        tables=(table,),
        charts=(chart,),
    )


def _theorem_11(extent: Extent) -> tuple[list[Claim], Table, Chart]:
    claims: list[Claim] = []
    rows: list[tuple[str | float, ...]] = []
    series: list[Series] = []
    for key, name, cells, last, measures in (
        ("max-ranges", "MaxError, ranges", 0, extent.growth_power, _worst_ranges()),
        ("max-predicates", "MaxError, predicates", 1, extent.predicate_power, _worst_predicates()),
        ("total-ranges", "TotalError, ranges", 2, extent.growth_power, _totals(op.Ranges, 1.0)),
        (
            "total-predicates",
            "TotalError, predicates",
            1,
            extent.growth_power,
            _totals(_all_predicates, 0.25),
        ),
    ):
        logs = 3 if "ranges" in key else 2
        plain = 3 if key == "total-ranges" else 1
        found = {}
        for strategy, measure in measures.items():
            powers = range(3, last + 1)
            errors = np.array([measure(k) for k in powers])
            if "ranges" in key:
                series.append(Series.of(f"{strategy}: {name}", [2.0**k for k in powers], errors))
            if strategy == "Iₙ":
                found[strategy] = float(
                    np.polyfit(np.log(2.0 ** np.array(powers[-4:])), np.log(errors[-4:]), 1)[0]
                )
            else:
                shrunk = errors / np.exp2(cells * np.array(powers, dtype=float))
                found[strategy] = Grown(len(powers) // 2 + 3, shrunk[len(powers) // 2 :]).log_exponent()
        doubling = "2ⁿ" if key == "total-predicates" else ""
        nth = {0: "", 1: "n", 2: "n²"}[cells]
        rows.append(
            (
                name,
                f"{nth}{doubling} logᵖ n",
                logs,
                found["Hₙ"],
                found["Yₙ"],
                f"n^q{doubling and ' ' + doubling}",
                plain,
                found["Iₙ"],
            )
        )
        exponent = {2: "²", 3: "³"}
        statement = f"Θ({nth}{doubling}log{exponent[logs]} n) for Hₙ and Yₙ, Θ(n{exponent.get(plain, '')}{doubling}) for Iₙ"
        claims.append(
            confirm(
                Source(f"theorem-11-{key}", "Theorem 11", f"{name}: {statement}", _function(key), TEST),
                f"log exponent {logs}; n exponent {plain}",
                f"Hₙ {number(found['Hₙ'], 3)}, Yₙ {number(found['Yₙ'], 3)}; Iₙ {number(found['Iₙ'], 3)} (n ≤ 2^{last})",
                holds=all(abs(found[s] - logs) < 0.25 for s in ("Hₙ", "Yₙ"))
                and abs(found["Iₙ"] - plain) < 0.05,
                hierarchy=found["Hₙ"],
                wavelet=found["Yₙ"],
                identity=found["Iₙ"],
            )
        )
    table = Table(
        "growth",
        "Exponents of Theorem 11, fitted",
        "p is the exponent for which the p-th root of the error (without its power of n) is closest to a line in log n; q "
        "is a slope in log–log. Printed exponents stand before the fitted ones.",
        ("error", "Hₙ, Yₙ", "p printed", "Hₙ", "Yₙ", "Iₙ", "q printed", "Iₙ"),
        tuple(rows),
    )
    return claims, table, _chart(series)


def _function(key: str) -> str:
    return "error.max_error" if key.startswith("max") else "error.total_error"


def _worst_ranges() -> dict[str, Callable[[int], float]]:
    return {
        "Hₙ": lambda k: _error(hierarchy(k), worst_range(hierarchy(k))),
        "Yₙ": lambda k: _error(wavelet(k), worst_range(wavelet(k))),
        "Iₙ": lambda k: 2.0 * 2**k,
    }


def _worst_predicates() -> dict[str, Callable[[int], float]]:
    return {
        "Hₙ": lambda k: _error(hierarchy(k), worst_predicate(hierarchy(k))),
        "Yₙ": lambda k: _error(wavelet(k), worst_predicate(wavelet(k))),
        "Iₙ": lambda k: 2.0 * 2**k,
    }


def _totals(workload: Callable[[int], op.Operator], share: float) -> dict[str, Callable[[int], float]]:
    return {
        "Hₙ": lambda k: share * error.total_error(op.Hierarchy(2**k), workload(2**k), UNIT),
        "Yₙ": lambda k: share * error.total_error(op.Haar(2**k), workload(2**k), UNIT),
        "Iₙ": lambda k: share * error.total_error(op.Identity(2**k), workload(2**k), UNIT),
    }


def _all_predicates(n: int) -> op.Operator:
    """A workload whose Gram matrix is I + J, that of all predicates up to the factor 2ⁿ/4."""
    return op.Stack(op.Identity(n), op.Total(n))


def _error(spectrum: Spectrum, term: float) -> float:
    """(2/ε²)·Δ²·term at ε = 1."""
    return 2.0 * spectrum.sensitivity**2 * term


def _chart(series: list[Series]) -> Chart:
    drawn = tuple(Series(s.name.split(":")[0], s.x, s.y) for s in series if "MaxError" in s.name)
    return Chart(
        "growth",
        "The worst range",
        "Largest expected squared error of a range at ε = 1, exact for every n. Under Hₙ and Yₙ it grows like the cube of "
        "log n, under Iₙ like n.",
        "cells n",
        drawn,
        x_log=True,
        y_log=True,
    )


def proof_range(centre: int, power: int) -> tuple[int, int]:
    """The range of the proof of Theorem 11, cells centre ± (4^power − 1)/3 counted from one: first, one past last."""
    reach = (4**power - 1) // 3
    return centre - reach - 1, centre + reach


def _proof_range(extent: Extent) -> Claim:
    source = Source(
        "theorem-11-range",
        "Theorem 11, proof",
        "The range from 2ᵏ − (4^(⌊(k−1)/2⌋+1) − 1)/3 to 2ᵏ + (4^(⌊(k−1)/2⌋+1) − 1)/3 has error Θ(log³ n)",
        "paper.worst_queries.worst_range",
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
        f"centre 2ᵏ⁻¹, power ⌊k/2⌋: {number(min(shares), 3)} to {number(max(shares), 3)} of the largest error of any range "
        f"under Yₙ, n = 2⁴ … 2^{extent.growth_power}",
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
        "paper.worst_queries.worst_predicate",
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
        f"{number(min(shares), 3)} to {number(max(shares), 3)} of the worst predicate under Hₙ, n up to 2^{extent.predicate_power}",
        holds=min(shares) > 0.5,
        least_share=min(shares),
    )


def _squared(extent: Extent) -> Claim:
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
