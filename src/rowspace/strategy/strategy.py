"""A strategy as everyone uses it: what it must be given, its error on queries, and the estimate it leads to.

There are three kinds. A strategy over cells is any matrix: it is given the count of every cell, and queries become a
matrix over the same cells. A strategy of tables is given tables of counts over some attributes each, and queries are
taken as products, whatever the number of cells; so is a strategy of mixed queries, whose queries are taken one by one.
Planning, measuring, reconstruction and releases know only the verbs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np

from rowspace.error import Moments, moments, profile_trace, query_variances, table_moments
from rowspace.exceptions import IntegerOverflow, InvalidInput, TooLarge
from rowspace.operators import Identity, Indices, Operator, Vector, check_supported
from rowspace.tables import (
    ComponentTables,
    ProductWorkload,
    QueryMix,
    TableOperator,
    answer_products,
    mask_of,
    row_tables,
)
from rowspace.threads import one_thread_if_small

from .least_squares import iterated, least_squares
from .mixing import is_within, mix_answers, mix_moments

Block = tuple[slice | Indices, Indices, Indices]
"""(where, q, r): the answers there are q·2^bits + r."""

MOST_QUERIES = 2**22
"""Products of more queries than that are not searched for the worst one."""

Checked = Callable[[Any], Indices]
"""From counts to 64-bit integers that were checked against the public bound."""


class Reconstruction(ABC):
    """The least-squares estimate of the counts that noisy answers lead to."""

    @abstractmethod
    def answers(self, queries: ProductWorkload) -> Vector:
        """The answers to all queries, in their order, importance aside."""

    @abstractmethod
    def cells(self) -> Vector:
        """The count of every cell."""


class Strategy(ABC):
    """What is asked of the data: a matrix, and the verbs of its kind."""

    matrix: Operator

    @staticmethod
    def of(matrix: Operator) -> Strategy:
        """The strategy that asks a matrix, by its kind."""
        if isinstance(matrix, QueryMix):
            return MixStrategy(matrix)
        return TableStrategy(matrix) if isinstance(matrix, TableOperator) else CellStrategy(matrix)

    @property
    def tables(self) -> TableOperator | None:
        """Itself, where it is one of weighted tables."""
        return None

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """The cells of the attributes, where it knows them; None where it knows the number of cells alone."""
        return None

    @property
    def sets(self) -> tuple[tuple[int, ...], ...] | None:
        """The sets of attributes whose tables of counts it must be given; None where it needs every cell."""
        return None

    @abstractmethod
    def exact_answers(self, counts: Any, bits: int, checked: Checked) -> Iterator[Block]:
        """The exact answers to counts, block by block, divided by 2^bits with remainder.

        counts: one integer per cell or, for tables, also something with `table(attributes)`.
        """

    @abstractmethod
    def check_rank(self) -> None:
        """Raise `IntegerOverflow` where rounding has left too few bits to tell cells apart."""

    @abstractmethod
    def trace(self, queries: ProductWorkload) -> float:
        """Σ over the queries of power · variance, at unit noise; `UnsupportedWorkload` outside the row space."""

    def totals(self, queries: ProductWorkload) -> Vector:
        """Σ of the variances of every part's queries at unit noise, importance aside."""
        plain = queries.unweighted()
        return np.array([self.trace(plain.only([number])) for number in range(len(plain.parts))])

    @abstractmethod
    def variances(self, queries: ProductWorkload) -> Vector:
        """The variance of every answer at unit noise, importance aside."""

    def worst(self, queries: ProductWorkload, number: int) -> float:
        """The largest variance among the answers of a part; `TooLarge` where they are too many to look at."""
        return float(self.variances(queries.only([number])).max())

    @abstractmethod
    def moments(self, queries: ProductWorkload) -> Moments:
        """How the noise of every answer is put together, importance aside."""

    @abstractmethod
    def estimate(self, values: Vector) -> Reconstruction:
        """The least-squares estimate from noisy answers, in the matrix's own unit."""

    def covariance(self, query: ProductWorkload) -> Reconstruction:
        """What every answer has to do with that to this query: its answers are covariances, at unit noise.

        Raises:
            UnsupportedWorkload: The query is not in the row space.
            TooLarge: It cannot be had for a strategy of this kind over so many cells.
        """
        raise TooLarge(f"covariances of answers from a {type(self.matrix).__name__} are not known")


@dataclass(frozen=True, eq=False)
class CellStrategy(Strategy):
    """A matrix over cells."""

    matrix: Operator

    def exact_answers(self, counts: Any, bits: int, checked: Checked) -> Iterator[Block]:
        """In one block, from a vector of counts."""
        if hasattr(counts, "table"):
            raise InvalidInput(f"expected counts of all cells for a {type(self.matrix).__name__}, got tables")
        yield slice(None), *self.matrix.divided(cell_counts(counts, self.matrix, checked), bits)

    def check_rank(self) -> None:
        """Nothing to check: `Operator.supporting_integers` keeps the row space."""

    def trace(self, queries: ProductWorkload) -> float:
        """By the matrix of the queries."""
        return profile_trace(self.matrix, queries.weighted_operator())

    def variances(self, queries: ProductWorkload) -> Vector:
        """By the matrix of the queries."""
        return query_variances(self.matrix, queries.operator())

    def moments(self, queries: ProductWorkload) -> Moments:
        """By the matrix of the queries."""
        with one_thread_if_small(self.matrix.shape[1]):
            return moments(self.matrix, queries.operator())

    def estimate(self, values: Vector) -> Reconstruction:
        """Cell by cell."""
        return CellReconstruction(least_squares(self.matrix, values))

    def covariance(self, query: ProductWorkload) -> Reconstruction:
        """Of every cell: the pseudo-inverse times the query's coefficients."""
        row = np.asarray(query.operator().T @ np.ones(1))
        inverse = self.matrix.pinv()
        coefficients = np.asarray(inverse.T @ row)
        outside = np.abs(self.matrix.T @ coefficients - row).max()
        check_supported(float(outside), float(np.abs(row).max(initial=1.0)))
        return CellReconstruction(np.asarray(inverse @ coefficients))


@dataclass(frozen=True, eq=False)
class TableStrategy(Strategy):
    """Weighted tables."""

    matrix: TableOperator

    @property
    def tables(self) -> TableOperator:
        """Its tables."""
        return self.matrix

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of its tables."""
        return self.matrix.sizes

    @property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """Of its tables."""
        return self.matrix.sets

    def exact_answers(self, counts: Any, bits: int, checked: Checked) -> Iterator[Block]:
        """Some tables at a time; from a vector of all counts in one block."""
        if not hasattr(counts, "table"):
            yield slice(None), *self.matrix.divided(cell_counts(counts, self.matrix, checked), bits)
            return
        yield from self.matrix.divided_blocks(lambda own: checked(counts.table(own)), bits)

    def check_rank(self) -> None:
        """Every attribute's matrix must have kept its rank at the few bits that tables of many attributes leave."""
        try:
            self.matrix.check_rank()
        except InvalidInput:
            raise IntegerOverflow(
                "tables of so many attributes leave too few bits of 64 for the queries of an attribute of many cells"
            ) from None

    def trace(self, queries: ProductWorkload) -> float:
        """Component by component."""
        return self.matrix.trace_of_products(queries)

    def totals(self, queries: ProductWorkload) -> Vector:
        """All parts at once, by one product with sparse costs."""
        return self.matrix.totals_of_parts(queries)

    def variances(self, queries: ProductWorkload) -> Vector:
        """Part by part."""
        return self.moments(queries).second

    def worst(self, queries: ProductWorkload, number: int) -> float:
        """The cells of a marginal are alike where those of the attributes are."""
        own = queries.only([number])
        cells = all(isinstance(own.pieces[k].operator, Identity) for k in own.parts[0])
        if self.matrix.all_cells_alike and cells:
            return float(self.totals(own)[0]) / own.queries
        if own.queries > MOST_QUERIES:
            raise TooLarge(f"a group of {own.queries} queries is too large to search for the worst")
        return super().worst(queries, number)

    def moments(self, queries: ProductWorkload) -> Moments:
        """Part by part."""
        return table_moments(self.matrix, queries)

    def estimate(self, values: Vector) -> TableReconstruction:
        """Component by component."""
        return TableReconstruction(self.matrix.component_tables(values))

    def covariance(self, query: ProductWorkload) -> Reconstruction:
        """Component by component: those of different sets of attributes are independent.

        That of T has the covariance ν_T ⊗K over its own attributes, and a query sees it through u along the others.
        """
        if self.matrix.has_joint:
            return super().covariance(query)
        splits, nu = self.matrix.splits, self.matrix.component_variances
        query.check_measured(0, nu, splits)
        ((axes, row),) = row_tables(query)
        # Sets that the query is not about have no component here, but those of others must have been measured.
        found = ComponentTables(splits, lambda asked, number: asked.check_measured(number, nu, splits))
        for chosen in product((False, True), repeat=len(axes)):
            own = tuple(i for i, taken in zip(axes, chosen, strict=True) if taken)
            if (variance := nu.get(mask_of(own))) is None:
                continue
            table = row
            for i, taken in zip(reversed(axes), reversed(chosen), strict=True):
                # The last attribute left: it goes to the front, or is gone.
                table = np.tensordot(splits[i].K if taken else splits[i].u, table, axes=(-1, -1))
            found.add([own], variance * table[None])
        return TableReconstruction(found)


@dataclass(frozen=True, eq=False)
class MixStrategy(CellStrategy):
    """Mixed queries; what is asked across its axes is answered as by any matrix over cells."""

    matrix: QueryMix

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of its queries' attributes."""
        return self.matrix.sizes

    @property
    def sets(self) -> tuple[tuple[int, ...], ...] | None:
        """Those of its queries, unless all cells are fewer."""
        sizes = self.matrix.sizes
        cells = sum(prod(sizes[i] for i in own) for own in self.matrix.sets)
        return self.matrix.sets if cells < prod(sizes) else None

    def exact_answers(self, counts: Any, bits: int, checked: Checked) -> Iterator[Block]:
        """In one block."""
        if not hasattr(counts, "table"):
            yield from super().exact_answers(counts, bits, checked)
            return
        answers = self.matrix.answers(lambda own: checked(counts.table(own)))
        yield slice(None), answers >> bits, answers & ((1 << bits) - 1)

    def check_rank(self) -> None:
        """Every mix must have kept its rank."""
        if not all(np.isfinite(np.linalg.slogdet(T.array)[1]) for T in self.matrix.mixes):
            raise IntegerOverflow("rounding to so few bits makes mixes of queries dependent")

    def trace(self, queries: ProductWorkload) -> float:
        """From the variances."""
        return float(np.repeat(queries.powers, queries.sizes_of_parts) @ self.variances(queries))

    def totals(self, queries: ProductWorkload) -> Vector:
        """From the variances."""
        ends = np.cumsum([0, *queries.sizes_of_parts])
        return np.add.reduceat(self.variances(queries), ends[:-1])

    def variances(self, queries: ProductWorkload) -> Vector:
        """From coefficients."""
        return self.moments(queries).second

    def worst(self, queries: ProductWorkload, number: int) -> float:
        """From the variances of all, which are found at once."""
        start = sum(queries.sizes_of_parts[:number])
        return float(self.variances(queries)[start : start + queries.sizes_of_parts[number]].max())

    def moments(self, queries: ProductWorkload) -> Moments:
        """From coefficients in its row space."""
        within = is_within(queries, self.matrix)
        return mix_moments(self.matrix, queries) if within else super().moments(queries)

    def estimate(self, values: Vector) -> MixReconstruction:
        """Kept as noisy answers: coefficients lead from them to any query."""
        return MixReconstruction(self.matrix, values)


@dataclass(frozen=True, eq=False)
class MixReconstruction(Reconstruction):
    """Noisy answers to mixed queries."""

    matrix: QueryMix
    values: Vector

    def answers(self, queries: ProductWorkload) -> Vector:
        """By their coefficients."""
        if is_within(queries, self.matrix):
            return mix_answers(self.matrix, self.values, queries)
        return CellReconstruction(self.cells()).answers(queries)

    @cached_property
    def _cells(self) -> Vector:
        return iterated(self.matrix, self.values)

    def cells(self) -> Vector:
        """What was not measured shares alike."""
        return self._cells


@dataclass(frozen=True, eq=False)
class CellReconstruction(Reconstruction):
    """A number for every cell."""

    counts: Vector

    def answers(self, queries: ProductWorkload) -> Vector:
        """By the matrix of the queries."""
        return np.asarray(queries.operator() @ self.counts)

    def cells(self) -> Vector:
        """The numbers."""
        return self.counts


@dataclass(frozen=True, eq=False)
class TableReconstruction(Reconstruction):
    """Tables of any attributes that were measured together; all agree."""

    tables: ComponentTables

    def answers(self, queries: ProductWorkload) -> Vector:
        """From the tables over each query's own attributes."""
        return answer_products(self.tables, queries)

    @cached_property
    def _cells(self) -> Vector:
        return self.tables.cells()

    def cells(self) -> Vector:
        """What was not measured shares alike."""
        return self._cells


def cell_counts(counts: Any, matrix: Operator, checked: Checked) -> Indices:
    """Counts of all cells of a matrix, or `InvalidInput`."""
    x = np.asarray(counts).reshape(-1)
    if x.dtype.kind not in "iu" or x.shape != (matrix.shape[1],):
        raise InvalidInput(
            f"expected {matrix.shape[1]} integer counts, got an array of another kind or of shape {x.shape}"
        )
    return checked(x)
