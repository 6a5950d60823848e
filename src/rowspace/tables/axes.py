"""Many marginal tables at once: summed from the cells, spread back to them, and centred.

A table over the attributes S is an array with one axis per attribute, of length one where the attribute is not in S
(leading batch axes aside): tables over different sets then add by broadcasting. All functions go attribute by
attribute, as the fast Fourier transform does: what many tables share is computed once, and a few passes over the cells
suffice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from rowspace.operators import Array

from .lattice import members

Tables = dict[int, Array]
"""Tables by the set of their attributes."""


@dataclass(frozen=True)
class TableAxes:
    """The attributes as array axes. Those of one cell need none: no table varies in them."""

    sizes: tuple[int, ...]

    @cached_property
    def varying(self) -> int:
        """The set of the attributes with two or more cells."""
        return sum(1 << i for i, n in enumerate(self.sizes) if n > 1)

    @cached_property
    def _attributes(self) -> list[int]:
        return members(self.varying)

    @cached_property
    def places(self) -> list[tuple[int, int]]:
        """(attribute, axis) of every attribute that has one; axes counted from the end."""
        return [(i, k - len(self._attributes)) for k, i in enumerate(self._attributes)]

    def shape(self, mask: int) -> tuple[int, ...]:
        """The shape of a table."""
        return tuple(self.sizes[i] if mask >> i & 1 else 1 for i in self._attributes)

    def count(self, mask: int) -> int:
        """Cells of a table."""
        return prod(self.sizes[i] for i in members(mask))

    def flat(self, table: Array) -> Array:
        """The cells of a table along one last axis."""
        axes = len(self._attributes)
        batch = table.shape[: table.ndim - axes]
        return table.reshape(*batch, prod(table.shape[table.ndim - axes :]))

    def sums(self, x: Array, masks: Iterable[int]) -> Tables:
        """The marginals of x (…, n) over every set; the full one is x itself, not a copy."""
        cells = x.reshape((*x.shape[:-1], *self.shape(self.varying)))
        return _summed(cells, set(masks), self.places)

    def spread(self, tables: Tables) -> Array:
        """Σ of all tables, each repeated over the attributes it lacks, as (…, n). Consumes the tables."""
        # The first axis comes last, when the tables are large: then whole blocks are added, not short rows.
        for i, _ in reversed(self.places):
            merged: Tables = {}
            for mask, table in tables.items():
                without = mask & ~(1 << i)
                other = merged.get(without)
                merged[without] = table if other is None else _added(other, table)
            tables = merged
        (total,) = tables.values()
        whole = (*total.shape[: total.ndim - len(self.places)], *self.shape(self.varying))
        return self.flat(total if total.shape == whole else np.broadcast_to(total, whole).copy())

    def centred(self, table: Array, mask: int) -> Array:
        """Π n_i times the table less its means along every attribute of the set: exact in integers."""
        for i, axis in self.places:
            if mask >> i & 1:
                table = table.shape[axis] * table - table.sum(axis=axis, keepdims=True)
        return table


def _summed(table: Array, wanted: set[int], places: Sequence[tuple[int, int]]) -> Tables:
    """Decide the first axis: the sets that keep it share the table, the others share its sum."""
    if not places:
        return dict.fromkeys(wanted, table)
    if len(wanted) == 1:
        (mask,) = wanted
        dropped = tuple(axis for i, axis in places if not mask >> i & 1)
        return {mask: table.sum(axis=dropped, keepdims=True) if dropped else table}
    (i, axis), rest = places[0], places[1:]
    keeping = {mask for mask in wanted if mask >> i & 1}
    tables = _summed(table, keeping, rest) if keeping else {}
    if len(keeping) < len(wanted):
        tables |= _summed(table.sum(axis=axis, keepdims=True), wanted - keeping, rest)
    return tables


def _added(a: Array, b: Array) -> Array:
    """The sum by broadcasting, in the place of whichever already has its shape."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    if a.shape != shape:
        a, b = b, a
    return np.add(a, b, out=a) if a.shape == shape else a + b
