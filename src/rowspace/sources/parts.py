"""Records in parts: how the value of a measure becomes counts.

A record with k of K steps is k parts at the upper bound of its measure and K − k at the lower one. With several
measures the parts are ordered alike for all of them: min(k₁, k₂) parts are at both upper bounds. Any such coupling will
do, since no query is about two measures at once; with this one, the parts of a group of records are differences of
sums: Σ min(kᵢ, i in T) for every set T of measures. So what an engine computes are plain sums.

A value is clipped, and rounded to the nearest step. Whatever it is, the record has K parts, all of them in cells of the
record's own: this, and nothing of how engines round, is what the sensitivity rests on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import ibis
import numpy as np
import numpy.typing as npt

from rowspace.domain import Domain, Measure
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.sources.binning import Compute, Recipe, combine, exact

Counts = npt.NDArray[np.int64]
Subset = tuple[int, ...]

#: Most measures of one table: a sum is needed for each of their sets.
MAX_TOGETHER = 6


def measured(domain: Domain) -> tuple[int, ...]:
    """The positions of the measures."""
    return tuple(i for i, (_, attribute) in enumerate(domain.attributes) if isinstance(attribute, Measure))


def parts_column(position: int) -> str:
    """The column that holds a measure's parts at its upper bound."""
    return f"parts{position}"


def code_sizes(domain: Domain) -> tuple[int, ...]:
    """How many codes every attribute has: of a measure there is a value, or there is none."""
    return tuple(
        size - 1 if isinstance(attribute, Measure) else size
        for size, (_, attribute) in zip(domain.shape, domain.attributes, strict=True)
    )


def refuse_sums_of_units(domain: Domain) -> None:
    """Raise where units are to be counted once in a cell: which of their values would be summed?"""
    if domain.measures:
        raise InvalidInput(
            f"units that are counted once in a cell have no one value of {domain.measures[0].name!r} there: make a "
            "table with one row for each, or plan its sums with a unit that counts rows"
        )


def is_finite(values: Any) -> Any:
    """Whether a number is one that can be added up."""
    return (values < float("inf")) & (values > float("-inf"))


def parts_recipe(measure: Measure, parts: int, value: str, code: str, column: str) -> Recipe:
    """Steps to two more columns: `code`, 0 where there is a value and else NULL, and the parts at the upper bound."""
    low, high, steps = exact(measure.low), exact(measure.high), measure.steps
    clipped, number = f"{code}_clipped", f"{code}_steps"

    # What rounds to the lower bound is put there, so that no division gets numbers so small that PostgreSQL refuses.
    near = exact(measure.low + measure.step / 4)

    def clip(rows: Any) -> Any:
        own = rows[value]
        return ibis.cases(
            (is_finite(own) & (own <= near), low),
            (is_finite(own) & (own >= high), high),
            (is_finite(own), own),
        )

    def to_steps(rows: Any) -> Any:
        return ((rows[clipped] - low) / (high - low) * float(steps) + 0.5).floor().cast("int64")

    def to_parts(rows: Any) -> Any:
        own = rows[number]
        # Within 0 … K whatever an engine makes of rounding.
        own = ibis.cases((own < 0, 0), (own > steps, steps), (own.notnull(), own))
        return own.fill_null(0).cast("int64") * (parts // steps)

    return [
        Compute(clipped, clip),
        Compute(number, to_steps),
        Compute(column, to_parts),
        Compute(code, lambda rows: rows[number].notnull().ifelse(0, ibis.null("int64"))),
    ]


class PartSums:
    """A table of counts in parts, from what is summed over the records of every group of codes.

    attributes: those of the table.
    """

    def __init__(self, attributes: Sequence[int], domain: Domain) -> None:
        # What is needed of these attributes alone: there may be thousands of tables over hundreds of others.
        self.measures: Subset = tuple(i for i in attributes if isinstance(domain.attributes[i][1], Measure))
        if len(self.measures) > MAX_TOGETHER:
            raise TooLarge(
                f"expected tables with at most {MAX_TOGETHER} measures together, got one of {len(self.measures)}"
            )
        self.subsets: tuple[Subset, ...] = subsets(self.measures)
        self._attributes = tuple(attributes)
        self._domain = domain
        self.group_shape = tuple(domain.shape[i] - (i in self.measures) for i in attributes)
        self.in_parts = bool(domain.measures)
        self.groups = int(np.prod(self.group_shape, dtype=np.int64))

    def columns(self, rows: Any) -> dict[str, Any]:
        """What is summed in an engine: for every set of measures the parts at all their upper bounds."""
        return {sum_name(own): combine(least, [rows[parts_column(i)] for i in own]) for own in self.subsets}

    def table(self, records: Counts, sums: Mapping[Subset, Counts]) -> Counts:
        """The table over all cells, in parts, from each group's number of records and its sums."""
        domain, parts = self._domain, self._domain.parts
        shape = tuple(domain.shape[i] for i in self._attributes)
        if not self.measures:
            return (parts * records).reshape(shape)
        found = np.zeros(shape, dtype=np.int64)
        at_least = {(): parts * records, **sums}
        axes = [self._attributes.index(i) for i in self.measures]
        for known in subsets(self.measures, empty=True):
            # The groups in which exactly these measures have a value.
            group: list[Any] = [slice(None)] * len(shape)
            for i, axis in zip(self.measures, axes, strict=True):
                group[axis] = 0 if i in known else slice(1, None)
            for high in subsets(known, empty=True):
                cells = sum(
                    (-1) ** (len(more) - len(high)) * at_least[more].reshape(self.group_shape)
                    for more in subsets(known, empty=True)
                    if set(high) <= set(more)
                )
                place: list[Any] = [slice(None)] * len(shape)
                for i, axis in zip(self.measures, axes, strict=True):
                    place[axis] = int(i in high) if i in known else slice(2, None)
                found[tuple(place)] = np.asarray(cells)[tuple(group)]
        return found


def sum_name(measures: Subset) -> str:
    """The column of a sum."""
    return "sum_" + "_".join(map(str, measures))


def least(one: Any, other: Any) -> Any:
    """The smaller of two columns; neither is NULL."""
    return (one < other).ifelse(one, other)


def subsets(measures: Subset, *, empty: bool = False) -> tuple[Subset, ...]:
    """All sets of some measures, the small ones first."""
    return tuple(
        chosen
        for size in range(0 if empty else 1, len(measures) + 1)
        for chosen in combinations(measures, size)
    )
