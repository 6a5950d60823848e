"""Strategies that waves make diagonal, up to a weight for every cell: near-optimal for ranges and prefixes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, log2
from typing import TYPE_CHECKING

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Operator, Vector
from .checks import read_only
from .composed import Composed
from .diagonal import Diagonal
from .semiseparable import green_factors, green_trace
from .waves import Cosines, Sines

if TYPE_CHECKING:
    from .spectral_integers import SpectralIntegers

STORED_CELLS = 1024
"""Most cells for which the integer matrix is stored; beyond, its kernel is."""

MOST_KERNEL_BITS = 19


@dataclass(frozen=True, eq=False)
class Spectral(Operator):
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
        if not isinstance(self.waves, (Sines, Cosines)):
            raise InvalidInput(f"expected Sines or Cosines, got {type(self.waves).__name__}")
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
    def shape(self) -> tuple[int, int]:
        return self.waves.n, self.waves.n

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

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        # A matrix that is small enough to be stored is rounded entry by entry.
        return super()._rounded(bits) if self.waves.n <= STORED_CELLS else self.to_integers(bits)

    def to_integers(self, bits: int) -> tuple[SpectralIntegers, float]:
        """(B, s) with B ≈ s·A: an integer kernel and integer weights, 18 and 15 bits of each at bits = 20.

        It is the error that is kept to 10⁻⁴, not every entry to 2^−bits.
        """
        from .spectral_integers import LARGEST_SCALE, SpectralIntegers

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
