"""Answers that keep to public facts: totals that are known, and cells that hold nobody.

Let C be the queries whose answers f are known, and A the strategy. Every query q may be answered as q − λC, plus λf:
the best λ is that of least squares under Cx = f. Nothing of it touches the data, so it costs no privacy.

*Few cells*: all x with Cx = f are x₀ + Nz, with N an orthonormal basis of what C does not see. In z the strategy is AN,
a query q is qN, and there is no constraint left: variances, moments and estimates are those of any matrix. A cell that
holds nobody is a column that is left out.

*Many cells*: with S the covariance of the estimate without facts, λ = qSCᵗ(CSCᵗ)⁻¹: the answer moves by λ(f − Cx̂) and
its variance falls by λCSqᵗ. That asks of a strategy only the covariance of its answers with those to the facts.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from rowspace.error import Moments
from rowspace.exceptions import InvalidInput
from rowspace.operators import Dense, Operator, Vector, check_supported
from rowspace.tables import ProductWorkload
from rowspace.threads import one_thread_if_small

from .facts import Facts
from .least_squares import least_squares
from .row_space import workload_gram
from .strategy import Block, CellReconstruction, Checked, Reconstruction, Strategy

CERTAIN = 1e-12
"""Share of a query, squared, up to which what the facts leave open of it is rounding."""

NOTHING_OPEN = "the known facts leave nothing open: every answer follows from them, without data"

Chosen = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Informed(Strategy):
    """A strategy whose answers keep to facts: it asks the same of the data, and answers better."""

    base: Strategy

    @property
    def matrix(self) -> Operator:  # type: ignore[override]
        """Of the strategy itself."""
        return self.base.matrix

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """Of the strategy itself."""
        return self.base.sizes

    @property
    def sets(self) -> tuple[tuple[int, ...], ...] | None:
        """Of the strategy itself."""
        return self.base.sets

    def exact_answers(self, counts: Any, bits: int, checked: Checked) -> Iterator[Block]:
        """Of the strategy itself."""
        return self.base.exact_answers(counts, bits, checked)

    def check_rank(self) -> None:
        """Of the strategy itself."""
        self.base.check_rank()

    @abstractmethod
    def certain(self, queries: ProductWorkload) -> Chosen:
        """Which answers the facts determine."""


@dataclass(frozen=True, eq=False)
class KeepsToFacts(Reconstruction):
    """An estimate whose answers that facts determine are whole to the last digit."""

    of: Reconstruction
    by: Informed

    def answers(self, queries: ProductWorkload) -> Vector:
        """Determined answers lose their rounding errors, where they are whole numbers."""
        found = self.of.answers(queries)
        whole = np.rint(found)
        near = np.abs(found - whole) <= 1e-9 * np.maximum(1e3, np.abs(found))
        return np.where(near & self.by.certain(queries), whole, found)

    def cells(self) -> Vector:
        """As estimated."""
        return self.of.cells()


@dataclass(frozen=True, eq=False)
class OpenCells(Informed):
    """A matrix over few cells, in coordinates of what the facts leave open."""

    start: Vector
    """Counts that satisfy the facts."""
    basis: Vector
    """Orthonormal columns: all that the facts do not see."""

    @classmethod
    def beside(cls, base: Strategy, facts: Facts) -> OpenCells:
        """The basis, by one decomposition of the facts."""
        start, basis = open_space(facts)
        return cls(base, start, basis)

    @cached_property
    def seen(self) -> Operator:
        """What the strategy sees of what is open."""
        return Dense(np.asarray(self.matrix @ self.basis))

    def trace(self, queries: ProductWorkload) -> float:
        """By the Gram matrix of the queries, whatever their number."""
        V = workload_gram(queries.weighted_operator())
        unseen = float(np.einsum("ij,ij->", V @ self.unseen, self.unseen))
        size = float(np.trace(V))
        check_supported(np.sqrt(max(0.0, unseen)), np.sqrt(size))
        open_part = float(np.einsum("ij,ij->", V @ self.basis, self.basis))
        return float(np.einsum("ij,ij->", V, self._covariance)) if open_part > CERTAIN * size else 0.0

    def variances(self, queries: ProductWorkload) -> Vector:
        """From one covariance of all cells."""
        self._check(queries)
        found = queries.operator().row_quadratic(self._covariance)
        return np.where(self.certain(queries), 0.0, np.maximum(found, 0.0))

    def _check(self, queries: ProductWorkload) -> None:
        """Judge every query by its own size: beside large ones a small one would pass."""
        operator = queries.operator()
        unseen = np.linalg.norm(operator @ self.unseen, axis=1)
        size = np.sqrt(operator.row_quadratic(np.eye(len(self.start))))
        check_supported(float(np.divide(unseen, size, out=unseen, where=size > 0).max(initial=0.0)), 1.0)

    @cached_property
    def _decomposed(self) -> tuple[Vector, Vector, Chosen]:
        """(eigenvalues of the Gram matrix, eigenvectors, which are not rounding)."""
        B = self.seen.to_dense()
        values, Q = scipy.linalg.eigh(B.T @ B)
        return values, Q, values > len(values) * 1e-14 * max(float(values.max(initial=0.0)), 1e-300)

    @cached_property
    def _covariance(self) -> Vector:
        values, Q, kept = self._decomposed
        root = self.basis @ (Q[:, kept] / np.sqrt(values[kept]))
        return np.asarray(root @ root.T)

    @cached_property
    def coefficients(self) -> Vector:
        """From a query to those of its noise: cells × measurements."""
        return np.asarray(self._covariance @ (self.matrix @ np.eye(len(self.start))).T)

    @cached_property
    def unseen(self) -> Vector:
        """Directions that neither the facts nor the strategy determine."""
        _, Q, kept = self._decomposed
        return np.asarray(self.basis @ Q[:, ~kept])

    def certain(self, queries: ProductWorkload) -> Chosen:
        """Which answers the facts determine."""
        operator = queries.operator()
        left = operator.row_quadratic(self.basis @ self.basis.T)
        return np.asarray(left <= CERTAIN * np.maximum(1.0, operator.row_quadratic(np.eye(len(self.start)))))

    def moments(self, queries: ProductWorkload) -> Moments:
        """Of the queries in the basis."""
        self._check(queries)
        found = []
        for _, rows in queries.operator().row_blocks():
            squares = (rows @ self.coefficients) ** 2
            largest = np.sqrt(squares.max(axis=1, initial=0.0))
            found.append((squares.sum(axis=1), (squares**2).sum(axis=1), largest, np.zeros(len(rows))))
        known = self.certain(queries)
        return Moments(*(np.where(known, 0.0, np.concatenate(each)) for each in zip(*found, strict=True)))

    def estimate(self, values: Vector) -> Reconstruction:
        """From what the strategy's answers leave beside the facts."""
        z = least_squares(self.seen, values - self.matrix @ self.start)
        return KeepsToFacts(CellReconstruction(self.start + self.basis @ z), self)


def open_space(facts: Facts) -> tuple[Vector, Vector]:
    """(counts that satisfy the facts, an orthonormal basis of what they leave open) over all cells."""
    possible, n = facts.possible_cells(), prod(facts.sizes)
    C = facts.queries.operator().to_dense()[:, possible] if facts.known else np.zeros((0, len(possible)))
    if not len(C):
        return np.zeros(n), np.eye(n)[:, possible]
    with one_thread_if_small(n):
        Q, R, order = scipy.linalg.qr(C.T, pivoting=True)
    sizes = np.abs(np.diagonal(R))
    rank = int(np.sum(sizes > len(possible) * 1e-13 * sizes.max(initial=0.0)))
    solved = scipy.linalg.solve_triangular(R[:rank, :rank], facts.values[order[:rank]], trans="T")
    start, basis = np.zeros(n), np.zeros((n, len(possible) - rank))
    start[possible], basis[possible] = Q[:, :rank] @ solved, Q[:, rank:]
    if rank == len(possible):
        raise InvalidInput(NOTHING_OPEN)
    return start, basis
