"""Trees of counts: every node asks the sum of its cells, with a weight per level.

Hay et al.'s hierarchical strategy for any nested partition: regular (see `Hierarchy`) or a taxonomy. Least
squares takes two passes, up and down, in time linear in the number of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Operator, Vector
from .checks import check_size, read_only
from .kinds import Levelled, check_level_weights
from .levels import Levels, RegularLevels, SubtreeVariances


class TreeLike(Levelled, abstract=True):
    """What every tree can do, given `levels` and `weights`; leaves are cells in order."""

    nonnegative = True

    @cached_property
    def levels(self) -> Levels:
        """The nested partitions."""
        raise NotImplementedError

    @cached_property
    def _lowest(self) -> int:
        """The finest level with a positive weight."""
        return max(level for level, weight in enumerate(self.level_weights) if weight)

    @cached_property
    def _variances(self) -> SubtreeVariances:
        return SubtreeVariances.of(self.levels, self.level_weights[: self._lowest + 1])

    @property
    def shape(self) -> tuple[int, int]:
        return sum(self.levels.counts), self.levels.n

    @property
    def full_column_rank(self) -> bool:
        return self._lowest == len(self.level_weights) - 1 or bool(
            (self.levels.sizes(self._lowest) == 1).all()
        )

    def _apply(self, x: Array) -> Array:
        out = np.empty((*x.shape[:-1], self.shape[0]), dtype=x.dtype)
        sums, end, weights = x, self.shape[0], self._weights_for(x)
        for level in reversed(range(len(self.level_weights))):
            if level + 1 < len(self.level_weights):
                sums = self.levels.gather(level, sums)
            start = end - self.levels.counts[level]
            np.multiply(sums, weights[level], out=out[..., start:end])
            end = start
        return out

    def _adjoint(self, y: Array) -> Array:
        pieces, weights = self._split(y), self._weights_for(y)
        out = pieces[0] * weights[0]
        for level in range(1, len(pieces)):
            out = self.levels.spread(level - 1, out)
            out += pieces[level] * weights[level]
        return out

    def _split(self, y: Array) -> list[Array]:
        return np.split(y, np.cumsum(self.levels.counts)[:-1], axis=-1)

    def pinv(self) -> Operator:
        return TreeInverse(self)

    def _profile_trace(self, W: Operator) -> float:
        """tr((AᵗA)⁻¹WᵗW) in O(n · levels), from the energy of one vector per node.

        Given its parent's final estimate, a child's estimate is its subtree's own z plus its share
        f = s/S of the parent's residual, and z − fZ is independent of Z. Unrolled, x̂ is a sum of independent
        terms, one per node, each spread over the node's cells by the product of shares φ. Hence
        tr = Σ_roots s·e + Σ_parents (Σ_children s·e − S·e_parent) with e = ‖Wφ‖².
        """
        if not self.full_column_rank:
            return super()._profile_trace(W)
        variances, density, total = self._variances, np.ones(self.shape[1]), 0.0
        density = self._shares_below(self._lowest)
        energy = W.segment_energy(density, self.levels.bounds[self._lowest])
        for level in reversed(range(self._lowest)):
            total += float(np.sum(variances.own[level + 1] * energy))
            density = density * self._cellwise(level + 1, self._share(level))
            energy = W.segment_energy(density, self.levels.bounds[level])
            total -= float(np.sum(variances.children[level] * energy))
        return total + float(np.sum(variances.own[0] * energy))

    def row_variances(self, W: Operator) -> Vector | None:
        """The same for every query."""
        if not self.full_column_rank:
            return None
        density, terms = self._shares_below(self._lowest), []
        for level in reversed(range(self._lowest + 1)):
            bounds, count = self.levels.bounds[level], self.levels.counts[level]
            powers = np.broadcast_to(self._variances.own[level], (count,))
            if level < self._lowest:
                powers = powers - self._variances.children[level]
            terms.append(W.segment_squares(density, bounds, powers))
            if level:
                density = density * self._cellwise(level, self._share(level - 1))
        known = [term for term in terms if term is not None]
        return np.sum(known, axis=0) if known else None

    def _share(self, level: int) -> Vector:
        """s/S for every node of level + 1: its part in its parent's children's variance."""
        own, sums = self._variances.own[level + 1], self._variances.children[level]
        return np.asarray(own / (self.levels.spread(level, sums) if sums.size > 1 else sums))

    def _shares_below(self, level: int) -> Vector:
        """Below the finest asked level estimates are spread evenly (the minimum-norm choice)."""
        sizes = self.levels.sizes(level)
        return np.repeat(1.0 / sizes, sizes)

    def _cellwise(self, level: int, values: Vector) -> Vector:
        if values.size == 1:
            return np.broadcast_to(values, (self.shape[1],))
        return np.repeat(values, self.levels.sizes(level))


@dataclass(frozen=True, eq=False)
class Tree(TreeLike):
    """A tree over nested partitions given by their bounds, coarsest first; the last must be the cells.

    >>> states = [0, 2, 5]                                # cells 0-1 and 2-4
    >>> Tree((np.array(states), np.arange(6)), weights=(1, 1)).to_dense().astype(int)
    array([[1, 1, 0, 0, 0],
           [0, 0, 1, 1, 1],
           [1, 0, 0, 0, 0],
           [0, 1, 0, 0, 0],
           [0, 0, 1, 0, 0],
           [0, 0, 0, 1, 0],
           [0, 0, 0, 0, 1]])
    """

    bounds: tuple[Any, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        given = self.bounds if isinstance(self.bounds, (tuple, list)) else ()
        bounds = tuple(read_only(level, np.int64) for level in given)
        if not bounds or not all(level.ndim == 1 and level.size >= 2 for level in bounds):
            raise InvalidInput("expected the bounds of one or more levels, each a list of cell numbers")
        object.__setattr__(self, "bounds", bounds)
        object.__setattr__(self, "weights", check_level_weights(self.weights, len(bounds)))
        self.levels  # noqa: B018 - validates the nesting now, not at first use

    @cached_property
    def levels(self) -> Levels:
        """The nested partitions."""
        return Levels(self.bounds)

    @property
    def level_weights(self) -> tuple[float, ...]:
        """Weight of every level, root first."""
        return self.weights


@dataclass(frozen=True, eq=False)
class TreeInverse(Operator):
    """The pseudo-inverse of a tree: two passes instead of a matrix."""

    tree: TreeLike

    def __post_init__(self) -> None:
        if not isinstance(self.tree, TreeLike):
            raise InvalidInput(f"expected a tree, got {type(self.tree).__name__}")

    @property
    def shape(self) -> tuple[int, int]:
        m, n = self.tree.shape
        return n, m

    def _apply(self, y: Array) -> Array:
        tree, levels, variances = self.tree, self.tree.levels, self.tree._variances
        pieces, lowest = tree._split(y), tree._lowest
        # Up: z, the best estimate of each node from its own subtree, and Z, the sum of its children's.
        z = [pieces[lowest] / tree.level_weights[lowest]]
        Z: list[Array] = []
        for level in reversed(range(lowest)):
            Z.insert(0, levels.gather(level, z[0]))
            combined = tree.level_weights[level] * pieces[level] + Z[0] / variances.children[level]
            z.insert(0, variances.own[level] * combined)
        # Down: what the parent knows better than its children is shared out by their variances.
        estimate = z[0]
        for level in range(lowest):
            estimate = z[level + 1] + tree._share(level) * levels.spread(level, estimate - Z[level])
        if levels.counts[lowest] == levels.n:
            return np.asarray(estimate)
        sizes = levels.sizes(lowest)
        return np.repeat(estimate / sizes, sizes, axis=-1)

    def _adjoint(self, x: Array) -> Array:
        # A⁺ is least squares for the finest asked nodes, spread evenly over their cells; so its adjoint
        # averages over those cells, solves the normal equations (answers there alone), then asks the tree.
        tree, lowest = self.tree, self.tree._lowest
        bounds = tree.levels.bounds[lowest]
        means = np.add.reduceat(x, bounds[:-1], axis=-1) / np.diff(bounds)
        start = sum(tree.levels.counts[:lowest])
        answers = np.zeros((*x.shape[:-1], tree.shape[0]))
        answers[..., start : start + means.shape[-1]] = means / tree.level_weights[lowest]
        return tree._apply(self._apply(answers))


@dataclass(frozen=True, eq=False)
class Hierarchy(TreeLike):
    """Sums over blocks of n, …, b², b, 1 cells; `Hierarchy(4)` is the paper's H₄.

    Any n ≥ 1: where n is no power of the branching factor, the last block of a level is cut short. One weight
    per level, root first; all ones by default. Every column has the same norm. O(n) for every verb.

    >>> Hierarchy(6, branching=3).to_dense().astype(int)
    array([[1, 1, 1, 1, 1, 1],
           [1, 1, 1, 0, 0, 0],
           [0, 0, 0, 1, 1, 1],
           [1, 0, 0, 0, 0, 0],
           [0, 1, 0, 0, 0, 0],
           [0, 0, 1, 0, 0, 0],
           [0, 0, 0, 1, 0, 0],
           [0, 0, 0, 0, 1, 0],
           [0, 0, 0, 0, 0, 1]])
    """

    n: int
    branching: int = 2
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", check_size("n", self.n))
        object.__setattr__(self, "branching", check_size("branching", self.branching, least=2))
        if self.n > 2**40:
            raise InvalidInput(f"expected at most 2**40 cells, got {self.n}")
        if self.weights is not None:
            object.__setattr__(self, "weights", check_level_weights(self.weights, self.depth))

    @property
    def depth(self) -> int:
        """Number of levels, the root and the cells included."""
        depth, size = 1, 1
        while size < self.n:
            depth, size = depth + 1, size * self.branching
        return depth

    @cached_property
    def levels(self) -> Levels:
        """The nested partitions."""
        return RegularLevels(self.n, self.branching)

    @property
    def level_weights(self) -> tuple[float, ...]:
        """Weight of every level, root first."""
        return (1.0,) * self.depth if self.weights is None else self.weights

    @property
    def shape(self) -> tuple[int, int]:
        rows, size = 0, 1
        for _ in range(self.depth):
            rows, size = rows - (-self.n // size), size * self.branching
        return rows, self.n
