"""Integers near real entries, and their column sums without a largest number."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement

import numpy as np

from .checks import Indices, Vector

_BITS = 21


def exact_sums(matrix: Indices, p: int) -> list[int]:
    """Σ_i |a_ij|ᵖ for every column j of a matrix of int64 below 2⁶³ in size, p = 1 or 2, exactly.

    |a| = Σ_k l_k 2^(21k) with limbs below 2²¹: their products stay below 2⁴², and 2²¹ of those within 64 bits.

    >>> exact_sums(np.array([[2**62, 3], [-(2**62), -4]]), 2) == [2**125, 25]
    True
    """
    sums = [0] * matrix.shape[1]
    for start in range(0, len(matrix), 2**20):
        size = np.abs(matrix[start : start + 2**20])
        limbs = [(size >> (_BITS * k)) & (2**_BITS - 1) for k in range(3)]
        for shift, found in _plain(limbs) if p == 1 else _squared(limbs):
            sums = [total + (part << _BITS * shift) for total, part in zip(sums, found.tolist(), strict=True)]
    return sums


def _plain(limbs: list[Indices]) -> Iterator[tuple[int, Indices]]:
    """(k, Σ l_k)."""
    return enumerate(limb.sum(axis=0) for limb in limbs)


def _squared(limbs: list[Indices]) -> Iterator[tuple[int, Indices]]:
    """(k + m, Σ l_k l_m), pairs of different limbs twice."""
    for (k, one), (m, other) in combinations_with_replacement(enumerate(limbs), 2):
        yield k + m, (1 if k == m else 2) * np.einsum("ij,ij->j", one, other)


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
