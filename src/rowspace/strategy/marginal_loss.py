"""The error of weighted marginals on a workload of marginals, with its gradient, in the algebra of attribute sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rowspace.operators import Vector
from rowspace.tables import SubsetLattice

from .table_demand import TableDemand

TINY = 1e-60
"""Stands for an eigenvalue of zero at unit sensitivity: the error is then huge, not infinite; a search turns back."""

NO_WEIGHT = 1e-30
"""Stands for a sensitivity of zero, when a search tries to ask nothing."""


@dataclass(frozen=True)
class MarginalLoss:
    """log E as a function of the weights of `candidates`; O(sets · attributes) a call.

    E = s² Σ_R m_R μ_R / λ_R with s the sensitivity (Σw for norm 1, √Σw² for norm 2) and λ_R = Σ_{S⊇R} w_S² Π_{j∉S} n_j.
    """

    workload: TableDemand
    candidates: tuple[int, ...]
    norm: int

    @cached_property
    def _lattice(self) -> SubsetLattice:
        return SubsetLattice.under((*self.candidates, *self.workload.wanted))

    @cached_property
    def _places(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array([self._lattice.index[mask] for mask in self.candidates])

    @cached_property
    def _shares(self) -> Vector:
        """Π_{i∈S} of the attributes' shares (1/n for the identity), for every candidate."""
        return self._lattice.products(self.workload.shares)[self._places]

    @cached_property
    def _needs(self) -> Vector:
        """What the workload needs of residual R, for every set."""
        wanted = self.workload
        return self._lattice.vector(dict(zip(wanted.lattice.masks, wanted.needs.tolist(), strict=True)))

    def __call__(self, weights: Vector) -> tuple[float, Vector]:
        """(log E, gradient)."""
        size = max(float(np.sum(weights**self.norm)), NO_WEIGHT**self.norm)
        powers = np.zeros(len(self._lattice.masks))
        powers[self._places] = weights**2 * self._shares
        eigenvalues = np.maximum(self._lattice.sums_above(powers), TINY * size ** (2 / self.norm))
        costs = self._needs / eigenvalues
        trace = float(costs.sum())
        by_power = -self._lattice.sums_below(costs / eigenvalues)[self._places] * self._shares / trace
        by_size = np.full(len(weights), 2 / size) if self.norm == 1 else 2 * weights / size
        return (2 / self.norm) * np.log(size) + np.log(trace), by_size + 2 * weights * by_power

    def value(self, weights: Vector) -> float:
        """E itself."""
        return float(np.exp(self(weights)[0]))
