"""Public facts about counts: answers that are known, and cells that hold nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from rowspace.exceptions import TooLarge
from rowspace.operators import Indices, Sparse, Vector
from rowspace.tables import Piece, ProductWorkload, gather

FEW_CELLS = 2048
"""Most cells at which what is left open by the facts is written out as a basis."""

MOST_FACTS = 2048
"""Most facts over more cells, an empty cell counted as one."""


@dataclass(frozen=True, eq=False)
class Fact:
    """A query over the joint cells of some attributes, ascending, whose answer is known."""

    axes: tuple[int, ...]
    table: Vector
    value: float = 0.0


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known of counts over attributes of these sizes: answers, and queries of cells that hold nobody."""

    sizes: tuple[int, ...]
    known: tuple[Fact, ...]
    empty: tuple[Fact, ...] = ()

    @cached_property
    def queries(self) -> ProductWorkload:
        """The queries with known answers."""
        return gather(self.sizes, [(1.0, pieces_of(fact)) for fact in self.known])

    @property
    def values(self) -> Vector:
        """Their answers."""
        return np.array([fact.value for fact in self.known])

    @property
    def touched(self) -> list[tuple[int, ...]]:
        """The sets of attributes that something is known about."""
        return sorted({fact.axes for fact in (*self.known, *self.empty)})

    def possible_cells(self) -> Indices:
        """The cells that may hold somebody, among all."""
        nobody = np.zeros(self.sizes, dtype=bool)
        for fact in self.empty:
            nobody |= self._spread(fact, range(len(self.sizes)))
        return np.flatnonzero(~nobody)

    def groups(self) -> list[Indices]:
        """The cells of every fact, known ones first; those that hold nobody have a total of zero."""
        whole = range(len(self.sizes))
        return [np.flatnonzero(self._spread(fact, whole)) for fact in (*self.known, *self.empty)]

    def spelled_out(self, sets: Sequence[tuple[int, ...]]) -> Facts:
        """The same with empty cells as known ones: those of the largest tables over these sets of attributes."""
        found: dict[tuple[int, ...], Vector] = {}
        for fact in self.empty:
            holding = {tuple(sorted(own)) for own in sets if set(fact.axes) <= set(own)} or {fact.axes}
            for own in holding:
                if not any(set(own) < set(other) for other in holding):
                    found[own] = np.logical_or(found.get(own, 0.0), self._spread(fact, own))
        if len(self.known) + sum(int(np.sum(nobody)) for nobody in found.values()) > MOST_FACTS:
            raise TooLarge(
                f"more than {MOST_FACTS:,} cells of the tables asked for are known or impossible, over more than "
                f"{FEW_CELLS:,} cells; ask for tables of fewer attributes, or declare fewer"
            )
        cells = [
            Fact(own, scipy.sparse.coo_array(([1.0], ([0], [cell])), shape=(1, nobody.size)).toarray()[0])
            for own, nobody in found.items()
            for cell in np.flatnonzero(nobody).tolist()
        ]
        return Facts(self.sizes, (*self.known, *cells))

    def _spread(self, fact: Fact, own: Sequence[int]) -> Vector:
        """Where a fact's query is not zero, over the cells of a larger table."""
        shape = [self.sizes[i] if i in fact.axes else 1 for i in own]
        return np.broadcast_to(fact.table.reshape(shape) != 0, [self.sizes[i] for i in own])


def pieces_of(fact: Fact) -> tuple[Piece, ...]:
    """The query of a fact as a product of pieces."""
    row = scipy.sparse.csr_array(fact.table.reshape(1, -1))
    return (Piece(fact.axes, Sparse(row)),) if fact.axes else ()
