"""Strategies that waves make diagonal, up to a weight for every cell: near-optimal for ranges and prefixes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, log2

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Indices, Operator, Vector
from .checks import read_only
from .composed import Composed
from .diagonal import Diagonal, Identity
from .exact_convolution import ExactConvolution
from .ranges import Prefix
from .semiseparable import green_factors, green_trace, prefix_variances
from .waves import Cosines, Sines

STORED_CELLS = 1024
"""Most cells for which the integer matrix is stored; beyond, its kernel is."""

MOST_KERNEL_BITS = 19


class OfWaves(Operator, abstract=True):
    """A matrix that waves make diagonal, up to weights of the cells."""

    waves: Sines | Cosines

    def __post_init__(self) -> None:
        if not isinstance(self.waves, (Sines, Cosines)):
            raise InvalidInput(f"expected Sines or Cosines, got {type(self.waves).__name__}")

    @property
    def shape(self) -> tuple[int, int]:
        return self.waves.n, self.waves.n


@dataclass(frozen=True, eq=False)
class Spectral(OfWaves):
    """A = Qᵗ·diag(spectrum)·Q·diag(scales), with Q the waves: a symmetric filter of the weighted cells.

    The inverse has the same form, column norms come from one transform of the squared spectrum, and the trace
    against ranges or prefixes from `semiseparable`.

    >>> A = Spectral(Sines(4), [4.0, 2.0, 1.0, 1.0], np.ones(4))
    >>> np.allclose(A.pinv() @ (A @ np.arange(4.0)), np.arange(4.0))
    True
    """

    waves: Sines | Cosines
    spectrum: Vector
    scales: Vector

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("spectrum", "scales"):
            values = read_only(getattr(self, name), np.float64)
            if values.shape != (self.waves.n,) or not np.isfinite(values).all():
                raise InvalidInput(
                    f"expected {self.waves.n} finite numbers as {name}, got shape {values.shape}"
                )
            object.__setattr__(self, name, values)
        if self.scales.min() <= 0:
            raise InvalidInput("expected positive weights of the cells as scales")

    @classmethod
    def with_unit_columns(cls, waves: Sines | Cosines, spectrum: Vector) -> Spectral:
        """The strategy of this spectrum whose columns all have L2 norm one."""
        norms_squared = waves.diagonal(np.square(spectrum))
        strategy = cls(waves, spectrum, 1.0 / np.sqrt(norms_squared))
        vars(strategy)["_filter_norms_squared"] = norms_squared  # what the cached property would find again
        return strategy

    @property
    def full_column_rank(self) -> bool:
        return bool(self.spectrum.all())

    def _apply(self, x: Array) -> Array:
        return self.waves.filtered(self.scales * x, self.spectrum)

    def _adjoint(self, y: Array) -> Array:
        return np.asarray(self.scales * self.waves.filtered(y, self.spectrum))

    def pinv(self) -> Operator:
        if not self.full_column_rank:
            return super().pinv()
        filtered = Spectral(self.waves, 1.0 / self.spectrum, np.ones(self.waves.n))
        return Composed(Diagonal(1.0 / self.scales), filtered)

    def _column_sums(self, p: int) -> Vector:
        return super()._column_sums(1) if p == 1 else self.scales**2 * self._filter_norms_squared

    @cached_property
    def _filter_norms_squared(self) -> Vector:
        """‖column‖² before the cells' weights: kernel(0) ∓ kernel(2j + 1) of the squared spectrum."""
        return self.waves.diagonal(self.spectrum**2)

    def largest_entry(self) -> float:
        # No entry exceeds its column's norm.
        return self.max_column_norm(2)

    def _profile_trace(self, W: Operator) -> float:
        factors = green_factors(W)
        if factors is None or not self.full_column_rank:
            return super()._profile_trace(W)
        h = self.waves.unfolded(self.waves.kernel(1.0 / np.square(self.spectrum)))
        return green_trace(*factors, 1.0 / self.scales, h, self.waves.mirror)

    def row_variances(self, W: Operator) -> Vector | None:
        if not isinstance(W, Prefix | Identity) or not self.full_column_rank:
            return None
        h = self.waves.unfolded(self.waves.kernel(1.0 / np.square(self.spectrum)))
        u = 1.0 / self.scales
        if isinstance(W, Prefix):
            return prefix_variances(u, h, self.waves.mirror)
        return np.asarray(u**2 * (h[0] + self.waves.mirror * h[1::2]))

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        # A matrix that is small enough to be stored is rounded entry by entry.
        return super()._rounded(bits) if self.waves.n <= STORED_CELLS else self.to_integers(bits)

    def to_integers(self, bits: int) -> tuple[SpectralIntegers, float]:
        """(B, s) with B ≈ s·A: an integer kernel and integer weights, 18 and 15 bits of each at bits = 20.

        It is the error that is kept to 10⁻⁴, not every entry to 2^−bits.
        """

        kernel = self.waves.kernel(self.spectrum)
        fine = 2.0 ** _kernel_bits(self.waves.n, bits) / self.waves.size(kernel)
        rounded = SpectralIntegers.unweighted(self.waves, np.rint(fine * kernel).astype(np.int64))
        # The weights make up for what rounding did to the columns' norms, themselves rounded down: none rises above.
        weights = self.column_norms(2) / rounded.column_norms(2)
        coarse = min(2.0 ** max(1, bits - 5) / weights.min(), LARGEST_SCALE / weights.max())
        scales = np.maximum(1, np.floor(coarse * weights)).astype(np.int64)
        return rounded.weighted(scales), float(coarse)

    def _dense(self) -> Vector:
        return self._apply(np.eye(self.waves.n)).T.copy()


def _kernel_bits(n: int, bits: int) -> int:
    """Bits of the largest column of the rounded kernel.

    Rounding puts white noise of size √n on the spectrum: past 2²⁰ cells that needs half a bit more for every doubling.
    Then it stays below 1/2 % of the faintest wave, which costs 10⁻⁵ of error. Past `MOST_KERNEL_BITS` the columns'
    norms could not be proved exact.
    """
    return min(MOST_KERNEL_BITS, max(1, bits - 2 + max(0, ceil(log2(n) / 2) - 10)))


LARGEST_SCALE = 2**21
"""Weights below this, times 2⁴⁰ records, leave one bit of 62 unused."""


@dataclass(frozen=True, eq=False)
class SpectralIntegers(OfWaves):
    """B_ij = (kernel(|i − j|) ∓ kernel(i + j + 1))·scales(j): a `Spectral` strategy whose every entry is an integer.

    O(n log n) for everything, n² entries that are never built.

    Guarantees
    - B x is exact for integer x: linear to the last bit (tests/operators/test_spectral.py::test_products_are_exact).
    - The integer norm is exact (tests/operators/test_spectral.py::test_integer_norm_is_exact).
    - Neighbours' answers differ by a column of B, whatever the counts
      (tests/operators/test_spectral.py::test_neighbours_differ_by_one_column).

    Kernels for which floating point could not be proved exact are refused.

    >>> B = SpectralIntegers(Cosines(3), [5, 2, 1], [1, 2, 3])
    >>> B @ np.array([1, 1, 1])
    array([16, 16, 12])
    """

    waves: Sines | Cosines
    kernel: Indices
    scales: Indices

    integral = True
    wide = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, size in (("kernel", self.waves.kernel_size), ("scales", self.waves.n)):
            values = read_only(getattr(self, name), np.int64)
            if values.shape != (size,):
                raise InvalidInput(f"expected {size} integers as {name}, got shape {values.shape}")
            object.__setattr__(self, name, values)
        if self.scales.min() < 1 or self.scales.max() > LARGEST_SCALE:
            raise InvalidInput(f"expected weights of the cells from 1 to {LARGEST_SCALE}")
        if max(-int(self.kernel.min()), int(self.kernel.max())) >= 2**31 or not self._convolution.exact:
            raise InvalidInput("expected a smaller kernel: products with it cannot be proved exact")

    @classmethod
    def unweighted(cls, waves: Sines | Cosines, kernel: Indices) -> SpectralIntegers:
        """Every cell with weight one."""
        return cls(waves, kernel, np.ones(waves.n, np.int64))

    def weighted(self, scales: Indices) -> SpectralIntegers:
        """The same kernel with other weights of the cells; what is known of the kernel is kept."""
        other = SpectralIntegers(self.waves, self.kernel, scales)
        for name in ("_convolution", "_filter_norms_squared"):
            if name in vars(self):
                vars(other)[name] = vars(self)[name]
        return other

    @cached_property
    def _convolution(self) -> ExactConvolution:
        return ExactConvolution(self.waves, self.kernel)

    @cached_property
    def _real(self) -> Spectral:
        """The same matrix, for everything that is done in floating point."""
        spectrum = self.waves.spectrum(self.kernel.astype(np.float64))
        return Spectral(self.waves, spectrum, self.scales.astype(np.float64))

    @property
    def full_column_rank(self) -> bool:
        return self._real.full_column_rank

    def _apply(self, x: Array) -> Array:
        return self._divided(x, 0)[0] if x.dtype.kind == "i" else self._real._apply(x)

    def _adjoint(self, y: Array) -> Array:
        if y.dtype.kind != "i":
            return self._real._adjoint(y)
        return np.asarray(self.scales * self._convolution.divided(y, 0)[0])

    def _divided(self, x: Indices, bits: int) -> tuple[Indices, Indices]:
        return self._convolution.divided(self.scales * x, bits)

    def pinv(self) -> Operator:
        return self._real.pinv()

    @cached_property
    def _filter_norms_squared(self) -> Indices:
        """‖column‖² before the cells' weights, exactly."""
        square = self._convolution.autocorrelation()
        return np.asarray(square[0] + self.waves.mirror * square[1::2])

    def _column_sums(self, p: int) -> Vector:
        if p == 1:
            return super()._column_sums(1)
        return self._squared_norms

    @cached_property
    def _squared_norms(self) -> Vector:
        """‖column‖², in floating point; asked for several times while a plan is made."""
        return read_only(self.scales.astype(np.float64) ** 2 * self._filter_norms_squared, np.float64)

    def _integer_norm(self, p: int) -> int:
        return super()._integer_norm(1) if p == 1 else max(self._largest_sums())

    def _largest_sums(self) -> list[int]:
        """The columns that floating point cannot tell from the largest, each in Python integers."""
        sums = self._column_sums(2)
        largest = np.flatnonzero(sums >= sums.max() * (1 - 1e-12))
        return [
            int(s) ** 2 * int(q)
            for s, q in zip(self.scales[largest], self._filter_norms_squared[largest], strict=True)
        ]

    def _exact_column_sums(self, p: int) -> list[int]:
        if p == 1:
            return super()._exact_column_sums(1)
        pairs = zip(self.scales.tolist(), self._filter_norms_squared.tolist(), strict=True)
        return [s**2 * q for s, q in pairs]

    @cached_property
    def _largest_column_norm(self) -> float:
        return self.max_column_norm(2)

    def largest_entry(self) -> float:
        # No entry exceeds its column's norm.
        return self._largest_column_norm

    def _profile_trace(self, W: Operator) -> float:
        return self._real.profile_trace(W)

    def row_variances(self, W: Operator) -> Vector | None:
        return self._real.row_variances(W)

    def _dense(self) -> Vector:
        return self._integers().astype(np.float64)

    def _integers(self) -> Indices:
        unfolded = self.waves.unfolded(self.kernel)
        i = np.arange(self.waves.n)
        entries = unfolded[np.abs(i[:, None] - i)] + self.waves.mirror * unfolded[i[:, None] + i + 1]
        return np.asarray(entries * self.scales)
