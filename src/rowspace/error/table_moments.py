"""How the noise of an answer from a strategy of tables is put together, part by part, without the cells.

Second moments are exact. For Laplace noise the shape of the noise matters too. A query over the attributes S has on a
table T, with X = S∩T, the coefficients

    c = w_T · ⊗_{i∈T∖X} (u_iᵗA_iᵗ) ⊗ Σ_{R⊆X} ν_R ⊗_{i∈R} (q_iK_iA_iᵗ) ⊗_{i∈X∖R} (q_i·u_i)(u_iᵗA_iᵗ) Π_{i∈S∖X} (q_i·u_i),

so all tables with the same X are alike but for a factor, and sums of powers over thousands of tables are sums over the
few subsets X of S.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from math import prod

import numpy as np

from rowspace.operators import Identity
from rowspace.operators.base import Vector
from rowspace.tables import (
    Marginals,
    MarginalSplit,
    Piece,
    ProductWorkload,
    TableOperator,
    mask_of,
    subsets_in_order,
)

from .coefficients import Moments, alike, joined

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
    subsets = [mask_of(own) for own in subsets_in_order(axes)]
    known = A.component_variances
    measured = W.check_measured(number, known, A.splits)
    component = [known[mask] if found else 0.0 for mask, found in zip(subsets, measured, strict=True)]
    second = W.variances(number, component, A.splits)
    largest, fourth = np.sqrt(second), second**2
    if isinstance(A, Marginals) and all(len(W.pieces[n].axes) == 1 for n in part):
        rows = W.sizes_of_parts[number]
        if rows * prod(A.matrices[i].shape[0] for i in axes) <= COEFFICIENTS:
            largest, fourth = _shape(A, W, part, dict(zip(subsets, component, strict=True)))
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
