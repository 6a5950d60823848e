"""The same queries over cells in another order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Indices, Operator, Vector
from .checks import check_supported, read_only
from .composed import Composed
from .diagonal import Diagonal
from .kinds import PlacedColumns


@dataclass(frozen=True, eq=False)
class Permuted(PlacedColumns):
    """x ↦ A x[order]: lets a taxonomy's tree, which wants neighbouring leaves, work on cells in any order.

    >>> from rowspace import operators as op
    >>> (Permuted(op.Prefix(3), [2, 0, 1]) @ np.array([10, 20, 30])).tolist()
    [30, 40, 60]
    """

    of: Operator
    order: Indices

    def __post_init__(self) -> None:
        super().__post_init__()
        order = read_only(self.order, np.int64)
        # The length first: the operator may have more cells than fit in memory, the order cannot.
        permutes = order.shape == (self.of.shape[1],) and np.array_equal(
            np.sort(order), np.arange(len(order))
        )
        if not permutes:
            raise InvalidInput(f"expected a permutation of 0..{self.of.shape[1] - 1}")
        object.__setattr__(self, "order", order)

    def _apply(self, x: Array) -> Array:
        return self.of._apply(x[..., self.order])

    def _adjoint(self, y: Array) -> Array:
        out = np.empty((*y.shape[:-1], len(self.order)), dtype=y.dtype)
        out[..., self.order] = self.of._adjoint(y)
        return out

    def pinv(self) -> Operator:
        return Permuted(self.of.pinv().T, self.order).T

    def _column_sums(self, p: int) -> Vector:
        sums = np.empty(len(self.order))
        sums[self.order] = self.of._column_sums(p)
        return sums

    def _exact_column_sums(self, p: int) -> list[int]:
        sums = self.of._exact_column_sums(p)
        return [sums[position] for position in np.argsort(self.order).tolist()]

    def _rows(self, start: int, stop: int) -> Vector:
        return self.of._rows(start, stop)[:, np.argsort(self.order)]

    def _integers(self) -> Indices:
        return self.of._integers()[:, np.argsort(self.order)]

    def _profile_trace(self, W: Operator) -> float:
        # Moving the cells of the strategy one way is moving the cells of the workload the other way.
        return self.of.profile_trace(Permuted(W, np.argsort(self.order)))


@dataclass(frozen=True, eq=False)
class Merged(PlacedColumns):
    """x ↦ B·(sums of x over groups of cells): `of` is B, `groups` says which of its columns each cell has.

    Every group has a cell, so the columns are those of B, some more than once: the same norms, the same distances.

    >>> from rowspace import operators as op
    >>> A = Merged(op.Prefix(2), [0, 1, 0])
    >>> (A @ np.array([10, 20, 30])).tolist(), A.max_column_norm(1)
    ([40, 60], 2.0)
    """

    of: Operator
    groups: Indices

    def __post_init__(self) -> None:
        super().__post_init__()
        groups = read_only(self.groups, np.int64)
        count = self.of.shape[1]
        # The number first: the operator may have more columns than fit in memory, the groups cannot.
        fits = groups.ndim == 1 and count <= len(groups) and groups.min() >= 0 and groups.max() < count
        if not fits or not np.bincount(groups, minlength=count).all():
            raise InvalidInput(
                f"expected a group out of 0..{count - 1} for every cell, and a cell in every group"
            )
        object.__setattr__(self, "groups", groups)

    @property
    def shape(self) -> tuple[int, int]:
        return self.of.shape[0], len(self.groups)

    @property
    def full_column_rank(self) -> bool | None:
        return self.of.full_column_rank if self.of.shape[1] == len(self.groups) else False

    @cached_property
    def _sizes(self) -> Vector:
        """How many cells each group has."""
        return np.bincount(self.groups).astype(np.float64)

    @cached_property
    def _by_group(self) -> tuple[Indices, Indices]:
        """The cells group by group, and where each group begins."""
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.groups))[:-1]])
        return np.argsort(self.groups, kind="stable"), starts

    def _apply(self, x: Array) -> Array:
        order, starts = self._by_group
        return self.of._apply(np.add.reduceat(x[..., order], starts, axis=-1))

    def _adjoint(self, y: Array) -> Array:
        return self.of._adjoint(y)[..., self.groups]

    def pinv(self) -> Operator:
        # A = (B·S)(S⁻¹G) with S the roots of the sizes: S⁻¹G has orthonormal rows.
        roots = np.sqrt(self._sizes)
        inverse = Composed(self.of, Diagonal(roots)).pinv()
        return Composed(Merged(Diagonal(1.0 / roots), self.groups).T, inverse)

    def _column_sums(self, p: int) -> Vector:
        return self.of._column_sums(p)[self.groups]

    def _exact_column_sums(self, p: int) -> list[int]:
        sums = self.of._exact_column_sums(p)
        return [sums[group] for group in self.groups.tolist()]

    def pair_norm(self, p: int) -> int | None:
        return self.of.pair_norm(p)

    def _rows(self, start: int, stop: int) -> Vector:
        return self.of._rows(start, stop)[:, self.groups]

    def _integers(self) -> Indices:
        return self.of._integers()[:, self.groups]

    def supporting_integers(self, bits: int) -> Operator:
        return Merged(self.of.supporting_integers(bits), self.groups)

    def nuclear_norm(self) -> float:
        return Composed(self.of, Diagonal(np.sqrt(self._sizes))).nuclear_norm()

    def _profile_trace(self, W: Operator) -> float:
        return self.of.profile_trace(self.on_groups(W))

    def on_groups(self, W: Operator) -> Operator:
        """The workload over groups that W is, or `UnsupportedWorkload` when a query tells cells of a group apart."""
        mean = Merged(Diagonal(1.0 / self._sizes), self.groups)
        random = np.random.default_rng(0).standard_normal((len(self.groups), 4))
        apart = random - (mean @ random)[self.groups]
        # Each query by its own size: beside large ones a small one would pass.
        size = np.abs(W @ random).max(axis=1)
        difference = np.abs(W @ apart).max(axis=1)
        check_supported(float(np.max(difference / np.where(size > 0, size, 1.0), initial=0.0)), 1.0)
        return Composed(W, mean.T)
