"""Strategies of one weighted table per set of attributes: measured and reconstructed from tables, never from the cells.

The number of cells may be astronomical. Everything here costs time and memory in the tables and in the number of sets.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from math import frexp, isfinite, prod
from operator import lt
from typing import Any

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Operator, Vector
from .checks import Indices, check_number, check_size, check_supported
from .component_tables import ComponentTables
from .product_workload import ProductWorkload
from .splits import CellSplit, Split
from .subset_lattice import LARGEST_SET, mask_of
from .subset_tables import TableAxes
from .table_layout import TableLayout, TableStack, divided_product
from .tree import rounded_weights

TableOf = Callable[[tuple[int, ...]], Indices]
"""From attribute numbers, ascending, to the table of counts over them."""

LARGEST_WEIGHT = 2**50
"""Integer weights stay below it."""

SPARE_BITS = 8
"""The smallest weight of a table is rounded to so many bits less than a matrix's largest entry."""


class TableOperator(Operator):
    """One weighted table per set of attributes, given `sizes`, `sets` and `weights`."""

    sizes: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]

    wide = True

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
        weights = tuple(w if type(w) is float and isfinite(w) else check_number("a weight", w) for w in given)
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
    def splits(self) -> tuple[Split, ...]:
        """How every attribute's queries split into what smaller tables tell and the rest."""
        return tuple(CellSplit(n) for n in self.sizes)

    @cached_property
    def layout(self) -> TableLayout:
        """Where the tables lie in the answers."""
        return TableLayout(self.count_shapes, (None,) * len(self.sets))

    @property
    def _offsets(self) -> list[int]:
        return self.layout.offsets

    @property
    def shape(self) -> tuple[int, int]:
        return self._offsets[-1], prod(self.sizes)

    @property
    def integral(self) -> bool:
        return all(weight.is_integer() and weight < LARGEST_WEIGHT for weight in self.weights)

    # -- answers from tables of counts, without the cells ----------------------------------------------

    def divided_blocks(
        self, table_of: TableOf, bits: int
    ) -> Iterator[tuple[slice | Indices, Indices, Indices]]:
        """(where, q, r), block by block: the answers there are q·2^bits + r, exactly, with 0 ≤ r < 2^bits.

        From tables of counts, which are all that is needed of the data.
        """
        weights = np.array(self.weights, dtype=np.int64)
        for stack in self.layout.stacks:
            for block in stack.blocks():
                numbers = block.numbers.tolist()
                tables = np.stack([table_of(self.sets[number]) for number in numbers])
                if tables.shape[1:] != self.count_shapes[numbers[0]]:
                    # The sensitivity is that of tables of these sizes: others would be asked another matrix.
                    raise InvalidInput("expected tables of counts with the sizes this strategy was made for")
                answers = self._unweighted(tables.astype(np.int64, copy=False), block)
                high, low = divided_product(answers, weights[block.numbers], bits)
                yield block.where, high.ravel(), low.ravel()

    def _divided(self, x: Indices, bits: int) -> tuple[Indices, Indices]:
        sums = self.axes.sums(x, set(self._masks))
        by_set = dict(zip(self.sets, self._masks, strict=True))
        shapes = dict(zip(self.sets, self.count_shapes, strict=True))
        high, low = (np.empty(self.shape[0], dtype=np.int64) for _ in range(2))
        for where, q, r in self.divided_blocks(lambda own: sums[by_set[own]].reshape(shapes[own]), bits):
            high[where], low[where] = q, r
        return high, low

    @cached_property
    def count_shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shape of the table of counts over every set."""
        return tuple(tuple(self.sizes[i] for i in attributes) for attributes in self.sets)

    def _by_shape(self, number: Callable[[tuple[int, ...]], int]) -> list[int]:
        """A number per set that depends on the shape of its table: computed once per shape."""
        known = {shape: number(shape) for shape in set(self.count_shapes)}
        return [known[shape] for shape in self.count_shapes]

    @abstractmethod
    def _unweighted(self, tables: Indices, stack: TableStack) -> Indices:
        """The answers that a stack of count tables leads to, weights aside."""

    @abstractmethod
    def largest_unweighted_entry(self) -> int:
        """max |a_ij| with all weights one: what bounds the integers on the way."""

    @abstractmethod
    def component_tables(self, y: Array) -> ComponentTables:
        """The least-squares estimate from noisy answers y, as tables: any marginal below the measured sets."""

    @property
    @abstractmethod
    def component_variances(self) -> Mapping[int, float]:
        """ν_R for every component R that is measured, at unit noise (see `splits`)."""

    def trace_of_products(self, workload: ProductWorkload) -> float:
        """tr((AᵗA)⁺WᵗW) for a union of products, without the cells; `UnsupportedWorkload` where A misses one."""
        costs = workload.costs(self.splits)
        return float(costs @ self._variances_of(workload, costs > 0))

    def totals_of_parts(self, workload: ProductWorkload) -> Vector:
        """Σ of the variances of every part's queries at unit noise, importance aside."""
        matrix = workload.cost_matrix(self.splits)
        return np.asarray(matrix @ self._variances_of(workload, matrix.sum(axis=0) > 0))

    def pair_norm(self, p: int) -> int | None:
        """From column norms, but the table of no attribute is the same for all cells: it never tells two apart."""
        total = sum(int(w) ** p for own, w in zip(self.sets, self.weights, strict=True) if not own)
        apart: int = self.integer_norm(p) - total
        return 2 * apart if p == 1 or self.nonnegative else 4 * apart

    @property
    def all_cells_alike(self) -> bool:
        """Whether all cells of a marginal have the same variance."""
        return all(isinstance(split, CellSplit) for split in self.splits)

    def _variances_of(self, workload: ProductWorkload, needed: Any) -> Vector:
        known = self.component_variances
        missing = [mask not in known for mask in workload.lattice.masks]
        check_supported(float(np.any(missing & needed)), 1.0)
        return np.array([known.get(mask, 0.0) for mask in workload.lattice.masks])

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        # The smallest weight keeps its precision: answers may pass 64 bits (`divided_blocks`), so large ones may grow.
        smallest = min(weight for weight in self.weights if weight)
        scale = 2.0 ** (max(1, bits - SPARE_BITS) - frexp(smallest)[1] + 1)
        scale = min(scale, 2.0 ** (LARGEST_WEIGHT.bit_length() - 2 - frexp(max(self.weights))[1]))
        return self._rounded_at(scale), scale

    def _rounded_at(self, scale: float) -> Operator:
        # Every table is an integer matrix times its weight: rounding the weights keeps the row space.
        return type(self)(self.sizes, self.sets, rounded_weights(self.weights, scale))  # type: ignore[call-arg]


def _checked_set(attributes: Any, number: int) -> tuple[int, ...]:
    """Ascending attribute numbers, or `InvalidInput`."""
    if type(attributes) is tuple and all(type(a) is int for a in attributes):
        # There may be a hundred thousand sets: the usual case takes no calls.
        if all(map(lt, attributes, attributes[1:])) and (
            not attributes or (attributes[0] >= 0 and attributes[-1] < number)
        ):
            return attributes
        raise InvalidInput(f"expected attribute numbers below {number}, ascending and different")
    if not isinstance(attributes, (tuple, list)):
        raise InvalidInput("expected every set to be a tuple of attribute numbers")
    checked = tuple(check_size("an attribute number", attribute, 0) for attribute in attributes)
    if any(a >= b for a, b in pairwise(checked)) or (checked and checked[-1] >= number):
        raise InvalidInput(f"expected attribute numbers below {number}, ascending and different")
    return checked
