"""Many marginal tables at once: summed from the cells, spread back to them, and taken apart into residuals.

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

from .checks import Array
from .subset_lattice import members

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
    def _axes(self) -> list[tuple[int, int]]:
        """(bit, axis) of every attribute that has one; axes counted from the end."""
        return [(1 << i, k - len(self._attributes)) for k, i in enumerate(self._attributes)]

    def shape(self, mask: int) -> tuple[int, ...]:
        """The shape of a table."""
        return tuple(self.sizes[i] if mask >> i & 1 else 1 for i in self._attributes)

    def count(self, mask: int) -> int:
        """Cells of a table."""
        return prod(self.sizes[i] for i in members(mask))

    def table(self, flat: Array, mask: int) -> Array:
        """A flat table (…, cells) as an array with axes."""
        return flat.reshape((*flat.shape[:-1], *self.shape(mask)))

    def flat(self, table: Array) -> Array:
        """The cells of a table along one last axis."""
        axes = len(self._attributes)
        batch = table.shape[: table.ndim - axes]
        return table.reshape(*batch, prod(table.shape[table.ndim - axes :]))

    def sums(self, x: Array, masks: Iterable[int]) -> Tables:
        """The marginals of x (…, n) over every set; the full one is x itself, not a copy."""
        return _summed(self.table(x, self.varying), set(masks), self._axes)

    def spread(self, tables: Tables) -> Array:
        """Σ of all tables, each repeated over the attributes it lacks, as (…, n). Consumes the tables."""
        # The first axis comes last, when the tables are large: then whole blocks are added, not short rows.
        for bit, _ in reversed(self._axes):
            merged: Tables = {}
            for mask, table in tables.items():
                other = merged.get(mask & ~bit)
                merged[mask & ~bit] = table if other is None else _added(other, table)
            tables = merged
        (total,) = tables.values()
        whole = (*total.shape[: total.ndim - len(self._axes)], *self.shape(self.varying))
        return self.flat(total if total.shape == whole else np.broadcast_to(total, whole).copy())

    def residuals(self, tables: Tables) -> Tables:
        """What Σ spread(table) is made of: for every set R the part that sums to zero along each attribute of R.

        Along one attribute a table is its mean, which belongs to the set without it, plus what is left.
        """
        parts = dict(tables)
        for bit, axis in self._axes:
            for mask in [mask for mask in parts if mask & bit]:
                mean = parts[mask].mean(axis=axis, keepdims=True)
                lower = parts.get(mask ^ bit)
                parts[mask] = parts[mask] - mean
                parts[mask ^ bit] = mean if lower is None else lower + mean
        return parts

    def residuals_adjoint(self, parts: Tables) -> Tables:
        """The adjoint of `residuals`, for a family of tables that is closed downwards."""
        tables = dict(parts)
        for bit, axis in reversed(self._axes):
            for mask in [mask for mask in tables if mask & bit]:
                table = tables[mask]
                mean = table.mean(axis=axis, keepdims=True)
                tables[mask] = table - mean + tables[mask ^ bit] / table.shape[axis]
        return tables

    def centred(self, table: Array, mask: int) -> Array:
        """Π n_i times the table less its means along every attribute of the set: exact in integers."""
        for bit, axis in self._axes:
            if mask & bit:
                table = table.shape[axis] * table - table.sum(axis=axis, keepdims=True)
        return table


def _summed(table: Array, wanted: set[int], axes: Sequence[tuple[int, int]]) -> Tables:
    """Decide the first axis: the sets that keep it share the table, the others share its sum."""
    if not axes:
        return dict.fromkeys(wanted, table)
    if len(wanted) == 1:
        (mask,) = wanted
        dropped = tuple(axis for bit, axis in axes if not mask & bit)
        return {mask: table.sum(axis=dropped, keepdims=True) if dropped else table}
    bit, axis = axes[0]
    keeping = {mask for mask in wanted if mask & bit}
    tables = _summed(table, keeping, axes[1:]) if keeping else {}
    if len(keeping) < len(wanted):
        tables |= _summed(table.sum(axis=axis, keepdims=True), wanted - keeping, axes[1:])
    return tables


def _added(a: Array, b: Array) -> Array:
    """The sum by broadcasting, in the place of whichever already has its shape."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    if a.shape != shape:
        a, b = b, a
    return np.add(a, b, out=a) if a.shape == shape else a + b
