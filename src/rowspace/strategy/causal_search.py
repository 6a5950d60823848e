"""The search for strategies that can be measured period by period, with what no strategy goes below."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import product
from math import inf, prod

import numpy as np
import scipy

from rowspace import operators as op
from rowspace.error import by_factors, max_error, noise_level, profile_trace
from rowspace.exceptions import TooLarge
from rowspace.operators import Vector
from rowspace.privacy import ZCDP, Neighbours, Privacy
from rowspace.tables import Piece, ProductWorkload, gather

from .causal import causal_factor, in_integers, invertible_factor, over_time
from .causal_laplace import fenwick, searched
from .causal_layers import layered
from .fading import MOST_BITS, fading
from .gaussian_optimal import GaussianOptimal
from .product import Product
from .recurring import (
    MOST_PERIODS,
    Recurring,
    bound_of_moments,
    recurring_moments,
    recurring_optimum,
)
from .result import Result
from .row_space import workload_gram
from .selection import Select
from .strategy import MOST_QUERIES
from .terms import Terms
from .timing import by_period

OPTIMAL_CELLS = 1024
"""Most cells of one factor for which its optimum is computed; a step takes half a second."""

STORED_PERIODS = op.DECOMPOSITION_LIMIT
"""Most periods whose triangle is stored."""

FEW_BITS = 24
"""Bits of a triangle beside other factors, which need some of their own."""

SEARCHED_PERIODS = 256
"""Most periods whose triangle is searched entry by entry under Laplace noise."""


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
    one, few = len(counted.sizes) == 1, W.shape[1] <= min(select.limits.gaussian_cells, STORED_PERIODS)
    recurs = recurring_unit(privacy, counted.sizes[axis])
    if not one and (privacy.norm == 1 or not few or recurs):
        runs = [range(axis), range(axis, axis + 1), range(axis + 1, len(queries.sizes))]
        each = [range(i, i + 1) for i in range(len(queries.sizes))]
        joined = [run for run in runs if run]
        over_periods: list[Callable[..., Sequence[op.Operator]]] = [triangles]
        over_periods += [recurring_triangles] if recurs else []
        for groups, search in product([each] if joined == each else [each, joined], over_periods):
            found += _product(queries, counted, privacy, select, axis, results[0], groups, search)
    if not one and not few and privacy.norm == 2 and not recurs:
        found += _layered(queries, counted, privacy, axis, results[0], W)
    # A triangle over all cells of several attributes is as large as their square: only where a product will not do.
    if privacy.norm == 2 and W.shape[1] <= STORED_PERIODS and (one or few or not found):
        order = by_period(counted.sizes, axis)
        for result in results[:2]:
            X = _embedded(result.strategy, queries.sizes, counted.sizes)
            C = in_integers(causal_factor(X[np.ix_(order, order)]))
            A = over_time(C, counted.sizes, axis)
            found.append(judged(f"{result.name}, by period", A, W, privacy, result))
    elif one:
        for triangle in triangles(W, privacy, select.objective, alone=True):
            own = triangle if isinstance(triangle, op.Fading) else in_integers(triangle.array)
            found.append(judged("triangle by period", own, W, privacy, results[0]))
    if one and recurs:
        for signed in (True, False):
            for C in recurring_triangles(W, privacy, signed=signed):
                found.append(judged("recurring, by period", in_integers(C.array), W, privacy, results[0]))
    plain: op.Operator = op.Identity(W.shape[1]) if one else op.Kronecker(*map(op.Identity, counted.sizes))
    found.append(judged("identity", plain, W, privacy, replace(results[0], seconds=0.0)))
    return _ordered(found, W, privacy, select)


def _ordered(found: list[Result], W: op.Operator, privacy: Privacy, select: Select) -> list[Result]:
    """Strategies by what is to be small, best first."""
    if select.objective == "total":
        return sorted(found, key=lambda result: result.total_error)
    if W.shape[0] <= MOST_QUERIES:
        found = [replace(result, worst=_worst(result.strategy, W, privacy)) for result in found]
    return sorted(found, key=lambda result: result.worst or 0.0)


def _worst(A: op.Operator, W: op.Operator, privacy: Privacy) -> float:
    """The largest expected squared error; infinite where it is not known."""
    try:
        return max_error(A, W, privacy)
    except TooLarge:
        return inf


def _layered(
    queries: ProductWorkload,
    counted: ProductWorkload,
    privacy: Privacy,
    axis: int,
    best: Result,
    W: op.Operator,
) -> list[Result]:
    """A triangle over time for each residual of the other attributes, where there is one."""
    layers, bound, seconds = layered(queries, counted, axis)
    if layers is None:
        return []
    whole = privacy.neighbours is Neighbours.ADD_REMOVE
    bound = max(best.lower_bound, privacy.unit_variance * bound * whole)
    found = replace(best, lower_bound=bound, seconds=seconds)
    return [judged("a triangle for each residual, by period", layers, W, privacy, found)]


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
    # What people who come back move is not known before the strategy is in integers.
    recurs = privacy.unit is not None and privacy.unit.periods is not None
    bound = best.lower_bound if recurs else min(best.lower_bound, total)
    return Result(name, A, total, bound, "by period", 0, best.seconds, worst=best.worst)


def _product(
    queries: ProductWorkload,
    counted: ProductWorkload,
    privacy: Privacy,
    select: Select,
    axis: int,
    best: Result,
    groups: Sequence[range],
    over_periods: Callable[..., Sequence[op.Operator]],
) -> list[Result]:
    """One factor per group of attributes, that of time a triangle; places that no query sees are asked beside.

    over_periods: triangles for the queries over time. None where queries tie the groups together, or a group of several
    attributes has too many cells for its optimum.
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
            return over_periods(V, privacy, select.objective)
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
    W = counted.weighted_operator()
    kind = "recurring, product by period" if over_periods is recurring_triangles else "product by period"
    name, when = kind + ", others jointly" * any(joint), [group.start for group in groups].index(axis)
    bound = max(best.lower_bound, _product_bound(terms, privacy, when) if most else 0.0)
    judge = replace(best, lower_bound=bound, seconds=time.perf_counter() - started)
    return [judged(name, op.Kronecker(*factors), W, privacy, judge)]


def _product_bound(queries: ProductWorkload, privacy: Privacy, when: int) -> float:
    """What no strategy goes below for every combination of queries of each group; 0 where not all are asked.

    The Gaussian optimum of V₁ ⊗ V₂ is the product of the optima: that of their dual weights is feasible. So it is
    for people who come back, who may always be in the same cell. when: the group that is time.
    """
    terms = Terms.of(queries)
    if terms is None or privacy.neighbours is not Neighbours.ADD_REMOVE or max(queries.sizes) > OPTIMAL_CELLS:
        return 0.0
    table = np.zeros([len(axis.factors) for axis in terms.axes])
    np.add.at(table, tuple(axis.member for axis in terms.axes), np.square(terms.weights))
    shares = [
        np.moveaxis(table, i, 0).reshape(table.shape[i], -1).sum(axis=1) / table.sum()
        for i in range(table.ndim)
    ]
    if not np.allclose(reduce(np.multiply.outer, shares), table / table.sum(), rtol=1e-9, atol=0.0):
        return 0.0
    bound = float(table.sum())
    for i, axis in enumerate(terms.axes):
        times = np.bincount(axis.member)[axis.member]
        V = axis.effective(shares[i][axis.member] / times)
        optimum = recurring(workload_gram(V), privacy) if i == when else None
        bound *= optimum.bound if optimum else GaussianOptimal(gap=1e-4).optimize(V, ZCDP(0.5)).lower_bound
    return privacy.unit_variance * bound


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


def triangles(
    W: op.Operator, privacy: Privacy, objective: str = "total", *, alone: bool = False
) -> list[op.Dense | op.Fading]:
    """Lower triangles for queries over periods, of one cell each. alone: whether there are no other attributes."""
    n = W.shape[1]
    if n > STORED_PERIODS:
        most = [MOST_BITS] if alone else [MOST_BITS, FEW_BITS]
        return [fading(n, objective, bits) for bits in most if privacy.norm == 2]
    V = workload_gram(W)
    if privacy.norm == 2 and n > OPTIMAL_CELLS:
        # The root of V with its columns scaled alike: 2 to 3 % above the optimum for prefixes.
        values, Q = scipy.linalg.eigh(V)
        X = (Q * np.sqrt(np.maximum(values, 0.0))) @ Q.T
        scale = 1 / np.sqrt(np.diagonal(X))
        return [op.Dense(causal_factor(X * np.multiply.outer(scale, scale)))]
    if privacy.norm == 2:
        root = op.Dense(scipy.linalg.cholesky(V + 1e-12 * np.trace(V) / n * np.eye(n)))
        result = GaussianOptimal(gap=1e-6 if n <= 256 else 1e-4).optimize(root, privacy)
        return [op.Dense(causal_factor(result.strategy.gram().to_dense()))]
    starts = [fenwick(n, branching) for branching in (2, 4, 16)]
    return [op.Dense(C if n > SEARCHED_PERIODS else searched(C, V)) for C in starts]


def recurring_unit(privacy: Privacy, periods: int) -> bool:
    """Whether units come back in several periods, not too many for the best strategy under Gaussian noise."""
    unit = privacy.unit
    comes_back = unit is not None and (unit.periods or 1) > 1 and unit.apart < periods
    return comes_back and privacy.norm == 2 and periods <= MOST_PERIODS


def recurring(V: Vector, privacy: Privacy, signed: bool = True) -> Recurring | None:
    """The best strategy found for units that come back; None where there are none."""
    if privacy.unit is None or not recurring_unit(privacy, len(V)):
        return None
    return recurring_optimum(V, privacy.unit.periods or 1, privacy.unit.apart, signed=signed)


def recurring_triangles(
    W: op.Operator, privacy: Privacy, objective: str = "total", *, signed: bool = False
) -> list[op.Dense]:
    """Lower triangles for queries over periods, in several of which a unit may be."""
    found = recurring(workload_gram(W), privacy, signed)
    return [] if found is None else [op.Dense(invertible_factor(found.X))]


def recurring_bound(W: op.Operator, sizes: Sequence[int], axis: int, privacy: Privacy) -> float:
    """What no strategy goes below at unit noise, for units that come back; 0 where nothing is known."""
    unit = privacy.unit
    if unit is None or unit.periods is None or privacy.norm == 1 or W.shape[1] > OPTIMAL_CELLS:
        return 0.0
    order = by_period(sizes, axis)
    V, periods = workload_gram(W)[np.ix_(order, order)], sizes[axis]
    own = V.reshape(periods, len(V) // periods, periods, -1)
    found = recurring(np.einsum("tcuc->tu", own), privacy)
    M = found.moments if found else recurring_moments(periods, unit.periods, unit.apart)
    return bound_of_moments(M, V)
