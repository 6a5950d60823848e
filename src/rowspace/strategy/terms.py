"""A workload over several attributes as a union of weighted products, the form product and union strategies work on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import mul

import numpy as np
import scipy

from rowspace.error import profile_trace
from rowspace.operators import Dense, Kronecker, Operator, Scaled, Stack
from rowspace.operators.base import Indices, Vector, check_supported
from rowspace.operators.fallback import inverse_gram

DENSE_AXIS = 256
"""Attributes of at most this many cells are handled through dense Gram matrices, which is faster there."""


@dataclass(frozen=True)
class Axis:
    """One attribute of the terms: its different factors, and which of them every term has."""

    factors: tuple[Operator, ...]
    member: Indices

    @classmethod
    def of(cls, column: Sequence[Operator]) -> Axis:
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
    def of(cls, W: Operator) -> Terms | None:
        """The terms of W, or None when W is no union of products over the same two or more attributes."""
        weights, factors = [], []
        for part in W.parts if isinstance(W, Stack) else (W,):
            weight, body = (part.factor, part.of) if isinstance(part, Scaled) else (1.0, part)
            weights.append(weight)
            factors.append(body.factors if isinstance(body, Kronecker) else (body,))
        # Some part may treat neighbouring attributes as one (a predicate that ties them together): an attribute
        # boundary survives only if every part has it.
        common = set.intersection(*(_boundaries(term) for term in factors))
        merged = tuple(_merged(term, common) for term in factors)
        return cls(tuple(weights), merged) if len(merged[0]) >= 2 else None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Cells of every attribute."""
        return tuple(f.shape[1] for f in self.factors[0])

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The terms attribute by attribute."""
        return tuple(Axis.of(column) for column in zip(*self.factors, strict=True))


def _boundaries(factors: Sequence[Operator]) -> set[int]:
    """Numbers of cells up to each attribute boundary."""
    return set(accumulate((f.shape[1] for f in factors), mul))


def _merged(factors: Sequence[Operator], common: set[int]) -> tuple[Operator, ...]:
    """Factors multiplied together where a boundary is not common to all parts."""
    groups: list[list[Operator]] = [[]]
    cells = 1
    for factor in factors:
        if cells in common and groups[-1] and factor.shape[1] > 1:
            groups.append([])
        groups[-1].append(factor)
        cells *= factor.shape[1]
    return tuple(group[0] if len(group) == 1 else Kronecker(*group) for group in groups)
