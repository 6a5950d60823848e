"""Candidates as they are asked of the data: their integers, the noise those need, and the error that both have.

An optimizer compares real matrices under continuous noise. What is drawn differs: rounding to few bits costs a product
of many matrices a tenth of its error, and integer noise of a small scale has less variance than the continuous law, so
that plain counts win at large budgets. Plans are chosen by what is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rowspace.error import noise_level, profile_trace
from rowspace.exceptions import IntegerOverflow, RowspaceError, TooLarge, UnsupportedWorkload
from rowspace.operators import Operator
from rowspace.privacy import NoiseModel, Privacy
from rowspace.tables import ProductWorkload

from .gaussian_optimal import WorstQueryResult
from .integers import calibrated_noise, to_integers
from .product_integers import rounded_by_cost
from .result import Result
from .strategy import Strategy

ROUNDED_WELL = 1.001
"""Up to this factor rounding costs nothing worth a second look."""


@dataclass(frozen=True)
class IntegerCandidate:
    """A candidate's integers, their noise, its total error as it is drawn, and its worst answer's, if anyone looked."""

    result: Result
    integers: Operator
    noise: NoiseModel
    total_error: float

    @property
    def worst(self) -> float | None:
        """The worst squared error among the answers times their weights."""
        # Rounding moves all answers' errors alike, to first order; the plan states the exact one.
        found = self.result.worst
        if found is None and isinstance(self.result, WorstQueryResult):
            found = self.result.max_error
        return None if found is None else found * (self.total_error / self.result.total_error)


def as_asked(
    results: Sequence[Result],
    W: Operator | None,
    tables: ProductWorkload,
    privacy: Privacy,
    objective: str = "total",
    parts: int = 1,
) -> list[IntegerCandidate]:
    """The candidates that can be asked, best first: by the sum of squared errors, or by the worst answer ("max").

    W: the queries over the cells, for strategies over cells; tables: the queries for strategies of tables; parts: into
    how many a record is divided when it is counted. Raises what the first candidate was refused for when none can be
    asked.
    """
    found: list[IntegerCandidate] = []
    refused: RowspaceError = TooLarge(
        "no strategy can handle this workload; use fewer or smaller sets of attributes"
    )
    for result in results:
        try:
            found.append(_asked(result, W, tables, privacy, parts))
        except UnsupportedWorkload:
            continue  # a faint query was lost in rounding
        except IntegerOverflow as reason:
            refused = refused if isinstance(refused, IntegerOverflow) else reason
    if not found:
        raise refused
    # Of those without any error, as at enormous budgets, the one that answers every later question as well.
    found.sort(key=lambda asked: asked.total_error == 0 and not asked.integers.full_column_rank)
    if objective == "total":
        return sorted(found, key=lambda asked: asked.total_error)
    # Where nobody looked at some of them, they stand as they came: best first.
    looked = all(asked.worst is not None for asked in found)
    return sorted(found, key=lambda asked: asked.worst or 0.0) if looked else found


def _asked(
    result: Result, W: Operator | None, tables: ProductWorkload, privacy: Privacy, parts: int
) -> IntegerCandidate:
    """The result in integers, rounded in the way that costs least."""
    integers, noise = to_integers(result.strategy, privacy, parts)
    per_noise = result.total_error / noise_level(result.strategy, privacy)
    if integers is result.strategy:
        return IntegerCandidate(result, integers, noise, noise.variance * per_noise)
    strategy = Strategy.of(integers)
    try:
        if strategy.sizes is not None or W is None:
            return IntegerCandidate(result, integers, noise, noise.variance * strategy.trace(tables))
        plain = IntegerCandidate(result, integers, noise, noise.variance * profile_trace(integers, W))
    except TooLarge:
        return IntegerCandidate(result, integers, noise, noise.variance * per_noise)
    if plain.total_error <= ROUNDED_WELL * result.total_error:
        return plain
    divided = rounded_by_cost(result.strategy, W, privacy) if parts == 1 else None
    if divided is None:
        return plain
    noise = calibrated_noise(divided, privacy)
    other = IntegerCandidate(result, divided, noise, noise.variance * profile_trace(divided, W))
    return min(plain, other, key=lambda asked: asked.total_error)
