"""The contract of a structured matrix, its checks, and the guarded fallbacks.

An operator is an immutable m × n matrix known by its structure. A new structure is a new file: a frozen
dataclass whose fields say everything (so that equality, printing and saving come for free), with
`shape`, `_apply` and `_adjoint`, and whatever closed forms its theorem gives. Everything else falls
back to the dense matrix, which is refused past `DENSE_LIMIT` entries.

Hooks (names with one underscore) act along the *last* axis of an array with any leading batch axes:
that keeps vectors contiguous. The public verbs check the input and follow numpy's `@`.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np

from rowspace.exceptions import IntegerOverflow, InvalidInput, TooLarge
from rowspace.notebook import one_line

from .checks import Array as Array
from .checks import Indices as Indices
from .checks import Vector as Vector
from .checks import as_operand, check_norm, check_size, in_words, rounding_scale, same
from .checks import check_supported as check_supported
from .rounding import exact_sums

DENSE_LIMIT = 2**26
"""Most entries a matrix may have to be built densely (512 MiB of float64)."""

DECOMPOSITION_LIMIT = 4096
"""Largest side of a dense matrix that a fallback will decompose (cubic cost, about a minute)."""


class Operator(ABC):
    """An immutable m × n real matrix known by its structure.

    >>> from rowspace import operators as op
    >>> A = op.Hierarchy(4)
    >>> A.shape
    (7, 4)
    >>> A @ np.array([1, 2, 3, 4])
    array([10,  3,  7,  1,  2,  3,  4])
    """

    registry: ClassVar[dict[str, type[Operator]]] = {}
    __array_ufunc__ = None  # numpy must leave `array * operator` and `array @ operator` to this class

    def __init_subclass__(cls, *, abstract: bool = False, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        # A class of the same name that somebody adds is not read from files in place of the first.
        if not abstract:
            Operator.registry.setdefault(cls.__name__, cls)
        # A dataclass keeps a __repr__ that is there: arrays are not printed, and nested structures fit a line.
        cls.__repr__ = Operator.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        parts = (f"{name}={in_words(value)}" for name, value in self.fields().items())
        return one_line(f"{type(self).__name__}({', '.join(parts)})")

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of rows (queries) and columns (cells); Python integers of any size."""

    @abstractmethod
    def _apply(self, x: Array) -> Array:
        """A x along the last axis: (..., n) → (..., m). Keeps int64 when `integral`."""

    @abstractmethod
    def _adjoint(self, y: Array) -> Array:
        """Aᵗ y along the last axis: (..., m) → (..., n). Keeps int64 when `integral`."""

    def _apply_along(self, x: Array, axis: int) -> Array:
        """A x along any axis of an array."""
        return self._apply(np.ascontiguousarray(x.swapaxes(axis, -1))).swapaxes(axis, -1)

    @property
    def integral(self) -> bool:
        """Whether every entry is an integer (then int64 vectors are multiplied exactly)."""
        return False

    @property
    def nonnegative(self) -> bool:
        """Whether every entry is known to be ≥ 0."""
        return False

    @property
    def full_column_rank(self) -> bool | None:
        """Whether the columns are independent; None when the structure alone does not tell."""
        return None

    @property
    def wide(self) -> bool:
        """Whether `divided` is exact even where A x does not fit 64 bits."""
        return False

    def __matmul__(self, x: Any) -> Array:
        """A @ x for a vector (n,) or a matrix (n, k)."""
        if isinstance(x, Operator):
            raise InvalidInput(
                "expected an array right of @; compose operators with operators.Composed(A, B)"
            )
        x = as_operand(x, self.shape[1], self.integral)
        return np.asarray(self._apply(x) if x.ndim == 1 else self._apply(np.ascontiguousarray(x.T)).T)

    def divided(self, x: Indices, bits: int) -> tuple[Indices, Indices]:
        """(q, r) with A x = q·2^bits + r and 0 ≤ r < 2^bits, exactly, for an integral A and an int64 vector x.

        q must fit 64 bits; A x itself must too unless the operator is `wide`.
        """
        if not self.integral or x.dtype != np.int64 or x.shape != (self.shape[1],):
            raise InvalidInput(f"expected an integral operator and {self.shape[1]} 64-bit integers")
        return self._divided(x, bits)

    def _divided(self, x: Indices, bits: int) -> tuple[Indices, Indices]:
        answers = self._apply(x)
        return answers >> bits, answers & ((1 << bits) - 1)

    def __rmul__(self, factor: float) -> Operator:
        """The scalar multiple `factor * A`."""
        from .scaled import Scaled

        return Scaled.of_product(factor, self)

    def quotient(self, divisor: int) -> Operator | None:
        """A over a whole number, exactly, where its structure shows that all entries are multiples; else None."""
        return None

    def __neg__(self) -> Operator:
        return -1 * self

    @property
    def T(self) -> Operator:
        """The transpose, as an operator."""
        from .scaled import Transpose

        return Transpose(self)

    def gram(self) -> Operator:
        """AᵗA, an n × n operator with a fast action."""
        from .composed import Composed

        return Composed(self.T, self)

    def pinv(self) -> Operator:
        """The Moore–Penrose pseudo-inverse A⁺, an n × m operator."""
        from .fallback import dense_pinv

        return dense_pinv(self)

    def column_norms(self, p: int) -> Vector:
        """L1 (p = 1) or L2 (p = 2) norm of every column, length n."""
        check_norm(p)
        self.check_vector("list its column norms")
        sums = self._column_sums(p)
        return sums if p == 1 else np.sqrt(sums)

    def _column_sums(self, p: int) -> Vector:
        """Σ_i |a_ij|ᵖ for every column j. For integral operators exact as long as it stays below 2⁵³."""
        dense = self.integer_matrix().astype(np.float64) if self.integral else self.to_dense()
        return np.asarray(np.abs(dense).sum(axis=0) if p == 1 else np.einsum("ij,ij->j", dense, dense))

    def max_column_norm(self, p: int) -> float:
        """Largest column norm: the sensitivity ΔA (p = 1) or ‖A‖₂ (p = 2) of the paper."""
        largest = self._max_column_sum(check_norm(p))
        return largest if p == 1 else float(np.sqrt(largest))

    def _max_column_sum(self, p: int) -> float:
        """Largest of `_column_sums`."""
        self.check_vector("compare its column norms")
        return float(self._column_sums(p).max())

    def integer_norm(self, p: int) -> int:
        """Largest column sum of |a|ᵖ as an exact Python integer; only for integral operators."""
        check_norm(p)
        self._check_integral()
        return self._integer_norm(p)

    def _integer_norm(self, p: int) -> int:
        """Exact: in floating point while every partial sum is below 2⁵³, else in Python integers."""
        self._check_entries()
        largest = self._max_column_sum(p)
        return int(largest) if largest < 2**53 else max(self._exact_column_sums(p))

    def _exact_column_sums(self, p: int) -> list[int]:
        """`_column_sums` of an integral operator in Python integers, which have no largest."""
        sums = self._column_sums(p)
        return [int(s) for s in sums.tolist()] if sums.max() < 2**53 else self._sums_of_entries(p)

    def _sums_of_entries(self, p: int) -> list[int]:
        """The same from every entry, computed in 64-bit integers."""
        self._check_entries()
        return exact_sums(self.integer_matrix(), p)

    def _check_integral(self) -> None:
        if not self.integral:
            raise InvalidInput(
                f"expected an integral operator, got {type(self).__name__}; see integer_form()"
            )

    def _check_entries(self) -> None:
        if self.largest_entry() >= 2**62:
            raise IntegerOverflow(
                f"entries of {type(self).__name__} do not fit 64 bits; round it to fewer bits (integer_form)"
            )

    def pair_norm(self, p: int) -> int | None:
        """A bound of Σ|a_j − a_k|ᵖ over all pairs of columns of an integral operator, if better than column norms'."""
        return None

    def largest_entry(self) -> float:
        """An upper bound of |a_ij|, used to rule out integer overflow beforehand."""
        return self.max_column_norm(1)

    def integer_form(self, bits: int) -> tuple[Operator, float]:
        """(B, s): an integral operator with B ≈ s·A, entries of about `bits` bits; A itself and 1 if it is integral."""
        if check_size("bits", bits) > 52:
            raise InvalidInput(f"expected at most 52 bits, what a 64-bit float holds, got {bits}")
        return (self, 1.0) if self.integral else self._rounded(bits)

    def supporting_integers(self, bits: int) -> Operator:
        """Integers close to a multiple of A whose row space holds A's.

        Rounding tilts the row space of a deficient real matrix, and a workload would no longer lie in it. A faint
        identity (the paper's δI) makes the matrix full rank; the tilt, 2^−bits, is then far below δ.
        """
        from .fallback import with_faint_identity

        integers, _ = self.integer_form(bits)
        return integers if self.rounding_keeps_row_space else with_faint_identity(integers, bits)

    @property
    def rounding_keeps_row_space(self) -> bool:
        """Whether rounding keeps the row space, by structure: rows are multiples or combinations of integer rows."""
        return bool(self.full_column_rank) or self.integral

    def largest_inner_entry(self) -> int:
        """An upper bound of the entries of integers on the way to A x, where those are what must fit 64 bits."""
        return 1

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        """Round the dense entries."""
        from .dense import Dense

        return Dense(self.to_dense()).integer_form(bits)

    def _rounded_by_scale(self, bits: int) -> tuple[Operator, float]:
        """`_rounded` of structures that know their largest entry and have `_rounded_at`."""
        scale = rounding_scale(bits, self.largest_entry())
        return self._rounded_at(scale), scale

    def _rounded_at(self, scale: float) -> Operator:
        """The integral operator close to scale · A, for unions whose parts must share one scale."""
        from .dense import Dense

        return max(1, round(scale)) * self if self.integral else Dense(self.to_dense())._rounded_at(scale)

    def to_dense(self) -> Vector:
        """The matrix as a float64 array; `TooLarge` past `DENSE_LIMIT` entries."""
        self.check_dense("build the matrix")
        return self._dense()

    def _dense(self) -> Vector:
        return self._by_units(np.float64)

    def integer_matrix(self) -> Indices:
        """The matrix of an integral operator in 64-bit integers, by the action on integers that counts get.

        Sensitivities are taken from this one: in floating point sums may cancel past 2⁵³, and a one pass for zero.
        An entry beyond 64 bits comes modulo 2⁶⁴, as the answers do: what is asked then is the matrix that stands here.
        """
        self._check_integral()
        from .fallback import kept_integers

        return kept_integers(self)

    def _integers(self) -> Indices:
        return self._by_units(np.int64)

    def _by_units(self, dtype: Any) -> Array:
        """One unit vector per column, or per row where those are fewer."""
        m, n = self.shape
        units = np.eye(min(m, n), dtype=dtype)
        return self._adjoint(units) if m < n else self._apply(units).T.copy()

    def rows_dense(self, start: int, stop: int) -> Vector:
        """Rows start..stop as a dense (stop − start, n) array."""
        m, n = self.shape
        if not 0 <= start <= stop <= m:
            raise InvalidInput(f"expected 0 <= start <= stop <= {m} rows, got {start}..{stop}")
        if (stop - start) * n > DENSE_LIMIT:
            raise TooLarge(
                f"{stop - start} rows of a {m} x {n} matrix exceed {DENSE_LIMIT} entries; ask for fewer rows"
            )
        return self._rows(start, stop) if start < stop else np.zeros((0, n))

    def _rows(self, start: int, stop: int) -> Vector:
        """One unit vector of length m per row, or cut from the whole matrix where that is smaller."""
        m, n = self.shape
        if stop - start > n:
            return self.to_dense()[start:stop]
        if (stop - start) * m > DENSE_LIMIT:
            raise TooLarge(
                f"{stop - start} unit vectors of length {m} exceed {DENSE_LIMIT} entries; ask for fewer rows"
            )
        return self._adjoint(np.eye(stop - start, m, k=start))

    def row_blocks(self, entries: int = 2**22) -> Iterator[tuple[int, Vector]]:
        """(start, dense rows) in blocks of about `entries` numbers."""
        m, n = self.shape
        step = max(1, entries // max(n, 1))
        for start in range(0, m, step):
            yield start, self.rows_dense(start, min(m, start + step))

    def squared_frobenius(self) -> float:
        """Σ a_ij²: the total error of the identity strategy on this workload, in units of its noise."""
        self.check_vector("add up its squared column norms")
        return float(np.sum(self._column_sums(2)))

    def nuclear_norm(self) -> float:
        """Sum of the singular values; its square over n bounds every strategy's error from below."""
        from .fallback import dense_nuclear_norm

        return dense_nuclear_norm(self)

    def segment_energy(self, density: Vector, bounds: Indices) -> Vector:
        """‖A (density · 1_s)‖² for each segment s = [bounds[i], bounds[i+1]) of the cells: all that trees need of A."""
        from .fallback import dense_segment_energy

        return dense_segment_energy(self, density, bounds)

    def row_quadratic(self, M: Vector) -> Vector:
        """diag(A M Aᵗ) for a dense symmetric n × n array M: one number per row, rows built in blocks."""
        return np.concatenate([np.einsum("ij,ij->i", rows @ M, rows) for _, rows in self.row_blocks()])

    def segment_squares(self, density: Vector, bounds: Indices, powers: Vector) -> Vector | None:
        """Σ_s powers_s·(w·(density·1_s))² for every query w, over segments s as in `segment_energy`; else None."""
        return None

    def row_variances(self, W: Operator) -> Vector | None:
        """w(AᵗA)⁻¹wᵗ for every row w of W, where the two structures have a closed form; else None."""
        return None

    def profile_trace(self, W: Operator) -> float:
        """tr((AᵗA)⁺ WᵗW), the error per unit of noise variance; `UnsupportedWorkload` if W leaves the row space."""
        check_operators(W)
        if W.shape[1] != self.shape[1]:
            raise InvalidInput(f"expected a workload over {self.shape[1]} cells, got {W.shape[1]}")
        return self._profile_trace(W)

    def _profile_trace(self, W: Operator) -> float:
        """By dense algebra, within limits."""
        from .fallback import dense_profile_trace

        return dense_profile_trace(self, W)

    def check_dense(self, purpose: str) -> None:
        """Raise `TooLarge` when a dense m × n array would pass the stated limit."""
        m, n = self.shape
        if m * n > DENSE_LIMIT:
            raise TooLarge(
                f"cannot {purpose}: {type(self).__name__} is {m} x {n}, more than {DENSE_LIMIT} entries; "
                "use its structured verbs (@, gram, column_norms) or a smaller domain"
            )

    def check_vector(self, purpose: str) -> None:
        """Raise `TooLarge` when one number per cell would pass the stated limit."""
        if self.shape[1] > DENSE_LIMIT:
            raise TooLarge(
                f"cannot {purpose}: {type(self).__name__} has {self.shape[1]} cells, more than {DENSE_LIMIT}"
            )

    def fields(self) -> dict[str, Any]:
        """The dataclass fields: everything that defines this operator."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Operator) or type(self) is not type(other):
            return NotImplemented
        return self is other or all(map(same, self.fields().values(), other.fields().values()))

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.shape))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


def check_operators(*operators: Any) -> None:
    """Every argument is an operator, or `InvalidInput`."""
    for operator in operators:
        if not isinstance(operator, Operator):
            raise InvalidInput(f"expected an operator, got {type(operator).__name__}; wrap arrays in Dense")
