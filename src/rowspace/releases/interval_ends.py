"""Where intervals end, in floating point, and how far they reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rowspace.operators import Vector

if TYPE_CHECKING:
    import pandas as pd

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


def standard_errors_reached(*answers: pd.DataFrame) -> float:
    """How many standard errors the intervals of some tables of answers reach, at most.

    What is known for sure, where a fact says so, has errors of rounding alone, and intervals wider than those.
    """
    found = 0.0
    for table in answers:
        errors, widths = table["std_error"].to_numpy(), (table["high"] - table["low"]).to_numpy() / 2
        noisy = errors > 1e-6 * errors.max(initial=0.0)
        found = max(found, float(np.max(widths[noisy] / errors[noisy], initial=0.0)))
    return found
