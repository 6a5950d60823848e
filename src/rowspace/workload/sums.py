"""Factors about a measure: its sum, its sum of squares, and how many records have a value of it."""

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

SPREADS = ("variance", "standard deviation", "sample variance", "sample standard deviation")
"""What is made of a sum of squares; of a sample, with one record less to divide by."""


class OfMeasure(Factor):
    """One query about the cells of a measure; the place for missing values is in none."""

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
class MeasureSum(OfMeasure):
    """The sum of a measure."""

    domain: Domain
    word = "sum"

    @property
    def unit(self) -> float:  # type: ignore[override]
        """One over the largest size of a value."""
        return 1 / self.measure.largest

    @cached_property
    def operator(self) -> op.Operator:
        """The values of the cells."""
        return op.Padded.right(op.Dense(np.array([self.measure.values])), self.domain.size)

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
        """All cells."""
        return op.Padded.right(op.Total(self.measure.size), self.domain.size)

    def phrases(self, rows: Rows, *, joined: bool) -> list[str]:
        """Write ``records with a value of income``."""
        return [f"records with a value of {self.attributes[0]}"] * len(rows)


@dataclass(frozen=True)
class Squares(OfMeasure):
    """The sum of squared distances of a measure from the middle of its bounds, for one of `SPREADS`."""

    domain: Domain
    figure: str = SPREADS[0]
    word = "squares"

    def __post_init__(self) -> None:
        own = self.measure
        if not own.squares:
            raise InvalidWorkload(
                f"the {self.figure} of {own.name!r} needs a measure that is declared with its squares: "
                f"{str(repr(own))[:-1]}, squares=True)"
            )
        if self.figure not in SPREADS:
            raise InvalidWorkload(f"expected one of {', '.join(SPREADS)}")

    @property
    def unit(self) -> float:  # type: ignore[override]
        """One over the largest square."""
        return 1 / self.measure.reach**2

    @cached_property
    def operator(self) -> op.Operator:
        """The square of a bound for the outer cells (`rowspace.sources.parts`)."""
        largest = self.measure.reach**2
        return op.Padded.right(op.Dense(np.array([[largest, 0.0, 0.0, largest]])), self.domain.size)

    def phrases(self, rows: Rows, *, joined: bool) -> list[str]:
        """Write ``sum of squared distances of income from 100000``."""
        own = self.measure
        return [f"sum of squared distances of {own.name} from {own.middle:.12g}"] * len(rows)


@dataclass(frozen=True)
class Mean(OfMeasure):
    """The mean of a measure, or a spread, in words: it is no linear query, but made of two or three."""

    domain: Domain
    figure: str = "mean"
    size = 1

    @property
    def word(self) -> str:  # type: ignore[override]
        """What it is."""
        return self.figure

    @property
    def operator(self) -> op.Operator:
        """There is none."""
        raise InvalidWorkload(f"a {self.figure} is made of several queries, and none itself")

    def phrases(self, rows: Rows, *, joined: bool) -> list[str]:
        """Write ``mean of income``."""
        return [f"{self.figure} of {self.attributes[0]}"] * len(rows)


@dataclass(frozen=True)
class Means:
    """A group of means: sums over numbers of records, query by query. With sums of squares, a group of spreads."""

    sums: Part
    records: Part
    figure: str = "mean"

    @property
    def measure(self) -> str:
        """What is averaged."""
        return self.sums.factors[-1].attributes[0]

    @property
    def words(self) -> Part:
        """The group of means, for its words alone."""
        *groups, sums = self.sums.factors
        return Part((*groups, Mean(sums.domain, self.figure)), name=self.sums.mean)

    @property
    def groups(self) -> Part:
        """The records that are averaged over, as counts."""
        return replace(self.sums, factors=self.sums.factors[:-1], name=self.sums.mean, mean=None, weight=1.0)


def means_in(parts: Sequence[Part]) -> list[Means]:
    """The groups of means and of spreads of which all is there, in their order."""
    found = []
    for at, sums in enumerate(parts):
        if sums.mean is None or not (sums.factors and isinstance(sums.factors[-1], MeasureSum)):
            continue
        records, figure = None, "mean"
        for part in parts[at + 1 :]:
            if not _of_one_group(sums, part):
                continue
            match part.factors[-1]:
                case MeasureSum():  # another group of the same name
                    break
                case Valued():
                    records = part
                case Squares(figure=figure):
                    pass
        if records is not None:
            found.append(Means(sums, records, figure))
    return found


def _of_one_group(sums: Part, other: Part) -> bool:
    """Whether both are about the same measure of the same records, for the same group of means."""
    same = sums.mean == other.mean and sums.factors[:-1] == other.factors[:-1]
    return same and bool(other.factors) and sums.factors[-1].domain == other.factors[-1].domain


def factors_of(figure: str, measure: Domain) -> list[MeasureSum | Valued | Squares]:
    """What the mean or a spread of a measure is made of."""
    own: list[MeasureSum | Valued | Squares] = [MeasureSum(measure), Valued(measure)]
    return own if figure == "mean" else [*own, Squares(measure, figure)]


def mean_parts(counts: Part, measure: Domain, figure: str = "mean") -> list[Part]:
    """What the means, or a spread, of a measure of the records that are counted are made of."""
    named = replace(counts, mean=counts.group)
    return [
        replace(measured(named, factor), name=f"{counts.group}: {factor.word}")
        for factor in factors_of(figure, measure)
    ]


def measured(counts: Part, factor: MeasureSum | Valued | Squares) -> Part:
    """The same about a measure of the records that are counted.

    The importance of a sum is one over the largest size of a value, so that one record matters as much in it as in a
    count.
    """
    return replace(counts, factors=(*counts.factors, factor), weight=factor.unit * counts.weight)


def group_name(factor: OfMeasure, about: str) -> str:
    """What a group of sums is called."""
    words = f"{factor.word} {'with' if isinstance(factor, Valued) else 'of'} {factor.attributes[0]}"
    return f"{words} by {about}" if about else words
