"""Matrices given entry by entry, dense or sparse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import scipy

from rowspace.exceptions import InvalidInput

from .base import DENSE_LIMIT, Array, Indices, Operator, Vector
from .checks import as_array, check_size, read_only
from .kinds import are_whole, integers_for

FIRM_PIVOT = 2.0**-4
"""Least pivot of a triangle, relative to its largest entry, that rounding to 4 bits and more leaves above zero."""


@dataclass(frozen=True, eq=False)
class Dense(Operator):
    """An explicit m × n array, copied and made immutable."""

    array: Vector

    def __post_init__(self) -> None:
        array = read_only(self.array, np.float64)
        if array.ndim != 2 or 0 in array.shape:
            raise InvalidInput(
                f"expected a two-dimensional array with rows and columns, got shape {array.shape}"
            )
        if not np.isfinite(array).all():
            raise InvalidInput("expected finite entries, got NaN or infinity")
        object.__setattr__(self, "array", array)

    @property
    def shape(self) -> tuple[int, int]:
        m, n = self.array.shape
        return m, n

    @cached_property
    def integral(self) -> bool:
        return are_whole(self.array)

    @property
    def nonnegative(self) -> bool:
        return bool((self.array >= 0).all())

    @cached_property
    def full_column_rank(self) -> bool | None:
        """True where it is seen at once: an upper triangle with a firm diagonal, which rounding keeps firm."""
        m, n = self.shape
        pivots = np.abs(np.diagonal(self.array))
        firm = m == n and pivots.min() > FIRM_PIVOT * np.abs(self.array).max()
        return True if firm and not np.tril(self.array, -1).any() else None

    @property
    def rounding_keeps_row_space(self) -> bool:
        # A firm lower triangle keeps its shape, as an upper one does.
        return (
            super().rounding_keeps_row_space
            or bool(Dense(self.array.T).full_column_rank)
            or (
                min(self.shape) >= self.shape[1] <= 1024
                and int(np.linalg.matrix_rank(self.array)) == self.shape[1]
            )
        )

    def _apply(self, x: Array) -> Array:
        return np.asarray(x @ integers_for(self.array, x).T)

    def _adjoint(self, y: Array) -> Array:
        return np.asarray(y @ integers_for(self.array, y))

    def gram(self) -> Operator:
        # Optimizers ask for it again and again; it is kept where it is no larger than the matrix itself.
        m, n = self.shape
        return self._kept_gram if n <= m else self._gram()

    @cached_property
    def _kept_gram(self) -> Operator:
        return self._gram()

    def _gram(self) -> Operator:
        return Dense(self.array.T @ self.array)

    def _column_sums(self, p: int) -> Vector:
        return np.asarray(
            np.abs(self.array).sum(axis=0) if p == 1 else np.einsum("ij,ij->j", self.array, self.array)
        )

    def largest_entry(self) -> float:
        return self._largest_entry

    @cached_property
    def _largest_entry(self) -> float:
        return float(np.abs(self.array).max())

    _rounded = Operator._rounded_by_scale

    def _rounded_at(self, scale: float) -> Operator:
        return Dense(np.rint(scale * self.array))

    def _rows(self, start: int, stop: int) -> Vector:
        return self.array[start:stop].copy()

    def _dense(self) -> Vector:
        return self.array.copy()

    def _integers(self) -> Indices:
        return self.array.astype(np.int64)


DENSE_SPEED = 32
"""Products of entries that dense algebra computes in the time of one sparse product."""


@dataclass(frozen=True, eq=False, init=False)
class Sparse(Operator):
    """A compressed-row matrix; takes any scipy sparse matrix or dense array."""

    data: Vector
    indices: Indices
    indptr: Indices
    columns: int

    def __init__(
        self,
        matrix: Any = None,
        *,
        data: Any = None,
        indices: Any = None,
        indptr: Any = None,
        columns: int | None = None,
    ) -> None:
        """Sparse(matrix), or Sparse(data=, indices=, indptr=, columns=) as saved files spell it."""
        if matrix is None:
            arrays = read_only(data, np.float64), read_only(indices, np.int64), read_only(indptr, np.int64)
            shape = arrays[2].size - 1, check_size("columns", columns)
            _check_rows(*arrays)
        elif not scipy.sparse.issparse(matrix):
            matrix = read_only(matrix, np.float64)
        elif np.dtype(cast("Any", matrix).dtype).kind not in "biuf":
            raise InvalidInput("expected a sparse matrix of real numbers")
        try:
            given: Any = scipy.sparse.csr_array(arrays, shape=shape) if matrix is None else matrix
            csr: Any = scipy.sparse.csr_array(given, dtype=np.float64, copy=True)
            csr.check_format(full_check=True)
            csr.sum_duplicates()
            csr.eliminate_zeros()
        except (TypeError, ValueError, IndexError, OverflowError):
            raise InvalidInput("expected a two-dimensional sparse matrix of real numbers") from None
        if csr.ndim != 2 or 0 in csr.shape:
            raise InvalidInput(
                f"expected a two-dimensional matrix with rows and columns, got shape {csr.shape}"
            )
        if not np.isfinite(csr.data).all():
            raise InvalidInput("expected finite entries, got NaN or infinity")
        object.__setattr__(self, "data", read_only(csr.data, np.float64))
        object.__setattr__(self, "indices", read_only(csr.indices, np.int64))
        object.__setattr__(self, "indptr", read_only(csr.indptr, np.int64))
        object.__setattr__(self, "columns", int(csr.shape[1]))

    @classmethod
    def of_cells(cls, rows: Sequence[Indices], columns: int) -> Sparse:
        """0/1 rows from the sorted places of their ones, which the caller has found itself: nothing is checked again.

        >>> Sparse.of_cells([np.array([0, 2])], 3).to_dense()
        array([[1., 0., 1.]])
        """
        made = object.__new__(cls)
        indices = np.concatenate(rows)
        indptr = np.cumsum([0, *map(len, rows)])
        object.__setattr__(made, "data", read_only(np.ones(len(indices)), np.float64))
        object.__setattr__(made, "indices", read_only(indices, np.int64))
        object.__setattr__(made, "indptr", read_only(indptr, np.int64))
        object.__setattr__(made, "columns", columns)
        return made

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.indptr) - 1, self.columns

    @cached_property
    def integral(self) -> bool:
        return are_whole(self.data)

    @property
    def nonnegative(self) -> bool:
        return bool((self.data >= 0).all())

    @cached_property
    def _csr(self) -> Any:
        """A scipy view of the same entries; building one costs more than a small product."""
        return scipy.sparse.csr_array((self.data, self.indices, self.indptr), shape=self.shape)

    def csr(self, dtype: Any = np.float64) -> Any:
        """The entries as a scipy array."""
        return self._csr.astype(dtype, copy=False)

    def _apply(self, x: Array) -> Array:
        flat = x.reshape(-1, self.columns)
        return cast("Array", (self.csr(x.dtype) @ flat.T).T.reshape(*x.shape[:-1], self.shape[0]))

    def _adjoint(self, y: Array) -> Array:
        flat = y.reshape(-1, self.shape[0])
        return cast("Array", (self.csr(y.dtype).T @ flat.T).T.reshape(*y.shape[:-1], self.columns))

    def gram(self) -> Operator:
        return self._gram

    @cached_property
    def _gram(self) -> Operator:
        m, n = self.shape
        products = float(np.sum(np.diff(self.indptr) ** 2.0))
        if self.has_small_gram and DENSE_SPEED * products > m * n**2:
            return Dense(sum((rows.T @ rows for _, rows in self.row_blocks()), np.zeros((n, n))))
        if products > DENSE_LIMIT and not self.has_small_gram:
            return super().gram()  # long rows make a dense Gram matrix: apply the two factors instead
        csr = self.csr()
        return Sparse(csr.T @ csr)

    @property
    def has_small_gram(self) -> bool:
        """Whether the Gram matrix takes no more room than the entries, and its action no more time."""
        return self.columns**2 <= self.data.size

    def _column_sums(self, p: int) -> Vector:
        powers = np.abs(self.data) ** p
        return np.asarray(np.bincount(self.indices, powers, minlength=self.columns), dtype=np.float64)

    def _sums_of_entries(self, p: int) -> list[int]:
        sums = [0] * self.columns
        for column, entry in zip(self.indices.tolist(), self.data.tolist(), strict=True):
            sums[column] += abs(int(entry)) ** p
        return sums

    def largest_entry(self) -> float:
        return float(np.abs(self.data).max(initial=0.0))

    _rounded = Operator._rounded_by_scale

    def _rounded_at(self, scale: float) -> Operator:
        rounded = np.rint(scale * self.data)
        return Sparse(data=rounded, indices=self.indices, indptr=self.indptr, columns=self.columns)

    def _rows(self, start: int, stop: int) -> Vector:
        # By hand: a slice of a scipy array costs more than a few rows do.
        found = np.zeros((stop - start, self.columns))
        chosen = slice(self.indptr[start], self.indptr[stop])
        number = np.repeat(np.arange(stop - start), np.diff(self.indptr[start : stop + 1]))
        found[number, self.indices[chosen]] = self.data[chosen]
        return found

    def _dense(self) -> Vector:
        return cast("Vector", self.csr().toarray())

    def _integers(self) -> Indices:
        return self._dense().astype(np.int64)


def _check_rows(data: Array, indices: Array, indptr: Array) -> None:
    """Refuse rows that do not follow one another: scipy does not look when the last one ends at 0, and then crashes."""
    follow = (
        data.ndim == indices.ndim == indptr.ndim == 1
        and indptr.size > 0
        and indptr[0] == 0
        and bool(np.all(indptr[1:] >= indptr[:-1]))
        and indptr[-1] == data.size == indices.size
    )
    if not follow:
        raise InvalidInput("expected row boundaries that rise from 0 to the number of entries")


def as_operator(matrix: Any) -> Operator:
    """A matrix in whatever form as an operator; operators are returned as they are.

    Raises:
        InvalidInput: It is no matrix of finite numbers.

    >>> as_operator([[1, 1, 0], [0, 1, 1]]).max_column_norm(1)
    2.0
    """
    if isinstance(matrix, Operator):
        return matrix
    return Sparse(matrix) if scipy.sparse.issparse(matrix) else Dense(as_array(matrix))
