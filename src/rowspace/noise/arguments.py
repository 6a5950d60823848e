"""What the samplers accept, checked before a single bit is drawn."""

from __future__ import annotations

from fractions import Fraction
from operator import index
from typing import Final, SupportsIndex

from rowspace.exceptions import InvalidInput
from rowspace.noise.bits import BitSource

# Below 2⁻²⁰ noise is zero for every practical purpose; from 2⁴⁵ on it would leave too little of 64 bits for
# the answer.
SMALLEST_SCALE: Final = Fraction(1, 2**20)
SCALE_LIMIT: Final = Fraction(2**45)


def checked_scale(name: str, value: Fraction, power: int = 1) -> Fraction:
    """Return `value` as a Fraction if 2⁻²⁰ ≤ value^(1/power) < 2⁴⁵."""
    if isinstance(value, bool) or not isinstance(value, Fraction | int):
        raise InvalidInput(
            f"{name}: expected a Fraction, got {type(value).__name__}; "
            "noise parameters are exact, so convert explicitly with Fraction(...)"
        )
    smallest, limit = SMALLEST_SCALE**power, SCALE_LIMIT**power
    if not smallest <= value < limit:
        raise InvalidInput(
            f"{name}: expected a value in [2^{-20 * power}, 2^{45 * power}), got about {_rough(value)}; "
            "scale the strategy's integer matrix up or down"
        )
    return Fraction(value)


def checked_float(name: str, value: Fraction) -> Fraction:
    """Return `value` if a float64 holds it exactly: where the error bounds of the Gaussian samplers start."""
    if Fraction(float(value)) != value:
        raise InvalidInput(
            f"{name}: expected a fraction that a float64 holds exactly (53 significant bits), got another; "
            "round it up to one, which only strengthens privacy"
        )
    return value


def checked_size(size: int) -> int:
    """Return `size` as an int if it is a non-negative integer, of Python or numpy."""
    if isinstance(size, bool) or not isinstance(size, SupportsIndex):
        raise InvalidInput(f"size: expected an int, got {type(size).__name__}; pass the number of samples")
    size = index(size)
    if size < 0:
        raise InvalidInput(f"size: expected a number of samples ≥ 0, got {size}; pass 0 for none")
    return size


def checked_source(random: BitSource) -> BitSource:
    """Return `random` if it is a source of bits; a numpy Generator is refused by name."""
    if not isinstance(random, BitSource):
        raise InvalidInput(
            f"random: expected a BitSource, got {type(random).__name__}; "
            "privacy noise needs cryptographic bits, pass SecureRandom()"
        )
    return random


def _rough(value: Fraction) -> str:
    """Return the order of magnitude of `value`, whose digits may not fit a float."""
    if value <= 0:
        return "a number ≤ 0"
    return f"2^{value.numerator.bit_length() - value.denominator.bit_length()}"
