"""Where intervals end, in floating point."""

from __future__ import annotations

from math import frexp

import numpy as np

from rowspace.operators.base import Vector

ROUNDING_BITS = 44
"""Bits of the largest count that answers are right to, nearly: 53 less what long sums lose."""


def interval_ends(answer: Vector, half_width: Vector, largest_count: float) -> tuple[Vector, Vector]:
    """Lower and upper ends, rounded outwards by more than the rounding error of answers from counts of this size.

    On a coarse lattice the truth is often at the very end of the interval, and an answer of 8.000000000000002 ± 0 would
    miss a count of 8. Whole numbers stay what they are.
    """
    size = max(1.0, largest_count, float(np.abs(answer).max(initial=0.0)))
    unit = 2.0 ** (frexp(size)[1] - ROUNDING_BITS)
    low, high = np.floor((answer - half_width) / unit), np.ceil((answer + half_width) / unit)
    return low * unit + 0.0, high * unit + 0.0  # no -0.0
