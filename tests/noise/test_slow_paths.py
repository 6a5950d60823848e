"""The exact paths of the Gaussian samplers: on everything they agree with the fast ones, in ties with a reference."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowspace.noise import BitSource, InsecureSeededRandom, bernoulli, discrete_gaussian, rounded_gaussian
from rowspace.noise.discrete_gaussian import _DiscreteGaussian
from rowspace.noise.expansion import LazyHalfNormal
from rowspace.noise.laplace import SignedGeometricSample
from rowspace.noise.rounded_gaussian import _PROPOSAL, _RoundedGaussian

from .scripted import ScriptedBits, proposal, split, word8, word32, word64


def scaled_exp_negative(gamma: Fraction, bits: int) -> int:
    with mpmath.workprec(bits + 400):
        value = mpmath.exp(-mpmath.mpf(gamma.numerator) / gamma.denominator)
        return int(mpmath.floor(mpmath.ldexp(value, bits)))


@pytest.mark.parametrize(
    "variance", [Fraction(1, 8), Fraction(1), Fraction(400), Fraction(2**40), Fraction(2**88)]
)
def test_exact_acceptance_agrees_with_floating_point(
    variance: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an infinite margin everything is decided by integers, from the same bits: the same noise."""
    fast = discrete_gaussian(variance, 300, InsecureSeededRandom(11))
    monkeypatch.setattr(bernoulli, "_MARGIN", float("inf"))
    assert (discrete_gaussian(variance, 300, InsecureSeededRandom(11)) == fast).all()


@pytest.mark.parametrize(
    "sigma", [Fraction(1, 2), Fraction(1), Fraction(77, 2), Fraction(2**20), Fraction(2**30 + 1)]
)
def test_exact_rounded_gaussian_agrees_with_floating_point(
    sigma: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = rounded_gaussian(sigma, 300, InsecureSeededRandom(12))
    monkeypatch.setattr(bernoulli, "_MARGIN", float("inf"))
    monkeypatch.setattr(
        _RoundedGaussian,
        "_nearest_integers",
        lambda _, scaled: (np.full(scaled.shape, np.nan), np.arange(scaled.size)),
    )
    assert (rounded_gaussian(sigma, 300, InsecureSeededRandom(12)) == fast).all()


@pytest.mark.parametrize("variance", [Fraction(1), Fraction(400), Fraction(3 * 2**38)])
@pytest.mark.parametrize("multiple", [0, Fraction(1, 3), 1, 2])
@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_discrete_gaussian_tie(variance: Fraction, multiple: Fraction, negative: bool, offset: int) -> None:
    """U follows e^−γ for 32 + 64 bits and leaves it by `offset` in the next word (0: one word later, downwards)."""
    sampler = _DiscreteGaussian(variance)
    magnitude = int(multiple * sampler.t)
    y = -1 - magnitude if negative else magnitude
    gamma = (abs(y) - variance / sampler.t) ** 2 / (2 * variance)
    widths = [32, 64, 64] if offset else [32, 64, 64, 64]
    u = scaled_exp_negative(gamma, sum(widths)) + (offset or -1)
    first, *rest = split(u, *widths)
    opening = proposal(sampler.proposal, magnitude, negative)
    random = ScriptedBits(*opening, word32(first), *(word64(w) for w in rest))
    assert sampler.batch(1, random).tolist() == ([y] if offset <= 0 else [])
    assert random.used_up


def test_discrete_gaussian_certain_acceptance() -> None:
    """γ = 0 when |Y| = σ²/t: accepted even by the largest word, where floating point is in doubt."""
    sampler = _DiscreteGaussian(Fraction(6))  # t = 3, σ²/t = 2
    random = ScriptedBits(*proposal(sampler.proposal, 2, False), word32(2**32 - 1))
    assert sampler.batch(1, random).tolist() == [2]


@pytest.mark.parametrize("word", [0, 1])
def test_discrete_gaussian_beyond_exact_floats(word: int) -> None:
    """|Y| ≥ 2⁵³ is judged by integers; 64 further zero bits do not suffice to accept it, so it is rejected."""
    sampler = _DiscreteGaussian(Fraction((2**53 - 1) * 2**36))
    digits = sampler.proposal.digits
    (opening,) = proposal(sampler.proposal, 0, False)
    opening[digits] = 0  # high ≥ 1
    successes = 2 ** (53 - digits)
    flips = [word64(0)] * successes + [word64(2**64 - 1)]
    more = [] if word else [word64(0), word64(5)]
    random = ScriptedBits(opening, *flips, word32(word), *more)
    assert sampler.batch(1, random).size == 0
    assert random.used_up


def test_discrete_gaussian_is_not_fooled_by_wrapping() -> None:
    """Y = 2⁶⁴ is zero modulo 2⁶⁴, which would be accepted; the true Y is not."""
    sampler = _DiscreteGaussian(Fraction(2**80))
    assert sampler.proposal.digits == 46

    class Wrapping:
        def draw(self, count: int, random: BitSource) -> SignedGeometricSample:
            zero, high = np.zeros(1, dtype=np.uint64), np.array([2**18], dtype=np.uint64)
            return SignedGeometricSample(digits=46, low=zero, negative=zero, high_at=np.array([0]), high=high)

    sampler.__dict__["proposal"] = Wrapping()
    assert sampler.batch(1, ScriptedBits(word32(2**30))).size == 0


@given(
    strip=st.integers(0, 80),
    bits_of_x=st.integers(0, 2**256 - 1),
    offset=st.sampled_from([-1, 1]),
    ties=st.integers(0, 2),
)
def test_half_normal_acceptance_tie(strip: int, bits_of_x: int, offset: int, ties: int) -> None:
    """U follows e^−γ(x) up to the last of 32 + 64·(ties + 1) bits; x is given to 256 bits."""
    x = Fraction(bits_of_x, 2**256)
    gamma = ((strip - 16) ** 2 + 2 * strip * x + x * x) / 512
    widths = [32] + [64] * (ties + 1)
    u = scaled_exp_negative(gamma, sum(widths)) + offset * 2**8  # clear of the unknown bits of x
    if not 0 <= u < 2 ** sum(widths):
        return
    first_x, *rest_x = split(bits_of_x, 64, 64, 64, 64)
    first_u, *rest_u = split(u, *widths)
    script = [word64(w) for pair in zip([*rest_u, 0], rest_x, strict=False) for w in pair]
    point = LazyHalfNormal(strip, first_x, 64)
    assert point.is_accepted(first_u, 32, ScriptedBits(*script)) == (offset < 0)
    # The bits drawn for x are kept: they are the ones the rounding will use.
    assert point.fraction == bits_of_x >> (256 - point.bits)


@given(
    strip=st.integers(0, 80),
    bits_of_x=st.integers(0, 2**256 - 1),
    sigma=st.builds(lambda a, b: Fraction(a, 2**b), st.integers(1, 2**53 - 1), st.integers(0, 60)),
)
def test_half_normal_rounding(strip: int, bits_of_x: int, sigma: Fraction) -> None:
    first, *rest = split(bits_of_x, 64, 64, 64, 64)
    exact = sigma * (strip + Fraction(bits_of_x, 2**256)) / 16
    rounded = LazyHalfNormal(strip, first, 64).rounded(sigma, ScriptedBits(*(word64(w) for w in rest)))
    assert rounded == (exact + Fraction(1, 2)).__floor__()


@pytest.mark.parametrize(("sixths", "offset"), [(1, -1), (1, 1), (3, -1), (3, 0), (5, -1), (5, 1)])
@pytest.mark.parametrize("negative", [False, True])
def test_rounded_gaussian_tie(sixths: int, offset: int, negative: bool) -> None:
    """σ = 48, so σ·y = 3·(k + x) is half-integral at x = 1/6, 1/2, 5/6: x follows that for 128 bits and leaves it."""
    k = 4
    bits_of_x = sixths * 2**192 // 6 + offset
    first, second, third = split(bits_of_x, 64, 64, 64)
    # Words are asked for only while the matter is open: binary fractions such as 1/2 are settled at once.
    known = LazyHalfNormal(k, first, 64)
    script = [*proposal(_PROPOSAL, k, negative), word64(first), word32(0)]
    expected = (3 * (k + Fraction(bits_of_x, 2**192)) + Fraction(1, 2)).__floor__()
    words = iter([second, third])
    while not settled(known):
        word = next(words)
        script.append(word64(word))
        known = LazyHalfNormal(k, known.fraction << 64 | word, known.bits + 64)
    random = ScriptedBits(*script)
    assert _RoundedGaussian(Fraction(48)).batch(1, random).tolist() == [-expected if negative else expected]
    assert random.used_up


@pytest.mark.parametrize("offset", [-1, 1])
def test_bits_that_settled_the_acceptance_settle_the_rounding(offset: int) -> None:
    """Both decisions are open after the first words; the second word of x is drawn once and used by both."""
    k = 4
    bits_of_x = 2**128 // 6 + offset
    x = Fraction(bits_of_x, 2**128)
    first, second = split(bits_of_x, 64, 64)
    word = scaled_exp_negative(((k - 16) ** 2 + 2 * k * x + x * x) / 512, 32)
    opening = [*proposal(_PROPOSAL, k, False), word64(first), word32(word)]
    random = ScriptedBits(*opening, word64(0), word64(second))
    expected = (3 * (k + x) + Fraction(1, 2)).__floor__()
    assert _RoundedGaussian(Fraction(48)).batch(1, random).tolist() == [expected]
    assert random.used_up


def settled(point: LazyHalfNormal) -> bool:
    low = 3 * (point.strip + Fraction(point.fraction, 2**point.bits)) + Fraction(1, 2)
    high = low + Fraction(3, 2**point.bits)
    return high.__ceil__() == low.__floor__() + 1


def test_rounded_gaussian_beyond_a_word() -> None:
    """σ·y ≥ 2⁶³ cannot be held by a float cast: the exact integer is reduced modulo 2⁶⁴."""
    sigma = Fraction(2**45 - 1)
    opening = word8(255, 255, 255, 255, 255, 255, 0, 0)  # low = 0, high ≥ 1, negative
    high = 2**17
    flips = [word64(0)] * (high - 1) + [word64(2**64 - 1)]
    # γ is about 2⁴⁵: no script of a sane length is accepted, so the acceptance is granted below.
    point = LazyHalfNormal(64 * high, 0, 64)
    exact = point.rounded(sigma, ScriptedBits())
    assert exact >= 2**63
    random = ScriptedBits(opening, *flips, word64(0), word32(0))
    sampler = _RoundedGaussian(sigma)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LazyHalfNormal, "is_accepted", lambda *_: True)
        assert sampler.batch(1, random).tolist() == [(-exact + 2**63) % 2**64 - 2**63]
