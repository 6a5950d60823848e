"""Sines and cosines on half-integer points: orthonormal transforms of any length in O(n log n).

A matrix that such a transform makes diagonal is the sum of a Toeplitz and a Hankel matrix of one even sequence, its
`kernel`. With Q the transform and cells i, j counted from zero,

    (Qᵗ diag(spectrum) Q)_ij = kernel(|i − j|) ∓ kernel(i + j + 1)        (sines −, cosines +),

because 2·sin a·sin b = cos(a − b) − cos(a + b). The kernel is the cosine series of the spectrum and back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy

from .base import Array, Operator, Vector
from .diagonal import Identity
from .kinds import OnCells, Symmetric


class Waves(OnCells, abstract=True):
    """What both transforms share."""

    full_column_rank = True
    mirror: ClassVar[int]

    def gram(self) -> Operator:
        return Identity(self.n)

    def unfolded(self, kernel: Array) -> Array:
        """kernel(0), …, kernel(2n − 1)."""
        raise NotImplementedError

    def kernel(self, spectrum: Vector) -> Vector:
        """The kernel with this spectrum."""
        raise NotImplementedError

    def diagonal(self, spectrum: Vector) -> Vector:
        """The diagonal of Qᵗ diag(spectrum) Q: kernel(0) ∓ kernel(2j + 1)."""
        kernel = self.unfolded(self.kernel(spectrum))
        return np.asarray(kernel[0] + self.mirror * kernel[1::2])


@dataclass(frozen=True, eq=False)
class Sines(Waves):
    """√(2/n)·sin(πk(j − ½)/n) for k, j = 1…n, the last row divided by √2: DST-II, zero at both ends.

    Its kernels have n + 1 terms, repeat after 2n, and matter only up to a constant.
    """

    n: int

    mirror: ClassVar[int] = -1

    def _apply(self, x: Array) -> Array:
        return np.asarray(scipy.fft.dst(x, 2, norm="ortho"))

    def _adjoint(self, y: Array) -> Array:
        return np.asarray(scipy.fft.dst(y, 3, norm="ortho"))

    def pinv(self) -> Operator:
        return self.T

    @property
    def angles(self) -> Vector:
        """πk/n: how far a wave turns from one cell to the next."""
        return np.asarray(np.pi / self.n * np.arange(1, self.n + 1), np.float64)

    @property
    def kernel_size(self) -> int:
        """Terms of a kernel before it repeats itself backwards."""
        return self.n + 1

    def spectrum(self, kernel: Vector) -> Vector:
        """kernel(0) + 2 Σ kernel(d) cos(dθ) + kernel(n) cos(nθ) at the angles θ."""
        return cosine_sums(kernel)[1:]

    def kernel(self, spectrum: Vector) -> Vector:
        """The kernel of least size with this spectrum: its mean, which has no influence, is zero."""
        return np.asarray(cosine_sums(np.concatenate(([0.0], spectrum))) / (2 * self.n))

    def mean(self, kernel: Vector) -> float:
        """The mean of the unfolded kernel: the one thing about it that the spectrum does not tell."""
        return float(kernel[0] + 2 * kernel[1:-1].sum() + kernel[-1]) / (2 * self.n)

    def size(self, kernel: Vector) -> float:
        """The 2-norm of the unfolded kernel."""
        return float(np.sqrt(2 * np.dot(kernel, kernel) - kernel[0] ** 2 - kernel[-1] ** 2))

    def unfolded(self, kernel: Array) -> Array:
        """kernel(0), …, kernel(2n − 1)."""
        return np.concatenate((kernel, kernel[-2:0:-1]))

    def filtered(self, x: Array, spectrum: Vector) -> Array:
        """Qᵗ diag(spectrum) Q x, with one scaling in place of two square roots."""
        waves = scipy.fft.dst(x, 2)
        waves *= spectrum
        return np.asarray(scipy.fft.idst(waves, 2, overwrite_x=True))


@dataclass(frozen=True, eq=False)
class Cosines(Waves, Symmetric):
    """√(2/n)·cos(π(k − ½)(j − ½)/n) for k, j = 1…n: DCT-IV, flat at the left end and zero at the right.

    It is its own inverse. Its kernels have n terms and continue as kernel(2n − d) = −kernel(d).
    """

    n: int

    mirror: ClassVar[int] = 1

    def _apply(self, x: Array) -> Array:
        return np.asarray(scipy.fft.dct(x, 4, norm="ortho"))

    def pinv(self) -> Operator:
        return self

    @property
    def angles(self) -> Vector:
        """π(k − ½)/n: how far a wave turns from one cell to the next."""
        return np.asarray(np.pi / self.n * (np.arange(self.n) + 0.5), np.float64)

    @property
    def kernel_size(self) -> int:
        """Terms of a kernel before it repeats itself backwards."""
        return self.n

    def spectrum(self, kernel: Vector) -> Vector:
        """kernel(0) + 2 Σ kernel(d) cos(dθ) at the angles θ."""
        return np.asarray(scipy.fft.dct(kernel, 3))

    def kernel(self, spectrum: Vector) -> Vector:
        """The kernel with this spectrum."""
        return np.asarray(scipy.fft.idct(spectrum, 3))

    def mean(self, kernel: Vector) -> float:
        """The mean over a period, in which every term comes with both signs."""
        return 0.0

    def size(self, kernel: Vector) -> float:
        """The 2-norm of the unfolded kernel."""
        return float(np.sqrt(2 * np.dot(kernel, kernel) - kernel[0] ** 2))

    def unfolded(self, kernel: Array) -> Array:
        """kernel(0), …, kernel(2n − 1)."""
        return np.concatenate((kernel, np.zeros(1, kernel.dtype), -kernel[:0:-1]))

    def filtered(self, x: Array, spectrum: Vector) -> Array:
        """Qᵗ diag(spectrum) Q x, with one scaling in place of two square roots."""
        waves = scipy.fft.dct(x, 4)
        waves *= spectrum
        return np.asarray(scipy.fft.idct(waves, 4, overwrite_x=True))


def cosine_sums(values: Vector) -> Vector:
    """v(0) + 2 Σ v(d) cos(πdk/n) + (−1)ᵏ v(n) for k = 0…n: DCT-I, by halving, four times as fast as unfolding it.

    Even k see v(d) and v(n − d) alike, a sum of half the length; odd k see their difference, which is a DCT-III.
    """
    out = np.empty_like(values)
    step = 1
    while len(values) > 3 and len(values) % 2:
        half = len(values) // 2
        mirrored = values[:half:-1]
        out[step :: 2 * step] = scipy.fft.dct(values[:half] - mirrored, 3)
        values = np.concatenate((values[:half] + mirrored, [2 * values[half]]))
        step *= 2
    out[::step] = scipy.fft.dct(values, 1)
    return out
