"""Operators that people hand in, read as unions of products: the one place where a matrix is taken apart again.

Workloads over a domain never come this way: they are made as products (`workload.products`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from math import prod
from operator import mul

from rowspace.operators import Identity, Kronecker, Operator, Scaled, Stack, Total

from .product_workload import Piece, ProductWorkload, gather


def products_of(W: Operator, sizes: Sequence[int] | None = None) -> ProductWorkload | None:
    """W as products over attributes of these sizes, or None where it is over other cells.

    Without sizes, over the finest attributes that all its parts agree on. Factors over several attributes are kept
    whole, but for identities and totals; those that end within an attribute are joined.

    >>> from rowspace import operators as op
    >>> W = op.Stack(op.Kronecker(op.Identity(2), op.Total(3)), 2 * op.Total(6))
    >>> found = products_of(W)
    >>> found.sizes, found.parts, found.powers.tolist()
    ((2, 3), ((0,), ()), [1.0, 4.0])
    """
    terms = [(weight, list(_factors(body))) for weight, body in _parts(W)]
    sizes = tuple(_attribute_sizes([factors for _, factors in terms]) if sizes is None else sizes)
    reader = _Reader(sizes)
    parts = [(weight, reader.pieces(factors)) for weight, factors in terms]
    if any(pieces is None for _, pieces in parts):
        return None
    return gather(sizes, ((weight, pieces) for weight, pieces in parts if pieces is not None))


def as_products(W: Operator | ProductWorkload) -> ProductWorkload:
    """A workload in the form that planning takes it, also where somebody hands in an operator."""
    if isinstance(W, ProductWorkload):
        return W
    found = products_of(W)
    if found is None:  # factors of one cell at the end, where a matrix over all cells leaves no attribute
        found = gather((W.shape[1],), ((weight, (Piece((0,), body),)) for weight, body in _parts(W)))
    return found


def _parts(W: Operator, weight: float = 1.0) -> Iterator[tuple[float, Operator]]:
    """(weight, member) of a union, of unions as well."""
    if isinstance(W, Stack):
        for part in W.parts:
            yield from _parts(part, weight)
    elif isinstance(W, Scaled):
        yield from _parts(W.of, weight * W.factor)
    else:
        yield weight, W


def _factors(W: Operator) -> Iterator[Operator]:
    """The factors of a product, of products as well."""
    if isinstance(W, Kronecker):
        for factor in W.factors:
            yield from _factors(factor)
    else:
        yield W


def _attribute_sizes(terms: Sequence[Sequence[Operator]]) -> list[int]:
    """Cells between the boundaries that no factor of any part lies across; identities and totals can be cut."""
    most = max(terms, key=len)
    if all(_cut_at(factors, [f.shape[1] for f in most]) for factors in terms):
        return [f.shape[1] for f in most]  # also attributes of one cell, which no boundary shows
    wanted = sorted({b for factors in terms for b in accumulate((f.shape[1] for f in factors), mul)})
    kept = [1, *(b for b in wanted if all(_has_boundary(factors, b) for factors in terms) and b > 1)]
    return [b // a for a, b in pairwise(kept)] or [1]


def _has_boundary(factors: Sequence[Operator], boundary: int) -> bool:
    """Whether a product ends a factor at so many cells, or can be cut there."""
    cells = 1
    for factor in factors:
        end = cells * factor.shape[1]
        if cells == boundary or end == boundary:
            return True
        if cells < boundary < end:
            return isinstance(factor, Identity | Total) and boundary % cells == 0 and end % boundary == 0
        cells = end
    return False


def _cut_at(factors: Sequence[Operator], sizes: Sequence[int]) -> bool:
    return all(_has_boundary(factors, b) for b in accumulate(sizes, mul))


class _Reader:
    """Reads which attributes the factors of products are about; a factor met before at its place is not read again."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self._sizes = sizes
        self._ends = list(accumulate(sizes, mul, initial=1))
        self._met: dict[tuple[int, ...], tuple[int, tuple[Piece, ...]] | None] = {}
        self._cells = [Piece((i,), Identity(n)) for i, n in enumerate(sizes)]

    def pieces(self, factors: Sequence[Operator]) -> tuple[Piece, ...] | None:
        """The pieces of a product, or None where it is not over these cells."""
        place, begun = 0, 0
        pieces: list[Piece] = []
        for number in range(1, len(factors) + 1):
            own = factors[begun:number]
            # Factors are alive as long as the workload is, so their ids tell them apart.
            key = (place, *map(id, own))
            if key not in self._met:
                self._met[key] = self._read(place, own)
            # A factor that ends within an attribute is one with the next.
            if found := self._met[key]:
                (place, more), begun = found, number
                pieces.extend(more)
        whole = begun == len(factors) and all(n == 1 for n in self._sizes[place:])
        return tuple(pieces) if whole else None

    def _read(self, start: int, factors: Sequence[Operator]) -> tuple[int, tuple[Piece, ...]] | None:
        """(where the factors end, what they ask) when they begin at this attribute and end at the end of one."""
        cells = self._ends[start] * prod(factor.shape[1] for factor in factors)
        place = next((i for i in range(start + 1, len(self._ends)) if self._ends[i] == cells), None)
        if place is None:
            return None
        if all(isinstance(factor, Total) for factor in factors):
            return place, ()
        axes = tuple(i for i in range(start, place) if self._sizes[i] > 1)
        if all(isinstance(factor, Identity) for factor in factors):
            return place, tuple(self._cells[i] for i in axes)
        return place, (Piece(axes or (start,), factors[0] if len(factors) == 1 else Kronecker(*factors)),)
