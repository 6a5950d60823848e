"""Exact flips: frequencies, and every branch of the refinement against a reference of many bits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowspace.noise import SecureRandom
from rowspace.noise.bernoulli import Coin, FlipBytes, is_below
from rowspace.noise.expansion import ExpNegative, Logistic, Probability

from .goodness import assert_fits
from .scripted import ScriptedBits, split, word8, word64

EXPONENTS = st.builds(Fraction, st.integers(1, 2**40), st.integers(1, 2**40)).filter(lambda x: x < 40)


def many_bits(p: Probability, bits: int) -> int:
    """Return ⌊2^bits · p⌋ without the code under test."""
    with mpmath.workprec(bits + 400):
        x = mpmath.mpf(p.x.numerator) / p.x.denominator  # type: ignore[attr-defined]
        value = mpmath.exp(-x) if isinstance(p, ExpNegative) else 1 / (1 + mpmath.exp(x))
        return int(mpmath.floor(mpmath.ldexp(value, bits)))


@pytest.mark.parametrize("kind", [ExpNegative, Logistic])
@given(x=EXPONENTS, offset=st.sampled_from([-1, 1]), ties=st.integers(0, 2))
def test_every_tie_is_decided_like_the_reference(kind: type, x: Fraction, offset: int, ties: int) -> None:
    """U follows p for 8 bits, 64 more, and `ties` further words, and leaves it by one unit in the last word."""
    p = kind(x)
    widths = [8] + [64] * (1 + ties)
    u = many_bits(p, sum(widths)) + offset
    if not 0 <= u < 2 ** sum(widths):
        return
    first, *following = split(u, *widths)
    other = [255] * 7  # the other seven flips of the byte are clear failures of probability e⁻¹⁰⁰
    flips = FlipBytes((p, *[ExpNegative(Fraction(100))] * 7), capacity=1)
    random = ScriptedBits(word8(first, *other), *(word64(w) for w in following))
    if first != many_bits(p, 8):  # the offset carried into the first byte: settled at once
        random = ScriptedBits(word8(first, *other))
    elif len(following) > 1 and following[0] != many_bits(p, 72) % 2**64:
        random = ScriptedBits(word8(first, *other), word64(following[0]))
    assert flips.draw(1, random)[0, 0] == (1 if offset < 0 else 0)


@pytest.mark.parametrize("plane", range(16))
@pytest.mark.parametrize("offset", [-1, 1])
def test_refinement_uses_the_probability_of_its_plane(plane: int, offset: int) -> None:
    """Sixteen different probabilities, three samples: the tie of one flip is settled by its own expansion."""
    probabilities = tuple(Logistic(Fraction(1 + i, 7)) for i in range(16))
    words = np.full((2, 3, 8), 255, dtype=np.uint8)
    p = probabilities[plane]
    words[plane // 8, 1, plane % 8] = p.prefix(8)
    _, second, third = split(many_bits(p, 136) + offset, 8, 64, 64)
    random = ScriptedBits(words.reshape(-1), word64(second), word64(third))
    drawn = FlipBytes(probabilities, capacity=5).draw(3, random)
    expected = np.zeros((2, 3), dtype=np.uint8)
    expected[plane // 8, 1] = (1 << plane % 8) if offset < 0 else 0
    assert (drawn == expected).all()
    assert random.used_up


@given(x=EXPONENTS, offset=st.sampled_from([-1, 1]), ties=st.integers(0, 2))
def test_coin_ties(x: Fraction, offset: int, ties: int) -> None:
    p = ExpNegative(x)
    widths = [64] * (1 + ties)
    u = many_bits(p, sum(widths)) + offset
    if not 0 <= u < 2 ** sum(widths):
        return
    words = split(u, *widths)
    assert Coin(p).flips(1, ScriptedBits(*(word64(w) for w in words)))[0] == (offset < 0)


def test_is_below_draws_only_while_tied() -> None:
    p = Logistic(Fraction(1))
    assert is_below(p.prefix(8) - 1, 8, p, ScriptedBits())
    assert not is_below(p.prefix(8) + 1, 8, p, ScriptedBits())
    random = ScriptedBits(word64(0))
    assert is_below(p.prefix(8), 8, p, random)
    assert random.used_up


@pytest.mark.parametrize("x", [Fraction(1, 1000), Fraction(1), Fraction(6), Fraction(9)])
def test_frequencies(x: Fraction) -> None:
    """False-alarm rate 1e-9 each."""
    n, random = 1 << 19, SecureRandom()
    p = float(many_bits(ExpNegative(x), 60) / 2**60)
    heads = int(Coin(ExpNegative(x)).flips(n, random).sum())
    assert_fits(np.array([heads, n - heads]), np.array([p, 1 - p]))


def test_flip_bytes_frequencies_and_independence() -> None:
    """The 256 values of a byte of eight unequal flips have product probabilities. False-alarm rate 1e-9."""
    probabilities = tuple(Logistic(Fraction(2**i, 60)) for i in range(8))
    drawn = FlipBytes(probabilities, capacity=1 << 18).draw(1 << 18, SecureRandom())[0]
    p = np.array([many_bits(each, 60) / 2**60 for each in probabilities])
    bits = np.arange(256)[:, None] >> np.arange(8) & 1
    assert_fits(np.bincount(drawn, minlength=256), np.where(bits == 1, p, 1 - p).prod(axis=1))


def test_whole_bytes_only() -> None:
    with pytest.raises(ValueError, match="multiple of eight"):
        FlipBytes((Logistic(Fraction(1)),) * 7, capacity=1)
