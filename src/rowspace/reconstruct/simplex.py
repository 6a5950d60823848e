"""The nearest counts that are not negative and have a given total."""

from __future__ import annotations

import numpy as np

from rowspace.operators.base import Vector


def nearest_counts(values: Vector, total: float) -> Vector:
    """The point of {x ≥ 0, Σx = total} nearest to each row of values (…, cells): a shift, then what is below zero cut.

    By Michelot's method: shift by what makes the sum right, drop what falls below zero, and again without it. The shift
    only grows, so it ends after at most as many rounds as cells; usually ten. O(cells) each.

    >>> nearest_counts(np.array([3.0, 1.0, -2.0]), 3.0)
    array([2.5, 0.5, 0. ])
    """
    if total <= 0:
        return np.zeros_like(values)
    shift = (values.sum(axis=-1, keepdims=True) - total) / values.shape[-1]
    while True:
        above = values > shift
        count = above.sum(axis=-1, keepdims=True)
        # Rounding may leave no cell above the shift; the largest one always is.
        sums = np.where(above, values, 0.0).sum(axis=-1, keepdims=True)
        larger = np.where(count > 0, (sums - total) / np.maximum(count, 1), shift)
        if not (larger > shift).any():
            return np.asarray(np.maximum(values - shift, 0.0))
        shift = np.maximum(shift, larger)
