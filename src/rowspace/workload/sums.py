"""Factors about a measure: its sum, and how many records have a value of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rowspace import operators as op
from rowspace.domain import Domain, Measure
from rowspace.workload.factors import Factor, Rows


class OfMeasure(Factor):
    """One query about the two cells of a measure; the place for missing values is in none."""

    leads = True
    word: str

    @property
    def measure(self) -> Measure:
        """The measure."""
        return self.domain.measure(self.domain.names[0])

    def entries(self, rows: Rows) -> list[str]:
        """Write ``sum``."""
        return [self.word] * len(rows)


@dataclass(frozen=True)
class Sum(OfMeasure):
    """The sum of a measure."""

    domain: Domain
    word = "sum"

    @cached_property
    def operator(self) -> op.Operator:
        """The values of the two cells."""
        own = self.measure
        return op.Padded.right(op.Dense(np.array([[own.low, own.high]])), self.domain.size)

    def phrases(self, rows: Rows, *, joined: bool) -> list[str]:
        """Write ``sum of income``."""
        return [f"sum of {self.attributes[0]}"] * len(rows)


@dataclass(frozen=True)
class Valued(OfMeasure):
    """How many records have a value of a measure."""

    domain: Domain
    word = "records"

    @cached_property
    def operator(self) -> op.Operator:
        """Both cells."""
        return op.Padded.right(op.Total(self.measure.size), self.domain.size)

    def phrases(self, rows: Rows, *, joined: bool) -> list[str]:
        """Write ``records with a value of income``."""
        return [f"records with a value of {self.attributes[0]}"] * len(rows)


def group_name(factor: OfMeasure, about: str) -> str:
    """What a group of sums is called."""
    words = f"{factor.word} {'of' if isinstance(factor, Sum) else 'with'} {factor.attributes[0]}"
    return f"{words} by {about}" if about else words
