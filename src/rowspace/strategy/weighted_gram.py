"""Wᵗ diag(μ) W: the Gram matrix of a workload whose queries have unequal importance, by structure.

Ranges and prefixes take cumulative sums of μ, so that all ranges over n cells cost O(n²) and not O(n⁴).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rowspace.operators import Identity, Operator, Prefix, Ranges, Scaled, Stack, Vector


def weighted_gram(W: Operator, importance: Vector) -> Vector:
    """Wᵗ diag(importance) W as a dense n × n array.

    >>> from rowspace import operators as op
    >>> weighted_gram(op.Prefix(3), np.array([1.0, 2.0, 4.0]))
    array([[7., 6., 4.],
           [6., 6., 4.],
           [4., 4., 4.]])
    """
    if isinstance(W, Scaled):
        return W.factor**2 * weighted_gram(W.of, importance)
    if isinstance(W, Stack):
        pieces = [importance[a:b] for a, b in pairwise(W.offsets())]
        return np.asarray(
            sum(weighted_gram(part, piece) for part, piece in zip(W.parts, pieces, strict=True))
        )
    if isinstance(W, Identity):
        return np.diag(importance)
    if isinstance(W, Prefix):
        # Cells i and j share the prefixes that end at or after both.
        beyond = np.cumsum(importance[::-1])[::-1]
        cell = np.arange(W.n)
        return np.asarray(beyond[np.maximum.outer(cell, cell)])
    if isinstance(W, Ranges):
        return _ranges_gram(W.n, importance)
    total = np.zeros((W.shape[1], W.shape[1]))
    for start, rows in W.row_blocks():
        total += (rows.T * importance[start : start + len(rows)]) @ rows
    return total


def _ranges_gram(n: int, importance: Vector) -> Vector:
    """Cells i ≤ j share the ranges that begin at or before i and end at or after j."""
    square = np.zeros((n, n))
    square[np.triu_indices(n)] = importance
    shared = np.cumsum(np.cumsum(square, axis=0)[:, ::-1], axis=1)[:, ::-1]
    upper = np.triu(shared)
    return np.asarray(upper + np.triu(shared, 1).T)
