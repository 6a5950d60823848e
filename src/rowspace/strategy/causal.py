"""Strategies that can be measured period by period: rows that need no cell of a later period.

Under Gaussian noise only X = AᵗA matters, and X = CᵗC with C lower triangular when the cells are in the order of time:
Cholesky's factor, taken from the last cell backwards. So the best strategy of all can be measured period by period. C
is square and invertible: a query about periods up to t is answered by the rows up to t in one way only, and no later
row can change that answer. Under Laplace noise factors of X differ; there the best lower triangle that is found is
taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy

from rowspace import operators as op
from rowspace.exceptions import InvalidInput
from rowspace.operators import Indices, Vector

from .timing import by_period, factor_of_time

PRECISION = 2**20
"""The largest entry of a triangle of integers."""

FAINT = 1e-4
"""The share of a faint identity beside a strategy that does not see all cells; it costs others as much precision."""


def causal_factor(X: Vector) -> Vector:
    """C, lower triangular and invertible, with CᵗC = X, or a little more than X where that costs no sensitivity.

    Raising a diagonal entry of X to the largest is free: sensitivity is the largest. Where X is still singular, a faint
    identity is mixed in.

    >>> X = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> C = causal_factor(X)
    >>> bool(np.allclose(C.T @ C, X)), float(C[0, 1])
    (True, 0.0)
    """
    largest = float(np.diagonal(X).max())
    return invertible_factor(X + np.diag(largest - np.diagonal(X)))


def invertible_factor(X: Vector) -> Vector:
    """C, lower triangular and invertible, with CᵗC = X, beside a faint identity where X is singular."""
    try:
        C = _reversed_cholesky(X)
        pivots = np.diagonal(C)
        if pivots.min() > np.sqrt(FAINT) / 4 * pivots.max():
            return C
    except scipy.linalg.LinAlgError:
        pass
    return _reversed_cholesky((1 - FAINT) * X + FAINT * float(np.diagonal(X).max()) * np.eye(len(X)))


def _reversed_cholesky(X: Vector) -> Vector:
    """With J the reversal, JXJ = LLᵗ; then C = JLᵗJ is lower triangular and CᵗC = JLLᵗJ = X."""
    return np.asarray(scipy.linalg.cholesky(X[::-1, ::-1], lower=True).T[::-1, ::-1])


def in_integers(C: Vector) -> op.Dense:
    """A triangle rounded to integers, its zeros kept and its diagonal nowhere zero."""
    rounded = np.rint(C * (PRECISION / np.abs(C).max()))
    diagonal = np.diagonal(rounded)
    return op.Dense(rounded + np.diag(np.where(diagonal == 0, 1.0, 0.0)))


def periods_of_rows(strategy: op.Operator, sizes: Sequence[int], axis: int) -> Indices:
    """The period after which each row can be measured; `InvalidInput` where a row needs cells of later ones."""
    if isinstance(strategy, op.Scaled):
        return periods_of_rows(strategy.of, sizes, axis)
    inner, periods = _inner(strategy), sizes[axis]
    if isinstance(strategy, op.Layers):
        cells = strategy.factors[0].shape[1]
        over = strategy.sizes == tuple(sizes) and strategy.joint[0] == axis
        if over and all(_is_causal(C, cells) for C in strategy.factors):
            own = np.repeat(np.arange(periods), cells // periods)
            return np.tile(own, strategy.shape[0] // cells)
    elif isinstance(strategy, op.Kronecker):
        rows, k = [f.shape[0] for f in strategy.factors], factor_of_time(strategy, sizes, axis)
        if k is not None and _is_causal(strategy.factors[k], periods):
            shape = [rows[k] if i == k else 1 for i in range(len(rows))]
            return np.broadcast_to(np.arange(periods).reshape(shape), rows).ravel()
    elif _is_over_time(strategy, sizes, axis) and _is_causal(inner, inner.shape[1]):
        return np.repeat(np.arange(periods), inner.shape[1] // periods)
    raise InvalidInput("expected a strategy whose rows need no cells of later periods")


def until(strategy: op.Operator, sizes: Sequence[int], axis: int, periods: int) -> op.Operator:
    """The rows of the first periods, over the cells of those."""
    if isinstance(strategy, op.Scaled):
        return op.Scaled(strategy.factor, until(strategy.of, sizes, axis, periods))
    inner = _inner(strategy)
    if isinstance(inner, op.Layers):
        return _layers(inner, axis, periods, lambda C, own: _cut(C, own * periods))
    if isinstance(inner, op.Kronecker):
        return _with_factor(inner, sizes, axis, lambda C: _cut(C, periods))
    cells = inner.shape[1] // sizes[axis] * periods
    cut_sizes = [periods if i == axis else n for i, n in enumerate(sizes)]
    return over_time(_cut(inner, cells), cut_sizes, axis)


def rows_of_period(strategy: op.Operator, sizes: Sequence[int], axis: int, period: int) -> op.Operator:
    """The rows that are measured with a period, over the cells of the periods so far."""
    if isinstance(strategy, op.Scaled):
        return op.Scaled(strategy.factor, rows_of_period(strategy.of, sizes, axis, period))
    inner = _inner(until(strategy, sizes, axis, period + 1))
    if isinstance(inner, op.Layers):
        return _layers(inner, axis, period + 1, lambda C, own: op.Dense(C.to_dense()[-own:]))
    if isinstance(inner, op.Kronecker):
        so_far = [period + 1 if i == axis else n for i, n in enumerate(sizes)]
        return _with_factor(inner, so_far, axis, lambda C: op.Dense(C.to_dense()[-1:]))
    own = inner.shape[1] // (period + 1)
    cut_sizes = [period + 1 if i == axis else n for i, n in enumerate(sizes)]
    return over_time(op.Dense(inner.to_dense()[-own:]), cut_sizes, axis)


def with_memory(strategy: op.Operator, sizes: Sequence[int], axis: int) -> op.Fading | None:
    """The triangle over time that answers a period from few numbers that it remembers of those before; else None."""
    if isinstance(strategy, op.Scaled):
        return with_memory(strategy.of, sizes, axis)
    if isinstance(strategy, op.Kronecker):
        k = factor_of_time(strategy, sizes, axis)
        return None if k is None else with_memory(strategy.factors[k], sizes, axis)
    return strategy if isinstance(strategy, op.Fading) else None


def with_time(strategy: op.Operator, sizes: Sequence[int], axis: int, C: op.Operator) -> op.Operator:
    """The strategy with another triangle over time, of one cell for each period."""
    if isinstance(strategy, op.Scaled):
        return op.Scaled(strategy.factor, with_time(strategy.of, sizes, axis, C))
    return _with_factor(strategy, sizes, axis, lambda _: C) if isinstance(strategy, op.Kronecker) else C


def over_time(inner: op.Operator, sizes: Sequence[int], axis: int) -> op.Operator:
    """A triangle over cells in the order of time, as a strategy over the cells in the order of the domain."""
    order = by_period(sizes, axis)
    return inner if np.array_equal(order, np.arange(len(order))) else op.Permuted(inner, order)


def _with_factor(
    product: op.Kronecker, sizes: Sequence[int], axis: int, change: Callable[[op.Operator], op.Operator]
) -> op.Kronecker:
    """The product with another factor of time."""
    where = factor_of_time(product, sizes, axis)
    return op.Kronecker(*(change(f) if k == where else f for k, f in enumerate(product.factors)))


def _layers(
    strategy: op.Layers, axis: int, periods: int, change: Callable[[op.Operator, int], op.Operator]
) -> op.Layers:
    """Other matrices over so many periods; they are given the number of joint cells of a period."""
    own = strategy.factors[0].shape[1] // strategy.sizes[axis]
    sizes = tuple(periods if i == axis else n for i, n in enumerate(strategy.sizes))
    return op.Layers(sizes, strategy.joint, tuple(change(C, own) for C in strategy.factors))


def _inner(strategy: op.Operator) -> op.Operator:
    return strategy.of if isinstance(strategy, op.Permuted) else strategy


def _is_over_time(strategy: op.Operator, sizes: Sequence[int], axis: int) -> bool:
    order = strategy.order if isinstance(strategy, op.Permuted) else np.arange(strategy.shape[1])
    return np.array_equal(order, by_period(sizes, axis))


def _is_causal(C: op.Operator, n: int) -> bool:
    """Whether C is an invertible lower triangle of n rows."""
    if isinstance(C, op.Identity | op.Fading):
        return C.shape == (n, n)
    return (
        isinstance(C, op.Dense)
        and C.shape == (n, n)
        and not np.triu(C.array, 1).any()
        and bool(np.diagonal(C.array).all())
    )


def _cut(C: op.Operator, n: int) -> op.Operator:
    if isinstance(C, op.Identity):
        return op.Identity(n)
    return C.until(n) if isinstance(C, op.Fading) else op.Dense(C.to_dense()[:n, :n])
