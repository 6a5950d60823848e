"""Placing a product of factors on the cells of a whole domain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
import scipy

from rowspace import operators as op
from rowspace.domain import Domain
from rowspace.exceptions import TooLarge
from rowspace.workload.factors import Factor

#: Most entries (and cells) of factors that have to be woven together.
MAX_WOVEN = 10**7


class _Piece(NamedTuple):
    """An operator on the cells of some attributes, known by their positions (increasing)."""

    positions: tuple[int, ...]
    operator: op.Operator


class Placement:
    """Places products of factors on the cells of one domain; other attributes are summed out.

    One Kronecker factor per attribute, or per group of attributes that a factor couples. A factor on
    attributes that are not adjacent is woven with those in between into one sparse matrix over their span.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._totals = [op.Total(cells) for cells in domain.shape]

    def place(self, factors: Sequence[Factor]) -> op.Operator:
        """Return one product: O(number of attributes), plus what is woven (`TooLarge` past `MAX_WOVEN`)."""
        position = self._domain.position
        pieces = [_Piece(tuple(map(position, factor.attributes)), factor.operator) for factor in factors]
        placed: list[op.Operator] = list(self._totals)
        for piece in pieces:
            placed[piece.positions[0]] = piece.operator
        if any(len(piece.positions) > 1 for piece in pieces):
            placed = self._woven(pieces)
        return placed[0] if len(placed) == 1 else op.Kronecker(*placed)

    def _woven(self, pieces: list[_Piece]) -> list[op.Operator]:
        """Return one operator per span of attributes that are coupled, some with themselves only."""
        covered = {position for piece in pieces for position in piece.positions}
        others = [_Piece((at,), total) for at, total in enumerate(self._totals) if at not in covered]
        everything = sorted([*pieces, *others], key=lambda piece: piece.positions)
        return [
            span[0].operator if len(span) == 1 else _weave(span, self._domain) for span in _spans(everything)
        ]


def _spans(pieces: list[_Piece]) -> list[list[_Piece]]:
    """Group pieces, sorted by first position, into runs of positions that no other group touches."""
    spans: list[list[_Piece]] = []
    end = -1
    for piece in pieces:
        if piece.positions[0] > end:
            spans.append([])
        spans[-1].append(piece)
        end = max(end, piece.positions[-1])
    return spans


def _weave(pieces: list[_Piece], domain: Domain) -> op.Operator:
    """Multiply pieces whose attributes interleave, and put their columns in the order of the domain."""
    order = [position for piece in pieces for position in piece.positions]
    names = ", ".join(domain.names[position] for position in sorted(order))
    shape = [domain.shape[position] for position in sorted(order)]
    if math.prod(shape) > MAX_WOVEN:
        raise TooLarge(
            f"a condition couples attributes among {names}: {math.prod(shape):,} joint cells, the limit is "
            f"{MAX_WOVEN:,}; declare the coupled attributes next to each other"
        )
    matrices = [_sparse(piece.operator) for piece in pieces]
    if math.prod(matrix.nnz for matrix in matrices) > MAX_WOVEN:
        raise TooLarge(f"queries coupling attributes among {names} need more than {MAX_WOVEN:,} entries")
    product = scipy.sparse.csr_array(
        reduce(lambda left, right: scipy.sparse.kron(left, right, format="csr"), matrices)
    )
    # Column c of the product counts through the attributes piece by piece; column[c] is its domain number.
    first = min(order)
    axes = [position - first for position in order]
    column = np.arange(math.prod(shape)).reshape(shape).transpose(axes).ravel()
    return op.Sparse(
        scipy.sparse.csr_array((product.data, column[product.indices], product.indptr), shape=product.shape)
    )


def _sparse(operator: op.Operator) -> scipy.sparse.csr_array:
    """Return the entries of an operator; the structured ones are dense enough to be built so."""
    return operator.csr() if isinstance(operator, op.Sparse) else scipy.sparse.csr_array(operator.to_dense())
