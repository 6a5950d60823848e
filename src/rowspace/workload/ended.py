"""The queries of a workload whose periods are over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from rowspace import operators as op
from rowspace.domain import Domain, until_period
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
