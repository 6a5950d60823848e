"""Reflection symmetry: a Gram matrix that reads the same backwards splits into two of half the size.

If V commutes with the flip J (all ranges, all windows of a width: nothing tells left from right), it maps vectors
that are their own mirror image to such vectors, and the same for vectors that change sign. In the orthonormal bases
(e_i ± e_{n−1−i})/√2 (and the middle cell, its own mirror image) V is block diagonal. Two eigendecompositions of half
the size cost a quarter of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rowspace.operators import Indices, Vector

SMALLEST_WORTH_SPLITTING = 32
"""Below this many cells one call costs less than two."""


@dataclass(frozen=True)
class Sector:
    """One block of V: `cells` are the first half's cells it acts on, `share` its part of their diagonal."""

    cells: Indices
    share: Vector
    block: Vector


def sectors(V: Vector) -> tuple[Sector, ...]:
    """The blocks of V under reflection: two when it has the symmetry, else V itself."""
    n = len(V)
    if n < SMALLEST_WORTH_SPLITTING or not is_mirrored(V):
        return (Sector(np.arange(n), np.ones(n), V),)
    half, middle = n // 2, n % 2
    near, far = V[:half, :half], V[:half, ::-1][:, :half]
    odd = Sector(np.arange(half), np.full(half, 0.5), near - far)
    even = near + far
    if middle:
        cross = np.sqrt(2.0) * V[:half, half]
        even = np.block([[even, cross[:, None]], [cross[None, :], V[half : half + 1, half : half + 1]]])
    share = np.full(half + middle, 0.5)
    share[half:] = 1.0
    return (Sector(np.arange(half + middle), share, even), odd)


def folded(*matrices: Vector) -> tuple[Vector, ...]:
    """Each as a stack of its two blocks, if all of them can be; else as it is."""
    if not all(map(can_be_folded, matrices)):
        return matrices
    return tuple(np.stack([part.block for part in sectors(M)]) for M in matrices)


def can_be_folded(V: Vector) -> bool:
    """Whether V reads the same backwards, with as many cells before the middle as behind it."""
    return len(V) >= SMALLEST_WORTH_SPLITTING and len(V) % 2 == 0 and is_mirrored(V)


def unfolded(stack: Vector) -> Vector:
    """The inverse of `folded`."""
    return stack if stack.ndim == 2 else assemble((), list(stack), 2 * stack.shape[-1])


def cell_diagonal(stack: Vector) -> Vector:
    """The diagonal over the cells, or over the first half of them, of a matrix that `folded` has made."""
    found = np.diagonal(stack, axis1=-2, axis2=-1)
    return np.asarray(found if stack.ndim == 2 else found.mean(axis=0))


def is_mirrored(V: Vector, tolerance: float = 1e-13) -> bool:
    """Whether V equals its image under the flip, to rounding."""
    return bool(np.abs(V - V[::-1, ::-1]).max() <= tolerance * np.abs(V).max())


def gather(parts: Sequence[Sector], diagonals: Sequence[Vector], n: int) -> Vector:
    """The diagonal over all n cells from the diagonals of the blocks."""
    out = np.zeros(n)
    for part, diagonal in zip(parts, diagonals, strict=True):
        out[part.cells] += part.share * diagonal
    if len(parts) == 2:
        out[(n + 1) // 2 :] = out[: n // 2][::-1]
    return out


def assemble(parts: Sequence[Sector], blocks: Sequence[Vector], n: int) -> Vector:
    """The full matrix from its blocks: the inverse of `sectors`."""
    if len(parts) == 1:
        return blocks[0]
    half, middle = n // 2, n % 2
    even, odd = blocks
    out = np.empty((n, n))
    near, far = 0.5 * (even[:half, :half] + odd), 0.5 * (even[:half, :half] - odd)
    out[:half, :half] = near
    out[:half, n - half :] = far[:, ::-1]
    out[n - half :, :half] = far[::-1]
    out[n - half :, n - half :] = near[::-1, ::-1]
    if middle:
        cross = even[:half, half] / np.sqrt(2.0)
        out[:half, half] = out[half, :half] = cross
        out[n - half :, half] = out[half, n - half :] = cross[::-1]
        out[half, half] = even[half, half]
    return out
