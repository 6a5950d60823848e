"""How the noise of one answer is put together: moments of its coefficients on the strategy's noise.

An answer is w·x plus Σ_i c_i·noise_i with c = w A⁺. Its variance is Σc² times the noise's variance; how far it is
from a normal variable depends on Σc⁴ and on the largest |c|; whether it moves on a coarse lattice depends on the
c_i's spacing.

How the noise of an answer from a strategy of tables is put together, part by part, without the cells.

Second moments are exact. For Laplace noise the shape of the noise matters too. A query over the attributes S has on a
table T, with X = S∩T, the coefficients

    c = w_T · ⊗_{i∈T∖X} (u_iᵗA_iᵗ) ⊗ Σ_{R⊆X} ν_R ⊗_{i∈R} (q_iK_iA_iᵗ) ⊗_{i∈X∖R} (q_i·u_i)(u_iᵗA_iᵗ) Π_{i∈S∖X} (q_i·u_i),

so all tables with the same X are alike but for a factor, and sums of powers over thousands of tables are sums over the
few subsets X of S.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache, reduce
from itertools import product
from math import prod

import numpy as np

from rowspace.exceptions import TooLarge
from rowspace.operators import (
    DECOMPOSITION_LIMIT,
    DENSE_LIMIT,
    Fading,
    Identity,
    Kronecker,
    Layers,
    Operator,
    Scaled,
    Stack,
    Vector,
    check_supported,
)
from rowspace.tables import (
    Marginals,
    MarginalSplit,
    Piece,
    ProductWorkload,
    Residuals,
    TableOperator,
    mask_of,
    products_of,
    subsets_in_order,
)


def by_factors(A: Kronecker, W: Kronecker) -> list[Operator]:
    """W as one operator for every factor of A, which may be about several attributes; none where that is not so."""
    found: list[Operator] = []
    left = list(W.factors)
    for factor in A.factors:
        run = [left.pop(0)] if left else []
        while left and prod(f.shape[1] for f in run) < factor.shape[1]:
            run.append(left.pop(0))
        if prod(f.shape[1] for f in run) != factor.shape[1] or not run:
            return []
        found.append(run[0] if len(run) == 1 else Kronecker(*run))
    return [] if left else found


@dataclass(frozen=True)
class Moments:
    """Per query: Σc², Σc⁴, max|c|, and the spacing g such that every c is a whole multiple of g (0: none found)."""

    second: Vector
    fourth: Vector
    largest: Vector
    spacing: Vector

    def scaled(self, factor: float) -> Moments:
        """The moments of `factor` times the queries."""
        size = abs(factor)
        return Moments(size**2 * self.second, size**4 * self.fourth, size * self.largest, size * self.spacing)


def alike(values: Vector, counts: Vector, queries: int) -> Moments:
    """The moments of queries that all have the same coefficients, each value as often as counted."""
    squares = values**2
    one = (squares @ counts, squares**2 @ counts, np.abs(values).max(), spacings(values[None, :])[0])
    return Moments(*(np.full(queries, float(moment)) for moment in one))


_FIRST = 16
"""Coefficients of every row that are looked at first."""


def spacings(C: Vector) -> Vector:
    """The smallest coefficient of a row if it divides the others, else one if all are integers, else zero."""
    magnitude = np.abs(C)
    tiny = 1e-9 * magnitude.max(axis=1)
    smallest = np.where(magnitude > tiny[:, None], magnitude, np.inf).min(axis=1)
    spacing = np.zeros(len(C))
    for candidate in (np.where(np.isfinite(smallest), smallest, 0.0), np.ones(len(C))):
        left = np.flatnonzero(spacing == 0)
        # Most rows that are no lattice show it early.
        for columns in (slice(_FIRST), slice(_FIRST, None)):
            own = magnitude[left, columns]
            with np.errstate(divide="ignore", invalid="ignore"):
                multiples = own / candidate[left, None]
            # What is no rounding error must be one multiple at least: coefficients of 10⁻⁸ are not multiples of one.
            nearest = np.maximum(np.rint(multiples), own > tiny[left, None])
            left = left[(np.abs(multiples - nearest) <= 1e-7 * np.maximum(multiples, 1.0)).all(axis=1)]
        spacing[left] = candidate[left]
    return spacing


def joined(parts: list[Moments], join: Callable[[list[Vector]], Vector]) -> Moments:
    """Moments of a union or a product from those of its parts: the same operation on every field."""
    return Moments(*(join([getattr(part, field.name) for part in parts]) for field in fields(Moments)))


def outer(a: Vector, b: Vector) -> Vector:
    """All products of a number of each, in C order."""
    return np.multiply.outer(a, b).ravel()


FINE_LATTICE = 2**12
"""Largest entry of an integer strategy up to which the lattice of its answers is looked for."""

COEFFICIENTS = 2**26
"""Most coefficients of a part's queries that are formed; intervals of larger parts err on the wide side."""


def table_moments(A: TableOperator, W: ProductWorkload) -> Moments:
    """The moments of all queries, in the order of the workload."""
    return joined([_part_moments(A, W, number) for number in range(len(W.parts))], np.concatenate)


def _part_moments(A: TableOperator, W: ProductWorkload, number: int) -> Moments:
    part = W.parts[number]
    axes = W.axes_of(part)
    cells = all(isinstance(W.pieces[n].operator, Identity) for n in part)
    if cells and isinstance(A, Marginals) and A.all_cells_alike and A.largest_entry() <= FINE_LATTICE:
        return alike(*A.coefficients(mask_of(axes)), prod(W.sizes[i] for i in axes))
    second = A.part_variances(W, number)
    largest, fourth = np.sqrt(second), second**2
    # The total comes from the table of no attribute alone where the others are residuals: a single coefficient.
    if A.shape[0] == 1 or (isinstance(A, Residuals) and not axes):
        return Moments(second, fourth, largest, largest)
    if isinstance(A, Marginals) and all(len(W.pieces[n].axes) == 1 for n in part):
        rows = W.sizes_of_parts[number]
        if rows * prod(A.matrices[i].shape[0] for i in axes) <= COEFFICIENTS:
            subsets = [mask_of(own) for own in subsets_in_order(axes)]
            largest, fourth = _shape(A, W, part, {R: A.component_variances.get(R, 0.0) for R in subsets})
    return Moments(second, fourth, largest, np.zeros_like(second))


def _shape(
    A: Marginals, W: ProductWorkload, part: Sequence[int], nu: dict[int, float]
) -> tuple[Vector, Vector]:
    """(largest |c|, Σc⁴) of every query of a part, exactly."""
    pieces = [W.pieces[n] for n in part]
    axes = [piece.axes[0] for piece in pieces]
    levels = [piece.operator @ A.splits[i].u for piece, i in zip(pieces, axes, strict=True)]
    resolved = [_resolved(A.splits[i], piece) for piece, i in zip(pieces, axes, strict=True)]
    largest, fourth = np.zeros(1), np.zeros(1)
    for inside in product((False, True), repeat=len(axes)):
        X = [j for j, chosen in enumerate(inside) if chosen]
        power, peak = A.tables_meeting(axes, [axes[j] for j in X])
        if power <= 0:
            continue
        # (queries along each attribute, answers along each of X), all attributes of the part in order.
        total: Vector | float = 0.0
        for R in product((False, True), repeat=len(X)):
            in_R = {X[k] for k, chosen in enumerate(R) if chosen}
            value = nu[mask_of(axes[j] for j in in_R)]
            factors = []
            for j in range(len(axes)):
                if j in in_R:
                    factors.append(resolved[j])
                elif j in X:
                    factors.append(np.multiply.outer(levels[j], A.splits[axes[j]].seen))
                else:
                    factors.append(levels[j][:, None])
            total = total + value * reduce(_kron_rows, factors, np.ones((1, 1)))
        size = np.abs(total)
        largest = np.maximum(largest, peak * size.max(axis=1))
        fourth = fourth + power * (size**4).sum(axis=1)
    return np.minimum(largest, fourth**0.25), fourth


def _resolved(split: MarginalSplit, piece: Piece) -> Vector:
    """qKAᵗ for every query q of a piece."""
    return np.asarray(piece.operator @ split.resolving)


def _kron_rows(a: Vector, b: Vector) -> Vector:
    """All products of a row of each: (rows a × rows b, columns a × columns b)."""
    joint = a[:, None, :, None] * b[None, :, None, :]
    return joint.reshape(a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])


COEFFICIENT_LIMIT = 2**32
"""Most coefficients (queries × strategy rows) looked at one by one: about a minute."""

REMEMBERED = 2**14
"""Most queries whose moments are kept for the next time: half a megabyte."""


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
    if isinstance(A, Kronecker) and isinstance(W, Kronecker) and (parts := by_factors(A, W)):
        factors = [moments(a, w) for a, w in zip(A.factors, parts, strict=True)]
        return joined(factors, lambda vectors: reduce(outer, vectors))
    if isinstance(A, Layers | Fading) and (second := A.row_variances(W)) is not None:
        return Moments(
            second, second**2, np.sqrt(second), np.zeros_like(second)
        )  # the last three at most so large
    if isinstance(A, Marginals):
        products = products_of(W, A.sizes)
        if products is not None and products.only_cells:
            return table_moments(A, products)
    return _remembered(A, W) if W.shape[0] <= REMEMBERED else _blockwise(A, W)


@lru_cache(maxsize=8)
def _remembered(A: Operator, W: Operator) -> Moments:
    """The same strategy is asked the same at one budget after the other where the least one is looked for."""
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
        yield 0, W @ B
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
