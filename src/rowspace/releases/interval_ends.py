"""Where intervals end, in floating point."""

from __future__ import annotations

import numpy as np

from rowspace.operators.base import Vector

ROUNDING_BITS = 44
"""Bits of the largest count that answers are right to, nearly: 53 less what long sums lose."""


def interval_ends(answer: Vector, half_width: Vector, largest_count: float) -> tuple[Vector, Vector]:
    """Lower and upper ends, rounded outwards by more than the rounding error of answers from counts of this size.

    On a coarse lattice the truth is often at the very end of the interval, and an answer of 8.000000000000002 ± 0 would
    miss a count of 8. Whole numbers stay what they are.
    """
    # Each answer by itself, so that its interval is the same whatever else is asked beside it.
    size = np.maximum(np.abs(answer), max(1.0, largest_count))
    unit = np.ldexp(1.0, np.frexp(size)[1] - ROUNDING_BITS)
    low, high = np.floor((answer - half_width) / unit), np.ceil((answer + half_width) / unit)
    return low * unit + 0.0, high * unit + 0.0  # no -0.0
