"""How the noise of one answer is put together: moments of its coefficients on the strategy's noise.

An answer is w·x plus Σ_i c_i·noise_i with c = w A⁺. Its variance is Σc² times the noise's variance; how far it is
from a normal variable depends on Σc⁴ and on the largest |c|; whether it moves on a coarse lattice depends on the
c_i's spacing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import numpy as np

from rowspace.exceptions import TooLarge
from rowspace.operators import DECOMPOSITION_LIMIT, DENSE_LIMIT, Kronecker, Operator, Scaled, Stack
from rowspace.operators.base import Vector, check_supported
from rowspace.tables import Marginals, products_of

from .coefficients import Moments, joined, outer, spacings
from .table_moments import FINE_LATTICE, table_moments
from .traces import same_cells

COEFFICIENT_LIMIT = 2**32
"""Most coefficients (queries × strategy rows) looked at one by one: about a minute."""


def moments(A: Operator, W: Operator) -> Moments:
    """The coefficient moments of every query of W under strategy A.

    Products factor, since sums of powers of products are products of sums. To strategies of marginals all cells of a
    marginal are alike, so one of them tells. Otherwise the coefficients
    are formed in blocks of rows: O(queries × strategy rows).
    """
    if isinstance(W, Stack):
        return joined([moments(A, part) for part in W.parts], np.concatenate)
    if isinstance(W, Scaled):
        return moments(A, W.of).scaled(W.factor)
    if isinstance(A, Kronecker) and isinstance(W, Kronecker) and same_cells(A, W):
        factors = [moments(a, w) for a, w in zip(A.factors, W.factors, strict=True)]
        return joined(factors, lambda vectors: reduce(outer, vectors))
    if isinstance(A, Marginals):
        products = products_of(W, A.sizes)
        if products is not None and products.only_cells:
            return table_moments(A, products)
    return _blockwise(A, W)


def _blockwise(A: Operator, W: Operator) -> Moments:
    if W.shape[0] * A.shape[0] > COEFFICIENT_LIMIT:
        raise TooLarge(
            f"error bars of {W.shape[0]} queries from {A.shape[0]} measurements need more than "
            f"{COEFFICIENT_LIMIT} coefficients; ask for fewer queries at a time"
        )
    second, fourth, largest, spacing = (np.empty(W.shape[0]) for _ in range(4))
    # A strategy with entries in the thousands and more was rounded from a real one: its lattice is too fine to matter.
    fine = A.largest_entry() > FINE_LATTICE
    for start, C in _coefficient_blocks(A, W):
        block = slice(start, start + len(C))
        spacing[block] = 0.0 if fine else spacings(C)
        C *= C
        largest[block] = np.sqrt(C.max(axis=1))
        second[block] = C.sum(axis=1)
        C *= C
        fourth[block] = C.sum(axis=1)
    return Moments(second, fourth, largest, spacing)


def _coefficient_blocks(A: Operator, W: Operator) -> Iterator[tuple[int, Vector]]:
    """(start, rows of W A⁺) in blocks: from A⁺ as a whole when there are many queries, else query by query."""
    (p, n), m = W.shape, A.shape[0]
    inverse = A.pinv()
    if n <= DECOMPOSITION_LIMIT and p > n // 4 and max(m * n, m * p) <= DENSE_LIMIT:
        B = inverse.to_dense()
        if A.full_column_rank is not True:
            random = np.random.default_rng(0).standard_normal((n, 4))
            unseen = random - B @ (A @ random)
            _check_each(W @ unseen, W @ random)
        yield 0, np.ascontiguousarray(W @ B)
        return
    for start, rows in W.row_blocks(2**24 // max(1, m // n)):
        C = inverse._adjoint(rows)
        if A.full_column_rank is not True:
            _check_each(A._adjoint(C) - rows, rows)
        yield start, C


def _check_each(outside: Vector, queries: Vector) -> None:
    """Judge every query by its own size: beside large ones a small one outside the row space would pass."""
    residual, size = np.abs(outside).max(axis=1), np.abs(queries).max(axis=1)
    check_supported(float(np.divide(residual, size, out=residual, where=size > 0).max(initial=0.0)), 1.0)
