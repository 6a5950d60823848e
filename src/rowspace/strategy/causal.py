"""Strategies that can be measured period by period: rows that need no cell of a later period.

Under Gaussian noise only X = AᵗA matters, and X = CᵗC with C lower triangular when the cells are in the order of time:
Cholesky's factor, taken from the last cell backwards. So the best strategy of all can be measured period by period. C
is square and invertible: a query about periods up to t is answered by the rows up to t in one way only, and no later
row can change that answer. Under Laplace noise factors of X differ; there the best lower triangle that is found is
taken.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from math import prod

import numpy as np
import scipy

from rowspace import operators as op
from rowspace.error import max_error, noise_level, profile_trace
from rowspace.error.moments import by_factors
from rowspace.exceptions import InvalidInput
from rowspace.operators.base import Indices, Vector
from rowspace.privacy import ZCDP, Neighbours, Privacy
from rowspace.tables import Piece, ProductWorkload, gather

from .causal_laplace import fenwick, searched
from .gaussian_optimal import GaussianOptimal
from .product import Product
from .result import Result
from .row_space import workload_gram
from .selection import Select
from .strategy import MOST_QUERIES
from .terms import Terms

PRECISION = 2**20
"""The largest entry of a triangle of integers."""

FAINT = 1e-4
"""The share of a faint identity beside a strategy that does not see all cells; it costs others as much precision."""

OPTIMAL_CELLS = 1024
"""Most cells of one factor for which its optimum is computed; a step takes half a second."""

SEARCHED_PERIODS = 256
"""Most periods whose triangle is searched entry by entry under Laplace noise."""


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
    full = X + np.diag(largest - np.diagonal(X))
    try:
        C = _reversed_cholesky(full)
        pivots = np.diagonal(C)
        if pivots.min() > np.sqrt(FAINT) / 4 * pivots.max():
            return C
    except scipy.linalg.LinAlgError:
        pass
    return _reversed_cholesky((1 - FAINT) * full + FAINT * largest * np.eye(len(X)))


def _reversed_cholesky(X: Vector) -> Vector:
    """With J the reversal, JXJ = LLᵗ; then C = JLᵗJ is lower triangular and CᵗC = JLLᵗJ = X."""
    return np.asarray(scipy.linalg.cholesky(X[::-1, ::-1], lower=True).T[::-1, ::-1])


def in_integers(C: Vector) -> op.Dense:
    """A triangle rounded to integers, its zeros kept and its diagonal nowhere zero."""
    rounded = np.rint(C * (PRECISION / np.abs(C).max()))
    diagonal = np.diagonal(rounded)
    return op.Dense(rounded + np.diag(np.where(diagonal == 0, 1.0, 0.0)))


def by_period(sizes: Sequence[int], axis: int) -> Indices:
    """The cells of a domain in the order of time: those of the first period first, each period in its own order."""
    cells = np.arange(int(np.prod(sizes))).reshape(tuple(sizes))
    return np.ascontiguousarray(np.moveaxis(cells, axis, 0)).ravel()


def periods_of_rows(strategy: op.Operator, sizes: Sequence[int], axis: int) -> Indices:
    """The period after which each row can be measured; `InvalidInput` where a row needs cells of later ones."""
    if isinstance(strategy, op.Scaled):
        return periods_of_rows(strategy.of, sizes, axis)
    inner, periods = _inner(strategy), sizes[axis]
    if isinstance(strategy, op.Kronecker):
        rows, k = [f.shape[0] for f in strategy.factors], _of_time(strategy, sizes, axis)
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
    if isinstance(inner, op.Kronecker):
        so_far = [period + 1 if i == axis else n for i, n in enumerate(sizes)]
        return _with_factor(inner, so_far, axis, lambda C: op.Dense(C.to_dense()[-1:]))
    own = inner.shape[1] // (period + 1)
    cut_sizes = [period + 1 if i == axis else n for i, n in enumerate(sizes)]
    return over_time(op.Dense(inner.to_dense()[-own:]), cut_sizes, axis)


def over_time(inner: op.Operator, sizes: Sequence[int], axis: int) -> op.Operator:
    """A triangle over cells in the order of time, as a strategy over the cells in the order of the domain."""
    order = by_period(sizes, axis)
    return inner if np.array_equal(order, np.arange(len(order))) else op.Permuted(inner, order)


def _of_time(product: op.Kronecker, sizes: Sequence[int], axis: int) -> int | None:
    """Which factor is about time alone; the others may be about several attributes each."""
    before = np.cumprod([1, *(f.shape[1] for f in product.factors)]).tolist()
    where = before.index(prod(sizes[:axis])) if prod(sizes[:axis]) in before else len(product.factors)
    fits = before[-1] == prod(sizes) and where < len(product.factors)
    return where if fits and product.factors[where].shape[1] == sizes[axis] else None


def _with_factor(
    product: op.Kronecker, sizes: Sequence[int], axis: int, change: Callable[[op.Operator], op.Operator]
) -> op.Kronecker:
    """The product with another factor of time."""
    where = _of_time(product, sizes, axis)
    return op.Kronecker(*(change(f) if k == where else f for k, f in enumerate(product.factors)))


def _inner(strategy: op.Operator) -> op.Operator:
    return strategy.of if isinstance(strategy, op.Permuted) else strategy


def _is_over_time(strategy: op.Operator, sizes: Sequence[int], axis: int) -> bool:
    order = strategy.order if isinstance(strategy, op.Permuted) else np.arange(strategy.shape[1])
    return np.array_equal(order, by_period(sizes, axis))


def _is_causal(C: op.Operator, n: int) -> bool:
    """Whether C is an invertible lower triangle of n rows."""
    if isinstance(C, op.Identity):
        return C.shape == (n, n)
    return (
        isinstance(C, op.Dense)
        and C.shape == (n, n)
        and not np.triu(C.array, 1).any()
        and bool(np.diagonal(C.array).all())
    )


def _cut(C: op.Operator, n: int) -> op.Operator:
    return op.Identity(n) if isinstance(C, op.Identity) else op.Dense(C.to_dense()[:n, :n])


def causal_results(
    results: Sequence[Result],
    queries: ProductWorkload,
    counted: ProductWorkload,
    privacy: Privacy,
    select: Select,
    axis: int,
) -> list[Result]:
    """Causal strategies over all cells that are counted, for queries of which others are the best strategies.

    results: strategies for `queries`, best first. counted: the same queries over the cells with all places for missing
    values, which are asked beside what the results ask of cells without.
    """
    W = counted.weighted_operator()
    found: list[Result] = []
    one, few = len(counted.sizes) == 1, W.shape[1] <= select.limits.gaussian_cells
    if not one and (privacy.norm == 1 or not few):
        runs = [range(axis), range(axis, axis + 1), range(axis + 1, len(queries.sizes))]
        each = [range(i, i + 1) for i in range(len(queries.sizes))]
        joined = [run for run in runs if run]
        for groups in [each] if joined == each else [each, joined]:
            found += _product(queries, counted, privacy, select, axis, results[0], groups)
    # A triangle over all cells of several attributes is as large as their square: only where a product will not do.
    if privacy.norm == 2 and W.shape[1] <= op.DECOMPOSITION_LIMIT and (one or few or not found):
        order = by_period(counted.sizes, axis)
        for result in results[:2]:
            X = _embedded(result.strategy, queries.sizes, counted.sizes)
            C = in_integers(causal_factor(X[np.ix_(order, order)]))
            A = over_time(C, counted.sizes, axis)
            found.append(judged(f"{result.name}, by period", A, W, privacy, result))
    elif one:
        for C in triangles(workload_gram(W), privacy):
            found.append(judged("triangle by period", in_integers(C.array), W, privacy, results[0]))
    plain: op.Operator = op.Identity(W.shape[1]) if one else op.Kronecker(*map(op.Identity, counted.sizes))
    found.append(judged("identity", plain, W, privacy, replace(results[0], seconds=0.0)))
    if select.objective == "total":
        return sorted(found, key=lambda result: result.total_error)
    if W.shape[0] <= MOST_QUERIES:
        found = [replace(result, worst=max_error(result.strategy, W, privacy)) for result in found]
    return sorted(found, key=lambda result: result.worst or 0.0)


def _embedded(A: op.Operator, sizes: Sequence[int], all_sizes: Sequence[int]) -> Vector:
    """AᵗA over the cells with all places, which A does not see."""
    X = A.gram().to_dense()
    if tuple(sizes) == tuple(all_sizes):
        return X
    box = tuple(slice(n) for n in sizes)
    where = np.arange(int(np.prod(all_sizes))).reshape(tuple(all_sizes))[box].ravel()
    out = np.zeros((int(np.prod(all_sizes)),) * 2)
    out[np.ix_(where, where)] = X
    return out


def judged(name: str, A: op.Operator, W: op.Operator, privacy: Privacy, best: Result) -> Result:
    """A causal strategy with its own error and the bound of any strategy."""
    total = noise_level(A, privacy) * profile_trace(A, W)
    bound = min(best.lower_bound, total)
    return Result(name, A, total, bound, "by period", 0, best.seconds, worst=best.worst)


def _product(
    queries: ProductWorkload,
    counted: ProductWorkload,
    privacy: Privacy,
    select: Select,
    axis: int,
    best: Result,
    groups: Sequence[range],
) -> list[Result]:
    """One factor per group of attributes, that of time a triangle; places that no query sees are asked beside.

    None where queries tie the groups together, or a group of several attributes has too many cells for its optimum.
    """
    started = time.perf_counter()
    sizes = [tuple(queries.sizes[i] for i in group) for group in groups]
    whole = [tuple(counted.sizes[i] for i in group) for group in groups]
    joint = [len(group) > 1 for group in groups]
    most = select.limits.gaussian_cells if privacy.norm == 2 else 0
    terms = _grouped(queries, [prod(own) for own in sizes])
    if terms is None or any(several and prod(own) > most for several, own in zip(joint, sizes, strict=True)):
        return []
    usual = select.product([group.start for group in groups], privacy)

    def choose(i: int, V: op.Operator) -> Sequence[op.Operator]:
        if groups[i].start == axis:
            return triangles(workload_gram(V), privacy)
        return () if joint[i] or usual.choose is None else usual.choose(i, V)

    def refine(i: int, V: op.Operator) -> Sequence[op.Operator]:
        if groups[i].start != axis and V.shape[1] <= most:
            return [GaussianOptimal(gap=select.limits.gaussian_gap).optimize(V, privacy).strategy]
        return choose(i, V) if groups[i].start == axis or usual.refine is None else usual.refine(i, V)

    A = Product(choose, refine, rounds=3, refining_rounds=2).propose(terms, privacy)
    factors = [
        f if own == every else op.Extended(f, every, own, f.max_column_norm(privacy.norm))
        for f, own, every in zip(A.factors, sizes, whole, strict=True)
    ]
    name, W = "product by period" + ", others jointly" * any(joint), counted.weighted_operator()
    bound = max(best.lower_bound, _product_bound(terms, privacy) if most else 0.0)
    judge = replace(best, lower_bound=bound, seconds=time.perf_counter() - started)
    return [judged(name, op.Kronecker(*factors), W, privacy, judge)]


def _product_bound(queries: ProductWorkload, privacy: Privacy) -> float:
    """What no strategy goes below for every combination of queries of each group; 0 where not all are asked.

    The Gaussian optimum of V₁ ⊗ V₂ is the product of the optima: the product of their dual weights is feasible.
    """
    terms = Terms.of(queries)
    if terms is None or privacy.neighbours is not Neighbours.ADD_REMOVE or max(queries.sizes) > OPTIMAL_CELLS:
        return 0.0
    table = np.zeros([len(axis.factors) for axis in terms.axes])
    np.add.at(table, tuple(axis.member for axis in terms.axes), np.square(terms.weights))
    bound, shares = float(table.sum()), []
    for i, axis in enumerate(terms.axes):
        shares.append(np.moveaxis(table, i, 0).reshape(len(axis.factors), -1).sum(axis=1) / table.sum())
        times = np.bincount(axis.member)[axis.member]
        V = axis.effective(shares[-1][axis.member] / times)
        bound *= GaussianOptimal(gap=1e-4).optimize(V, ZCDP(0.5)).lower_bound
    whole = np.allclose(reduce(np.multiply.outer, shares), table / table.sum(), rtol=1e-9, atol=0.0)
    return privacy.unit_variance * bound if whole else 0.0


def _grouped(queries: ProductWorkload, cells: Sequence[int]) -> ProductWorkload | None:
    """The queries as products over groups of attributes with so many cells; None where a query ties groups together."""
    W = queries.weighted_operator()
    over = op.Kronecker(*map(op.Identity, cells))
    found: list[tuple[float, tuple[Piece, ...]]] = []
    for part in W.parts if isinstance(W, op.Stack) else (W,):
        weight, body = (part.factor, part.of) if isinstance(part, op.Scaled) else (1.0, part)
        factors = by_factors(over, body) if isinstance(body, op.Kronecker) else []
        if not factors:
            return None
        found.append((weight, tuple(Piece((k,), factor) for k, factor in enumerate(factors))))
    return gather(tuple(cells), found)


def triangles(V: Vector, privacy: Privacy) -> list[op.Dense]:
    """Lower triangles for queries with WᵗW = V over periods, of one cell each."""
    if privacy.norm == 2 and len(V) > OPTIMAL_CELLS:
        # The root of V with its columns scaled alike: 2 to 3 % above the optimum for prefixes.
        values, Q = scipy.linalg.eigh(V)
        X = (Q * np.sqrt(np.maximum(values, 0.0))) @ Q.T
        scale = 1 / np.sqrt(np.diagonal(X))
        return [op.Dense(causal_factor(X * np.multiply.outer(scale, scale)))]
    if privacy.norm == 2:
        root = op.Dense(scipy.linalg.cholesky(V + 1e-12 * np.trace(V) / len(V) * np.eye(len(V))))
        result = GaussianOptimal(gap=1e-6 if len(V) <= 256 else 1e-4).optimize(root, privacy)
        return [op.Dense(causal_factor(result.strategy.gram().to_dense()))]
    starts = [fenwick(len(V), branching) for branching in (2, 4, 16)]
    return [op.Dense(C if len(V) > SEARCHED_PERIODS else searched(C, V)) for C in starts]
