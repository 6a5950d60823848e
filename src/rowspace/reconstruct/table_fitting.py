"""A table brought to given sums: cells known best move least, then in proportion, so that none is negative."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rowspace.operators import Array

ROUNDS = 50
"""Rounds of each of the two."""

ACCURACY = 1e-7
"""Largest difference from the sums, as a share of all records, at which it stops."""


def fitted_to_faces(table: Array, variance: Array, faces: Sequence[Array]) -> Array:
    """The table whose sum along axis k is faces[k]: least squares weighted by 1/variance, then proportional fitting.

    Where the faces belong to no table at all, as three of a cube may, the sums are met as nearly as the rounds allow.

    >>> fitted_to_faces(np.ones((2, 2)), np.ones((2, 2)), [np.array([3.0, 3.0]), np.array([2.0, 4.0])])
    array([[1., 1.],
           [2., 2.]])
    """
    total = float(faces[0].sum())
    if total <= 0:
        return np.zeros_like(table)
    # No cell is out of reach: where all of a line is certain, proportions decide.
    known = variance + 1e-6 * variance.mean() + 1e-9 * total / table.size
    shares = [known / known.sum(axis=axis, keepdims=True) for axis in range(table.ndim)]
    for _ in range(ROUNDS):
        for axis, face in enumerate(faces):
            missing = np.expand_dims(face - table.sum(axis=axis), axis)
            table = np.maximum(table + shares[axis] * missing, 0.0)
        if _off(table, faces) <= ACCURACY * total:
            return table
    table = table + 1e-9 * total / table.size
    for _ in range(4 * ROUNDS):
        for axis, face in enumerate(faces):
            sums = table.sum(axis=axis)
            factors = np.divide(face, sums, out=np.zeros_like(sums), where=sums > 0)
            table = table * np.expand_dims(factors, axis)
        if _off(table, faces) <= ACCURACY * total:
            break
    return table


def _off(table: Array, faces: Sequence[Array]) -> float:
    return float(max(np.abs(table.sum(axis=axis) - face).sum() for axis, face in enumerate(faces)))
