"""The margins of the floating-point paths: far above the error, and never crossed silently."""

from __future__ import annotations

import decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from rowspace.noise import InsecureSeededRandom, bernoulli
from rowspace.noise.bernoulli import accept, exp_negative
from rowspace.noise.discrete_gaussian import _DiscreteGaussian
from rowspace.noise.rounded_gaussian import _approximate_exponent, _RoundedGaussian

from .scripted import ScriptedBits, word32

GRID = np.concatenate([np.linspace(0, 46, 4001), np.geomspace(1e-300, 1e300, 301), [1 / 128, 3 / 128, 45.0]])


def exact_exp_negative(gamma: float) -> mpmath.mpf:
    with mpmath.workprec(200):
        return mpmath.exp(-mpmath.mpf(gamma))


def test_margin_is_far_above_the_error() -> None:
    """|ê − e| < 2⁻⁴¹·⁷ as proven; the worst point of the grid comes near, so the grid is a fair one."""
    errors = [
        abs(exact_exp_negative(g) - mpmath.mpf(float(e)))
        for g, e in zip(GRID, exp_negative(GRID), strict=True)
    ]
    assert 2.0**-43 < max(errors) < 2.0**-41.7
    assert 2**-40 * 2.0**bernoulli.DRAWN_BITS == bernoulli._MARGIN


VARIANCES = [2.0**-40, 1 / 48, 9.0, (2**53 - 1) / 8, 2.0**40, (2**53 - 1) * 2.0**36]


@pytest.mark.parametrize("variance", [Fraction(v) for v in VARIANCES])
def test_discrete_gaussian_exponent_error(variance: Fraction) -> None:
    """|γ̂ − γ| ≤ (1 + γ)·2⁻⁴⁹ for |Y| up to 2⁵³, near the centre and far away."""
    sampler = _DiscreteGaussian(variance)
    near = np.round(np.linspace(0, 12, 200) * sampler.t).astype(np.int64)
    values = np.concatenate([near, -near, 2 ** np.arange(54)])
    for y, approximation in zip(values.tolist(), sampler.approximate_exponent(values).tolist(), strict=True):
        exact = sampler.exponent(abs(y))
        assert abs(Fraction(approximation) - exact) <= (1 + exact) / 2**49


def test_rounded_gaussian_exponent_error() -> None:
    """|γ̂ − γ| ≤ (1 + γ)·2⁻⁴⁹ over both ends of what the unknown bits of x can be."""
    words = np.concatenate(
        [InsecureSeededRandom(1).words64(300), np.array([0, 1, 2**64 - 1], dtype=np.uint64)]
    )
    strips = np.resize(np.array([0, 1, 15, 16, 17, 40, 2**20, 2**52]), words.size)
    approximations = _approximate_exponent(strips.astype(float), words.astype(float) * 2.0**-64)
    for k, word, approximation in zip(strips.tolist(), words.tolist(), approximations.tolist(), strict=True):
        for x in (Fraction(word, 2**64), Fraction(word + 1, 2**64)):
            exact = ((k - 16) ** 2 + 2 * k * x + x * x) / 512
            assert abs(Fraction(approximation) - exact) <= (1 + exact) / 2**49


@pytest.mark.parametrize(
    "sigma", [Fraction(1, 2**20), Fraction(1, 3), Fraction(20), Fraction(2**53 - 1, 2**33)]
)
def test_rounding_is_trusted_only_where_it_is_right(sigma: Fraction) -> None:
    """Values on both sides of half-integers at growing distance: wherever the float is trusted, it is right."""
    sigma = Fraction(float(sigma))
    trusted = 0
    for half in (1, 3, 41, 2**21 + 1):
        centre = Fraction(half, 2) * 16 / sigma  # σ·y = half/2 at k + x = centre
        if centre > 2**40:
            continue
        for distance in range(0, 64, 3):
            for side in (-1, 1):
                position = int(centre * 2**64) + side * 2**distance
                k, word = divmod(position, 2**64)
                scaled = np.array([k + float(word) * 2.0**-64]) * (float(sigma) / 16)
                nearest, doubtful = _RoundedGaussian(sigma)._nearest_integers(scaled)
                if doubtful.size == 0:
                    trusted += 1
                    for end in (position, position + 1):
                        exact = sigma * Fraction(end, 16 * 2**64)
                        assert abs(exact - int(nearest[0])) <= Fraction(1, 2)
    assert trusted > 0 or sigma < Fraction(1, 2**10)


@pytest.mark.parametrize("gamma", [0.0, 1e-3, 0.7, 9.0, 22.0, 44.0, 1e6])
def test_doubt_is_raised_on_both_sides_of_the_threshold(gamma: float) -> None:
    """Words at most one from the threshold may be doubted, the threshold itself must be, others must not."""
    with mpmath.workprec(200):
        threshold = int(mpmath.floor(exact_exp_negative(gamma) * 2**32))
    doubted = {}
    for word in range(max(threshold - 2, 0), min(threshold + 3, 2**32)):
        asked: list[tuple[int, int]] = []

        def decide(index: int, drawn: int, asked: list[tuple[int, int]] = asked) -> bool:
            asked.append((index, drawn))
            return True

        accepted = accept(np.array([50.0, gamma]), decide, ScriptedBits(word32(2**32 - 1, word)))
        assert asked in ([], [(1, word)])
        doubted[word - threshold] = bool(asked)
        assert accepted[1] == (word < threshold or bool(asked))
        assert not accepted[0]
    assert doubted.get(0, True)
    assert not doubted.get(-2, False)
    assert not doubted.get(2, False)


def test_distrusted_samples_are_decided_exactly() -> None:
    asked = []
    random = ScriptedBits(word32(2**31, 2**31, 2**31))
    accepted = accept(
        np.array([0.1, 0.1, 9.0]), lambda i, w: asked.append((i, w)) or False, random, np.array([1])
    )
    assert asked == [(1, 2**31)]
    assert accepted.tolist() == [True, False, False]


def test_the_table_does_not_depend_on_the_decimals_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """New decimal contexts take what they are not told from one that anybody may change."""
    table = bernoulli._exp_table()
    monkeypatch.setattr(decimal.DefaultContext, "Emin", -5)
    monkeypatch.setattr(decimal.DefaultContext, "rounding", decimal.ROUND_UP)
    assert np.array_equal(bernoulli._exp_table.__wrapped__(), table)
