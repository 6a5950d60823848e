"""Exact integer products with Toeplitz + Hankel matrices, by transforms in floating point whose error is bounded.

The matrix is the one of `waves` with an integer kernel g. The vector is cut into limbs of b bits, small enough that a
product computed in floating point is provably less than ½ away from the integer it stands for; rounding then gives
that integer, and the limbs are put together in 64-bit arithmetic, which is exact modulo 2⁶⁴. So the map from counts to
answers is linear to the last bit: its sensitivity is that of an integer matrix, with no allowance for rounding.

How small? Three transforms of length N take part: of g, of the limb z, and back. Where N has small prime factors each
is at most log₂ N + 2 stages, two of them the passes around the complex transform that make it one of sines or cosines.
A stage multiplies by twiddle factors known to 4u (u = 2⁻⁵³), which costs a complex multiplication, √5·u, and adds. That
is a relative error below 9u a factor of two: 7.3u for butterflies of 2, and less than 9u·log₂ p for those of
p = 3, 4, 5, 7, 11, whose cosines and sines have at most √2 of absolute weight for one of modulus. To first order an
error made in one stage reaches the output through the exact stages that follow, so the stages' errors add:

- on the way in, in the 2-norm, since every stage is a multiple of an orthogonal matrix (Higham 2002, Theorem 24.2);
- on the way back, in the largest component relative to the 1-norm of the inputs, since every number on the way is a sum
  of its inputs with weights of modulus one (Percival 2003, Theorem 5.1); the two passes at the ends, which add
  and subtract pairs, make that at most 4 times as much.

With Q the orthonormal transform, |Q_kj| ≤ √(2/N), and Parseval's ‖ĝ‖₂ ≤ √(2N)·‖g‖₂ (g over one period of 2N terms),
Cauchy–Schwarz gives ‖ĝ·Qz‖₁ ≤ √(2N)·‖g‖₂·‖z‖₂, and all together

    |computed − exact| ≤ (9 + 9 + 4·9)·2·u·(log₂ N + 2)·‖g‖₂·‖z‖₂·(1 + 10⁻⁹) < 128u·(log₂ N + 2)·‖g‖₂·‖z‖₂.

In tests the true error is a hundred times smaller. A result that strays further from an integer is an error, not an
answer: the proof is about a library that may change.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from math import floor, log2, sqrt

import numpy as np
import scipy

from rowspace.exceptions import IntegerOverflow

from .base import Indices, Vector
from .waves import Cosines, Sines

UNIT_ROUNDOFF = 2.0**-53

LARGEST_PRIME = 11
"""Prime factors of a transform's length up to this have butterflies of their own in scipy's library."""

ALARM = 1 / 16
"""Distance from an integer at which a computed product is distrusted; true errors are below 1/200."""

LEAST_LIMB = 8
"""Fewest bits of a limb worth a transform; kernels that would need smaller ones are refused."""


@dataclass(frozen=True)
class ExactConvolution:
    """The product with (kernel(|i − j|) ∓ kernel(i + j + 1))_ij for an integer kernel: O(n log n), exact."""

    waves: Sines | Cosines
    integers: Indices

    @cached_property
    def _length(self) -> int:
        """n, or when it has a large prime factor, a length of at least 2n without one.

        The matrix is then the upper left corner of a longer one whose kernel goes on with zeros.
        """
        n = self.waves.n
        return n if _smooth(n) else int(scipy.fft.next_fast_len(2 * n, real=True))

    @cached_property
    def _spectrum(self) -> Vector:
        with _own_transforms():
            return self._long_waves.spectrum(self._long_kernel)

    @property
    def _long_waves(self) -> Sines | Cosines:
        return type(self.waves)(self._length)

    @cached_property
    def _long_kernel(self) -> Vector:
        if self._length == self.waves.n:
            return self.integers.astype(np.float64)
        kernel = np.zeros(self._long_waves.kernel_size)
        kernel[: 2 * self.waves.n] = self.waves.unfolded(self.integers)
        return kernel

    @cached_property
    def _error_per_norm(self) -> float:
        """The bound above, per unit of ‖z‖₂."""
        return 128 * UNIT_ROUNDOFF * (log2(self._length) + 2) * self._long_waves.size(self._long_kernel)

    @cached_property
    def limb_bits(self) -> int:
        """The most bits b such that every product of a limb in [−2ᵇ⁻¹, 2ᵇ⁻¹) is wrong by less than ½."""
        # One half is missed by a hair to cover the roundings in this formula itself.
        largest = 0.499 / (self._error_per_norm * sqrt(self.waves.n)) if self.integers.any() else 2.0**31
        return min(32, floor(log2(largest)) + 1)

    @property
    def exact(self) -> bool:
        """Whether limbs of a sensible size, and the kernel itself, are small enough."""
        # The kernel is no larger than the long one, whose size the error is in proportion to.
        size = self._long_waves.size(self._long_kernel)
        return self.limb_bits >= LEAST_LIMB and 2 * self._error_per_norm * size < 0.499

    def autocorrelation(self) -> Indices:
        """The unfolded kernel of the matrix's square, whose entries are the columns' inner products.

        Σ_d g(d)·g(m − d) for m = 0…2n − 1, exact: the bound above with z = g, for which `exact` leaves twice the room.
        """
        with _own_transforms():
            return _nearest_integers(self._square())

    def _square(self) -> Vector:
        n, g = self.waves.n, self.integers.astype(np.float64)
        if self._length == n:
            square = self.waves.unfolded(self.waves.kernel(self._spectrum**2))
            return np.asarray(square + 2 * n * self.waves.mean(g) ** 2)
        length = int(scipy.fft.next_fast_len(4 * n, real=True))
        linear = scipy.fft.irfft(scipy.fft.rfft(self.waves.unfolded(g), length) ** 2, length)
        # The sequence goes on behind its period: repeated for sines, with its sign changed for cosines.
        return np.asarray(linear[: 2 * n] - self.waves.mirror * linear[2 * n : 4 * n])

    def divided(self, z: Indices, bits: int) -> tuple[Indices, Indices]:
        """(quotient, remainder): the product is quotient·2^bits + remainder, 0 ≤ remainder < 2^bits.

        Exact as long as the quotient fits 64 bits and |z| < 2⁶²; modulo 2⁶⁴ for any z when bits = 0.
        """
        b, n = self.limb_bits, self.waves.n
        half = 1 << (b - 1)
        quotient, remainder = np.zeros_like(z), np.zeros_like(z)
        rest, shift = z, 0
        while shift < 64:
            limb = ((rest + half) & (2 * half - 1)) - half
            rest = (rest - limb) >> b
            part = self._rounded_product(limb)[..., :n]
            low = max(0, bits - shift)
            quotient += (part >> low) << max(0, shift - bits)
            remainder += (part & ((1 << low) - 1)) << shift if low else 0
            shift += b
        quotient += remainder >> bits
        remainder &= (1 << bits) - 1
        return quotient, remainder

    def _rounded_product(self, limb: Indices) -> Indices:
        x = np.zeros((*limb.shape[:-1], self._length))
        x[..., : limb.shape[-1]] = limb
        with _own_transforms():
            return _nearest_integers(self._long_waves.filtered(x, self._spectrum))


def _own_transforms() -> AbstractContextManager[None]:
    """Scipy's own transforms, which the proof is about, whatever backend the process has chosen for its own work."""
    return scipy.fft.set_backend("scipy", only=True)


def _nearest_integers(product: Vector) -> Indices:
    """The integers meant, or an error where floating point is further off than anything ever measured.

    The bound above says the nearest integer is the right one. Should a transform library break the bound, its results
    would stray from integers long before they reach the next one, and nothing is released.
    """
    nearest = np.rint(product)
    if np.abs(np.subtract(product, nearest, out=product), out=product).max(initial=0.0) > ALARM:
        raise IntegerOverflow(
            "a product could not be computed exactly: this machine's transforms are too inaccurate"
        )
    return nearest.astype(np.int64)


def _smooth(n: int) -> bool:
    """Whether n has no prime factor above `LARGEST_PRIME`."""
    for prime in (2, 3, 5, 7, LARGEST_PRIME):
        while n % prime == 0:
            n //= prime
    return n == 1
