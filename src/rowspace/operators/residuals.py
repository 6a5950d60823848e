"""Residuals of marginals: for chosen sets of attributes what their table says beyond all smaller ones.

ResidualPlanner's measurements (Xiao et al., 2023) in integers: the rows for R are ⊗_{i∈R}(n_i·I − 11ᵗ) ⊗_{j∉R} 1ᵗ.
Tables for different sets are orthogonal, so each residual can have the weight it deserves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Vector
from .checks import Indices
from .component_tables import ComponentTables
from .subset_lattice import SubsetLattice, members
from .subset_operator import SubsetOperator
from .subset_tables import Tables
from .table_layout import TableStack


@dataclass(frozen=True, eq=False)
class Residuals(SubsetOperator):
    """weight · ⊗_{i∈R}(n_i·I − 11ᵗ) ⊗_{j∉R} 1ᵗ for every R in `sets`, each table in C order.

    Its Gram matrix has the eigenvalue w_R² Π_{i∈R} n_i² Π_{j∉R} n_j on residual R and none elsewhere. All columns have
    the same norm: Σ w_R² Π_{i∈R} n_i(n_i − 1) is its square.

    >>> from rowspace import operators as op
    >>> op.Residuals((3,), ((), (0,)), (1, 1)).to_dense().astype(int)
    array([[ 1,  1,  1],
           [ 2, -1, -1],
           [-1,  2, -1],
           [-1, -1,  2]])
    """

    sizes: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        self._check()
        if any(self.sizes[i] == 1 for attributes in self.sets for i in attributes):
            raise InvalidInput(
                "expected residuals over attributes of two or more cells: one cell never varies"
            )

    @cached_property
    def eigenvalues(self) -> Mapping[int, float]:
        """w_R² Π_{i∈R} n_i for every measured R."""
        cells = self._by_shape(prod)
        return {mask: w**2 * n for mask, w, n in zip(self._masks, self.weights, cells, strict=True) if w}

    @cached_property
    def component_variances(self) -> Mapping[int, float]:
        """1/(w_R Π n_i)²."""
        cells = self._by_shape(prod)
        return {
            mask: 1 / (w * n) ** 2 for mask, w, n in zip(self._masks, self.weights, cells, strict=True) if w
        }

    def _apply(self, x: Array) -> Array:
        out = np.empty((*x.shape[:-1], self.shape[0]), dtype=x.dtype)
        sums = self.axes.sums(x, self._masks)
        for mask, weight, table in self._tables(out):
            np.multiply(self.axes.centred(sums[mask], mask), weight, out=table)
        return out

    def _adjoint(self, y: Array) -> Array:
        return self.axes.spread({m: weight * self.axes.centred(t, m) for m, weight, t in self._tables(y)})

    def _components(self, y: Array) -> Tables:
        tables = self._tables(y.astype(np.float64, copy=False))
        return {m: weight * self.axes.centred(t, m) for m, weight, t in tables if weight}

    def _answers(self, parts: Tables) -> Array:
        some = next(iter(parts.values()))
        y = np.zeros((*some.shape[: some.ndim - self.axes.varying.bit_count()], self.shape[0]))
        for mask, weight, table in self._tables(y):
            if weight:
                np.multiply(self.axes.centred(parts[mask], mask), weight, out=table)
        return y

    @cached_property
    def _weight_of(self) -> Mapping[int, float]:
        return dict(zip(self._masks, self.weights, strict=True))

    def coefficients(self, mask: int) -> tuple[Vector, Vector]:
        """Per residual R below the asked set S: Π_{i∈R} ([agree] − 1/n_i) / (w_R Π_{i∈S} n_i), zero for the others."""
        mask &= self.axes.varying
        residuals = SubsetLattice.under([mask]).masks
        self.check_supports(residuals)
        weights = self._weight_of
        values, counts = [np.zeros(1)], [np.zeros(1)]
        for R in residuals:
            value, count = np.array([1 / (weights[R] * self.axes.count(mask))]), np.ones(1)
            for n in (self.sizes[i] for i in members(R)):
                value = np.multiply.outer(value, [1 - 1 / n, -1 / n]).ravel()
                count = np.multiply.outer(count, [1.0, n - 1.0]).ravel()
            values.append(value)
            counts.append(count)
        return np.concatenate(values), np.concatenate(counts)

    def _max_column_sum(self, p: int) -> float:
        return float(sum(w**p * s for w, s in zip(self.weights, self._table_sums(p), strict=True)))

    def _integer_norm(self, p: int) -> int:
        return sum(int(w) ** p * s for w, s in zip(self.weights, self._table_sums(p), strict=True))

    def pair_norm(self, p: int) -> int | None:
        """For squares 2 Σ_{R≠∅} w_R² Π n_i(n_i − 1) · (1 + 1/min(n_i − 1)).

        Columns of the table R have the inner product w_R² Π n_i(n_i·[agree] − 1), which is least where they agree in
        all attributes but one, the one with the fewest cells.
        """
        if p == 1:
            return super().pair_norm(p)
        farthest = self._by_shape(
            lambda shape: (
                2 * (square := prod(n * (n - 1) for n in shape)) + 2 * square // (min(shape) - 1)
                if shape
                else 0
            )
        )
        return sum(int(w) ** 2 * f for w, f in zip(self.weights, farthest, strict=True))

    def _table_sums(self, p: int) -> list[int]:
        """Σ|a|ᵖ over a column of every integer table: n − 1 once and 1 otherwise along every attribute."""
        return self._by_shape(lambda shape: prod((n - 1) ** p + n - 1 for n in shape))

    def largest_entry(self) -> float:
        return max(w * m for w, m in zip(self.weights, self._multiplicities(), strict=True))

    def _unweighted(self, tables: Indices, stack: TableStack) -> Indices:
        for axis, n in enumerate(stack.shape, start=1):
            tables = n * tables - tables.sum(axis=axis, keepdims=True)
        return tables

    def largest_unweighted_entry(self) -> int:
        return max(self._multiplicities())

    def _multiplicities(self) -> list[int]:
        return self._by_shape(lambda shape: prod(n - 1 for n in shape))

    def component_tables(self, y: Array) -> ComponentTables:
        """ω_R = (answers to R, centred) / (w_R Π n_i): (n·I − 11ᵗ)⁺ is (I − 11ᵗ/n)/n."""
        found = ComponentTables(self.splits)
        weights = np.array(self.weights)
        for stack in self.layout.stacks:
            for block in stack.blocks():
                measured = weights[block.numbers] > 0
                scale = 1 / (weights[block.numbers][measured] * block.cells)
                part = block.taken(y)[measured] * scale.reshape(-1, *[1] * len(stack.shape))
                for axis in range(1, part.ndim):
                    part -= part.mean(axis=axis, keepdims=True)
                found.add([self.sets[number] for number in block.numbers[measured].tolist()], part)
        return found
