"""The regular hierarchy Hₙ of Hay et al. with any branching factor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rowspace.exceptions import InvalidInput

from .base import Operator
from .checks import check_size, rounding_scale
from .levels import Levels, RegularLevels
from .tree import TreeLike, check_level_weights, rounded_weights


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

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        scale = rounding_scale(bits, self.largest_entry())
        return self._rounded_at(scale), scale

    def _rounded_at(self, scale: float) -> Operator:
        return Hierarchy(self.n, self.branching, rounded_weights(self.level_weights, scale))
