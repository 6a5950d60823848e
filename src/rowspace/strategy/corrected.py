"""Answers that keep to public facts over many cells: moved by what the facts say of their errors; see `open_cells`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import scipy

from rowspace.error import Moments
from rowspace.exceptions import TooLarge
from rowspace.operators import Indices, Vector
from rowspace.tables import ProductWorkload, gather

from .facts import FEW_CELLS, MOST_FACTS, Facts, pieces_of
from .open_cells import Chosen, Informed, KeepsToFacts, OpenCells
from .strategy import Reconstruction, Strategy

MOST_NUMBERS = 2**27
"""Most numbers (facts × cells) that are kept over more cells: 1 GB."""

DEPENDENT = 1e-9
"""Share of a fact's variance up to which it says nothing that the others do not."""


def informed(strategy: Strategy, facts: Facts, sets: Sequence[tuple[int, ...]]) -> Strategy:
    """A strategy whose answers keep to facts; `sets` are those of the tables whose empty cells must come out empty.

    Raises:
        UnsupportedWorkload: It does not measure what a fact is about, over many cells.
        TooLarge: There are too many facts, or too many cells.
    """
    if strategy.matrix.shape[1] <= FEW_CELLS:
        return OpenCells.beside(strategy, facts)
    return Corrected.beside(strategy, facts.spelled_out(sets))


@dataclass(frozen=True, eq=False)
class Corrected(Informed):
    """A strategy over many cells, whose answers move by what the facts say of its errors."""

    facts: Facts
    covariances: tuple[Reconstruction, ...]
    """What every independent fact's answer has to do with others: see `Strategy.covariance`."""
    inverse: Vector
    """Of the covariance matrix of these facts' answers."""

    @classmethod
    def beside(cls, base: Strategy, facts: Facts) -> Corrected:
        """The independent ones among the facts, and what they have to do with one another."""
        if len(facts.known) > MOST_FACTS or (
            base.tables is None and len(facts.known) * min(prod(facts.sizes), 2**62) > MOST_NUMBERS
        ):
            raise TooLarge(f"{len(facts.known):,} known facts are too many over so many cells")
        found = [base.covariance(gather(facts.sizes, [(1.0, pieces_of(fact))])) for fact in facts.known]
        together = np.array([own.answers(facts.queries) for own in found])
        kept = _independent(together)
        inverse = np.linalg.inv(together[np.ix_(kept, kept)])
        return cls(
            base,
            Facts(facts.sizes, tuple(facts.known[k] for k in kept)),
            tuple(found[k] for k in kept),
            0.5 * (inverse + inverse.T),
        )

    def trace(self, queries: ProductWorkload) -> float:
        """Less what the facts take away, part by part."""
        return float(queries.powers @ self.totals(queries))

    def totals(self, queries: ProductWorkload) -> Vector:
        """Less what the facts take away, part by part."""
        taken = [self._taken(queries.only([number])).sum() for number in range(len(queries.parts))]
        before = self.base.totals(queries)
        left = before - np.array(taken)
        return np.where(left <= DEPENDENT * before, 0.0, left)

    def _with(self, queries: ProductWorkload) -> Vector:
        """Covariances of the queries' answers with those of the facts."""
        plain = queries.unweighted()
        return np.stack([own.answers(plain) for own in self.covariances], axis=1)

    def _taken(self, queries: ProductWorkload) -> Vector:
        shared = self._with(queries)
        return np.asarray(np.einsum("ij,ij->i", shared @ self.inverse, shared))

    def variances(self, queries: ProductWorkload) -> Vector:
        """Less what the facts take away."""
        before = self.base.variances(queries)
        left = before - self._taken(queries)
        return np.where(left <= DEPENDENT * before, 0.0, left)

    def certain(self, queries: ProductWorkload) -> Chosen:
        """Which answers the facts determine."""
        return np.asarray(self.variances(queries) == 0)

    def moments(self, queries: ProductWorkload) -> Moments:
        """The variances; as for the shape, as if one noise variable carried each answer: the widest tails there are."""
        second = self.variances(queries)
        return Moments(second, second**2, np.sqrt(second), np.zeros_like(second))

    def estimate(self, values: Vector) -> Reconstruction:
        """The strategy's own, moved."""
        found = self.base.estimate(values)
        return KeepsToFacts(_Moved(found, self, self.moves(found)), self)

    def moves(self, found: Reconstruction) -> Vector:
        """How far an estimate moves along every fact's covariance."""
        return np.asarray(self.inverse @ (self.facts.values - found.answers(self.facts.queries)))


@dataclass(frozen=True, eq=False)
class _Moved(Reconstruction):
    """An estimate that is moved to satisfy facts."""

    of: Reconstruction
    by: Corrected
    amounts: Vector

    def answers(self, queries: ProductWorkload) -> Vector:
        """Every answer by its covariance with the facts."""
        return self.of.answers(queries) + self.by._with(queries) @ self.amounts

    def cells(self) -> Vector:
        """Every cell by its covariance with the facts."""
        moves = (amount * own.cells() for amount, own in zip(self.amounts, self.by.covariances, strict=True))
        return np.asarray(sum(moves, self.of.cells()))


def _independent(covariance: Vector) -> Indices:
    """Rows that determine all others: by a Cholesky factor with pivots, in their order."""
    scale = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    apart = np.where(scale > 0, scale, 1.0)
    _, order, rank, _ = scipy.linalg.lapack.dpstrf(
        covariance / np.multiply.outer(apart, apart), tol=DEPENDENT, lower=0
    )
    return np.sort(order[:rank] - 1)
