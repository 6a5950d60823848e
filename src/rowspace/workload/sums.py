"""Factors about a measure: its sum, and how many records have a value of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rowspace import operators as op
from rowspace.domain import Domain, Measure
from rowspace.exceptions import InvalidWorkload
from rowspace.workload.factors import Factor, Rows
from rowspace.workload.part import Part


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

    @property
    def unit(self) -> float:  # type: ignore[override]
        """One over the largest size of a value."""
        return 1 / self.measure.largest

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


@dataclass(frozen=True)
class Mean(OfMeasure):
    """The mean of a measure, in words: it is no linear query, but the ratio of two."""

    domain: Domain
    word = "mean"
    size = 1

    @property
    def operator(self) -> op.Operator:
        """There is none."""
        raise InvalidWorkload("a mean is the ratio of two queries, and none itself")

    def phrases(self, rows: Rows, *, joined: bool) -> list[str]:
        """Write ``mean of income``."""
        return [f"mean of {self.attributes[0]}"] * len(rows)


@dataclass(frozen=True)
class Means:
    """A group of means: sums over numbers of records, query by query."""

    sums: Part
    records: Part

    @property
    def measure(self) -> str:
        """What is averaged."""
        return self.sums.factors[-1].attributes[0]

    @property
    def words(self) -> Part:
        """The group of means, for its words alone."""
        *groups, sums = self.sums.factors
        return Part((*groups, Mean(sums.domain)), name=self.sums.mean)

    @property
    def groups(self) -> Part:
        """The records that are averaged over, as counts."""
        return replace(self.sums, factors=self.sums.factors[:-1], name=self.sums.mean, mean=None, weight=1.0)


def means_in(parts: Sequence[Part]) -> list[Means]:
    """The groups of means of which both halves are there, in their order."""
    found = []
    for sums in parts:
        if sums.mean is None or not (sums.factors and isinstance(sums.factors[-1], Sum)):
            continue
        own = sums.factors[-1].domain
        halves = (
            part
            for part in parts
            if part.mean == sums.mean and part.factors == (*sums.factors[:-1], Valued(own))
        )
        if (records := next(halves, None)) is not None:
            found.append(Means(sums, records))
    return found


def mean_parts(counts: Part, measure: Domain) -> list[Part]:
    """The two halves of the means of a measure of the records that are counted."""
    named = replace(counts, mean=counts.group)
    halves = [measured(named, Sum(measure)), measured(named, Valued(measure))]
    return [
        replace(half, name=f"{counts.group}: {word}")
        for half, word in zip(halves, (Sum.word, Valued.word), strict=True)
    ]


def measured(counts: Part, factor: Sum | Valued) -> Part:
    """The same about a measure of the records that are counted.

    The importance of a sum is one over the largest size of a value, so that one record matters as much in it as in a
    count.
    """
    return replace(counts, factors=(*counts.factors, factor), weight=factor.unit * counts.weight)


def group_name(factor: OfMeasure, about: str) -> str:
    """What a group of sums is called."""
    words = f"{factor.word} {'of' if isinstance(factor, Sum) else 'with'} {factor.attributes[0]}"
    return f"{words} by {about}" if about else words
