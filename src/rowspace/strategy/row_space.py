"""A basis of a workload's row space: L with WᵗW = LLᵗ and independent columns, found with as many digits as there are.

Columns are first scaled to unit norm, so that a cell that is asked faintly is not mistaken for one that is not asked.
"""

from __future__ import annotations

import numpy as np
import scipy

from rowspace.exceptions import InvalidWorkload, TooLarge
from rowspace.operators import DECOMPOSITION_LIMIT, DENSE_LIMIT, Operator, Vector

LARGEST_SQUARE = 1e150
"""Squares of columns up to which products of three such numbers stay within 64-bit floats."""

ROWS_PER_CELL = 4
"""A workload with at most this many rows per cell is factored itself: twice the digits of its Gram matrix."""


def workload_gram(W: Operator) -> Vector:
    """WᵗW as a dense array; `TooLarge` past the limit, `InvalidWorkload` when nothing is asked."""
    n = W.shape[1]
    if n > DECOMPOSITION_LIMIT:
        raise TooLarge(
            f"the Gaussian optimum needs eigendecompositions of {n} x {n} matrices, the limit is "
            f"{DECOMPOSITION_LIMIT}; use Spectral (ranges, prefixes) or Hierarchical, Product over several attributes"
        )
    V = W.gram().to_dense()
    largest = float(np.diagonal(V).max())
    if largest == 0:
        raise InvalidWorkload("expected a workload with at least one non-zero query, got only zeros")
    if not 1 / LARGEST_SQUARE <= largest <= LARGEST_SQUARE:
        raise InvalidWorkload(
            f"expected a workload whose squares stay within {LARGEST_SQUARE:.0e} of 1; scale it by a constant"
        )
    return np.asarray(0.5 * (V + V.T))


def row_space_factor(W: Operator, V: Vector) -> Vector:
    """L (n × rank) with V = WᵗW = LLᵗ."""
    scale = np.sqrt(np.diagonal(V))
    unit = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    m, n = W.shape
    if m <= ROWS_PER_CELL * n and m * n <= DENSE_LIMIT:
        triangle, order = scipy.linalg.qr(W.to_dense() * unit, mode="r", pivoting=True)
        triangle = triangle[: min(m, n)]
        pivots = np.abs(np.diagonal(triangle))
        rank = int(np.sum(pivots > max(m, n) * np.finfo(float).eps * pivots[0]))
        lower = triangle[:rank].T
    else:
        factor, order, rank, _ = scipy.linalg.lapack.dpstrf(
            V * np.multiply.outer(unit, unit), tol=8 * n * np.finfo(float).eps, lower=1
        )
        order, lower = order - 1, np.tril(factor)[:, :rank]
    L = np.empty((n, rank))
    L[order] = lower
    return np.asarray(scale[:, None] * L)
