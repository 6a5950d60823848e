"""What strategies made of one table per set of attributes have in common, and their pseudo-inverse.

All cells are alike to such a strategy, so its Gram matrix has one eigenvalue λ_R per set R of attributes, on the
residual space of R: the functions of the cells that vary in exactly the attributes R and sum to zero along each.
Hence A⁺y = Σ_R P_R Aᵗy / λ_R, with the projections P_R taken in the small tables, not in the cells.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Operator, Vector
from .checks import check_supported
from .marginal_workload import MarginalWorkload
from .subset_lattice import members
from .subset_tables import Tables
from .table_operator import TableOperator


class SubsetOperator(TableOperator):
    """Tables to which all cells are alike: its Gram matrix has common eigenspaces with those of all marginals."""

    @cached_property
    def component_variances(self) -> Mapping[int, float]:
        """ν_R for every component R that is measured, at unit noise (see `splits`)."""
        return {mask: 1 / (value * self.axes.count(mask)) for mask, value in self.eigenvalues.items()}

    @property
    @abstractmethod
    def eigenvalues(self) -> Mapping[int, float]:
        """λ_R divided by the number of cells, for every residual R this strategy sees."""

    @abstractmethod
    def _components(self, y: Array) -> Tables:
        """Aᵗy as Σ of spread residuals: fresh tables by set."""

    @abstractmethod
    def _answers(self, parts: Tables) -> Array:
        """The adjoint of `_components`."""

    @abstractmethod
    def coefficients(self, mask: int) -> tuple[Vector, Vector]:
        """(values, how often each occurs) among the coefficients c = w A⁺ of one cell w of the marginal over a set.

        All cells of a marginal have the same ones, in another order.
        """

    def _tables(self, y: Array) -> list[tuple[int, float, Array]]:
        """(set, weight, its part of y as a table); the weight as an integer where y is."""
        return [
            (mask, int(weight) if y.dtype.kind == "i" else weight, self.axes.table(y[..., a:b], mask))
            for mask, weight, (a, b) in zip(self._masks, self.weights, pairwise(self._offsets), strict=True)
        ]

    def pinv(self) -> Operator:
        return SubsetInverse(self)

    def _column_sums(self, p: int) -> Vector:
        return np.full(self.shape[1], self._max_column_sum(p))

    def _exact_column_sums(self, p: int) -> list[int]:
        return [self._integer_norm(p)] * self.shape[1]

    @property
    def full_column_rank(self) -> bool:
        return len(self.eigenvalues) == 1 << self.axes.varying.bit_count()

    def squared_frobenius(self) -> float:
        return self.shape[1] * self._max_column_sum(2)

    def nuclear_norm(self) -> float:
        roots = sum(self._multiplicity(mask) * value**0.5 for mask, value in self.eigenvalues.items())
        return float(roots * self.shape[1] ** 0.5)

    def _multiplicity(self, mask: int) -> int:
        """Dimension of a residual space."""
        return prod(self.sizes[i] - 1 for i in members(mask))

    def _profile_trace(self, W: Operator) -> float:
        workload = MarginalWorkload.of(W)
        if workload is None or workload.sizes != self.sizes:
            return super()._profile_trace(W)
        return self.trace_of_marginals(workload)

    def trace_of_marginals(self, workload: MarginalWorkload) -> float:
        """tr((AᵗA)⁺WᵗW) = Σ_R multiplicity · (W's eigenvalue) / λ_R; `UnsupportedWorkload` where only λ_R is zero."""
        self.check_supports(workload.lattice.masks)
        own = np.array([self.eigenvalues[mask] for mask in workload.lattice.masks])
        return float(np.sum(workload.multiplicities * workload.eigenvalues / own))

    def check_supports(self, residuals: tuple[int, ...]) -> None:
        """Raise `UnsupportedWorkload` unless all these residuals are seen."""
        check_supported(float(any(mask not in self.eigenvalues for mask in residuals)), 1.0)


@dataclass(frozen=True, eq=False)
class SubsetInverse(Operator):
    """The pseudo-inverse of marginals or residuals: tables taken apart, weighted and spread; a few passes over n."""

    of: SubsetOperator

    def __post_init__(self) -> None:
        if not isinstance(self.of, SubsetOperator):
            raise InvalidInput(f"expected marginals or residuals, got {type(self.of).__name__}")

    @property
    def shape(self) -> tuple[int, int]:
        m, n = self.of.shape
        return n, m

    def _apply(self, y: Array) -> Array:
        return self.of.axes.spread(self._weighted(self.of._components(y)))

    def _adjoint(self, x: Array) -> Array:
        return self.of._answers(self._weighted(self.of.axes.sums(x, self.of.eigenvalues)))

    def _weighted(self, parts: Tables) -> Tables:
        """Every part divided by its eigenvalue."""
        n = float(self.of.shape[1])
        return {mask: table / (self.of.eigenvalues[mask] * n) for mask, table in parts.items()}

    def pinv(self) -> Operator:
        return self.of

    @property
    def full_column_rank(self) -> bool | None:
        return None
