"""Queries over some of the periods: those that are over, or one horizon's among several that follow one another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from rowspace import operators as op
from rowspace.domain import Domain, until_period
from rowspace.exceptions import TooLarge
from rowspace.operators import Indices
from rowspace.workload.factors import AllRanges, Cells, Factor, Matrix, Prefixes, Rows, Widths, replaced
from rowspace.workload.part import Part
from rowspace.workload.union import Workload


@dataclass(frozen=True)
class EndedRows(Matrix):
    """Some rows of a factor, over the cells of the periods that are over, in the words of that factor."""

    of: Factor
    kept: tuple[int, ...]

    def over(self, domain: Domain) -> Factor:
        """The same rows."""
        return EndedRows(domain, replaced(self.given, self.domain, domain), self.of, self.kept)

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of the factor."""
        return self.of.columns

    def phrases(self, rows: Rows, *, joined: bool) -> list[str]:
        """As the factor says it."""
        return self.of.phrases(self._numbers[rows], joined=joined)

    def entries(self, rows: Rows) -> list[str]:
        """As the factor says it."""
        return self.of.entries(self._numbers[rows])

    @cached_property
    def _numbers(self) -> Indices:
        return np.array(self.kept, dtype=np.int64)


def ended(workload: Workload, name: str, periods: int, *, so_far: bool = False) -> Workload | None:
    """The queries about no later period than the first ones, over the cells of those; None where there are none.

    A query that does not name the attribute is about all of its periods; or, with `so_far`, about the first ones.

    >>> import rowspace as rs
    >>> month = rs.Dates("2024-01-01", "2025-01-01", every="month", outside="drop")
    >>> ended(rs.workload.prefixes(rs.Domain(month=month), "month"), "month", 2).labels()
    ['month = 2024-01', 'month in [2024-01-01, 2024-03-01)']
    """
    over = workload.domain.dimension(name)
    if periods == over.size and over.outside == "drop":
        return workload
    known: dict[int, Factor | None] = {}
    parts: list[Part] = []
    for part in workload.parts:
        factors: list[Factor | None] = []
        for factor in part.factors:
            if id(factor) not in known:
                known[id(factor)] = _ended(factor, name, periods) if name in factor.attributes else factor
            factors.append(known[id(factor)])
        there = tuple(factor for factor in factors if factor is not None)
        if (so_far or name in part.attributes) and len(there) == len(factors):
            parts.append(replace(part, factors=there))
    return Workload(until_period(workload.domain, name, periods), parts) if parts else None


def _ended(factor: Factor, name: str, periods: int) -> Factor | None:
    """The rows of a factor that are about no later period."""
    domain = until_period(factor.domain, name, periods)
    if isinstance(factor, Cells | Prefixes | AllRanges):
        return replace(factor, domain=domain)
    if isinstance(factor, Widths):
        return replace(factor, domain=domain) if factor.width <= periods else None
    rows = factor.operator
    matrix = rows.csr() if isinstance(rows, op.Sparse) else scipy.sparse.csr_array(rows.to_dense())
    cells = np.arange(factor.domain.size).reshape(factor.domain.shape)
    early = np.take(cells, np.arange(periods), axis=factor.domain.position(name)).ravel()
    size = np.asarray(abs(matrix).sum(axis=1)).ravel()
    now = matrix[:, early]
    later = np.ones(factor.domain.size, dtype=bool)
    later[early] = False
    kept = np.flatnonzero((size > 0) & (np.asarray(abs(matrix[:, later]).sum(axis=1)).ravel() == 0))
    if not len(kept):
        return None
    return EndedRows(domain, op.Sparse(scipy.sparse.csr_array(now[kept])), factor, tuple(kept.tolist()))


MOST_ENTRIES = 2**26
"""Most coefficients of the queries of a factor that are moved."""


def among(workload: Workload, name: str, domain: Domain, first: int) -> Workload:
    """The queries of a horizon whose first period is number `first` of the periods of a longer one.

    A query that does not name the attribute is about all periods of its own horizon.
    """
    alone = workload.domain.subset([name])
    whole = AllRanges(alone)
    every = EndedRows(alone, op.Total(alone.size), whole, (alone.size - 1,))

    def moved(factor: Factor) -> Factor:
        joint = domain.subset(factor.attributes)
        cells = _cells(joint, name, first, factor.domain.shape[factor.domain.position(name)])
        given, words = (every.operator, whole) if factor is every else (factor.operator, factor)
        kept = every.kept if factor is every else tuple(range(factor.size))
        return EndedRows(joint, _with_columns(given, cells, joint.size), words, kept)

    parts = [
        part if name in part.attributes else replace(part, factors=(every, *part.factors))
        for part in workload.parts
    ]
    return _changed(parts, name, domain, moved)


def within(workload: Workload, name: str, domain: Domain, first: int) -> Workload:
    """What queries over several horizons ask of the one that begins with period number `first`, row by row."""

    def cut(factor: Factor) -> Factor:
        own = domain.subset(factor.attributes)
        cells = _cells(factor.domain, name, first, own.shape[own.position(name)])
        return Matrix(own, op.Sparse(_sparse(factor.operator)[:, cells]))

    return _changed(workload.parts, name, domain, cut)


def _changed(
    parts: list[Part] | tuple[Part, ...], name: str, domain: Domain, change: Callable[[Factor], Factor]
) -> Workload:
    """Parts with other factors for an attribute, over another domain."""
    known: dict[int, Factor] = {}
    found = []
    for part in parts:
        for factor in part.factors:
            if id(factor) not in known:
                known[id(factor)] = change(factor) if name in factor.attributes else factor
        factors = sorted((known[id(f)] for f in part.factors), key=lambda f: domain.position(f.attributes[0]))
        found.append(replace(part, factors=tuple(factors)))
    return Workload(domain, found)


def _cells(domain: Domain, name: str, first: int, periods: int) -> Indices:
    """The cells of some periods, in their order."""
    cells = np.arange(domain.size).reshape(domain.shape)
    return np.take(cells, np.arange(first, first + periods), axis=domain.position(name)).ravel()


def _with_columns(matrix: op.Operator, cells: Indices, size: int) -> op.Sparse:
    own = _sparse(matrix)
    return op.Sparse(
        scipy.sparse.csr_array((own.data, cells[own.indices], own.indptr), shape=(own.shape[0], size))
    )


def _sparse(matrix: op.Operator) -> scipy.sparse.csr_array:
    if isinstance(matrix, op.Sparse):
        found: scipy.sparse.csr_array = matrix.csr()
        return found
    if matrix.shape[0] * matrix.shape[1] > MOST_ENTRIES:
        raise TooLarge(
            f"queries of {matrix.shape[0]} x {matrix.shape[1]} coefficients are too many to take horizons together; "
            "ask for fewer at a time"
        )
    return scipy.sparse.csr_array(matrix.to_dense())
