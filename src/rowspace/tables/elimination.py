"""The noise of answers where tables have joint matrices: queries taken apart from the largest table to the smallest.

Let q be queries over the table T, as arrays over its cells. For R ⊆ T, larger sets first: q summed over T∖R with the
shares u is q_R, a query over the table R. Its coefficients on the answers to R are c = q_R L_R, and q becomes q − cJ_R,
with J_R spread over T∖R: nothing of it is about R any more. A product of contrasts says nothing about smaller tables;
there the squares of the coefficients add up to ν_R q_R (⊗K) q_Rᵗ, and q loses q_R ⊗(I − u1ᵗ). What is left when all
sets are done, the strategy does not measure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from rowspace.operators import Vector, check_supported

from .lattice import mask_of
from .layout import along
from .product_workload import Piece, ProductWorkload, gather
from .splits import Split, root

if TYPE_CHECKING:
    from .residuals import Residuals

BLOCK = 2**22
"""Most numbers of queries over one table that are worked on at once."""


@dataclass(frozen=True, eq=False)
class Elimination:
    """A workload under a strategy with joint matrices."""

    strategy: Residuals
    workload: ProductWorkload

    def totals(self) -> Vector:
        """Σ of the variances of every part at unit noise."""
        return np.array([sum(own.values()) for own in self._by_set])

    def costs(self) -> dict[int, float]:
        """Of the total, importance included, what is due to every set; it falls with its squared weight."""
        found: dict[int, float] = {}
        for power, own in zip(self.workload.powers.tolist(), self._by_set, strict=True):
            for mask, total in own.items():
                found[mask] = found.get(mask, 0.0) + power * total
        return found

    @cached_property
    def _by_set(self) -> list[dict[int, float]]:
        """Σ of the variances of every part, by the set that they are due to; parts asked and measured alike once."""
        known: dict[object, dict[tuple[int, ...], float]] = {}
        out = []
        for number, part in enumerate(self.workload.parts):
            key, axes = self._key(part), sorted(self.workload.axes_of(part))
            if key not in known:
                known[key] = {}
                for rows, own_axes in self._queries(number):
                    for own, variances in self._taken_apart(rows, own_axes):
                        known[key][own] = known[key].get(own, 0.0) + float(variances.sum())
            out.append({mask_of(axes[j] for j in own): total for own, total in known[key].items()})
        return out

    def _key(self, part: tuple[int, ...]) -> object:
        """What decides the variances of a part: its queries, and the matrices of all sets below it."""
        axes = self.workload.axes_of(part)
        measured = []
        for own in _subsets(len(axes)):
            mask = mask_of(axes[j] for j in own)
            joint = self.strategy.joint_of(mask)
            measured.append(
                (id(joint[0]), joint[1]) if joint else self.strategy.component_variances.get(mask)
            )
        queries = [(len(piece.axes), piece.operator) for piece in map(self.workload.pieces.__getitem__, part)]
        # Joint matrices go by attributes in their order.
        order = tuple(np.argsort(axes).tolist())
        splits = tuple(id(self.strategy.splits[i]) for i in axes)
        return tuple(queries), tuple(measured), order, splits

    def variances(self, number: int) -> Vector:
        """The variance of every query of a part at unit noise; `UnsupportedWorkload` where one is not measured."""
        blocks = []
        for rows, axes in self._queries(number):
            blocks.append(sum((own for _, own in self._taken_apart(rows, axes)), np.zeros(len(rows))))
        return np.concatenate(blocks)

    def _queries(self, number: int) -> Iterator[tuple[Vector, list[int]]]:
        """The queries of a part as arrays over the table of its attributes, ascending, some at a time."""
        pieces = [self.workload.pieces[k] for k in self.workload.parts[number]]
        axes = sorted(self.workload.axes_of(self.workload.parts[number]))
        sizes = [self.workload.sizes[i] for i in axes]
        moved = tuple(replace_axes(piece, axes) for piece in pieces)
        operator = gather(sizes or [1], [(1.0, moved)]).operator()
        for _, rows in operator.row_blocks(BLOCK):
            yield rows.reshape(len(rows), *sizes), axes

    def _taken_apart(self, q: Vector, axes: list[int]) -> Iterator[tuple[tuple[int, ...], Vector]]:
        """(places of a set among the axes, the variances due to it), set by set."""
        splits = [self.strategy.splits[i] for i in axes]
        size = np.abs(q).reshape(len(q), -1).max(axis=1)
        for own in _subsets(len(axes)):
            if any(q.shape[j + 1] == 1 for j in own):
                continue
            mask = mask_of(axes[j] for j in own)
            rest = [j for j in range(len(axes)) if j not in own]
            part = q
            for j in rest:
                part = along(part, j + 1, splits[j].u[None, :])
            if joint := self.strategy.joint_of(mask):
                J, weight = joint
                c = part.reshape(len(q), -1) @ self.strategy.resolving(tuple(axes[j] for j in own))
                yield own, np.square(c).sum(axis=1) / weight**2
                q = q - (c @ J.to_dense()).reshape(part.shape)
            elif nu := self.strategy.component_variances.get(mask):
                resolved = part
                for j in own:
                    resolved = along(resolved, j + 1, root(splits[j]).T)
                    part = _less_its_share(part, j + 1, splits[j])
                yield own, nu * np.square(resolved).reshape(len(q), -1).sum(axis=1)
                q = q - part
        left = np.abs(q).reshape(len(q), -1).max(axis=1)
        check_supported(float(np.divide(left, size, out=left, where=size > 0).max(initial=0.0)), 1.0)


def _less_its_share(q: Vector, axis: int, split: Split) -> Vector:
    """q(I − u1ᵗ) along an axis."""
    return np.asarray(q - along(q, axis, split.u[None, :]))


def replace_axes(piece: Piece, axes: list[int]) -> Piece:
    """A piece over some attributes alone, numbered as in `axes`."""
    return replace(piece, axes=tuple(axes.index(i) for i in piece.axes))


def _subsets(k: int) -> Iterator[tuple[int, ...]]:
    """The subsets of k places, the largest first."""
    for size in range(k, -1, -1):
        yield from combinations(range(k), size)
