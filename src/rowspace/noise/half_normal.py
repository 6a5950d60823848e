"""One half-normal proposal with as many bits as a decision needs: the exact side of `rounded_gaussian`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from rowspace.noise.bits import BitSource
from rowspace.noise.expansion import ExpNegative

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
