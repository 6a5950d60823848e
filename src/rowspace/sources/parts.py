"""Records in parts: how the value of a measure becomes counts.

A record with k of K steps is k parts at the upper bound of its measure and K − k at the lower one. With squares there
are four cells, and a value at s of the way from the middle to a bound is, for s < 0, s² of a record in the first,
(1 + s)²/2 in the third and the rest in the second; for s > 0 the mirror image. These are quadratic B-splines: none is
negative, they add up to one, and 1, s and s² are the sums of them with (1, 1, 1, 1), (−1, −½, ½, 1) and (1, 0, 0, 1):
so sums and sums of squares are linear queries, exactly.

The parts of a record are ordered by the cells of each measure; what is computed are its *tails*, tⱼ parts in cell j or
above. With several measures parts are ordered alike for all of them: min(t, t′) parts are in both tails. Any such
coupling will do, since no query is about two measures at once; with this one, the parts of a group of records are
differences of sums, Σ min(tails), for every choice of a tail of each of some measures. So what an engine computes are
plain sums.

A value is clipped, and rounded to the nearest step. Whatever it is, its tails fall from all parts to none, so the
record has the same number of parts, all of them in cells of the record's own: this, and nothing of how engines round,
is what the sensitivity rests on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import ibis
import numpy as np
import numpy.typing as npt

from rowspace.domain import Domain, Measure
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.sources.binning import Compute, Recipe, combine, exact

Counts = npt.NDArray[np.int64]
Tail = tuple[int, int]
"""The position of a measure, and the cell from which on parts are counted: not the first."""
Tails = tuple[Tail, ...]

#: Most cells of the measures of one table, multiplied: a sum is needed for each choice of tails.
MAX_TOGETHER = 64


def measured(domain: Domain) -> tuple[int, ...]:
    """The positions of the measures."""
    return tuple(i for i, (_, attribute) in enumerate(domain.attributes) if isinstance(attribute, Measure))


def tails_of(domain: Domain, position: int) -> list[Tail]:
    """The tails of a measure."""
    return [(position, cell) for cell in range(1, domain.attributes[position][1].size)]


def parts_column(tail: Tail) -> str:
    """The column that holds a record's parts in a tail."""
    return "parts{}_{}".format(*tail)


def code_sizes(domain: Domain) -> tuple[int, ...]:
    """How many codes every attribute has: of a measure there is a value, or there is none."""
    return tuple(
        size - attribute.size + 1 if isinstance(attribute, Measure) else size
        for size, (_, attribute) in zip(domain.shape, domain.attributes, strict=True)
    )


def require_values_of_units(domain: Domain) -> None:
    """Raise where units are to be counted once in a cell, and nobody said what their value is there."""
    for own in domain.measures:
        if own.per_unit is None:
            raise InvalidInput(
                f"units that are counted once in a cell have no one value of {own.name!r} there: declare it with "
                'per_unit="sum" or per_unit="mean", or plan its sums with a unit that counts rows'
            )


def is_finite(values: Any) -> Any:
    """Whether a number is one that can be added up."""
    return (values < float("inf")) & (values > float("-inf"))


def steps_column(code: str) -> str:
    """The column that holds a value in steps of its grid, NULL where there is none."""
    return f"{code}_steps"


def steps_recipe(measure: Measure, value: str, code: str) -> Recipe:
    """Steps to the column of `steps_column`."""
    low, high, steps = exact(measure.low), exact(measure.high), measure.steps
    clipped = f"{code}_clipped"

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

    return [Compute(clipped, clip), Compute(steps_column(code), to_steps)]


def with_values_of_units(rows: Any, domain: Domain) -> Any:
    """The rows, each with the values that its unit has in the cell of the row: of all there, the sum or the mean.

    In whole steps, so that the order of a table, and with it other units, makes no difference.
    """
    cell = [f"code{domain.position(name)}" for name in domain.dimensions]
    return rows.mutate(
        **{
            steps_column(f"code{position}"): _value_of_unit(
                rows[steps_column(f"code{position}")], _measure_at(domain, position), cell
            )
            for position in measured(domain)
        }
    )


def _measure_at(domain: Domain, position: int) -> Measure:
    return domain.measure(domain.names[position])


def _value_of_unit(own: Any, measure: Measure, cell: Sequence[str]) -> Any:
    # Engines add up whole numbers exactly, in types of their own; the sum is a function of them, whatever its digits.
    total = own.sum().over(group_by=["unit", *cell]).cast("float64")
    if measure.per_unit == "sum":
        # Totals beyond the grid are put at its end, before they are too large for anything.
        return ibis.cases((total > measure.steps, float(measure.steps)), (total.notnull(), total)).cast(
            "int64"
        )
    number = own.count().over(group_by=["unit", *cell])
    return (total / number.nullif(0).cast("float64") + 0.5).floor().cast("int64")


def parts_recipe(domain: Domain, position: int) -> Recipe:
    """From a value in steps to columns: `code`, 0 where there is one and else NULL, and the parts in every tail."""
    measure, code = _measure_at(domain, position), f"code{position}"
    steps, number = measure.steps, steps_column(code)
    columns = map(parts_column, tails_of(domain, position))

    def within(rows: Any) -> Any:
        own = rows[number]
        # Within 0 … K whatever an engine makes of rounding.
        return ibis.cases((own < 0, 0), (own > steps, steps), (own.notnull(), own)).cast("int64")

    def to_parts(tail: Callable[[Any], Any]) -> Callable[[Any], Any]:
        # A column of its own where it is written many times.
        return lambda rows: (
            tail(rows[f"{code}_within"] if measure.squares else within(rows)).fill_null(0).cast("int64")
            * (domain.parts // measure.parts)
        )

    return [
        *([Compute(f"{code}_within", within)] if measure.squares else []),
        *(Compute(column, to_parts(tail)) for column, tail in zip(columns, _tails(measure), strict=True)),
        Compute(code, lambda rows: rows[number].notnull().ifelse(0, ibis.null("int64"))),
    ]


def _tails(measure: Measure) -> list[Callable[[Any], Any]]:
    """For every tail, its parts as a function of the step."""
    if not measure.squares:
        return [lambda step: step]
    half, whole = measure.half_steps, measure.parts
    finer = 2 * half // measure.steps

    def square(column: Any) -> Any:
        return column * column

    # With u of 2·half steps: 2·(half − u)² below the middle in the first cell, u² in the third, and the mirror image.
    return [
        lambda step: (finer * step < half).ifelse(whole - 2 * square(half - finer * step), whole),
        lambda step: (finer * step < half).ifelse(
            square(finer * step), whole - square(2 * half - finer * step)
        ),
        lambda step: (finer * step > half).ifelse(2 * square(finer * step - half), 0),
    ]


class PartSums:
    """A table of counts in parts, from what is summed over the records of every group of codes.

    attributes: those of the table.
    """

    def __init__(self, attributes: Sequence[int], domain: Domain) -> None:
        # What is needed of these attributes alone: there may be thousands of tables over hundreds of others.
        sizes = {i: found.size for i in attributes if isinstance(found := domain.attributes[i][1], Measure)}
        if math.prod(sizes.values()) > MAX_TOGETHER:
            raise TooLarge(
                "expected tables with at most six measures together, or three that have squares, got one of "
                f"{len(sizes)}"
            )
        self._sizes = sizes
        self.measures = tuple(sizes)
        self.sums: tuple[Tails, ...] = tuple(filter(None, map(_tails_from, self._starts(self.measures))))
        self._attributes = tuple(attributes)
        self._domain = domain
        self.group_shape = tuple(domain.shape[i] - sizes.get(i, 1) + 1 for i in attributes)
        self.in_parts = bool(domain.measures)
        self.groups = int(np.prod(self.group_shape, dtype=np.int64))

    def columns(self, rows: Any) -> dict[str, Any]:
        """What is summed in an engine: for every choice of tails the parts in all of them."""
        return {
            sum_name(own): combine(least, [rows[parts_column(tail)] for tail in own]) for own in self.sums
        }

    def _starts(self, measures: Sequence[int]) -> Iterator[dict[int, int]]:
        """Every choice of a cell of each of some measures."""
        for cells in product(*(range(self._sizes[i]) for i in measures)):
            yield dict(zip(measures, cells, strict=True))

    def table(self, records: Counts, sums: Mapping[Tails, Counts]) -> Counts:
        """The table over all cells, in parts, from each group's number of records and its sums."""
        domain, parts = self._domain, self._domain.parts
        shape = tuple(domain.shape[i] for i in self._attributes)
        if not self.measures:
            return (parts * records).reshape(shape)
        found = np.zeros(shape, dtype=np.int64)
        tails = {(): parts * records, **sums}
        axes = {i: self._attributes.index(i) for i in self.measures}
        for kept in product((True, False), repeat=len(self.measures)):
            # The groups in which exactly these measures have a value.
            known = [i for i, own in zip(self.measures, kept, strict=True) if own]
            group: list[Any] = [slice(None)] * len(shape)
            for i, axis in axes.items():
                group[axis] = 0 if i in known else slice(1, None)
            for cell in self._starts(known):
                place: list[Any] = [slice(None)] * len(shape)
                for i, axis in axes.items():
                    place[axis] = cell.get(i, slice(self._sizes[i], None))
                found[tuple(place)] = self._in_cell(cell, tails)[tuple(group)]
        return found

    def _in_cell(self, cell: Mapping[int, int], tails: Mapping[Tails, Counts]) -> Counts:
        """The parts in one cell of some measures: what is in its tails and not in those after it."""
        found = np.zeros(self.group_shape, dtype=np.int64)
        for after in product((0, 1), repeat=len(cell)):
            start = {i: own + more for (i, own), more in zip(cell.items(), after, strict=True)}
            if all(own < self._sizes[i] for i, own in start.items()):
                found += (-1) ** sum(after) * tails[_tails_from(start)].reshape(self.group_shape)
        return found


def _tails_from(start: Mapping[int, int]) -> Tails:
    """The tails from some cells on; all parts are in that from the first one."""
    return tuple((i, cell) for i, cell in start.items() if cell)


def sum_name(tails: Tails) -> str:
    """The column of a sum."""
    return "sum_" + "_".join(f"{i}_{cell}" for i, cell in tails)


def least(one: Any, other: Any) -> Any:
    """The smaller of two columns; neither is NULL."""
    return (one < other).ifelse(one, other)
