"""A workload over several attributes as a union of weighted products, the form product and union strategies work on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod

import numpy as np
import scipy

from rowspace.error import profile_trace
from rowspace.operators import Dense, Indices, Operator, Scaled, Stack, Vector, check_supported, inverse_gram
from rowspace.tables import Piece, ProductWorkload, as_products, gather

DENSE_AXIS = 256
"""Attributes of at most this many cells are handled through dense Gram matrices, which is faster there."""


@dataclass(frozen=True)
class DifferentFactors:
    """One attribute of the terms: its different factors, and which of them every term has."""

    factors: tuple[Operator, ...]
    member: Indices

    @classmethod
    def of(cls, column: Sequence[Operator]) -> DifferentFactors:
        """Equal factors are kept once: many terms share few."""
        numbers: dict[Operator, int] = {}
        member = [numbers.setdefault(factor, len(numbers)) for factor in column]
        return cls(tuple(numbers), np.array(member))

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.factors[0].shape[1]

    @property
    def dense(self) -> bool:
        """Whether to work with dense Gram matrices."""
        return self.size <= DENSE_AXIS

    @cached_property
    def grams(self) -> Vector:
        """The Gram matrix of every factor, stacked."""
        return np.array([factor.gram().to_dense() for factor in self.factors])

    def traces(self, A: Operator) -> Vector:
        """tr((AᵗA)⁺WᵗW) for the factor W of every term; `UnsupportedWorkload` when A misses one."""
        if not self.dense:
            return np.array([profile_trace(A, factor) for factor in self.factors])[self.member]
        M = inverse_gram(A)
        if A.full_column_rank is not True:
            whole = self.grams.sum(axis=0)
            outside = whole - whole @ (M @ A.gram().to_dense())
            check_supported(float(np.abs(outside).max()), float(np.abs(whole).max()))
        return np.asarray(np.einsum("ij,kij->k", M, self.grams)[self.member])

    def effective(self, powers: Vector) -> Operator:
        """One workload that stands for all terms' factors, the factor of term t weighted by √powers[t]."""
        weights = np.bincount(self.member, powers, minlength=len(self.factors))
        kept = [(float(np.sqrt(w)), factor) for w, factor in zip(weights, self.factors, strict=True) if w > 0]
        if len(kept) > 2 and self.dense:
            # Only the Gram matrix matters, so many factors are one square matrix: its root.
            values, vectors = scipy.linalg.eigh(np.tensordot(weights, self.grams, axes=1))
            return Dense(np.sqrt(np.clip(values, 0.0, None))[:, None] * vectors.T)
        parts = [Scaled.of_product(weight, factor) for weight, factor in kept]
        return parts[0] if len(parts) == 1 else Stack(*parts)


@dataclass(frozen=True)
class Terms:
    """A workload as a union of weighted products over the same attributes."""

    weights: tuple[float, ...]
    factors: tuple[tuple[Operator, ...], ...]

    @classmethod
    def of(cls, queries: Operator | ProductWorkload) -> Terms | None:
        """The parts as terms, or None unless they are over the same two or more attributes.

        A piece may tie neighbouring attributes together, with all between them: then they are one here.
        """
        queries = as_products(queries)
        groups = _groups(queries)
        if len(groups) < 2:
            return None
        placing = [_Placing(queries, group) for group in groups]
        factors = tuple(tuple(place(part) for place in placing) for part in queries.parts)
        return cls(tuple(np.sqrt(queries.powers).tolist()), factors)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Cells of every attribute."""
        return tuple(f.shape[1] for f in self.factors[0])

    @cached_property
    def axes(self) -> tuple[DifferentFactors, ...]:
        """The terms attribute by attribute."""
        return tuple(DifferentFactors.of(column) for column in zip(*self.factors, strict=True))


def _groups(queries: ProductWorkload) -> list[range]:
    """Runs of attributes that no piece ties to others; attributes of one cell go with the one before."""
    tied = np.zeros(len(queries.sizes), dtype=np.bool_)  # to the attribute before
    for piece in queries.pieces:
        tied[min(piece.axes) + 1 : max(piece.axes) + 1] = True
    tied |= np.array(queries.sizes) == 1
    starts = [0, *(i for i in range(1, len(tied)) if not tied[i])]
    if len(starts) > 1 and prod(queries.sizes[: starts[1]]) == 1:
        del starts[1]
    return [range(a, b) for a, b in pairwise([*starts, len(tied)])]


class _Placing:
    """The factor that a part has over a run of attributes; parts with the same pieces share it."""

    def __init__(self, queries: ProductWorkload, group: range) -> None:
        self._queries, self._group = queries, group
        self._sizes = tuple(queries.sizes[i] for i in group)
        self._known: dict[tuple[int, ...], Operator] = {}

    def __call__(self, part: Sequence[int]) -> Operator:
        own = tuple(k for k in part if self._queries.pieces[k].axes[0] in self._group)
        if own not in self._known:
            pieces = [self._queries.pieces[k] for k in own]
            moved = [Piece(tuple(i - self._group.start for i in p.axes), p.operator) for p in pieces]
            self._known[own] = gather(self._sizes, [(1.0, tuple(moved))]).operator()
        return self._known[own]
