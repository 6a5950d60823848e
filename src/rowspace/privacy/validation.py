"""Checks of privacy parameters, one wording and one exception for all.

Rounding upward to dyadic fractions, in integer arithmetic: noise is never smaller than privacy asks.

Exact samplers want parameters with at most 53 significant bits (which are also exactly floats, so files can
hold them). Rounding *up* can only add noise, so the guarantee survives; no floating-point operation takes
part, so no rounding error can undo that.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from fractions import Fraction
from math import isqrt, nextafter
from numbers import Integral, Real
from typing import Any

from rowspace.exceptions import IntegerOverflow, InvalidPrivacy


def positive_finite(name: str, value: object) -> float:
    """The value as a float, or `InvalidPrivacy` unless it is a positive finite real number."""
    number = _real(value)
    if not (0.0 < number < math.inf):
        raise InvalidPrivacy(
            f"expected {name} to be a positive finite number, got {_shown(value)}; "
            f"choose for example {name}=1.0"
        )
    return number


def probability(name: str, value: object) -> float:
    """The value as a float, or `InvalidPrivacy` unless it lies strictly between 0 and 1."""
    number = _real(value)
    if not (0.0 < number < 1.0):
        raise InvalidPrivacy(
            f"expected {name} strictly between 0 and 1, got {_shown(value)}; choose it well below one over "
            f"the number of records, for example {name}=1e-9, or use PureDP, which needs none"
        )
    return number


def positive_integer(name: str, value: object, advice: str) -> int:
    """The value as a Python integer, or `InvalidPrivacy`, with `advice`, unless it is a whole number ≥ 1."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InvalidPrivacy(f"expected {name} to be a whole number >= 1, got {_shown(value)}; {advice}")
    return int(value)


def tagged_fields(tree: object, tag: str, kinds: Mapping[str, frozenset[str]]) -> tuple[str, dict[str, Any]]:
    """The kind and the other fields of a saved value, which must have exactly the expected keys."""
    if not isinstance(tree, dict):
        raise InvalidPrivacy(f"expected a table with the key {tag!r}, got {type(tree).__name__}")
    kind = tree.get(tag)
    if not isinstance(kind, str) or kind not in kinds:
        known = ", ".join(map(repr, kinds))
        raise InvalidPrivacy(f"expected {tag!r} to be one of {known}, got {_shown(kind)}")
    expected = kinds[kind] | {tag}
    if tree.keys() != expected:
        raise InvalidPrivacy(
            f"expected exactly the keys {', '.join(sorted(expected))} for {kind!r}, got {_shown(list(tree))}"
        )
    return kind, {name: value for name, value in tree.items() if name != tag}


def _real(value: object) -> float:
    """The value as a float; NaN for whatever is not a real number (so that every comparison rejects it).

    What lies between two floats, such as Fraction(1, 10), becomes the lower one: no budget is larger than was stated.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        return math.inf
    return math.nextafter(number, -math.inf) if number > value else number


def _shown(value: object) -> str:
    """A short repr: saved files are not trusted to be small."""
    return reprlib.repr(value)


SIGNIFICANT_BITS = 53

LEAST_SCALE = Fraction(1, 2**20)
"""Finer noise is rounded up to this; it is still never drawn as anything but 0 (chance below e^(−10⁶))."""

SCALE_LIMIT = Fraction(2**45)
"""Coarser noise is refused: it would leave too little of 64 bits for the answer."""


def dyadic_ceiling(value: Fraction) -> Fraction:
    """A dyadic fraction of at most 53 significant bits in [value, value·(1 + 2⁻⁵¹)], for value > 0.

    >>> dyadic_ceiling(Fraction(3, 4))
    Fraction(3, 4)
    >>> 0 < dyadic_ceiling(Fraction(1, 3)) - Fraction(1, 3) < Fraction(1, 2**53)
    True
    """
    # Bit lengths locate a quotient within a factor of two either way: value·2ᵏ lies in (2⁵², 2⁵⁴).
    k = SIGNIFICANT_BITS - value.numerator.bit_length() + value.denominator.bit_length()
    if value * Fraction(2) ** k > 2**SIGNIFICANT_BITS - 1:
        k -= 1
    # Now 2⁵² − 1 < value·2ᵏ ≤ 2⁵³ − 1. The ceiling m has m ≥ value·2ᵏ, so m/2ᵏ ≥ value; m ≤ 2⁵³ − 1, so it
    # has 53 bits; and m < value·2ᵏ + 1 is less than one part in 2⁵² − 1 too large.
    return _ceiling(value * Fraction(2) ** k) / Fraction(2) ** k


def dyadic_sqrt_ceiling(square: Fraction) -> Fraction:
    """A dyadic fraction of at most 53 significant bits in [√square, √square·(1 + 2⁻⁵⁰)], for square > 0.

    >>> dyadic_sqrt_ceiling(Fraction(9, 16))
    Fraction(3, 4)
    """
    # Any k with √square·2ᵏ ≥ 2⁶⁰ will do: the integer root is then less than one part in 2⁶⁰ too large.
    k = 61 - (square.numerator.bit_length() - 1 - square.denominator.bit_length()) // 2
    scaled = square * Fraction(4) ** k
    # ⌈√q⌉ = isqrt(⌈q⌉ − 1) + 1 for q > 0: an integer m has m² ≥ q iff m² ≥ ⌈q⌉, and the least such m is one
    # more than the greatest with m² ≤ ⌈q⌉ − 1.
    root = isqrt(_ceiling(scaled) - 1) + 1
    return dyadic_ceiling(root / Fraction(2) ** k)


def stated(parameter: float) -> Fraction:
    """What ε, δ or ρ may be at most: the float's exact value, or the decimal that names it in words if that is less.

    >>> stated(0.1), stated(0.3) < Fraction(3, 10)
    (Fraction(1, 10), True)
    """
    return min(Fraction(parameter), Fraction(repr(parameter)))


def float_within(parameter: float) -> float:
    """The largest float that is no more than what is `stated`."""
    return parameter if Fraction(parameter) <= stated(parameter) else nextafter(parameter, 0.0)


def drawable(least: Fraction, power: int = 1) -> Fraction:
    """The parameter to draw with when privacy asks for `least`: a scale (power 1) or its square (2)."""
    rounded = max(dyadic_ceiling(least), LEAST_SCALE**power)
    if rounded >= SCALE_LIMIT**power:
        raise IntegerOverflow(
            "expected noise of scale below 2**45, so that exact answers fit 64 bits; this strategy and "
            "budget need more: use a larger budget or a strategy with smaller integer entries"
        )
    return rounded


def check_drawable(name: str, value: object, power: int = 1) -> None:
    """Raise `InvalidPrivacy` unless the value is a parameter that `drawable` could have returned."""
    if (
        isinstance(value, Fraction)
        and LEAST_SCALE**power <= value < SCALE_LIMIT**power
        and dyadic_ceiling(value) == value
    ):
        return
    raise InvalidPrivacy(
        f"expected {name} to be a Fraction from 2**{-20 * power} to 2**{45 * power} with a power of two as "
        f"denominator and at most {SIGNIFICANT_BITS} significant bits, got another {type(value).__name__}; "
        "take the noise from Privacy.noise(), which rounds upward"
    )


def _ceiling(value: Fraction) -> int:
    """⌈value⌉."""
    return -(-value.numerator // value.denominator)
