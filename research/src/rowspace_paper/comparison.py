"""Section 6.2, Theorem 10: Hₙ against Yₙ, query by query."""

from __future__ import annotations

import numpy as np

from rowspace import error
from rowspace import operators as op
from rowspace.privacy import PureDP

from .extent import Extent
from .record import Chapter, Chart, Claim, Series, Source, close, confirm, number

UNIT = PureDP(1.0)
RATIO = "tests/error/test_hierarchy_and_wavelet.py::test_ratio_of_the_two_errors_is_between_half_and_two"


def comparison(extent: Extent) -> Chapter:
    """The ½–2 theorem, where each of the two is better, and other branching factors."""
    lengths, chart = _by_length()
    return Chapter(
        key="comparison",
        short="H and Y",
        title="Hₙ against Yₙ (§6.2, Theorem 10)",
        summary="For no query is one of them better than the other by more than a factor two.",
        claims=(_between(extent), _ends(), lengths, _branching()),
        charts=(chart,),
    )


def _between(extent: Extent) -> Claim:
    source = Source(
        "theorem-10",
        "Theorem 10",
        "½ Error_Y(w) ≤ Error_H(w) ≤ 2 Error_Y(w) for every query w",
        "error.query_errors",
        RATIO,
    )
    least, most, tried = np.inf, 0.0, 0
    for n in (2, 16, 256):
        rng = np.random.default_rng(n)
        some = np.concatenate([rng.normal(size=(extent.trials, n)), rng.integers(0, 2, (extent.trials, n))])
        for W in (op.Ranges(n), op.Dense(some)):
            y = error.query_errors(op.Haar(n), W, UNIT)
            ratio = error.query_errors(op.Hierarchy(n), W, UNIT)[y > 0] / y[y > 0]
            least, most, tried = (
                min(least, float(ratio.min())),
                max(most, float(ratio.max())),
                tried + len(ratio),
            )
    return confirm(
        source,
        "[½, 2]",
        f"between {number(least, 4)} and {number(most, 4)} over {tried:,} queries: all ranges, random real "
        "and 0/1 queries, n = 2, 16, 256",
        holds=least >= 0.5 - 1e-9 and most <= 2 + 1e-9,
        least=least,
        largest=most,
    )


def _ends() -> Claim:
    source = Source(
        "theorem-10-ends",
        "Theorem 10",
        "Neither ½ nor 2 can be improved (not in the paper)",
        "error.query_errors",
        "tests/error/test_hierarchy_and_wavelet.py::test_both_ends_of_the_ratio_are_attained",
    )
    n = 2**12
    queries = op.Dense(np.stack([np.ones(n), np.eye(n)[0] - np.eye(n)[1]]))
    h, y = (error.query_variances(A, queries) for A in (op.Hierarchy(n), op.Haar(n)))
    total, pair = (float(value) for value in h / y)
    return confirm(
        source,
        "–",
        f"[1, −1, 0, …] attains {number(pair)}; the total has n/(2n − 1) = {number(total, 6)} at n = {n:,}, "
        "towards ½",
        holds=close(pair, 2) and close(total, n / (2 * n - 1)),
        total=total,
        pair=pair,
    )


def _by_length() -> tuple[Claim, Chart]:
    source = Source(
        "section-6-lengths",
        "§6.2",
        "Hₙ tends to have lower error for larger ranges, Yₙ for unit counts and smaller ranges",
        "error.query_errors",
        RATIO,
    )
    n = 256
    W = op.Ranges(n)
    first, last = W.ends(np.arange(W.shape[0]))
    length = last - first + 1
    means = {
        name: np.bincount(length, error.query_errors(A, W, UNIT))[1:] / np.bincount(length)[1:]
        for name, A in (("Iₙ", op.Identity(n)), ("Hₙ", op.Hierarchy(n)), ("Yₙ", op.Haar(n)))
    }
    better = means["Hₙ"] < means["Yₙ"]
    crossing = int(np.argmax(better)) + 1
    lengths = np.arange(1, n + 1)
    chart = Chart(
        "lengths",
        "Ranges by their length",
        f"Mean expected squared error of the ranges of each length at ε = 1, n = {n}. From length "
        f"{crossing} on, Hₙ is better than Yₙ.",
        "length of the range",
        tuple(Series.of(name, lengths, values) for name, values in means.items()),
    )
    return (
        confirm(
            source,
            "Yₙ for small, Hₙ for large ranges",
            f"n = {n}: Yₙ is better on average up to length {crossing - 1}, Hₙ from {crossing} on",
            holds=1 < crossing < n
            and bool(better[crossing - 1 :].all())
            and not bool(better[: crossing - 1].any()),
            crossing=crossing,
        ),
        chart,
    )


def _branching() -> Claim:
    source = Source(
        "section-6-branching",
        "§6.2",
        "A higher branching factor can lower the error of the hierarchy below the wavelet's",
        "operators.Hierarchy",
        "tests/strategy/test_classical.py::test_weighted_strategies_beat_the_papers_plain_ones",
    )
    n = 4096
    W = op.Ranges(n)
    y = error.total_error(op.Haar(n), W, UNIT)
    ratios = {b: error.total_error(op.Hierarchy(n, b), W, UNIT) / y for b in (2, 4, 8, 16, 64)}
    best = min(ratios, key=ratios.__getitem__)
    return confirm(
        source,
        "lower",
        "total error over that of Yₙ, all ranges, n = 4096: "
        + ", ".join(f"{number(ratio, 3)} (branching {b})" for b, ratio in ratios.items()),
        holds=ratios[best] < 1 < ratios[2],
        best_branching=best,
        best_ratio=ratios[best],
    )
