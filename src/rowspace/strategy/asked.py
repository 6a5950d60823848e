"""Candidates as they are asked of the data: their integers, the noise those need, and the error that both have.

An optimizer compares real matrices under continuous noise. What is drawn differs: rounding to few bits costs a product
of many matrices a tenth of its error, and integer noise of a small scale has less variance than the continuous law, so
that plain counts win at large budgets. Plans are chosen by what is drawn.

Products in integers: every factor gets the bits that it needs.

The entries of a product multiply, and 64 bits leave 22 for them beside the records: four factors of equal bits have
five each, which costs a tenth of the error. But a factor of two cells is nearly exact in small integers, and its bits
are better spent on one of a hundred. So each factor is rounded in several ways, what each way costs is computed with
the other factors as they are, and the bits go where they gain most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np

from rowspace.error import noise_level, profile_trace
from rowspace.exceptions import IntegerOverflow, RowspaceError, TooLarge, UnsupportedWorkload
from rowspace.operators import Dense, Kronecker, Operator, rounded_columns
from rowspace.privacy import NoiseModel, Privacy
from rowspace.tables import ProductWorkload

from .gaussian_optimal import WorstQueryResult
from .integers import MAX_RECORDS, PRECISION, calibrated_noise, to_integers
from .result import Result
from .strategy import Strategy
from .terms import Terms

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
    def place(self) -> Place:
        """What candidates are sorted by."""
        return placed(self.total_error, self.integers, self.result.name)

    @property
    def worst(self) -> float | None:
        """The worst squared error among the answers times their weights."""
        # Rounding moves all answers' errors alike, to first order; the plan states the exact one.
        found = self.result.worst
        if found is None and isinstance(self.result, WorstQueryResult):
            found = self.result.max_error
        return None if found is None else found * (self.total_error / self.result.total_error)


Place = tuple[float, bool, bool, str]


def placed(total_error: float, integers: Operator, name: str) -> Place:
    """What candidates are sorted by: the total error, rounding errors aside; among equals tables first, then by name.

    Of those without any error, as at enormous budgets, the one comes first that answers every later question as well.
    """
    over_cells = Strategy.of(integers).sizes is None
    return (
        float(f"{total_error:.10e}"),
        total_error == 0 and not integers.full_column_rank,
        over_cells,
        name,
    )


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
    unique: dict[Place, IntegerCandidate] = {}
    for asked in found:
        unique.setdefault(asked.place, asked)
    if objective == "total":
        return [unique[place] for place in sorted(unique)]
    found = sorted(unique.values(), key=lambda asked: asked.place[1])
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


BITS = 62 - log2(MAX_RECORDS)
"""Bits for the largest entry of a product."""

FINE_CELLS = 256
"""Factors of so few cells are judged in a millisecond, and rounded at eight scales for every bit."""

Form = tuple[float, float, Operator]
"""(bits of the largest entry, relative cost, the integers)."""


def rounded_by_cost(A: Operator, W: Operator, privacy: Privacy) -> Operator | None:
    """The product in integers with bits divided by what they cost; None where that is no question.

    W: the queries, a union of products over the same attributes.
    """
    if not isinstance(A, Kronecker) or not A.rounding_keeps_row_space:
        return None
    terms = Terms.of(W)
    if terms is None or terms.sizes != tuple(factor.shape[1] for factor in A.factors):
        return None
    traces = np.column_stack([axis.traces(f) for axis, f in zip(terms.axes, A.factors, strict=True)])
    forms = []
    for i, (axis, factor) in enumerate(zip(terms.axes, A.factors, strict=True)):
        powers = np.square(terms.weights) * np.prod(np.delete(traces, i, axis=1), axis=1)
        forms.append(_forms(factor, axis.effective(powers), privacy.norm))
    return _divided(forms)


def _divided(forms: list[list[Form]]) -> Operator | None:
    """One form of every factor: from the coarsest on, the step that gains most per bit is taken while it fits."""
    at = [0] * len(forms)
    while True:
        room = BITS - sum(own[k][0] for own, k in zip(forms, at, strict=True))
        if room < 0:
            return None
        steps = [
            ((own[at[i]][1] - own[k][1]) / (own[k][0] - own[at[i]][0]), i, k)
            for i, own in enumerate(forms)
            for k in range(at[i] + 1, len(own))
            if own[k][0] - own[at[i]][0] <= room
        ]
        if not steps:
            return Kronecker(*(own[k][2] for own, k in zip(forms, at, strict=True)))
        _, i, at[i] = max(steps)


def _forms(factor: Operator, W: Operator, norm: int) -> list[Form]:
    """Ways to round a factor: each costs less than all with fewer bits."""
    if factor.integral:
        return [(log2(max(1.0, factor.largest_entry())), 0.0, factor)]

    def error(B: Operator) -> float:
        return B.max_column_norm(norm) ** 2 * profile_trace(B, W)

    least, judged = error(factor), []
    for form in _rounded(factor, norm):
        try:
            judged.append((log2(max(1.0, form.largest_entry())), error(form) / least - 1.0, form))
        except UnsupportedWorkload:
            continue  # too coarse to tell cells apart
    kept: list[Form] = []
    for one in sorted(judged, key=lambda found: found[:2]):
        if not kept or one[1] < kept[-1][1]:
            kept.append(one)
    return kept


def _rounded(factor: Operator, norm: int) -> Iterator[Operator]:
    for bits in range(2, PRECISION):
        yield factor.integer_form(bits)[0]
    if isinstance(factor, Dense) and norm == 2:
        steps = 8 if factor.shape[1] <= FINE_CELLS else 1
        for largest in sorted({round(2 ** (k / steps)) for k in range(steps * PRECISION)}):
            yield Dense(rounded_columns(factor.array, largest / factor.largest_entry()))
