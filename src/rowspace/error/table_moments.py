"""How the noise of an answer from a strategy of tables is put together, part by part, without the cells.

Second moments are exact. For queries other than a marginal's cells, fourth moments and largest coefficients are upper
bounds (the triangle inequality over the components), so that intervals err on the wide side.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np

from rowspace.operators import Identity, Marginals, SubsetOperator, TableOperator
from rowspace.operators.base import Vector, check_supported
from rowspace.operators.product_workload import Piece, ProductWorkload, subsets_in_order
from rowspace.operators.subset_lattice import mask_of

from .coefficients import Moments, alike, joined


def table_moments(A: TableOperator, W: ProductWorkload) -> Moments:
    """The moments of all queries, in the order of the workload."""
    return joined([_part_moments(A, W, number) for number in range(len(W.parts))], np.concatenate)


def _part_moments(A: TableOperator, W: ProductWorkload, number: int) -> Moments:
    part = W.parts[number]
    axes = W.axes_of(part)
    if isinstance(A, SubsetOperator) and all(isinstance(W.pieces[n].operator, Identity) for n in part):
        return alike(*A.coefficients(mask_of(axes)), prod(W.sizes[i] for i in axes))
    subsets = [mask_of(own) for own in subsets_in_order(axes)]
    # Along an attribute of one cell nothing varies: sets that contain one have no component, and K = 0 there.
    varying = [mask & ~A.axes.varying == 0 for mask in subsets]
    known = A.component_variances
    missing = any(mask not in known for mask, own in zip(subsets, varying, strict=True) if own)
    check_supported(float(missing), 1.0)
    component = [known[mask] if own else 0.0 for mask, own in zip(subsets, varying, strict=True)]
    second = W.variances(number, component, A.splits)
    largest, fourth = np.sqrt(second), second**2
    if isinstance(A, Marginals):
        most, power = _bounds(
            A, W, number, [m if own else None for m, own in zip(subsets, varying, strict=True)]
        )
        largest, fourth = np.minimum(most, largest), np.minimum(power, fourth)
    return Moments(second, fourth, largest, np.zeros_like(second))


def _bounds(
    A: Marginals, W: ProductWorkload, number: int, subsets: Sequence[int | None]
) -> tuple[Vector, Vector]:
    """Upper bounds of the largest |c| and of Σc⁴, by the triangle inequality over the components R.

    On a table T ⊇ R the component R has c = ν_R w_T Π_{T∖R} 1/n · ⊗_R(q − mean) ⊗(q·u).
    """
    by_piece = [_centred_norms(W.pieces[n], W.sizes) for n in W.parts[number]]
    largest, root = np.zeros(1), np.zeros(1)
    for mask, chosen in zip(subsets, product(*(range(len(p)) for p in by_piece)), strict=True):
        if mask is None:
            continue
        peak, power = (np.array([bound]) for bound in A.component_norms[mask])
        for norms, pattern in zip(by_piece, chosen, strict=True):
            peak = np.multiply.outer(peak, norms[pattern][0]).ravel()
            power = np.multiply.outer(power, norms[pattern][1]).ravel()
        largest, root = largest + peak, root + power
    return largest, root**4


def _centred_norms(piece: Piece, sizes: Sequence[int]) -> list[tuple[Vector, Vector]]:
    """(max, L4 norm) of every query, centred along some of the piece's attributes and averaged along the others."""
    shape = [sizes[axis] for axis in piece.axes]
    largest: list[list[Vector]] = [[] for _ in range(2 ** len(shape))]
    fourth: list[list[Vector]] = [[] for _ in range(2 ** len(shape))]
    for _, rows in piece.operator.row_blocks():
        for pattern, chosen in enumerate(product((False, True), repeat=len(shape))):
            table = rows.reshape(len(rows), *shape)
            for axis, centred in enumerate(chosen, start=1):
                mean = table.mean(axis=axis, keepdims=True)
                table = table - mean if centred else mean
            size = np.abs(table).reshape(len(rows), -1)
            largest[pattern].append(size.max(axis=1))
            fourth[pattern].append((size**4).sum(axis=1) ** 0.25)
    return [(np.concatenate(m), np.concatenate(f)) for m, f in zip(largest, fourth, strict=True)]
