"""Do the samplers draw from the distributions that the privacy proofs are about?

    python -m audits samplers

Chi-square against the exact law, at scales from a fraction of one to 2⁴⁵; uniformity of low digits where they are far
below the scale; independence of consecutive samples; and two-sample tests against OpenDP, an independent
implementation. False-alarm rate 1e-9 for each row, below 1e-7 for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import opendp.prelude as dp
from scipy import special, stats

from rowspace.noise import SecureRandom, discrete_gaussian, discrete_laplace, rounded_gaussian

from . import Row

FALSE_ALARM = 1e-9
SAMPLES = {False: 1 << 18, True: 1 << 22}
OPENDP_SAMPLES = {False: 10_000, True: 100_000}
SMALLEST_EXPECTED = 200.0
"""Least expected count of a cell, so that the tail of the chi-square approximation can be trusted."""

Integers = npt.NDArray[np.int64]
Vector = npt.NDArray[np.float64]

SCALES = [
    Fraction(1, 4),
    Fraction(1),
    Fraction(13, 2),
    Fraction(100),
    Fraction(2**20),
    Fraction(3 * 2**35 + 1, 8),
]
LARGE = Fraction(2**45 - 1)


def laplace_above(k: Vector, scale: float) -> Vector:
    """P(X ≥ k) for discrete Laplace X and integers k."""
    q = np.exp(-1 / scale)
    tail = np.exp(-np.where(k >= 1, k, 1 - k) / scale) / (1 + q)
    return np.asarray(np.where(k >= 1, tail, 1 - tail))


def rounded_gaussian_above(k: Vector, sigma: float) -> Vector:
    """P(round(N(0, σ²)) ≥ k)."""
    return np.asarray(special.ndtr((0.5 - k) / sigma))


def discrete_gaussian_above(k: Vector, sigma: float) -> Vector:
    """P(X ≥ k) for discrete Gaussian X: summed while that is short; the rounded law from σ = 2²⁰ on (4e-14 apart)."""
    if sigma >= 2**20:
        return rounded_gaussian_above(k, sigma)
    reach = int(12 * sigma) + 3
    values = np.arange(-reach, reach + 1)
    weights = np.exp(-(values**2) / (2 * sigma**2))
    above = np.append(np.cumsum(weights[::-1])[::-1], 0.0) / weights.sum()
    return np.asarray(above[np.clip(k.astype(np.int64) + reach, 0, len(values))])


Sampler = Callable[[Fraction, int], Integers]
SAMPLERS: dict[str, tuple[Sampler, Callable[[Vector, float], Vector]]] = {
    "discrete Laplace": (lambda s, n: discrete_laplace(s, n, SecureRandom()), laplace_above),
    "discrete Gaussian": (
        lambda s, n: discrete_gaussian(_square(s), n, SecureRandom()),
        discrete_gaussian_above,
    ),
    "rounded Gaussian": (lambda s, n: rounded_gaussian(s, n, SecureRandom()), rounded_gaussian_above),
}


def _square(sigma: Fraction) -> Fraction:
    """σ², rounded to what the sampler takes: 53 significant bits."""
    return Fraction(float(sigma) ** 2)


def edges(scale: Fraction) -> Integers:
    """Every integer while that is few cells, else steps of a twentieth of the scale."""
    reach, step = 12 * max(scale, Fraction(1)), max(Fraction(1), scale / 20)
    return np.unique(np.round(np.arange(-float(reach), float(reach), float(step)))).astype(np.int64)


def fit(values: Integers, cuts: Integers, above: Vector) -> float:
    """p-value of counts in cells (below the first cut, between cuts, from the last on), given P(X ≥ cut)."""
    observed = np.bincount(np.searchsorted(cuts, values, side="right"), minlength=len(cuts) + 1)
    expected = -np.diff(np.concatenate([[1.0], above, [0.0]])) * len(values)
    return _chi_square(observed.astype(np.float64), expected)


def _chi_square(observed: Vector, expected: Vector) -> float:
    """p-value, cells that are too small taken together; impossible values have p-value 0."""
    if observed[expected <= 0].any():
        return 0.0
    small = expected < SMALLEST_EXPECTED
    o = np.append(observed[~small], observed[small].sum())
    e = np.append(expected[~small], expected[small].sum())
    rest = float(stats.poisson.sf(o[-1] - 1, e[-1])) if e[-1] < SMALLEST_EXPECTED and o[-1] else 1.0
    if e[-1] < SMALLEST_EXPECTED:
        o, e = o[:-1], e[:-1]
    if len(o) < 2:
        return rest
    # Half the rate for each of the two tests.
    return min(1.0, 2 * min(rest, float(stats.chi2.sf(((o - e) ** 2 / e).sum(), len(o) - 1))))


def same(first: Integers, second: Integers) -> float:
    """p-value of two samples being from one law."""
    values, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    table = np.array(
        [np.bincount(c, minlength=len(values)) for c in (codes[: len(first)], codes[len(first) :])]
    )
    large = table.sum(axis=0) * len(second) >= SMALLEST_EXPECTED * (len(first) + len(second))
    table = np.column_stack([table[:, large], table[:, ~large].sum(axis=1)])
    return float(stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)


def independence(values: Integers) -> float:
    """p-value of consecutive pairs having the product of their frequencies, in eight classes."""
    classes = np.searchsorted(np.quantile(values, np.arange(1, 8) / 8), values)
    pairs = np.bincount(classes[0::2] * 8 + classes[1::2], minlength=64).reshape(8, 8)
    pairs = pairs[pairs.sum(axis=1) > 0][:, pairs.sum(axis=0) > 0]
    return float(stats.chi2_contingency(pairs).pvalue)


def tests(long: bool) -> Iterator[tuple[str, float]]:
    """Every test with its p-value."""
    n = SAMPLES[long]
    for name, (draw, above) in SAMPLERS.items():
        for scale in [*SCALES, LARGE] if long else SCALES[::2]:
            values, cuts = draw(scale, n), edges(scale)
            yield (
                f"{name}, scale {float(scale):.6g}",
                fit(values, cuts, above(cuts.astype(np.float64), float(scale))),
            )
            if scale >= 2**20:
                digits = np.bincount(values & 255, minlength=256).astype(np.float64)
                yield (
                    f"{name}, scale {float(scale):.6g}, low digits",
                    _chi_square(digits, np.full(256, n / 256)),
                )
        yield f"{name}, consecutive samples", independence(draw(Fraction(21), n))
    dp.enable_features("contrib")
    integers = dp.vector_domain(dp.atom_domain(T=int))
    theirs: dict[str, Callable[[float], Any]] = {
        "discrete Laplace": lambda s: (integers, dp.l1_distance(T=int)) >> dp.m.then_laplace(s),
        "discrete Gaussian": lambda s: (integers, dp.l2_distance(T=float)) >> dp.m.then_gaussian(s),
    }
    zeros = [0] * OPENDP_SAMPLES[long]
    for name, build in theirs.items():
        for other in (0.5, 1.0, 6.5, 40.0) if long else (6.5,):
            ours = SAMPLERS[name][0](Fraction(other), 10 * len(zeros))
            yield f"{name}, scale {other:g}, against OpenDP", same(ours, np.array(build(other)(zeros)))


def run(long: bool) -> list[Row]:
    """One row for every test."""
    return [Row(name, f"p = {p:.3g}", f"p > {FALSE_ALARM:g}", p > FALSE_ALARM) for name, p in tests(long)]
