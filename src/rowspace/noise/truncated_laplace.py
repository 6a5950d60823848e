"""Discrete Laplace noise that stays within a reach, drawn exactly: what is beyond it is drawn again."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rowspace.exceptions import InvalidInput
from rowspace.noise.arguments import checked_size
from rowspace.noise.bits import BitSource
from rowspace.noise.laplace import discrete_laplace

_LARGEST_REACH = 2**62


def truncated_laplace(scale: Fraction, reach: int, size: int, random: BitSource) -> NDArray[np.int64]:
    """Draw `size` independent integers X with P(X = k) ∝ e^(−|k|/scale) for |k| ≤ reach, and no others.

    Samples of `discrete_laplace` beyond the reach are drawn again: the others have the conditional law, exactly.
    (One of more than 64 bits would be taken modulo 2⁶⁴ first; at a scale below 2⁴⁵ that has a chance below e^(−2¹⁷).)

    Guarantees
    ----------
    - The distribution is exact (``tests/noise/test_truncated_laplace.py``: `test_follows_its_distribution`).
    - Nothing is beyond the reach (``tests/noise/test_truncated_laplace.py``: `test_stays_within_its_reach`).

    Examples
    --------
    >>> from rowspace.noise import InsecureSeededRandom
    >>> int(abs(truncated_laplace(Fraction(20), 30, 10_000, InsecureSeededRandom(1))).max())
    30
    """
    if isinstance(reach, bool) or not isinstance(reach, int) or not 1 <= reach <= _LARGEST_REACH:
        raise InvalidInput("reach: expected a whole number from 1 to 2^62; take it from a threshold")
    out = np.empty(checked_size(size), dtype=np.int64)
    missing = np.arange(size)
    while missing.size:
        drawn = discrete_laplace(scale, missing.size, random)
        out[missing] = drawn
        # Not abs(): that of the least integer is negative.
        missing = missing[(drawn > reach) | (drawn < -reach)]
    return out
