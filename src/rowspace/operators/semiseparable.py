"""Traces against V_ij = a_min(i,j) · b_max(i,j), the Gram matrices of ranges and prefixes, in O(n log² n) and exactly.

Let M_ij = u_i u_j (h(|i − j|) ± h(i + j + 1)). With α = a·u and β = b·u, since V and M are symmetric,

    tr(MV) = Σ_i α_i β_i (h(0) ± h(2i + 1)) + 2 Σ_{i<j} α_i β_j h(j − i) ± 2 Σ_{i<j} α_i β_j h(i + j + 1).

The middle sum is a correlation: one FFT. In the last one i + j does not tell whether i < j, so the cells are halved:
i left and j right of the middle is a plain convolution, and the two halves are the same problem again.
"""

from __future__ import annotations

import numpy as np
import scipy

from .base import Operator, Vector
from .ranges import Prefix, Ranges
from .scaled import Scaled

CACHED = 2**15
"""Cells of a piece whose numbers stay in a processor's cache together."""

SMALL = 8
"""Cells of a block whose pairs are summed one by one."""


def green_factors(W: Operator) -> tuple[Vector, Vector] | None:
    """(a, b) with (WᵗW)_ij = a_i b_j for i ≤ j, or None when W is not known to have them."""
    if isinstance(W, Scaled):
        factors = green_factors(W.of)
        return None if factors is None else (W.factor**2 * factors[0], factors[1])
    ascending = np.arange(1.0, W.shape[1] + 1) if isinstance(W, (Ranges, Prefix)) else None
    if ascending is None:
        return None
    return (ascending if isinstance(W, Ranges) else np.ones_like(ascending)), ascending[::-1]


def green_trace(a: Vector, b: Vector, u: Vector, h: Vector, mirror: int) -> float:
    """tr(MV) as above; h has 2n terms, `mirror` is the sign."""
    alpha, beta = a * u, b * u
    diagonal = float(np.dot(alpha * beta, h[0] + mirror * h[1::2]))
    return diagonal + 2.0 * (_toeplitz_sum(alpha, beta, h) + mirror * _hankel_sum(alpha, beta, h))


def prefix_variances(u: Vector, h: Vector, mirror: int) -> Vector:
    """Σ_{i,j≤k} M_ij for every k, with M as above: each cell adds its own term and its pairs with those before it."""
    n, size = len(u), 2 * SMALL
    while size < len(u):
        size *= 2
    length = scipy.fft.next_fast_len(2 * n, real=True)
    product = scipy.fft.rfft(u, length) * scipy.fft.rfft(np.concatenate(([0.0], h[1:n])), length)
    pairs = scipy.fft.irfft(product, length)[:n]
    left, kernel, hankel = _padded(u, size), _padded(h, 2 * size), np.zeros(size)
    half = size // 2
    while half >= SMALL:
        blocks = left.reshape(-1, 2 * half)
        product = scipy.fft.rfft(blocks[:, half - 1 :: -1], 2 * half)
        product *= scipy.fft.rfft(kernel.reshape(-1, 4 * half)[:, half + 1 : 3 * half], 2 * half)
        sums = scipy.fft.irfft(product, 2 * half, overwrite_x=True)
        hankel.reshape(-1, 2 * half)[:, half:] += sums[:, half - 1 : -1]
        half //= 2
    lefts, kernels = left.reshape(-1, SMALL), kernel.reshape(-1, 2 * SMALL)
    for j in range(1, SMALL):
        hankel.reshape(-1, SMALL)[:, j] += np.einsum("ti,ti->t", lefts[:, :j], kernels[:, j + 1 : 2 * j + 1])
    return np.asarray(np.cumsum(u * (u * (h[0] + mirror * h[1::2]) + 2 * (pairs + mirror * hankel[:n]))))


def _toeplitz_sum(alpha: Vector, beta: Vector, h: Vector) -> float:
    """Σ_{i<j} α_i β_j h(j − i)."""
    n = len(alpha)
    length = scipy.fft.next_fast_len(2 * n, real=True)
    # A convolution with α read backwards: j − i = d ends up at n − 1 + d.
    product = scipy.fft.rfft(beta, length)
    product *= scipy.fft.rfft(alpha[::-1], length)
    correlation = scipy.fft.irfft(product, length, overwrite_x=True)
    return float(np.dot(correlation[n : 2 * n - 1], h[1:n]))


def _hankel_sum(alpha: Vector, beta: Vector, h: Vector) -> float:
    """Σ_{i<j} α_i β_j h(i + j + 1), by halving."""
    size = CACHED
    while size < len(alpha):
        size *= 2
    left, right, kernel = _padded(alpha, size), _padded(beta, size), _padded(h, 2 * size)
    total, half = 0.0, size // 2
    while half >= CACHED:
        total += _across_halves(left, right, kernel, half)
        half //= 2
    # All smaller halves piece by piece, each of which stays in the processor's cache.
    for start in range(0, len(alpha), CACHED):
        stop = start + CACHED
        total += _within_piece(left[start:stop], right[start:stop], kernel[2 * start : 2 * stop])
    return total


def _across_halves(left: Vector, right: Vector, kernel: Vector, half: int) -> float:
    """The sum over i in the left and j in the right half of each block of 2·half cells.

    In the block that starts at cell 2t·half, i + j + 1 runs from (4t + 1)·half + 1 on, as the convolution does.
    """
    pairs = len(left) // (2 * half)
    product = scipy.fft.rfft(left.reshape(pairs, 2 * half)[:, :half], 2 * half)
    product *= scipy.fft.rfft(right.reshape(pairs, 2 * half)[:, half:], 2 * half)
    sums = scipy.fft.irfft(product, 2 * half, overwrite_x=True)[:, :-1]
    return float(np.einsum("te,te->", sums, kernel.reshape(pairs, 4 * half)[:, half + 1 : 3 * half]))


def _within_piece(left: Vector, right: Vector, kernel: Vector) -> float:
    """The same sum over all pairs i < j of a piece: by halves, and pair by pair in blocks of `SMALL` cells."""
    total, half = 0.0, len(left) // 2
    while half >= SMALL:
        total += _across_halves(left, right, kernel, half)
        half //= 2
    # Transposed, so that every row runs over all blocks without gaps.
    lefts, rights = left.reshape(-1, SMALL).T.copy(), right.reshape(-1, SMALL).T.copy()
    kernels = kernel.reshape(-1, 2 * SMALL).T.copy()
    for i in range(SMALL - 1):
        for j in range(i + 1, SMALL):
            total += float(np.dot(lefts[i] * kernels[i + j + 1], rights[j]))
    return total


def _padded(values: Vector, size: int) -> Vector:
    """The values followed by zeros."""
    if len(values) == size:
        return values
    out = np.zeros(size)
    out[: len(values)] = values
    return out
