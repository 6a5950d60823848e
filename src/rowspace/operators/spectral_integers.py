"""Spectral strategies in integers: what is asked of the data when a matrix is too large to be stored."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Indices, Operator, Vector
from .checks import read_only
from .exact_convolution import ExactConvolution
from .spectral import Spectral
from .waves import Cosines, Sines

LARGEST_SCALE = 2**21
"""Weights below this, times 2⁴⁰ records, leave one bit of 62 unused."""


@dataclass(frozen=True, eq=False)
class SpectralIntegers(Operator):
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
        if not isinstance(self.waves, (Sines, Cosines)):
            raise InvalidInput(f"expected Sines or Cosines, got {type(self.waves).__name__}")
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
    def shape(self) -> tuple[int, int]:
        return self.waves.n, self.waves.n

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

    def _dense(self) -> Vector:
        return self._integers().astype(np.float64)

    def _integers(self) -> Indices:
        unfolded = self.waves.unfolded(self.kernel)
        i = np.arange(self.waves.n)
        entries = unfolded[np.abs(i[:, None] - i)] + self.waves.mirror * unfolded[i[:, None] + i + 1]
        return np.asarray(entries * self.scales)
