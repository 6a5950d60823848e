"""Families of intervals along one attribute: all ranges, prefixes, ranges of one width."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

from rowspace import operators as op
from rowspace.domain import Domain
from rowspace.exceptions import InvalidWorkload
from rowspace.workload.factors import Factor, Rows, only_attribute, span_phrase


class Intervals(Factor):
    """Queries that each count the cells from one to another; none holds a missing value."""

    @property
    def cells(self) -> int:
        """Number of cells that the intervals are made of."""
        return only_attribute(self.domain)[1].size

    def over(self, domain: Domain) -> Factor:
        """The same intervals."""
        return replace(self, domain=domain)  # type: ignore[type-var]

    @abstractmethod
    def ends(self, row: int) -> tuple[int, int]:
        """Return the first and last cell of a row, both included."""

    def phrases(self, rows: Rows, *, joined: bool) -> list[str]:
        """Write ``age in [18, 65)``."""
        name, attribute = only_attribute(self.domain)
        return [span_phrase(name, attribute, *self.ends(row)) for row in rows.tolist()]

    def entries(self, rows: Rows) -> list[str]:
        """Write ``[18, 65)``."""
        attribute = only_attribute(self.domain)[1]
        return [attribute.span_label(*self.ends(row)) for row in rows.tolist()]


@dataclass(frozen=True)
class Ranges(Intervals):
    """All n(n+1)/2 ranges, those from the first cell first."""

    domain: Domain

    @cached_property
    def operator(self) -> op.Operator:
        """All ranges, implicitly."""
        return op.Padded.right(op.Ranges(self.cells), self.domain.size)

    def ends(self, row: int) -> tuple[int, int]:
        """Invert the lexicographic number of a range, exactly."""
        n = self.cells
        # Counted from the end, the ranges that begin at cell n-1-k are numbered k(k+1)/2 to k(k+1)/2 + k.
        from_end = n * (n + 1) // 2 - 1 - row
        k = (math.isqrt(8 * from_end + 1) - 1) // 2
        return n - 1 - k, n - 1 - (from_end - k * (k + 1) // 2)


@dataclass(frozen=True)
class Prefixes(Intervals):
    """The n ranges that begin at the first cell."""

    domain: Domain

    @cached_property
    def operator(self) -> op.Operator:
        """All prefixes, implicitly."""
        return op.Padded.right(op.Prefix(self.cells), self.domain.size)

    def ends(self, row: int) -> tuple[int, int]:
        """Prefix i is the cells 0 to i."""
        return 0, row


@dataclass(frozen=True)
class Widths(Intervals):
    """The n-k+1 ranges of k cells."""

    domain: Domain
    width: int

    def __post_init__(self) -> None:
        if isinstance(self.width, bool) or not isinstance(self.width, int):
            raise InvalidWorkload(f"width must be a whole number of cells, got {type(self.width).__name__}")
        if not 1 <= self.width <= self.cells:
            raise InvalidWorkload(f"width must be between 1 and {self.cells:,} cells, got {self.width}")

    @cached_property
    def operator(self) -> op.Operator:
        """All ranges of the width, implicitly."""
        return op.Padded.right(op.WidthRanges(self.cells, self.width), self.domain.size)

    def ends(self, row: int) -> tuple[int, int]:
        """Window i is the cells i to i+k-1."""
        return row, row + self.width - 1
