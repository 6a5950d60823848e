"""Probabilities as binary expansions that can be asked for as many bits as a decision needs.

Every decision of the samplers is "is a uniform real U below p?", and the first n bits of p settle it unless
they equal the first n bits of U. So all that is ever needed of p is ⌊2ⁿ·p⌋ for growing n, without a doubt
about the last bit.

Rigour. `decimal` rounds division in the direction asked for and rounds exp correctly (within half a unit in
the last place), so one step down or up from its result brackets the true value. If both ends of the bracket
have the same ⌊2ⁿ·⌋, that is the answer; otherwise the precision is raised. The loop ends because e⁻ˣ is
transcendental for every rational x ≠ 0 (Lindemann), hence 2ⁿ·p is never an integer and some precision
separates it from one.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import floor
from typing import Final, Protocol

from rowspace.noise.bits import BitSource


class Probability(Protocol):
    """A number p in (0, 1), known through its binary expansion."""

    def prefix(self, bits: int) -> int:
        """Return ⌊2^bits · p⌋ exactly."""


def exp_negative_bracket(x: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return rationals lo ≤ e⁻ˣ ≤ hi, apart by a few units of the `digits`-th decimal digit (x ≥ 0)."""
    down = Context(prec=digits, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
    up = Context(prec=digits, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
    numerator, denominator = Decimal(-x.numerator), Decimal(x.denominator)
    low = down.next_minus(down.exp(down.divide(numerator, denominator)))
    high = up.next_plus(up.exp(up.divide(numerator, denominator)))
    return Fraction(low), Fraction(high)


@dataclass(frozen=True)
class ExpNegative:
    """p = e⁻ˣ for a rational x > 0.

    Examples
    --------
    >>> bin(ExpNegative(Fraction(1)).prefix(8))  # e⁻¹ = 0.36787…
    '0b1011110'
    """

    x: Fraction

    def __post_init__(self) -> None:
        if self.x <= 0:
            raise ValueError("e⁻ˣ needs x > 0 to be a probability below one; decide x = 0 beforehand")

    def prefix(self, bits: int) -> int:
        """Return ⌊2^bits · e⁻ˣ⌋."""
        if self.x >= bits:
            return 0  # e⁻ˣ ≤ e^-bits < 2^-bits
        digits = bits // 3 + 12  # log₁₀ 2 < 1/3
        while True:
            low, high = (floor(end * (1 << bits)) for end in exp_negative_bracket(self.x, digits))
            if low == high:
                return low
            digits *= 2


@dataclass(frozen=True)
class Logistic:
    """p = 1 / (1 + eˣ) for a rational x ≥ 0; x = 0 is the fair coin.

    Examples
    --------
    >>> Logistic(Fraction(0)).prefix(8), Logistic(Fraction(1)).prefix(8)  # 1/2, 0.26894…
    (128, 68)
    """

    x: Fraction

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("1/(1 + eˣ) is used with x ≥ 0 only")

    def prefix(self, bits: int) -> int:
        """Return ⌊2^bits / (1 + eˣ)⌋."""
        if self.x == 0:
            return (1 << bits) // 2
        if self.x >= bits:
            return 0  # 1/(1 + eˣ) < e⁻ˣ < 2^-bits
        digits = bits // 3 + 12
        while True:
            # 1/(1 + eˣ) = E/(1 + E) with E = e⁻ˣ, increasing in E: a bracket of E is carried over end by end.
            low, high = (floor(E / (1 + E) * (1 << bits)) for E in exp_negative_bracket(self.x, digits))
            if low == high:
                return low
            digits *= 2


# Proposals step through the half line in strips of width 1/16.
STRIPS: Final = 16


@dataclass
class LazyHalfNormal:
    """The point y = (strip + x)/16, x uniform in [0, 1), its first `bits` bits the integer `fraction`."""

    strip: int
    fraction: int
    bits: int

    def extend(self, random: BitSource) -> None:
        """Draw 64 more bits of x."""
        self.fraction = self.fraction << 64 | int(random.words64(1)[0])
        self.bits += 64

    def is_accepted(self, drawn: int, bits: int, random: BitSource) -> bool:
        """Decide U < e^−γ(x), given the first `bits` bits of U; extends U and x together until it is settled.

        γ(x) = ((k − 16)² + 2kx + x²)/512 grows with x, so the ends of the interval known to hold x bracket
        e^−γ.
        """
        while True:
            smallest = _scaled_exp_negative(self._exponent(self.fraction + 1), bits)
            largest = _scaled_exp_negative(self._exponent(self.fraction), bits)
            if drawn + 1 <= smallest:  # U < (drawn + 1)/2^bits ≤ e^−γ at the upper end of x
                return True
            if drawn > largest:  # U ≥ (⌊2^bits · e^−γ⌋ + 1)/2^bits > e^−γ at the lower end of x
                return False
            drawn = drawn << 64 | int(random.words64(1)[0])
            bits += 64
            self.extend(random)

    def rounded(self, sigma: Fraction, random: BitSource) -> int:
        """Return σ·y rounded to the nearest integer; extends x until all of its interval rounds alike."""
        while True:
            # y lies in [position, position + 1) / (16 · 2^bits), and round(z) = ⌊z + 1/2⌋.
            position = (self.strip << self.bits) + self.fraction
            whole = STRIPS * sigma.denominator << self.bits
            first = (2 * sigma.numerator * position + whole) // (2 * whole)
            beyond = -(-(2 * sigma.numerator * (position + 1) + whole) // (2 * whole))
            if beyond == first + 1:
                return first
            self.extend(random)

    def _exponent(self, fraction: int) -> Fraction:
        """Return γ at x = fraction / 2^bits."""
        x = Fraction(fraction, 1 << self.bits)
        return ((self.strip - STRIPS) ** 2 + 2 * self.strip * x + x * x) / (2 * STRIPS**2)


def _scaled_exp_negative(exponent: Fraction, bits: int) -> int:
    """Return ⌊2^bits · e^(−exponent)⌋ for exponent ≥ 0."""
    return 1 << bits if exponent == 0 else ExpNegative(exponent).prefix(bits)
