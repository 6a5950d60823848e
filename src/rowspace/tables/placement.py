"""Placing products on the cells of all attributes: the matrix of a workload."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from itertools import pairwise

import numpy as np
import scipy

from rowspace.exceptions import TooLarge
from rowspace.operators import Composed, Kronecker, Operator, Scaled, Sparse, Stack, Total

from .product_workload import Piece, ProductWorkload

#: Most entries (and cells) of pieces that have to be woven together.
MAX_WOVEN = 10**7


def matrix_of(workload: ProductWorkload) -> Operator:
    """All queries over all cells, rows times the roots of their parts' powers: O(parts × attributes)."""
    placement = _Placement(workload.sizes)
    placed = []
    for part, power in zip(workload.parts, workload.powers.tolist(), strict=True):
        operator = placement.place([workload.pieces[number] for number in part])
        placed.append(operator if power == 1 else Scaled.of_product(math.sqrt(power), operator))
    return placed[0] if len(placed) == 1 else Stack(*placed)


def woven_entries(workload: ProductWorkload) -> float:
    """About how many entries of the matrix are written out: those of pieces woven with the attributes between them."""
    each = [piece.operator.shape[0] * piece.operator.shape[1] for piece in workload.pieces]
    total = 0.0
    for part in workload.parts:
        axes = {axis for number in part for axis in workload.pieces[number].axes}
        tied = [number for number in part if len(workload.pieces[number].axes) > 1]
        if tied:
            first, last = (
                pick(axis for n in tied for axis in workload.pieces[n].axes) for pick in (min, max)
            )
            between = math.prod(workload.sizes[i] for i in range(first, last + 1) if i not in axes)
            total += float(math.prod(each[number] for number in part)) * between
    return total


class _Placement:
    """Places products of pieces; other attributes are summed out.

    One Kronecker factor per attribute, or per group of attributes that a piece couples. A piece on attributes that are
    not adjacent is woven with those in between into one sparse matrix over their span.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self._totals = [Total(n) for n in sizes]

    def place(self, pieces: Sequence[Piece]) -> Operator:
        """Return one product: O(number of attributes), plus what is woven (`TooLarge` past `MAX_WOVEN`)."""
        placed: list[Operator] = list(self._totals)
        for piece in pieces:
            placed[piece.axes[0]] = piece.operator
        if any(len(piece.axes) > 1 for piece in pieces):
            placed = self._woven(pieces)
        product = placed[0] if len(placed) == 1 else Kronecker(*placed)
        return product if _ascend(pieces) else Composed(_as_given(pieces), product)

    def _woven(self, pieces: Sequence[Piece]) -> list[Operator]:
        """Return one operator per span of attributes that are coupled, some with themselves only."""
        covered = {axis for piece in pieces for axis in piece.axes}
        others = [Piece((at,), total) for at, total in enumerate(self._totals) if at not in covered]
        everything = sorted([*pieces, *others], key=lambda piece: piece.axes)
        return [
            span[0].operator if len(span) == 1 else _weave(span, self._sizes) for span in _spans(everything)
        ]


def _ascend(pieces: Sequence[Piece]) -> bool:
    return all(one.axes < other.axes for one, other in pairwise(pieces))


def _as_given(pieces: Sequence[Piece]) -> Sparse:
    """From the queries in the order of the pieces' attributes to those in the order of the pieces."""
    ascending = sorted(range(len(pieces)), key=lambda k: pieces[k].axes)
    shape = [pieces[k].operator.shape[0] for k in ascending]
    rows = np.arange(math.prod(shape)).reshape(shape).transpose(np.argsort(ascending)).ravel()
    return Sparse(scipy.sparse.csr_array((np.ones(len(rows)), rows, np.arange(len(rows) + 1))))


def _spans(pieces: list[Piece]) -> list[list[Piece]]:
    """Group pieces, sorted by first position, into runs of positions that no other group touches."""
    spans: list[list[Piece]] = []
    end = -1
    for piece in pieces:
        if piece.axes[0] > end:
            spans.append([])
        spans[-1].append(piece)
        end = max(end, piece.axes[-1])
    return spans


def _weave(pieces: list[Piece], sizes: Sequence[int]) -> Operator:
    """Multiply pieces whose attributes interleave, and put their columns in the order of the cells."""
    order = [axis for piece in pieces for axis in piece.axes]
    shape = [sizes[axis] for axis in sorted(order)]
    if math.prod(shape) > MAX_WOVEN:
        raise TooLarge(
            f"a condition couples attributes that are {math.prod(shape):,} joint cells with those between them, the "
            f"limit is {MAX_WOVEN:,}; declare the coupled attributes next to each other"
        )
    matrices = [_sparse(piece.operator) for piece in pieces]
    if math.prod(matrix.nnz for matrix in matrices) > MAX_WOVEN:
        raise TooLarge(f"queries that couple attributes need more than {MAX_WOVEN:,} entries")
    product = scipy.sparse.csr_array(
        reduce(lambda left, right: scipy.sparse.kron(left, right, format="csr"), matrices)
    )
    # Column c of the product counts through the attributes piece by piece; column[c] is its number among the cells.
    first = min(order)
    axes = [axis - first for axis in order]
    column = np.arange(math.prod(shape)).reshape(shape).transpose(axes).ravel()
    return Sparse(
        scipy.sparse.csr_array((product.data, column[product.indices], product.indptr), shape=product.shape)
    )


def _sparse(operator: Operator) -> scipy.sparse.csr_array:
    """Return the entries of an operator; the structured ones are dense enough to be built so."""
    return operator.csr() if isinstance(operator, Sparse) else scipy.sparse.csr_array(operator.to_dense())
