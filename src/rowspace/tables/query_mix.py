"""Combinations of product queries: a small matrix of mixes times queries that are products of one vector per axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import scipy

from rowspace.exceptions import IntegerOverflow, InvalidInput
from rowspace.operators import (
    Array,
    Dense,
    Indices,
    Operator,
    Sparse,
    Vector,
    check_operators,
    check_size,
    exact_sums,
    read_only,
    rounding_scale,
)

from .product_rows import Axes, DistinctColumns, distinct_columns

_AT_ONCE = 2**24

TableOf = Callable[[tuple[int, ...]], Indices]


@dataclass(frozen=True, eq=False)
class QueryMix(Operator):
    """Block by block (T·R) ⊗ C: R has the products of `vectors[axis][numbers[k, axis]]`, T mixes them.

    `axes` are the attributes, of `sizes` cells, that vectors of an axis are about; all attributes, each once. A block's
    `beyond` names, for every axis, the vector that says of which cells it is contrasts (C = n·I − 11ᵗ on those n
    cells), or −1. It is asked of tables over the attributes of each query, so the cells may be astronomically many;
    its column norms are those of the distinct columns of R.

    >>> from rowspace import operators as op
    >>> ends = op.Sparse([[1, 1, 1], [1, 0, 0]])
    >>> numbers, mix = np.array([[1, 0], [1, 1]]), op.Dense([[1, 2]])
    >>> A = QueryMix((3, 3), ((0,), (1,)), (ends, ends), (numbers,), (mix,), ((-1, -1),))
    >>> A.to_dense().reshape(3, 3), A.integer_norm(2)
    (array([[3., 1., 1.],
           [0., 0., 0.],
           [0., 0., 0.]]), 9)
    """

    sizes: tuple[int, ...]
    axes: Axes
    vectors: tuple[Sparse, ...]
    numbers: tuple[Indices, ...]
    mixes: tuple[Dense, ...]
    beyond: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        sizes = tuple(check_size("an attribute's size", n) for n in self.sizes)
        axes = tuple(tuple(own) for own in self.axes)
        check_operators(*self.vectors, *self.mixes)
        numbers = tuple(read_only(own, np.int64) for own in self.numbers)
        beyond = tuple(tuple(map(int, own)) for own in self.beyond)
        fits = (
            sorted(i for own in axes for i in own) == list(range(len(sizes)))
            and all(list(own) == sorted(own) for own in axes)
            and len(self.vectors) == len(axes)
            and 0 < len(numbers) == len(self.mixes) == len(beyond)
            and all(isinstance(V, Sparse) for V in self.vectors)
            and all(isinstance(T, Dense) for T in self.mixes)
            and all(
                V.shape[1] == prod(sizes[i] for i in own) for V, own in zip(self.vectors, axes, strict=True)
            )
        )
        if (
            not fits
            or not all(map(self._fits, numbers, self.mixes, beyond))
            or len(set(beyond)) < len(beyond)
        ):
            raise InvalidInput(
                "expected vectors over every axis, and blocks of their numbers, mixes and contrasts"
            )
        for V, own in zip(self.vectors, zip(*beyond, strict=True), strict=True):
            label = classes(V, own)
            # The first cell of every class stands for all: blocks are orthogonal where no vector tells them apart.
            first = np.unique(label, return_index=True)[1]
            if len(first) < len(label) and (V.csr() != V.csr()[:, first[label]]).nnz:
                raise InvalidInput("expected vectors that are constant on the cells that are contrasted")
        for name, value in (("sizes", sizes), ("axes", axes), ("numbers", numbers), ("beyond", beyond)):
            object.__setattr__(self, name, value)

    def _fits(self, numbers: Indices, mix: Dense, beyond: tuple[int, ...]) -> bool:
        """Whether a block has queries that there are, and contrasts where its queries see those cells alike."""
        if (
            numbers.ndim != 2
            or numbers.shape != (mix.shape[1], len(self.axes))
            or len(beyond) != len(self.axes)
        ):
            return False
        counts = np.array([V.shape[0] for V in self.vectors])
        if numbers.size and (numbers.min() < 0 or (numbers >= counts).any()):
            return False
        for axis, contrast in enumerate(beyond):
            if contrast == -1:
                continue
            if not 0 <= contrast < counts[axis] or not (numbers[:, axis] == contrast).all():
                return False
            entries = self.vectors[axis].csr()[[contrast]].data
            if len(entries) < 2 or not (entries == 1).all():
                return False
        return True

    @property
    def shape(self) -> tuple[int, int]:
        return self._ends[-1], prod(self.sizes)

    @cached_property
    def contrasted(self) -> tuple[tuple[int, ...], ...]:
        """For every block, how many cells each of its contrasts has."""
        counts = [np.diff(V.indptr) for V in self.vectors]
        return tuple(
            tuple(int(counts[axis][c]) for axis, c in enumerate(own) if c >= 0) for own in self.beyond
        )

    @cached_property
    def _ends(self) -> list[int]:
        lengths = (T.shape[0] * prod(n) for T, n in zip(self.mixes, self.contrasted, strict=True))
        return [0, *np.cumsum(list(lengths)).tolist()]

    @cached_property
    def columns(self) -> DistinctColumns:
        """The distinct columns of the queries of all blocks."""
        return distinct_columns([V.csr() for V in self.vectors], np.concatenate(self.numbers))

    def _queries(self) -> Iterator[Any]:
        """R over the distinct columns, block by block."""
        ends = np.cumsum([0, *map(len, self.numbers)])
        for a, b in pairwise(ends.tolist()):
            yield scipy.sparse.csc_array(self.columns.values[:, a:b].T.astype(np.float64))

    @property
    def integral(self) -> bool:
        return all(M.integral for M in (*self.vectors, *self.mixes))

    @property
    def rounding_keeps_row_space(self) -> bool:
        return all(V.integral for V in self.vectors)

    @cached_property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """The sets of attributes whose tables it is asked of."""
        found = (own for number in range(len(self.mixes)) for own, _, _ in self._groups(number))
        return tuple(dict.fromkeys(self._attributes(own) for own in found))

    def _attributes(self, axes: Sequence[int]) -> tuple[int, ...]:
        return tuple(sorted(i for axis in axes for i in self.axes[axis]))

    def _groups(self, block: int) -> Iterator[tuple[list[int], list[int], Indices]]:
        """(axes, those of them that are not contrasted, queries): queries of a block about the same axes."""
        ones = [_is_ones(V) for V in self.vectors]
        numbers, beyond = self.numbers[block], self.beyond[block]
        touched = np.stack([~ones[axis][numbers[:, axis]] for axis in range(len(self.axes))], axis=1)
        touched |= np.array(beyond) >= 0
        for pattern in np.unique(touched, axis=0):
            own = np.flatnonzero(pattern).tolist()
            plain = [axis for axis in own if beyond[axis] < 0]
            yield own, plain, np.flatnonzero((touched == pattern).all(axis=1))

    def answers(self, table_of: TableOf) -> Array:
        """The answers from tables of counts over sets of attributes; exact for integers, modulo 2⁶⁴ on the way."""
        return np.concatenate([self._answers(number, table_of) for number in range(len(self.mixes))])

    def _answers(self, block: int, table_of: TableOf) -> Array:
        sizes, beyond = self.contrasted[block], self.beyond[block]
        values: Array | None = None
        for own, plain, rows in self._groups(block):
            attributes = self._attributes(own)
            table = np.asarray(table_of(attributes))
            if table.shape != tuple(self.sizes[i] for i in attributes):
                raise InvalidInput("expected tables of counts with the sizes this strategy was made for")
            # Plain axes first, then the cells that are contrasted.
            order = [*plain, *(axis for axis in own if axis not in plain)]
            places = [attributes.index(i) for axis in order for i in self.axes[axis]]
            table = table.transpose(places).reshape([self.vectors[axis].shape[1] for axis in order])
            for at, axis in enumerate(order[len(plain) :], len(plain)):
                table = np.take(table, _cells(self.vectors[axis], beyond[axis]), axis=at)
            found = _contracted(
                table, [self.vectors[axis] for axis in plain], self.numbers[block][rows][:, plain]
            )
            if values is None:
                values = np.zeros((len(self.numbers[block]), *sizes), dtype=found.dtype)
            values[rows] = found
        assert values is not None
        T = self.mixes[block].array.astype(values.dtype)
        mixed = (T @ values.reshape(len(values), -1)).reshape(len(T), *sizes)
        return np.asarray(self.contrasts(mixed).ravel())

    @staticmethod
    def contrasts(table: Array) -> Array:
        """n·I − 11ᵗ along every axis but the first."""
        for axis in range(1, table.ndim):
            table = table.shape[axis] * table - table.sum(axis=axis, keepdims=True)
        return table

    def block_of(self, y: Array, block: int) -> Array:
        """The answers to a block: (mixes, contrasted cells …)."""
        a, b = self._ends[block : block + 2]
        return y[..., a:b].reshape(*y.shape[:-1], self.mixes[block].shape[0], *self.contrasted[block])

    def _apply(self, x: Array) -> Array:
        out = np.empty((x.size // self.shape[1], self.shape[0]), dtype=x.dtype)
        for number, cells in enumerate(x.reshape(len(out), *self.sizes)):
            out[number] = self.answers(partial(_summed, cells))
        return out.reshape(*x.shape[:-1], self.shape[0])

    def _adjoint(self, y: Array) -> Array:
        flat = y.reshape(-1, y.shape[-1])
        out = np.zeros((len(flat), *(V.shape[1] for V in self.vectors)), dtype=y.dtype)
        for block, (numbers, beyond) in enumerate(zip(self.numbers, self.beyond, strict=True)):
            part = self.block_of(flat, block)
            part = self.contrasts(part.reshape(-1, *part.shape[2:])).reshape(part.shape)
            part = np.tensordot(part, self.mixes[block].array.astype(y.dtype), axes=(1, 0))
            apart = [axis for axis, c in enumerate(beyond) if c >= 0]
            plain = [axis for axis, c in enumerate(beyond) if c < 0]
            for at, axis in enumerate(apart, 1):
                # From the contrasted cells to all cells of their axis.
                shape = (*part.shape[:at], self.vectors[axis].shape[1], *part.shape[at + 1 :])
                whole = np.zeros(shape, dtype=y.dtype)
                whole[(slice(None),) * at + (_cells(self.vectors[axis], beyond[axis]),)] = part
                part = whole
            for start, rows in self._products(numbers, plain, y.dtype):
                found = part[..., start : start + len(rows)] @ rows
                found = found.reshape(*part.shape[:-1], *(self.vectors[axis].shape[1] for axis in plain))
                out += found.transpose(0, *(1 + [*apart, *plain].index(i) for i in range(len(self.axes))))
        order = [i for own in self.axes for i in own]
        cells = out.reshape(len(flat), *(self.sizes[i] for i in order))
        cells = cells.transpose(0, *(1 + order.index(i) for i in range(len(order))))
        return cells.reshape(*y.shape[:-1], self.shape[1])

    def _products(self, numbers: Indices, axes: Sequence[int], dtype: Any) -> Iterator[tuple[int, Array]]:
        """The products of the queries' vectors on some axes, some queries at a time."""
        step = max(1, _AT_ONCE // self.shape[1])
        for start in range(0, len(numbers), step):
            own = numbers[start : start + step]
            rows = np.ones((len(own), 1), dtype=dtype)
            for axis in axes:
                factor = self.vectors[axis].csr(dtype)[own[:, axis]].toarray()
                rows = (rows[:, :, None] * factor[:, None, :]).reshape(len(own), -1)
            yield start, rows

    def _each_column(self, total: Callable[[Array], Any]) -> Iterator[list[Any]]:
        """`total` of T·R, some columns at a time, for every block."""
        for T, R in zip(self.mixes, self._queries(), strict=True):
            if self.integral and T.largest_entry() * abs(R).sum(axis=0).max() >= 2**53:
                raise IntegerOverflow(
                    "expected mixes of queries whose entries fit 53 bits; round it to fewer bits"
                )
            step = max(1, _AT_ONCE // 4 // max(T.shape))
            yield [total(T.array @ R[:, at : at + step]) for at in range(0, R.shape[1], step)]

    @cached_property
    def _sums(self) -> tuple[Vector, float]:
        """Σ|a| and Σa² of every distinct column, and the largest entry."""
        sums, largest = np.zeros((2, len(self.columns.values))), 0.0
        found = self._each_column(
            lambda A: (np.abs(A).sum(axis=0), np.einsum("kj,kj->j", A, A), np.abs(A).max())
        )
        for parts, sizes in zip(found, self.contrasted, strict=True):
            one, two, top = zip(*parts, strict=True)
            sums[0] += np.concatenate(one) * prod(2 * (n - 1) for n in sizes)
            sums[1] += np.concatenate(two) * prod(n * (n - 1) for n in sizes)
            largest = max(largest, max(top) * prod(n - 1 for n in sizes))
        return sums, float(largest)

    def _max_column_sum(self, p: int) -> float:
        return float(self._sums[0][p - 1].max())

    def _column_sums(self, p: int) -> Vector:
        order = [i for own in self.axes for i in own]
        cells = self._sums[0][p - 1][self.columns.of_cells()].reshape([self.sizes[i] for i in order])
        return np.asarray(cells.transpose([order.index(i) for i in range(len(order))]).ravel())

    def _exact_column_sums(self, p: int) -> list[int]:
        """Of every distinct column, in Python integers."""
        total = [0] * len(self.columns.values)
        found = self._each_column(lambda A: exact_sums(np.rint(A).astype(np.int64), p))
        for parts, sizes in zip(found, self.contrasted, strict=True):
            times = prod(2 * (n - 1) if p == 1 else n * (n - 1) for n in sizes)
            total = [a + times * b for a, b in zip(total, (s for part in parts for s in part), strict=True)]
        return total

    def largest_entry(self) -> float:
        return self._sums[1]

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        scale = rounding_scale(bits, max(T.largest_entry() for T in self.mixes))
        return self._rounded_at(scale), scale

    def _rounded_at(self, scale: float) -> Operator:
        return self.mixed(np.rint(T.array * scale) for T in self.mixes)

    def mixed(self, mixes: Any) -> QueryMix:
        """The same queries in other mixes."""
        return replace(self, mixes=tuple(map(Dense, mixes)))

    def __rmul__(self, factor: float) -> Operator:
        return self.mixed(factor * T.array for T in self.mixes) if factor > 0 else super().__rmul__(factor)

    def quotient(self, divisor: int) -> Operator | None:
        if any((T.array % divisor).any() for T in self.mixes):
            return None
        return self.mixed(T.array / divisor for T in self.mixes)


def _summed(cells: Array, attributes: tuple[int, ...]) -> Array:
    """The table over some attributes."""
    return np.asarray(cells.sum(axis=tuple(i for i in range(cells.ndim) if i not in attributes)))


def classes(V: Sparse, contrasted: Sequence[int]) -> Indices:
    """The class of every cell of an axis: cells that are contrasted with one another, and each other cell by itself."""
    label = np.arange(V.shape[1])
    for number in sorted(set(contrasted) - {-1}):
        cells = _cells(V, number)
        if (label[cells] != cells).any():
            raise InvalidInput("expected contrasts of cells that are in no other contrast")
        label[cells] = cells[0]
    return np.unique(label, return_inverse=True)[1]


def _cells(V: Sparse, number: int) -> Indices:
    """The cells of an indicator."""
    a, b = V.indptr[number : number + 2]
    return V.indices[a:b]


def _is_ones(V: Sparse) -> Array:
    """Which vectors are all ones."""
    row = np.repeat(np.arange(V.shape[0]), np.diff(V.indptr))
    return np.asarray(np.bincount(row, V.data == 1, minlength=V.shape[0]) == V.shape[1])


def _contracted(table: Array, vectors: Sequence[Sparse], numbers: Indices) -> Array:
    """Σ over the cells of one axis after the other, for every query; the last axes stay."""
    if not vectors:
        return np.repeat(table[None], len(numbers), axis=0)
    first = vectors[0].csr(table.dtype)
    if len(vectors) == 1:
        flat = table.reshape(len(table), -1)
        return np.asarray(first[numbers[:, 0]] @ flat).reshape(len(numbers), *table.shape[1:])
    out: Array = np.empty((len(numbers), *table.shape[len(vectors) :]), dtype=table.dtype)
    for number in np.unique(numbers[:, 0]).tolist():
        own = np.flatnonzero(numbers[:, 0] == number)
        a, b = first.indptr[number : number + 2]
        part = np.tensordot(first.data[a:b], table[first.indices[a:b]], axes=1)
        out[own] = _contracted(part, vectors[1:], numbers[own, 1:])
    return out
