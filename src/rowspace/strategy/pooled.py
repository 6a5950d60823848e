"""Several measurements of one table as one: each strategy once, with independent noise of its own.

Divided by the standard deviation of its noise every measurement has noise of variance one, and all of them stacked are
one strategy. Least squares on that is the best unbiased estimate (Gauss and Markov).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from operator import eq
from typing import TypeVar

import numpy as np
import scipy

from rowspace.error import Moments, half_widths
from rowspace.operators import Indices, Operator, Scaled, Stack, Vector
from rowspace.privacy import NoiseModel
from rowspace.tables import ProductWorkload

from .strategy import Strategy
from .table_evidence import as_residuals, same_rows, united_rows

CELLS_AT_ONCE = 1024
"""Up to so many cells are solved for all at once: the shape of the noise, and so the intervals, are then exact."""

LEAST_VARIANCE = 1e-30
"""Noise that is never drawn as anything but zero counts as this much: measurements are weighted by 1/variance."""

MOST_PRECISE = 1e10
"""How many times as informative as the least a measurement is taken to be at most: 64-bit floats solve for no more."""

NOTHING, UNSEEN = 1e8, 1e-10
"""How many times as informative others are beside which a measurement adds nothing, and shares that are rounding."""

LEAST_PIVOT = 1e-5
"""Least pivot of a Cholesky factor over the largest at which it is solved with: 64-bit floats keep six digits."""


M = TypeVar("M", bound="Measured")


@dataclass(frozen=True, eq=False)
class Measured:
    """A strategy asked with independent noise of this variance and shape on every answer.

    `step`: the noise is a whole multiple of it (0: of nothing known).
    """

    strategy: Operator
    variance: float
    excess_kurtosis: float
    step: float

    def __post_init__(self) -> None:
        if self.variance < LEAST_VARIANCE:
            object.__setattr__(self, "variance", LEAST_VARIANCE)
            object.__setattr__(self, "excess_kurtosis", 1 / LEAST_VARIANCE)

    @classmethod
    def of(cls, strategy: Operator, noise: NoiseModel) -> Measured:
        """A strategy with whole-numbered noise."""
        return cls(strategy, noise.variance, noise.excess_kurtosis, 1.0)

    @property
    def whitened(self) -> Operator:
        """The strategy divided by the standard deviation of its noise."""
        return Scaled.of_product(1 / np.sqrt(self.variance), self.strategy)


def alike(measured: Sequence[Measured], same: Callable[[Operator, Operator], bool] = eq) -> list[list[int]]:
    """The numbers of those that asked the same strategy, in the order of the first ones."""
    groups: list[list[int]] = []
    for number, one in enumerate(measured):
        for group in groups:
            if all(
                same(measured[k].strategy, one.strategy) for k in (group if same is not eq else group[:1])
            ):
                group.append(number)
                break
        else:
            groups.append([number])
    return groups


def averaged(group: Sequence[Measured]) -> tuple[Measured, Vector]:
    """Equal questions as one, and the weights of their average: least squares, and its noise is independent again."""
    variances = np.array([measured.variance for measured in group])
    variance = 1 / float(np.sum(1 / variances))
    weights = variance / variances
    # Cumulants of independent noise add up; the fourth is kurtosis · variance².
    fourth = sum(
        w**4 * m.excess_kurtosis * m.variance**2 for w, m in zip(weights.tolist(), group, strict=True)
    )
    steps = weights * [measured.step for measured in group]
    same = bool(np.all(np.abs(steps - steps[0]) <= 1e-12 * steps[0]))
    step = float(steps[0]) if same else 0.0
    return Measured(group[0].strategy, variance, float(fourth / variance**2), step), weights


def united(group: Sequence[Measured]) -> tuple[Measured, list[tuple[Indices, Vector]]]:
    """Those with the same rows over joint cells as one; of every one, which answers, and how much of each.

    The heaviest tails among them stand for all.
    """
    strategy, shares = united_rows(group)
    tails = max((own.excess_kurtosis for own in group), key=abs)
    return Measured(strategy, 1.0, tails, 0.0), shares


def within_digits(measured: Sequence[M]) -> list[M]:
    """The same without those that add nothing to the others, and noise far below all others as larger than it is.

    Error bars err on the wide side: what is left out is evidence too.
    """
    found = list(measured)
    precision = [max(1.0, one.strategy.largest_entry()) ** 2 / one.variance for one in found]
    while len(found) > 1 and max(precision) > MOST_PRECISE * min(precision):
        least = int(np.argmin(precision))
        rest = [
            one for one, known in zip(found, precision, strict=True) if known > NOTHING * precision[least]
        ]
        if not _supported(found[least].strategy, tuple(one.strategy for one in rest)):
            break
        del found[least], precision[least]
    most = MOST_PRECISE * min(precision, default=0.0)
    return [
        replace(one, variance=one.variance * known / most) if known > most else one
        for one, known in zip(found, precision, strict=True)
    ]


@lru_cache(maxsize=32)
def _supported(strategy: Operator, others: tuple[Operator, ...]) -> bool:
    """Whether others answer all that a strategy does, for domains whose cells are solved for all at once."""
    if strategy.shape[1] > CELLS_AT_ONCE or not others:
        return False
    grams = [_gram(other) for other in others]
    values, Q = scipy.linalg.eigh(np.sum([G / np.trace(G) for G in grams], axis=0))
    unseen = Q[:, values <= UNSEEN]
    own = _gram(strategy)
    return float(np.einsum("ij,ij->", own @ unseen, unseen)) <= UNSEEN * float(np.trace(own))


def stacked(measured: Sequence[Measured]) -> Operator:
    """All of them as one strategy, with noise of variance one."""
    parts = [one.whitened for one in measured]
    return parts[0] if len(parts) == 1 else Stack(*parts)


@dataclass(frozen=True, eq=False)
class Pooled:
    """How well measurements answer together, each strategy once."""

    measured: tuple[Measured, ...]

    @classmethod
    def of(cls, measured: Sequence[Measured]) -> Pooled:
        """Those of one strategy averaged."""
        groups = ([measured[k] for k in group] for group in alike(measured))
        each = [averaged(group)[0] if len(group) > 1 else group[0] for group in groups]
        rows = ([each[k] for k in group] for group in alike(each, same_rows))
        return cls(tuple(within_digits([united(own)[0] if len(own) > 1 else own[0] for own in rows])))

    @cached_property
    def strategy(self) -> Strategy:
        """The only strategy, or all of them divided by their noise; tables that are alike stay tables."""
        if len(self.measured) == 1:
            return Strategy.of(self.measured[0].strategy)
        many = self.measured[0].strategy.shape[1] > CELLS_AT_ONCE
        tables = as_residuals(self.measured) if many else None
        return Strategy.of(stacked(self.measured) if tables is None else tables)

    @property
    def variance(self) -> float:
        """The variance of the noise on its answers."""
        return self.measured[0].variance if len(self.measured) == 1 else 1.0

    def error_bars(self, queries: ProductWorkload, level: float) -> tuple[Vector, Vector]:
        """(standard errors, half-widths of intervals) of the answers."""
        if len(self.measured) > 1 and self.strategy.tables is not None:
            second = self.strategy.variances(queries)
            return np.sqrt(second), widest(carried_by_one(second), self.measured, level)
        parts = self._few_moments(queries) or self.strategy.moments(queries)
        errors = np.sqrt(self.variance * parts.second)
        if len(self.measured) > 1:
            parts = replace(parts, spacing=np.zeros_like(parts.spacing))
            return errors, widest(parts, self.measured, level)
        own = self.measured[0]
        # The noise moves in steps: so do the answers, by the spacing of its coefficients times that.
        parts = replace(parts, spacing=parts.spacing * own.step)
        return errors, half_widths(parts, own, level, own.step or 1.0)

    def _few_moments(self, queries: ProductWorkload) -> Moments | None:
        """The moments of few queries from several strategies over few cells, without an inverse; None elsewhere.

        With Y = Σ AᵗA/variance the coefficients of q are AY⁻¹q/σ: two triangular systems for every query.
        """
        cells = self.measured[0].strategy.shape[1]
        if len(self.measured) < 2 or cells > CELLS_AT_ONCE or queries.queries > cells // 4:
            return None
        if self._factor is None:
            return None
        solved = scipy.linalg.cho_solve(
            (self._factor, True), queries.operator().to_dense().T, check_finite=False
        )
        squares = np.concatenate([own.whitened @ solved for own in self.measured]) ** 2
        fourth, largest = (squares**2).sum(axis=0), np.sqrt(squares.max(axis=0))
        return Moments(squares.sum(axis=0), fourth, largest, np.zeros(len(fourth)))

    @cached_property
    def _factor(self) -> Vector | None:
        """The Cholesky factor of Σ AᵗA/variance; None where that is singular, or nearly."""
        Y = np.sum([_gram(own.strategy) / own.variance for own in self.measured], axis=0)
        try:
            factor = scipy.linalg.cholesky(Y, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            return None
        pivots = np.diagonal(factor)
        return np.asarray(factor) if pivots.min() >= LEAST_PIVOT * pivots.max() else None


@lru_cache(maxsize=8)
def _gram(strategy: Operator) -> Vector:
    """AᵗA; remembered, as the same strategies meet others again and again."""
    return strategy.gram().to_dense()


@dataclass(frozen=True)
class _UnitNoise:
    """Noise of variance one."""

    excess_kurtosis: float
    variance: float = 1.0


def carried_by_one(second: Vector) -> Moments:
    """Answers of these variances as if a single noise variable carried all of each: the widest tails there can be."""
    return Moments(second, second**2, np.sqrt(second), np.zeros_like(second))


def widest(parts: Moments, measured: Sequence[Measured], level: float) -> Vector:
    """Half-widths that hold whichever measurement's noise an answer is made of.

    At high levels the heaviest tails need the widest interval, at low ones the lightest. Noise in whole steps is at
    most half a step from a continuous law; no answer's step is larger than its largest coefficient.
    """
    heaviest, step = widest_shape(measured)
    each = [half_widths(parts, _UnitNoise(shape), level, step) for shape in sorted({0.0, heaviest})]
    return np.asarray(np.max(each, axis=0))


def widest_shape(measured: Sequence[Measured]) -> tuple[float, float]:
    """(the heaviest excess kurtosis, the largest step in standard deviations) among measurements."""
    step = max((one.step or 1.0) / np.sqrt(one.variance) for one in measured)
    return max(one.excess_kurtosis for one in measured), float(step)
