"""Queries one by one, each a product of one vector per axis, and the distinct columns of their matrix.

An axis is an attribute, or several that some condition ties together. Vectors of an axis are numbered, so a query is a
few numbers, and the matrix of the queries is never built over all cells: cells of an axis that no vector tells apart
are one, and axes are joined one after the other, equal columns being one after each (`distinct_columns`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import scipy

from rowspace.exceptions import TooLarge
from rowspace.operators import Array, Indices, Operator, Sparse

from .product_workload import Piece, ProductWorkload, gather, is_cells

MOST_ROWS = 2**17
MOST_ENTRIES = 2**26
"""Vectors times cells of one axis."""

MOST_COLUMNS = 2**17
MOST_VALUES = 2**29
"""Entries of the distinct columns: half a gigabyte where they are small integers."""

_AT_ONCE = 2**24

Axes = tuple[tuple[int, ...], ...]


def tied_axes(workload: ProductWorkload) -> Axes:
    """The attributes that pieces tie together, directly or through others."""
    groups = [{i} for i in range(len(workload.sizes))]
    for piece in workload.pieces:
        if len(piece.axes) > 1:
            tied = [group for group in groups if not group.isdisjoint(piece.axes)]
            groups = [group for group in groups if group not in tied] + [set().union(*tied)]
    return tuple(sorted(tuple(sorted(group)) for group in groups))


@dataclass
class Vectors:
    """The distinct vectors of an axis; number 0 is all ones."""

    size: int
    rows: list[tuple[Indices, Array]] = field(default_factory=list)
    _known: dict[tuple[bytes, bytes], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.add(scipy.sparse.csr_array(np.ones((1, self.size))))

    def add(self, matrix: Any) -> Indices:
        """The numbers of the rows of a sparse matrix."""
        csr = scipy.sparse.csr_array(matrix, dtype=np.float64, copy=True)
        csr.sum_duplicates()
        csr.eliminate_zeros()
        numbers = np.empty(csr.shape[0], dtype=np.int64)
        for row, (a, b) in enumerate(zip(csr.indptr[:-1].tolist(), csr.indptr[1:].tolist(), strict=True)):
            cells, entries = csr.indices[a:b].astype(np.int64), csr.data[a:b]
            number = self._known.setdefault((cells.tobytes(), entries.tobytes()), len(self.rows))
            if number == len(self.rows):
                self.rows.append((cells, entries))
            numbers[row] = number
        if len(self.rows) * self.size > MOST_ENTRIES:
            raise TooLarge(
                f"{len(self.rows)} vectors of {self.size} cells are too many; the limit is {MOST_ENTRIES}"
            )
        return numbers

    def matrix(self) -> Any:
        """All vectors, as rows."""
        ends = np.cumsum([0, *(len(cells) for cells, _ in self.rows)])
        cells, entries = (np.concatenate(column) for column in zip(*self.rows, strict=True))
        return scipy.sparse.csr_array((entries, cells, ends), shape=(len(self.rows), self.size))


@dataclass(frozen=True, eq=False)
class ProductRows:
    """Query k is ⊗ over the axes of `vectors[axis][numbers[k, axis]]`.

    `together` has, for every axis, the numbers of the vectors that some part asks side by side.
    """

    vectors: tuple[Any, ...]
    numbers: Indices
    together: tuple[tuple[Indices, ...], ...] = ()


def product_rows(workload: ProductWorkload, axes: Axes) -> ProductRows:
    """The queries of a workload in their order, importance aside; `TooLarge` past the limits above."""
    sizes = [prod(workload.sizes[i] for i in own) for own in axes]
    if workload.queries > MOST_ROWS:
        raise TooLarge(
            f"{workload.queries} queries are too many to be taken one by one; the limit is {MOST_ROWS}"
        )
    axis_of = {attribute: axis for axis, own in enumerate(axes) for attribute in own}
    vectors = [Vectors(n) for n in sizes]
    known: dict[tuple[int, ...], Indices] = {}
    together: list[list[Indices]] = [[] for _ in axes]
    found = []
    for part in workload.parts:
        lengths = [workload.pieces[k].operator.shape[0] for k in part]
        grid = np.indices(lengths).reshape(len(lengths), prod(lengths))
        numbers = np.zeros((grid.shape[1], len(axes)), dtype=np.int64)
        by_axis: dict[int, list[int]] = {}
        for at, k in enumerate(part):
            by_axis.setdefault(axis_of[workload.pieces[k].axes[0]], []).append(at)
        for axis, own in by_axis.items():
            key = tuple(part[at] for at in own)
            if key not in known:
                known[key] = vectors[axis].add(
                    _matrix([workload.pieces[k] for k in key], axes[axis], workload.sizes)
                )
                together[axis].append(known[key])
            numbers[:, axis] = known[key][np.ravel_multi_index(grid[own], [lengths[at] for at in own])]
        found.append(numbers)
    matrices = tuple(own.matrix() for own in vectors)
    return ProductRows(matrices, np.concatenate(found), tuple(map(tuple, together)))


def _matrix(pieces: Sequence[Piece], axis: tuple[int, ...], sizes: Sequence[int]) -> Any:
    """A product of pieces over all attributes of an axis, as a sparse matrix."""
    operator: Operator = pieces[0].operator
    if pieces[0].axes != axis:
        moved = tuple(Piece(tuple(axis.index(i) for i in piece.axes), piece.operator) for piece in pieces)
        operator = gather([sizes[i] for i in axis], [(1.0, moved)]).operator()
    if is_cells(operator):
        return scipy.sparse.eye_array(*operator.shape, format="csr")
    if isinstance(operator, Sparse):
        return operator.csr()
    if operator.shape[0] * operator.shape[1] > MOST_ENTRIES // 4:
        raise TooLarge(
            f"a matrix of {operator.shape[0]} x {operator.shape[1]} entries is too large to be taken row by row"
        )
    return scipy.sparse.vstack([scipy.sparse.csr_array(rows) for _, rows in operator.row_blocks()])


@dataclass(frozen=True, eq=False)
class DistinctColumns:
    """The distinct columns: `values` has one row per column. `classes` and `joins` lead from cells to columns."""

    values: Array
    classes: tuple[Indices, ...]
    joins: tuple[Indices, ...]

    def of_cells(self) -> Indices:
        """The column of every cell, axes in their order."""
        column = np.zeros(1, dtype=np.int64)
        for own, join in zip(self.classes, self.joins, strict=True):
            column = join[column][:, own].ravel()
        return column


def distinct_columns(vectors: Sequence[Any], numbers: Indices) -> DistinctColumns:
    """The distinct columns of the matrix of product queries, exactly; `TooLarge` past the limits above.

    >>> ends = scipy.sparse.csr_array([[1, 1, 1], [1, 0, 0]])
    >>> found = distinct_columns([ends, ends], np.array([[1, 0], [1, 1]]))
    >>> len(found.values), found.values[found.of_cells()].T.tolist()
    (3, [[1, 1, 1, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0, 0]])
    """
    values: Array = np.ones((1, len(numbers)), dtype=_type_of(vectors))
    classes, joins = [], []
    for matrix, own in zip(vectors, numbers.T, strict=True):
        used, position = np.unique(own, return_inverse=True)
        entries = matrix[used].T.toarray().astype(values.dtype)
        first, label = distinct_rows(entries)
        factor = entries[first][:, position]
        if len(values) * len(factor) > 64 * MOST_COLUMNS:
            raise TooLarge(f"more than {MOST_COLUMNS} cells are told apart")
        values, join = _joined(values, factor)
        classes.append(label)
        joins.append(join)
    return DistinctColumns(values, tuple(classes), tuple(joins))


def _type_of(vectors: Sequence[Any]) -> Any:
    """The smallest type that holds all products of entries exactly."""
    if not all(np.array_equal(matrix.data, np.rint(matrix.data)) for matrix in vectors):
        return np.float64
    largest = prod(int(np.abs(matrix.data).max(initial=1)) for matrix in vectors)
    if largest >= 2**53:
        raise TooLarge("products of so large entries are not exact in 64-bit floats")
    return next((t for t in (np.int8, np.int16, np.int32) if largest <= np.iinfo(t).max), np.float64)


def _joined(values: Array, factor: Array) -> tuple[Array, Indices]:
    """All products of a row of each, equal ones once; and which of them each pair is."""
    rows = max(1, len(factor) * values.shape[1])
    step = max(1, _AT_ONCE // rows)
    kept, labels, count = [], [], 0
    for start in range(0, len(values), step):
        products = (values[start : start + step, None, :] * factor[None, :, :]).reshape(-1, values.shape[1])
        first, label = distinct_rows(products)
        kept.append(products[first])
        labels.append(label + count)
        count += len(first)
        if count > 4 * MOST_COLUMNS or count * values.shape[1] > MOST_VALUES:
            raise TooLarge(f"more than {MOST_COLUMNS} cells are told apart")
    everything = np.concatenate(kept)
    first, label = distinct_rows(everything)
    if len(first) > MOST_COLUMNS:
        raise TooLarge(f"more than {MOST_COLUMNS} cells are told apart")
    join = label[np.concatenate(labels)].reshape(len(values), len(factor))
    return everything[first], join


def distinct_rows(rows: Array) -> tuple[Indices, Indices]:
    """The first of every kind of row, and the kind of each: by random sums, whose rows are then compared exactly."""
    rng, width = np.random.default_rng(0), rows.shape[1]
    whole = rows.dtype.kind != "f"
    weights: Array = np.asarray(rng.integers(-(2**62), 2**62, width) if whole else rng.random(width))
    sums = np.concatenate([part @ weights for part in _blocks(rows)])
    _, first, label = np.unique(sums, return_index=True, return_inverse=True)
    if not all(np.array_equal(rows[a:b], rows[first[label[a:b]]]) for a, b in _spans(rows)):
        # Two kinds have the same sum: sort the rows themselves.
        _, first, label = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, label.ravel()


def _spans(rows: Array) -> list[tuple[int, int]]:
    step = max(1, _AT_ONCE // 8 // max(1, rows.shape[1]))
    return [(start, min(len(rows), start + step)) for start in range(0, len(rows), step)]


def _blocks(rows: Array) -> list[Array]:
    return [rows[a:b] for a, b in _spans(rows)]
