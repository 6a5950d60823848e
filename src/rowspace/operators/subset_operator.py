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
from itertools import accumulate, pairwise
from math import prod
from typing import Any

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Operator, Vector
from .checks import check_number, check_size, check_supported, rounding_scale
from .marginal_workload import MarginalWorkload
from .subset_lattice import LARGEST_SET, mask_of
from .subset_tables import TableAxes, Tables
from .tree import rounded_weights


class SubsetOperator(Operator):
    """One weighted table per set of attributes, given `sizes`, `sets` and `weights`."""

    sizes: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]

    def _check(self) -> None:
        """Bring the fields into one known form, or raise `InvalidInput`."""
        if not isinstance(self.sizes, (tuple, list)) or not self.sizes:
            raise InvalidInput("expected the sizes of one or more attributes")
        sizes = tuple(check_size("an attribute's size", n) for n in self.sizes)
        if not isinstance(self.sets, (tuple, list)) or not self.sets:
            raise InvalidInput("expected one or more sets of attribute numbers")
        sets = tuple(_checked_set(attributes, len(sizes)) for attributes in self.sets)
        if len(set(sets)) != len(sets):
            raise InvalidInput("expected sets that differ from one another; give one of them all the weight")
        given = tuple(self.weights) if isinstance(self.weights, (tuple, list, np.ndarray)) else ()
        if len(given) != len(sets):
            raise InvalidInput(f"expected a sequence of {len(sets)} weights, one per set")
        weights = tuple(check_number("a weight", weight) for weight in given)
        if min(weights) < 0 or not any(weights):
            raise InvalidInput("expected weights >= 0, not all zero")
        for name, value in (("sizes", sizes), ("sets", sets), ("weights", weights)):
            object.__setattr__(self, name, value)
        if max(mask.bit_count() for mask in self._masks) > LARGEST_SET:
            raise InvalidInput(f"expected sets of at most {LARGEST_SET} attributes that have several cells")

    @cached_property
    def axes(self) -> TableAxes:
        """The attributes as array axes."""
        return TableAxes(self.sizes)

    @cached_property
    def _masks(self) -> tuple[int, ...]:
        """The sets, without attributes of one cell."""
        return tuple(mask_of(attributes) & self.axes.varying for attributes in self.sets)

    @cached_property
    def _offsets(self) -> list[int]:
        return list(accumulate((self.axes.count(mask) for mask in self._masks), initial=0))

    @property
    def shape(self) -> tuple[int, int]:
        return self._offsets[-1], prod(self.sizes)

    @property
    def integral(self) -> bool:
        return all(weight.is_integer() and weight < 2**53 for weight in self.weights)

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

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        scale = rounding_scale(bits, max(self.weights))
        return self._rounded_at(scale), scale

    def _rounded_at(self, scale: float) -> Operator:
        # Every table is an integer matrix times its weight: rounding the weights keeps the row space.
        return type(self)(self.sizes, self.sets, rounded_weights(self.weights, scale))  # type: ignore[call-arg]

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
        return prod(n - 1 for i, n in enumerate(self.sizes) if mask >> i & 1)

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


def _checked_set(attributes: Any, number: int) -> tuple[int, ...]:
    """Ascending attribute numbers, or `InvalidInput`."""
    if not isinstance(attributes, (tuple, list)):
        raise InvalidInput("expected every set to be a tuple of attribute numbers")
    checked = tuple(check_size("an attribute number", attribute, 0) for attribute in attributes)
    if any(a >= b for a, b in pairwise(checked)) or (checked and checked[-1] >= number):
        raise InvalidInput(f"expected attribute numbers below {number}, ascending and different")
    return checked
