"""Column sums of integers and of their squares without a largest number: by limbs of 21 bits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement

import numpy as np

from .checks import Indices

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
