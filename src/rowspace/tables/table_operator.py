"""Strategies of one weighted table per set of attributes: measured and reconstructed from tables, never from the cells.

Table S asks weight · ⊗_{i∈S} M_i ⊗_{j∉S} 1ᵗ, with one matrix M_i per attribute that all tables share; or weight · J_S,
a matrix of its own over its joint cells (`Residuals.joint`). The number of cells may be astronomical. Everything here
costs time and memory in the tables and in the number of sets; the actions on a vector of all cells are there for
domains where one fits.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from itertools import pairwise
from math import ceil, prod
from typing import Any, ClassVar, cast

import numpy as np

from rowspace.exceptions import InvalidInput
from rowspace.operators import (
    Array,
    Indices,
    Operator,
    Vector,
    check_number,
    check_operators,
    check_supported,
    rounded_weights,
)

from .axes import TableAxes, Tables
from .checks import checked_tables
from .estimates import ComponentTables
from .lattice import LARGEST_SET, mask_of
from .layout import TableLayout, TableStack, divided_product
from .product_workload import ProductWorkload, subsets_in_order
from .reading import products_of
from .rounding import LARGEST_WEIGHT, rounded_matrices, weight_scale
from .splits import Split

TableOf = Callable[[tuple[int, ...]], Indices]
"""From attribute numbers, ascending, to the table of counts over them."""


class TableOperator(Operator):
    """One weighted table per set of attributes, given `sizes`, `sets`, `weights` and a matrix for every attribute."""

    sizes: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]

    wide = True
    matrix_field: ClassVar[str]
    """The field that holds the matrices, empty where all attributes have the plain one."""

    def _check(self) -> None:
        """Bring the fields into one known form, or raise `InvalidInput`."""
        sizes, sets, weights = checked_tables(self.sizes, self.sets, self.weights)
        for name, value in (("sizes", sizes), ("sets", sets), ("weights", weights)):
            object.__setattr__(self, name, value)
        if max(mask.bit_count() for mask in self._masks) > LARGEST_SET:
            raise InvalidInput(f"expected sets of at most {LARGEST_SET} attributes that have several cells")
        object.__setattr__(self, self.matrix_field, self._checked_matrices())

    def _checked_matrices(self) -> tuple[Operator, ...]:
        """The matrices, equal ones as one object; none where all are plain."""
        given = getattr(self, self.matrix_field)
        if isinstance(given, (tuple, list)) and not given:
            return ()
        if not isinstance(given, (tuple, list)) or len(given) != len(self.sizes):
            raise InvalidInput(f"expected a matrix for each of the {len(self.sizes)} attributes, or none")
        check_operators(*given)
        known: dict[Operator, Operator] = {}
        matrices = tuple(self._checked_matrix(M, n) for M, n in zip(given, self.sizes, strict=True))
        if all(self._plain(n) == M for M, n in zip(matrices, self.sizes, strict=True)):
            return ()
        return tuple(known.setdefault(M, M) for M in matrices)

    @staticmethod
    @abstractmethod
    def _plain(n: int) -> Operator:
        """The matrix of an attribute whose n cells are alike."""

    @abstractmethod
    def _checked_matrix(self, M: Operator, n: int) -> Operator:
        """A matrix that an attribute of n cells may have, or `InvalidInput`."""

    @cached_property
    def matrices(self) -> tuple[Operator, ...]:
        """M_i for every attribute; what is known of one by its `id` is known of all that equal it."""
        if given := getattr(self, self.matrix_field):
            return cast(tuple[Operator, ...], given)
        known = {n: self._plain(n) for n in set(self.sizes)}
        return tuple(known[n] for n in self.sizes)

    @property
    def all_cells_alike(self) -> bool:
        """Whether all cells of a marginal have the same variance."""
        return not getattr(self, self.matrix_field)

    def __rmul__(self, factor: float) -> Operator:
        """The same tables with larger or smaller weights: their cells may be too many for anything else."""
        if not check_number("factor", factor) > 0:
            return super().__rmul__(factor)
        return cast(Operator, replace(cast(Any, self), weights=tuple(factor * w for w in self.weights)))

    def quotient(self, divisor: int) -> Operator | None:
        if any(weight % divisor for weight in self.weights):
            return None
        return cast(Operator, replace(cast(Any, self), weights=tuple(w / divisor for w in self.weights)))

    def over_sizes(self, sizes: tuple[int, ...]) -> TableOperator:
        """The same tables over attributes of other sizes, whose cells are alike as well."""
        return cast(TableOperator, replace(cast(Any, self), sizes=sizes))

    @cached_property
    def axes(self) -> TableAxes:
        """The attributes as array axes."""
        return TableAxes(self.sizes)

    @cached_property
    def _masks(self) -> tuple[int, ...]:
        """The sets, without attributes of one cell."""
        return tuple(mask_of(attributes) & self.axes.varying for attributes in self.sets)

    @property
    @abstractmethod
    def splits(self) -> tuple[Split, ...]:
        """How every attribute's queries split into what smaller tables tell and the rest."""

    @cached_property
    def layout(self) -> TableLayout:
        """Where the tables lie in the answers; tables of one stack have the same matrices."""
        rows, ids = [M.shape[0] for M in self.matrices], [id(M) for M in self.matrices]
        shapes = [tuple(rows[i] for i in own) for own in self.sets]
        kinds = [tuple(ids[i] for i in own) for own in self.sets]
        for number, M in self._joint_by_number.items():
            shapes[number] = (M.shape[0],)
            kinds[number] = (id(M), -1, *(self.sizes[i] for i in self.sets[number]))
        return TableLayout(tuple(shapes), tuple(kinds))

    @property
    def has_joint(self) -> bool:
        """Whether some table is asked by a matrix over its joint cells."""
        return bool(self._joint_by_number)

    @property
    def _joint_by_number(self) -> Mapping[int, Operator]:
        """The tables that are asked by a matrix over their joint cells, and not by one for every attribute."""
        return {}

    def factors_of(self, number: int) -> tuple[Operator, ...]:
        """The matrices whose Kronecker product a table is asked by, its weight aside."""
        if M := self._joint_by_number.get(number):
            return (M,)
        return tuple(self.matrices[i] for i in self.sets[number])

    @property
    def shape(self) -> tuple[int, int]:
        return self.layout.offsets[-1], prod(self.sizes)

    @property
    def integral(self) -> bool:
        return all(weight.is_integer() and weight < LARGEST_WEIGHT for weight in self.weights) and all(
            M.integral for M in (*self.matrices, *self._joint_by_number.values())
        )

    rounding_keeps_row_space = True

    def attributes_of(self, stack: TableStack) -> tuple[int, ...]:
        """The attributes of the first table of a stack: the others' have the same matrices."""
        return self.sets[int(stack.numbers[0])]

    def divided_blocks(
        self, table_of: TableOf, bits: int
    ) -> Iterator[tuple[slice | Indices, Indices, Indices]]:
        """(where, q, r), block by block: the answers there are q·2^bits + r, exactly, with 0 ≤ r < 2^bits.

        From tables of counts, which are all that is needed of the data.
        """
        weights = np.array(self.weights, dtype=np.int64)
        for stack in self.layout.stacks:
            own = self.attributes_of(stack)
            shape = tuple(self.sizes[i] for i in own)
            for block in stack.blocks():
                tables = np.stack([table_of(self.sets[number]) for number in block.numbers.tolist()])
                if tables.shape[1:] != shape:
                    # The sensitivity is that of tables of these sizes: others would be asked another matrix.
                    raise InvalidInput("expected tables of counts with the sizes this strategy was made for")
                answers = tables.astype(np.int64, copy=False)
                factors = self.factors_of(int(block.numbers[0]))
                answers = answers.reshape(-1, *(M.shape[1] for M in factors))
                for axis, M in enumerate(factors, start=1):
                    # By the matrix's own action on integers, the one its exact column sums are about.
                    answers = M._apply_along(answers, axis)
                high, low = divided_product(answers, weights[block.numbers], bits)
                yield block.where, high.ravel(), low.ravel()

    def _divided(self, x: Indices, bits: int) -> tuple[Indices, Indices]:
        sums = self.axes.sums(x, set(self._masks))
        by_set = dict(zip(self.sets, self._masks, strict=True))
        high, low = (np.empty(self.shape[0], dtype=np.int64) for _ in range(2))

        def table_of(own: tuple[int, ...]) -> Indices:
            return sums[by_set[own]].reshape([self.sizes[i] for i in own])

        for where, q, r in self.divided_blocks(table_of, bits):
            high[where], low[where] = q, r
        return high, low

    def largest_inner_entry(self) -> int:
        """max |a_ij| with all weights one: answers are weighted beyond 64 bits where need be (`divided_blocks`)."""
        return self._largest_inner_entry

    @cached_property
    def _largest_inner_entry(self) -> int:
        return int(max(self._of_stacks(lambda M: ceil(min(M.largest_entry(), 2.0**62)))))

    def _of_stacks(self, measure: Callable[[Operator], Any]) -> list[Any]:
        """Π over a table's matrices of what `measure` says, for one table of every stack: the others' is the same."""
        known: dict[int, Any] = {}

        def of(M: Operator) -> Any:
            if id(M) not in known:
                known[id(M)] = measure(M)
            return known[id(M)]

        return [prod(map(of, self.factors_of(int(s.numbers[0])))) for s in self.layout.stacks]

    @cached_property
    def _weights_of_stacks(self) -> list[list[float]]:
        weights = np.array(self.weights)
        return [weights[s.numbers].tolist() for s in self.layout.stacks]

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

    def part_variances(self, workload: ProductWorkload, number: int) -> Vector:
        """The variance at unit noise of every query of a part; `UnsupportedWorkload` where A misses one."""
        known = self.component_variances
        measured = workload.check_measured(number, known, self.splits)
        subsets = [mask_of(own) for own in subsets_in_order(workload.axes_of(workload.parts[number]))]
        component = [known[mask] if found else 0.0 for mask, found in zip(subsets, measured, strict=True)]
        return workload.variances(number, component, self.splits)

    def check_rank(self) -> None:
        """Raise `InvalidInput` unless every attribute's matrix has the rank it needs."""
        for split in {id(split): split for split in self.splits}.values():
            split.u  # noqa: B018 - found here once and kept: errors and answers need it

    def _variances_of(self, workload: ProductWorkload, needed: Any) -> Vector:
        known = self.component_variances
        missing = [mask not in known for mask in workload.lattice.masks]
        check_supported(float(np.any(missing & needed)), 1.0)
        return np.array([known.get(mask, 0.0) for mask in workload.lattice.masks])

    def _profile_trace(self, W: Operator) -> float:
        workload = products_of(W, self.sizes)
        if workload is None or not workload.only_cells:
            return super()._profile_trace(W)
        return self.trace_of_products(workload)

    def _apply(self, x: Array) -> Array:
        out = np.empty((*x.shape[:-1], self.shape[0]), dtype=x.dtype)
        sums = self.axes.sums(x, self._masks)
        for number, (weight, a, b) in self._placed(x.dtype):
            answers = self._along(number, self.axes.flat(sums[self._masks[number]]))
            np.multiply(answers, weight, out=out[..., a:b])
        return out

    def _placed(self, dtype: Any) -> Iterator[tuple[int, tuple[float, int, int]]]:
        """(number, (weight, where its answers begin and end)) of every table; integer weights for integers."""
        weights = map(int, self.weights) if dtype.kind == "i" else self.weights
        for number, (weight, (a, b)) in enumerate(zip(weights, pairwise(self.layout.offsets), strict=True)):
            yield number, (weight, a, b)

    def _along(self, number: int, flat: Array, *, transposed: bool = False) -> Array:
        """A table (…, cells) asked by its matrices, or answers by their transposes."""
        factors = [M.T if transposed else M for M in self.factors_of(number)]
        table = flat.reshape((*flat.shape[:-1], *(M.shape[1] for M in factors)))
        for axis, M in enumerate(factors, start=-len(factors)):
            table = M._apply_along(table, axis)
        return table.reshape((*flat.shape[:-1], prod(M.shape[0] for M in factors)))

    def _adjoint(self, y: Array) -> Array:
        tables: Tables = {}
        for number, (weight, a, b) in self._placed(y.dtype):
            mask = self._masks[number]
            cells = weight * self._along(number, y[..., a:b], transposed=True)
            table = cells.reshape((*y.shape[:-1], *self.axes.shape(mask)))
            tables[mask] = tables[mask] + table if mask in tables else table
        return self.axes.spread(tables)

    def pinv(self) -> Operator:
        from .inverse import TableInverse

        return TableInverse(self) if self.all_cells_alike else super().pinv()

    @cached_property
    def eigenvalues(self) -> Mapping[int, float]:
        """Where all cells are alike: λ_R of the Gram matrix divided by the number of cells, for every R it sees.

        The Gram matrix then has one eigenspace per set R: what varies in exactly these attributes and sums to zero
        along each.
        """
        return {mask: 1 / (nu * self.axes.count(mask)) for mask, nu in self.component_variances.items()}

    @property
    def full_column_rank(self) -> bool | None:
        return len(self.component_variances) == 1 << self.axes.varying.bit_count()

    def nuclear_norm(self) -> float:
        if not self.all_cells_alike:
            return super().nuclear_norm()
        roots = (self._multiplicity(mask) * value**0.5 for mask, value in self.eigenvalues.items())
        return float(sum(roots) * self.shape[1] ** 0.5)

    def _multiplicity(self, mask: int) -> int:
        """Dimension of a residual space."""
        return prod(n - 1 for i, n in enumerate(self.sizes) if mask >> i & 1)

    # Norms: of products all terms grow with every attribute\'s column sum, so the largest is where all are.

    def _column_sums(self, p: int) -> Vector:
        return self._sums_over_cells(lambda M: M._column_sums(p), [weight**p for weight in self.weights])

    def _exact_column_sums(self, p: int) -> list[int]:
        found = self._sums_over_cells(
            lambda M: np.array(M._exact_column_sums(p), dtype=object), [int(w) ** p for w in self.weights]
        )
        return cast(list[int], found.tolist())

    def _sums_over_cells(self, measure: Callable[[Operator], Array], powers: Sequence[float]) -> Array:
        tables: Tables = {}
        for number, (mask, power) in enumerate(zip(self._masks, powers, strict=True)):
            cells = reduce(np.multiply.outer, map(measure, self.factors_of(number)), np.array(power))
            table = np.asarray(cells).reshape(self.axes.shape(mask))
            tables[mask] = tables[mask] + table if mask in tables else table
        return self.axes.spread(tables)

    def _max_column_sum(self, p: int) -> float:
        return float(self._weighted_products(lambda M: M._max_column_sum(p), lambda weight: weight**p))

    def _integer_norm(self, p: int) -> int:
        return int(self._weighted_products(lambda M: M._integer_norm(p), lambda weight: int(weight) ** p))

    def squared_frobenius(self) -> float:
        sums = self._weighted_products(lambda M: M.squared_frobenius() / M.shape[1], lambda weight: weight**2)
        return float(sums * self.shape[1])

    def _weighted_products(self, measure: Callable[[Operator], Any], power: Callable[[float], Any]) -> Any:
        """Σ over the tables of power(weight) · Π over its matrices of what `measure` says."""
        groups = zip(self._of_stacks(measure), self._weights_of_stacks, strict=True)
        return sum(value * sum(map(power, weights)) for value, weights in groups)

    def pair_norm(self, p: int) -> int | None:
        """From column norms, but the table of no attribute is the same for all cells: it never tells two apart."""
        total = sum(int(w) ** p for own, w in zip(self.sets, self.weights, strict=True) if not own)
        apart: int = self.integer_norm(p) - total
        return 2 * apart if p == 1 or self.nonnegative else 4 * apart

    def largest_entry(self) -> float:
        groups = zip(self._of_stacks(lambda M: M.largest_entry()), self._weights_of_stacks, strict=True)
        return float(max(max(weights) * value for value, weights in groups))

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        if all(M.integral for M in self.matrices):
            return self._with_rounded_weights(bits)
        matrices, scales = rounded_matrices(self.matrices, self.sets, bits)
        # The weights make up for the matrices' own scales.
        own_scales = [prod(scales[i] for i in own) for own in self.sets]
        weights = tuple(weight / scale for weight, scale in zip(self.weights, own_scales, strict=True))
        rounded = replace(cast(Any, self), **{"weights": weights, self.matrix_field: matrices})
        return cast(TableOperator, rounded)._with_rounded_weights(bits)

    def _with_rounded_weights(self, bits: int) -> tuple[Operator, float]:
        scale = weight_scale(self.weights, bits)
        return self._rounded_at(scale), scale

    def _rounded_at(self, scale: float) -> Operator:
        # Every table is an integer matrix times its weight: rounding the weights keeps the row space.
        return cast(Operator, replace(cast(Any, self), weights=rounded_weights(self.weights, scale)))
