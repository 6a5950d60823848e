"""Rounding a matrix to few bits without raising its largest column norm: what privacy charges for."""

from __future__ import annotations

import numpy as np

from .checks import Vector


def rounded_columns(matrix: Vector, scale: float) -> Vector:
    """Integers near scale · matrix whose squared column norms stay at or below its largest, where rounding down can.

    In an optimal strategy all columns have the same norm. Rounded to the nearest integers some end up longer, and the
    longest one is what all of the noise is scaled to: at nine bits that costs more than the rounding errors themselves.
    Entries that were rounded away from zero by the most go the other way first.

    >>> rounded_columns(np.array([[0.6, 0.8], [0.8, -0.6]]), 6.0)
    array([[ 3.,  5.],
           [ 5., -3.]])
    """
    exact = np.abs(scale * matrix)
    rounded = np.rint(exact)
    most = float(np.square(exact).sum(axis=0).max())
    excess = np.square(rounded).sum(axis=0) - most
    for j in np.flatnonzero(excess > 0):
        left = float(excess[j])
        for i in np.argsort(exact[:, j] - rounded[:, j], kind="stable"):
            if left <= 0 or rounded[i, j] <= exact[i, j]:
                break
            left -= 2 * rounded[i, j] - 1
            rounded[i, j] -= 1
    return np.asarray(np.copysign(rounded, matrix) + 0.0)
