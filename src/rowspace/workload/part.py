"""A part of a workload: a weighted product of factors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rowspace.domain import Domain
from rowspace.exceptions import InvalidWorkload
from rowspace.operators import Operator
from rowspace.tables import Piece, ProductWorkload, gather
from rowspace.workload.factors import Cells, Factor, Rows

if TYPE_CHECKING:
    from rowspace.workload.union import Workload


class Positions:
    """Checks that parts are about attributes of a domain, each once, in order; shared factors only once."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._known: dict[int, list[int]] = {}

    def check(self, part: Part) -> None:
        """Raise unless a part fits."""
        positions = [self._of(factor) for factor in part.factors]
        if any(earlier > later for earlier, later in pairwise(positions)):
            raise InvalidWorkload("the factors of a part must come in the order of the domain's attributes")
        flat = [position for own in positions for position in own]
        if len(set(flat)) < len(flat):
            raise InvalidWorkload("two factors of a part are about the same attribute")

    def _of(self, factor: Factor) -> list[int]:
        """Return the positions of a factor's attributes."""
        if id(factor) not in self._known:
            for name, attribute in factor.domain.attributes:
                if self._domain[name] is not attribute and self._domain[name] != attribute:
                    raise InvalidWorkload(f"attribute {name!r} of a part differs from that of the domain")
            own = [self._domain.position(name) for name in factor.attributes]
            if own != sorted(own):
                raise InvalidWorkload("a factor names attributes in another order than the domain")
            self._known[id(factor)] = own
        return self._known[id(factor)]


_INT64_ROWS = 2**62
#: Largest importance weight, and one over the smallest: squares must stay numbers.
MAX_WEIGHT = 1e100


@dataclass(frozen=True)
class Part:
    """Every combination of a query from each factor; attributes that no factor names are summed out.

    Queries are numbered in C order over the factors, the last one fastest. Factors come in the order of the
    domain (by their first attribute) and share no attribute. No factor at all is the total count.

    `weight` is the importance: the rows are multiplied by it when a strategy is chosen, so that errors of this
    part count weight² in the total squared error. Answers are always those of the unweighted queries.
    """

    factors: tuple[Factor, ...]
    weight: float = 1.0
    name: str | None = None
    mean: str | None = None
    """The group of means or spreads that it is a piece of: sums, numbers of records, sums of squares."""
    people: str | None = None
    """The column of the units that it counts, for COUNT(DISTINCT column); records otherwise."""

    @cached_property
    def size(self) -> int:
        """Number of queries."""
        return math.prod(factor.size for factor in self.factors)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes its factors are about."""
        return tuple(name for factor in self.factors for name in factor.attributes)

    @property
    def unit(self) -> float:
        """What its answers are multiplied by to be compared with counts."""
        return math.prod(factor.unit for factor in self.factors)

    @property
    def is_table(self) -> bool:
        """Whether it counts every cell of some attributes; the total is the table of none."""
        return all(isinstance(factor, Cells) for factor in self.factors)

    @property
    def group(self) -> str:
        """The name of the part in tables: the one given, else its columns."""
        if self.name is not None:
            return self.name
        return " × ".join(name for factor in self.factors for name in factor.columns) or "total"

    def over(self, domain: Domain, known: dict[int, Factor]) -> Part:
        """The same queries over the same attributes with other places; `known` keeps factors that parts share."""
        for factor in self.factors:
            if id(factor) not in known:
                own = domain.subset(factor.attributes)
                known[id(factor)] = factor if factor.domain == own else factor.over(own)
        factors = tuple(known[id(factor)] for factor in self.factors)
        same = all(a is b for a, b in zip(factors, self.factors, strict=True))
        return self if same else replace(self, factors=factors)

    def labels(self, start: int, stop: int) -> list[str]:
        """Return the readable queries ``start`` to ``stop - 1``, such as ``age in [18, 65) and sex = F``."""
        if not self.factors:
            return ["all records"] * (stop - start)
        joined = len(self.factors) > 1
        columns = [
            _spread(rows, partial(factor.phrases, joined=joined))
            for factor, rows in zip(self.factors, self._rows(start, stop), strict=True)
        ]
        leading = [column for factor, column in zip(self.factors, columns, strict=True) if factor.leads]
        others = [column for factor, column in zip(self.factors, columns, strict=True) if not factor.leads]
        conditions = [[" and ".join(phrases) for phrases in zip(*others, strict=True)]] if others else []
        return [", ".join(words) for words in zip(*leading, *conditions, strict=True)]

    def entries(self, start: int, stop: int) -> dict[str, list[str]]:
        """Return what stands in each table column for the queries ``start`` to ``stop - 1``."""
        found: dict[str, list[str]] = {}
        for factor, rows in zip(self.factors, self._rows(start, stop), strict=True):
            entries = _spread(rows, factor.entries)
            found |= dict.fromkeys(factor.columns, entries)
        return found

    def _rows(self, start: int, stop: int) -> list[Rows]:
        """Return, for each factor, its row in each of the queries ``start`` to ``stop - 1``."""
        # Python integers where the number of queries does not fit; the arithmetic is the same.
        number = np.arange(stop - start, dtype=np.int64 if self.size < _INT64_ROWS else np.object_) + start
        rows: list[Rows] = []
        for factor in reversed(self.factors):
            rows.append(number % factor.size)
            number = number // factor.size
        return rows[::-1]


def _spread(rows: Rows, words: Callable[[Rows], list[str]]) -> list[str]:
    """Word each distinct row once and spread the words over all rows."""
    unique, inverse = np.unique(rows, return_inverse=True)
    distinct = words(unique)
    return [distinct[index] for index in inverse.tolist()]


def products(workload: Workload) -> ProductWorkload:
    """The parts, in their order, with their weights; equal factors are kept once. O(factors), whatever the cells."""
    by_factor: dict[int, Piece] = {}
    by_value: dict[tuple[tuple[int, ...], Operator], Piece] = {}
    position = workload.domain.position

    def pieces(part: Part) -> Iterator[Piece]:
        for factor in part.factors:
            if id(factor) not in by_factor:
                axes = tuple(map(position, factor.attributes))
                key = (axes, factor.operator)
                by_factor[id(factor)] = by_value.setdefault(key, Piece(*key))
            yield by_factor[id(factor)]

    return gather(workload.domain.shape, ((part.weight, tuple(pieces(part))) for part in workload.parts))


def check_weight(weight: float) -> float:
    """Return a weight as a positive finite float."""
    if isinstance(weight, bool | str) or not hasattr(weight, "__float__"):
        raise InvalidWorkload(f"a weight must be a positive number, got {type(weight).__name__}")
    try:
        number = float(weight)
    except (TypeError, ValueError, OverflowError):
        raise InvalidWorkload(
            f"a weight must be a positive finite number, got {type(weight).__name__}"
        ) from None
    if not 1 / MAX_WEIGHT <= number <= MAX_WEIGHT:
        raise InvalidWorkload(
            f"a weight must be positive and finite, got {number}; from {1 / MAX_WEIGHT:g} to {MAX_WEIGHT:g} will do"
        )
    return number
