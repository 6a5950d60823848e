"""Products in integers: every factor gets the bits that it needs.

The entries of a product multiply, and 64 bits leave 22 for them beside the records: four factors of equal bits have
five each, which costs a tenth of the error. But a factor of two cells is nearly exact in small integers, and its bits
are better spent on one of a hundred. So each factor is rounded in several ways, what each way costs is computed with
the other factors as they are, and the bits go where they gain most.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log2

import numpy as np

from rowspace.error import profile_trace
from rowspace.exceptions import UnsupportedWorkload
from rowspace.operators import Dense, Kronecker, Operator, rounded_columns
from rowspace.privacy import Privacy

from .integers import MAX_RECORDS, PRECISION
from .terms import Terms

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
