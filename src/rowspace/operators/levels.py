"""Nested partitions of the cells: the bookkeeping of a tree, level by level from the root to the leaves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Indices, Vector


@dataclass(frozen=True, eq=False)
class Levels:
    """Level ℓ cuts 0..n at `bounds[ℓ]`; each level refines the one above; the last level is the cells."""

    bounds: tuple[Indices, ...]

    def __post_init__(self) -> None:
        n = int(self.bounds[-1][-1])
        # Lengths first: a damaged file may claim more cells than memory holds.
        if len(self.bounds[-1]) != n + 1 or (self.bounds[-1] != np.arange(n + 1)).any():
            raise InvalidInput("expected the last level of a tree to be the single cells")
        for level in self.bounds:
            if level[0] != 0 or level[-1] != n or (level[1:] <= level[:-1]).any():
                raise InvalidInput(f"expected the bounds of a level to increase from 0 to {n}")
        for coarse, fine in pairwise(self.bounds):
            if not np.isin(coarse, fine, assume_unique=True).all():
                raise InvalidInput("expected every level of a tree to refine the level above")

    @property
    def n(self) -> int:
        """Number of cells."""
        return int(self.bounds[-1][-1])

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Number of nodes of every level."""
        return tuple(len(bounds) - 1 for bounds in self.bounds)

    def sizes(self, level: int) -> Indices:
        """Cells below every node of a level."""
        return np.diff(self.bounds[level])

    @cached_property
    def first_children(self) -> tuple[Indices, ...]:
        """Per level but the last: index in the next level of every node's first child."""
        return tuple(np.searchsorted(fine, coarse[:-1]) for coarse, fine in pairwise(self.bounds))

    @cached_property
    def children(self) -> tuple[int | Indices, ...]:
        """Per level but the last: number of children, one number when all nodes have the same."""
        counted = (
            np.diff(np.append(first, count))
            for first, count in zip(self.first_children, self.counts[1:], strict=True)
        )
        return tuple(int(c[0]) if (c == c[0]).all() else c for c in counted)

    def gather(self, level: int, values: Array) -> Array:
        """Sum values of the next level's nodes into their parents, along the last axis."""
        children = self.children[level]
        if not isinstance(children, int):
            return np.asarray(np.add.reduceat(values, self.first_children[level], axis=-1))
        if children == 2:  # several times faster than summing a reshaped axis of length two
            return np.asarray(values[..., 0::2] + values[..., 1::2])
        return np.asarray(values.reshape(*values.shape[:-1], self.counts[level], children).sum(axis=-1))

    def spread(self, level: int, values: Array) -> Array:
        """Copy the values of a level's nodes to their children, along the last axis."""
        return np.repeat(values, self.children[level], axis=-1)


@dataclass(frozen=True, eq=False, init=False)
class RegularLevels(Levels):
    """Blocks of branching^k cells, the last block of a level cut short where n is no power.

    Nested by construction, and its passes need only the counts: the bounds are built when somebody asks.
    """

    cells: int
    branching: int

    def __init__(self, cells: int, branching: int) -> None:
        """The levels of a regular tree over the given number of cells."""
        object.__setattr__(self, "cells", cells)
        object.__setattr__(self, "branching", branching)

    @cached_property
    def block_sizes(self) -> tuple[int, ...]:
        """Cells below an uncut node of every level."""
        sizes = [1]
        while sizes[0] < self.cells:
            sizes.insert(0, sizes[0] * self.branching)
        return tuple(sizes)

    @cached_property  # type: ignore[misc]  # a field there, computed here
    def bounds(self) -> tuple[Indices, ...]:
        """Multiples of the block sizes."""
        counts = zip(self.counts, self.block_sizes, strict=True)
        return tuple(np.minimum(np.arange(count + 1) * size, self.cells) for count, size in counts)

    @property
    def n(self) -> int:
        """Number of cells."""
        return self.cells

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Number of nodes of every level."""
        return tuple(-(-self.cells // size) for size in self.block_sizes)

    @cached_property
    def first_children(self) -> tuple[Indices, ...]:
        """Per level but the last: multiples of the branching factor."""
        return tuple(np.arange(count) * self.branching for count in self.counts[:-1])

    @cached_property
    def children(self) -> tuple[int | Indices, ...]:
        """Per level but the last: the branching factor, unless the last node is cut short."""
        regular = all(a * self.branching == b for a, b in pairwise(self.counts))
        return (self.branching,) * (len(self.counts) - 1) if regular else super().children


@dataclass(frozen=True, eq=False)
class SubtreeVariances:
    """Per level: variance of a node's best estimate from its own subtree, and of its children's sum.

    A level whose nodes are all alike keeps one number instead of a vector: a regular tree costs O(levels).
    """

    own: tuple[Vector, ...]
    children: tuple[Vector, ...]

    @classmethod
    def of(cls, levels: Levels, weights: tuple[float, ...]) -> SubtreeVariances:
        """Bottom-up: an answer (precision w²) and the children's sum (variance S) combine to 1/(w² + 1/S)."""
        own = [np.array([1.0 / weights[-1] ** 2])]
        sums: list[Vector] = [np.array([np.inf])]
        for level in reversed(range(len(weights) - 1)):
            uniform = own[0].size == 1
            total = np.atleast_1d(
                levels.children[level] * own[0] if uniform else levels.gather(level, own[0])
            )
            total = total[:1] if (total == total[0]).all() else total
            sums.insert(0, total)
            own.insert(0, 1.0 / (weights[level] ** 2 + 1.0 / total))
        return cls(tuple(own), tuple(sums))
