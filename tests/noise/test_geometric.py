"""The geometric variable by digits: probabilities, joint distribution, unbounded part."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from rowspace.noise import SecureRandom
from rowspace.noise.expansion import Logistic
from rowspace.noise.laplace import CHUNK, SignedGeometric

from .goodness import assert_fits
from .scripted import ScriptedBits, proposal, word8, word64

RATES = [
    Fraction(2**20),
    Fraction(3),
    Fraction(1, 2),
    Fraction(1, 32),
    Fraction(1, 33),
    Fraction(2, 2**21 + 1),
]


@pytest.mark.parametrize("rate", RATES)
def test_digits_fill_bytes_and_leave_little(rate: Fraction) -> None:
    digits = SignedGeometric(rate, Logistic(rate)).digits
    assert (digits + 2) % 8 == 0
    assert rate * 2**digits >= 2
    assert digits == 6 or rate * 2 ** (digits - 8) < 2


@pytest.mark.parametrize("rate", RATES)
def test_digit_probabilities_multiply_to_the_geometric_law(rate: Fraction) -> None:
    """P(digits of k) · P(high = h) from the flips' own expansions equals (1 − q)·qᵏ, to 60 digits."""
    law = SignedGeometric(rate, Logistic(rate))
    flips = law._flips._probabilities
    with mpmath.workdps(90):
        q = mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator)
        p = [mpmath.mpf(flip.prefix(280)) / mpmath.mpf(2) ** 280 for flip in flips]
        for k in (0, 1, 5, 2**law.digits - 1, 2**law.digits + 3, 3 * 2**law.digits):
            product = p[law.digits] ** (k >> law.digits) * (1 - p[law.digits])
            for i in range(law.digits):
                product *= p[i] if k >> i & 1 else 1 - p[i]
            assert abs(product - (1 - q) * q**k) < mpmath.mpf(10) ** -60


@pytest.mark.parametrize("t", [Fraction(1, 2), Fraction(3), Fraction(31), Fraction(200)])
def test_follows_the_geometric_law(t: Fraction) -> None:
    """Magnitude and sign together, against the product law. False-alarm rate 1e-9 each."""
    law, random = SignedGeometric(1 / t, Logistic(Fraction(1))), SecureRandom()
    cells = int(8 * t) + 8
    counts = np.zeros((2, cells + 1), dtype=np.int64)
    for _ in range(16):
        sample = law.draw(CHUNK, random)
        magnitude = sample.low.astype(np.uint64)
        magnitude[sample.high_at] = sample.magnitude_modulo_word()
        for sign in (0, 1):
            chosen = np.minimum(magnitude[sample.negative == sign], np.uint64(cells)).astype(np.int64)
            counts[sign] += np.bincount(chosen, minlength=cells + 1)
    q = np.exp(-1 / float(t))
    p = np.append((1 - q) * q ** np.arange(cells), q**cells)
    negative = 1 / (1 + np.e)
    assert_fits(counts.reshape(-1), np.concatenate([(1 - negative) * p, negative * p]))


def test_high_part_counts_successes() -> None:
    """One success in the byte, three more from single flips, then a failure: G = low + 64 · 4."""
    law = SignedGeometric(Fraction(1, 16), Logistic(Fraction(0)))
    assert law.digits == 6
    opening = word8(0, 255, 0, 255, 255, 255, 0, 255)  # low = 0b101, high ≥ 1, positive
    random = ScriptedBits(opening, *[word64(0)] * 3, word64(2**64 - 1))
    sample = law.draw(1, random)
    assert random.used_up
    assert sample.high.tolist() == [4]
    assert sample.magnitude(0) == 5 + 64 * 4
    assert sample.magnitude_modulo_word().tolist() == [5 + 64 * 4]
    assert sample.at_least_power_of_two(8).tolist() == [0]
    assert sample.at_least_power_of_two(9).tolist() == []


@pytest.mark.parametrize(
    "rate", [Fraction(1, 16), Fraction(1, 2**10), Fraction(1, 2**20), Fraction(1, 2**40)]
)
@pytest.mark.parametrize("negative", [False, True])
def test_every_digit_lands_in_its_place(rate: Fraction, negative: bool) -> None:
    law = SignedGeometric(rate, Logistic(Fraction(0)))
    for magnitude in [0, *(1 << i for i in range(law.digits)), (1 << law.digits) - 1]:
        sample = law.draw(1, ScriptedBits(*proposal(law, magnitude, negative)))
        assert (sample.magnitude(0), bool(sample.negative[0])) == (magnitude, negative)
