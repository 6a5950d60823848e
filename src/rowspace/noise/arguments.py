"""What the samplers accept, checked before a single bit is drawn."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from operator import index
from typing import Final, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from rowspace.exceptions import InvalidInput
from rowspace.noise.bits import BitSource

# Samples drawn at a time: large enough to hide the cost of a numpy call, small enough for the second-level
# cache.
CHUNK: Final = 1 << 14

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


def collect(
    batch: Callable[[int, BitSource], NDArray[np.int64]], size: int, random: BitSource
) -> NDArray[np.int64]:
    """Return the first `size` values accepted; `batch(count, random)` makes `count` proposals, returns some.

    Proposals are independent, so the accepted ones in order are independent samples of the target, and so
    are the first `size` of them. How many proposals are made depends on what was accepted before, never on
    what comes next.
    """
    out = np.empty(size, dtype=np.int64)
    filled = 0
    while filled < size:
        # About three in four are accepted, so this many usually suffice.
        proposals = min(CHUNK, (size - filled) * 3 // 2 + 16)
        values = batch(proposals, random)[: size - filled]
        out[filled : filled + values.size] = values
        filled += values.size
    return out
