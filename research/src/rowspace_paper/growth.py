"""Section 6.2, Theorem 11: how the largest and the total error grow with n."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rowspace import error
from rowspace import operators as op
from rowspace.operators import Vector
from rowspace.privacy import PureDP

from .extent import Extent
from .growth_proof import proof_claims
from .record import Cell, Chapter, Chart, Claim, Series, Source, Table, confirm, number, superscript
from .worst_queries import Spectrum, hierarchy, wavelet, worst_predicate, worst_range

UNIT = PureDP(1.0)
TEST = "tests/paper/test_worst_queries.py::test_worst_queries_by_brute_force"


@dataclass(frozen=True)
class Entry:
    """A row of Theorem 11's two tables.

    Θ(nᵃ logᵖ n) for Hₙ and Yₙ, Θ(n^q) for Iₙ, both times 2ⁿ if `doubles` (then errors are given per query).
    """

    key: str
    name: str
    a: int
    p: int
    q: int
    doubles: bool
    function: str
    largest: int
    """n goes up to 2^largest."""
    errors: Mapping[str, Callable[[int], float]]
    """Of each strategy, the error on 2^k cells as a function of k."""

    @property
    def powers(self) -> range:
        """The k of all n = 2^k looked at."""
        return range(3, self.largest + 1)

    @cached_property
    def measured(self) -> dict[str, Vector]:
        """Of each strategy, the error for every power."""
        return {name: np.array([of(k) for k in self.powers]) for name, of in self.errors.items()}

    @cached_property
    def fitted(self) -> dict[str, float]:
        """The exponents p for Hₙ and Yₙ and q for Iₙ, from the upper half of the powers."""
        upper = np.array(self.powers, dtype=float)[len(self.powers) // 2 :]
        found = {}
        for name, errors in self.measured.items():
            part = errors[-len(upper) :]
            found[name] = (
                _slope(upper, part) if name == "Iₙ" else log_exponent(upper, part / 2.0 ** (self.a * upper))
            )
        return found

    @property
    def statement(self) -> str:
        """The entry as the theorem has it."""
        doubled = "2ⁿ" if self.doubles else ""
        grown = f"{_POWERS[self.a]}{doubled} log{superscript(self.p)} n".lstrip()
        return f"{self.name}: Θ({grown}) for Hₙ and Yₙ, Θ({_POWERS[self.q]}{doubled}) for Iₙ"

    def claim(self) -> Claim:
        """Whether the fitted exponents are the printed ones."""
        h, y, i = (self.fitted[name] for name in ("Hₙ", "Yₙ", "Iₙ"))
        return confirm(
            Source(f"theorem-11-{self.key}", "Theorem 11", self.statement, self.function, TEST),
            f"log exponent {self.p}; n exponent {self.q}",
            f"Hₙ {number(h, 3)}, Yₙ {number(y, 3)}; Iₙ {number(i, 3)} (n ≤ 2{superscript(self.largest)})",
            holds=abs(h - self.p) < 0.25 and abs(y - self.p) < 0.25 and abs(i - self.q) < 0.05,
            hierarchy=h,
            wavelet=y,
            identity=i,
        )


_POWERS = ("", "n", "n²", "n³")


def _slope(powers: Vector, errors: Vector) -> float:
    """The slope of the errors in log–log."""
    return float(np.polyfit(powers, np.log2(errors), 1)[0])


def log_exponent(powers: Vector, errors: Vector) -> float:
    """The p for which errors^(1/p) is closest to a straight line in log n = powers.

    A fit of log error against log log n would be far off: (log n + 1)²(a log n + b) needs log n in the thousands to
    look like a cube. A line allows for the terms of lower order.

    >>> k = np.arange(8.0, 17.0)
    >>> round(log_exponent(k, (k + 1) ** 2 * (k + 4)), 2)
    2.97
    """

    def bend(p: float) -> float:
        root = errors ** (1 / p)
        line = np.polynomial.Polynomial.fit(powers, root, 1)
        return float(np.linalg.norm(root - line(powers)) / (root[-1] - root[0]))

    return float(min(np.arange(0.5, 6.0, 0.01), key=bend))


def entries(extent: Extent) -> tuple[Entry, ...]:
    """The four rows of Theorem 11."""
    far, near = extent.growth_power, extent.predicate_power
    largest, total = "error.max_error", "error.total_error"
    return (
        Entry("max-ranges", "MaxError, ranges", 0, 3, 1, False, largest, far, _worst(worst_range)),
        Entry(
            "max-predicates", "MaxError, predicates", 1, 2, 1, False, largest, near, _worst(worst_predicate)
        ),
        Entry("total-ranges", "TotalError, ranges", 2, 3, 3, False, total, far, _totals(op.Ranges, 1.0)),
        # The Gram matrix of all predicates is 2ⁿ/4·(I + J): per query, a quarter of what cells and total have.
        Entry(
            "total-predicates",
            "TotalError, predicates",
            1,
            2,
            1,
            True,
            total,
            far,
            _totals(_cells_and_total, 0.25),
        ),
    )


def _worst(term: Callable[[Spectrum], float]) -> dict[str, Callable[[int], float]]:
    """(2/ε²)·Δ²·term at ε = 1; under Iₙ the worst query of either workload is the total."""
    return {
        "Hₙ": lambda k: 2.0 * (k + 1) ** 2 * term(hierarchy(k)),
        "Yₙ": lambda k: 2.0 * (k + 1) ** 2 * term(wavelet(k)),
        "Iₙ": lambda k: error.max_error(op.Identity(2**k), op.Total(2**k), UNIT),
    }


def _totals(workload: Callable[[int], op.Operator], share: float) -> dict[str, Callable[[int], float]]:
    return {
        "Hₙ": lambda k: share * error.total_error(op.Hierarchy(2**k), workload(2**k), UNIT),
        "Yₙ": lambda k: share * error.total_error(op.Haar(2**k), workload(2**k), UNIT),
        "Iₙ": lambda k: share * error.total_error(op.Identity(2**k), workload(2**k), UNIT),
    }


def _cells_and_total(n: int) -> op.Operator:
    return op.Stack(op.Identity(n), op.Total(n))


def growth(extent: Extent) -> Chapter:
    """The table of Theorem 11 and its proof's queries."""
    rows = entries(extent)
    return Chapter(
        key="growth",
        short="Growth",
        title="Growth of the error (§6.2, Theorem 11)",
        summary="Exact errors: of all ranges by closed forms, of the worst range and the worst predicate by "
        "recursion over the tree, of all predicates through their Gram matrix.",
        claims=(*(row.claim() for row in rows), *proof_claims(extent)),
        tables=(_exponents(rows), _values(rows)),
        charts=(_chart(rows[0]),),
    )


def _exponents(rows: Sequence[Entry]) -> Table:
    return Table(
        "growth",
        "Exponents of Theorem 11, fitted",
        "p is the exponent for which the p-th root of the error, without its power of n, is closest to a "
        "line in log n; q is the slope in log–log.",
        ("error", "p printed", "Hₙ", "Yₙ", "q printed", "Iₙ"),
        tuple((row.name, row.p, row.fitted["Hₙ"], row.fitted["Yₙ"], row.q, row.fitted["Iₙ"]) for row in rows),
    )


def _values(rows: Sequence[Entry]) -> Table:
    shown: list[tuple[Cell, ...]] = []
    for row in rows:
        for k in (4, 8, row.largest):
            errors = [float(row.measured[strategy][k - row.powers[0]]) for strategy in _ORDER]
            shown.append((row.name + (", over 2ⁿ" if row.doubles else ""), f"2{superscript(k)}", *errors))
    return Table(
        "growth-values",
        "Errors of Theorem 11",
        "Expected squared error at ε = 1, exact.",
        ("error", "n", *_ORDER),
        tuple(shown),
    )


_ORDER = ("Iₙ", "Hₙ", "Yₙ")


def _chart(row: Entry) -> Chart:
    cells = [2.0**k for k in row.powers]
    return Chart(
        "growth",
        "The worst range",
        "Largest expected squared error of a range at ε = 1, exact for every n. Under Hₙ and Yₙ it grows "
        "like the cube of log n, under Iₙ like n.",
        "cells n",
        tuple(Series.of(name, cells, row.measured[name]) for name in _ORDER),
        x_log=True,
        y_log=True,
    )
