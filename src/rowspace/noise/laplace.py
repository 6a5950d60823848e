"""Discrete Laplace noise, drawn exactly."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rowspace.noise.arguments import checked_scale, checked_size, checked_source
from rowspace.noise.bits import BitSource
from rowspace.noise.expansion import Logistic
from rowspace.noise.geometric import CHUNK, SignedGeometric, SignedGeometricSample


def discrete_laplace(scale: Fraction, size: int, random: BitSource) -> NDArray[np.int64]:
    """Draw `size` independent integers X with P(X = k) = (1 − q)/(1 + q) · q^|k|, q = e^(−1/scale).

    Method. Let G be geometric, P(G = k) = (1 − q)·qᵏ, and let N be an independent flip of probability q/(1
    + q) = 1/(1 + e^(1/scale)). Then X = G if N = 0, and X = −1 − G (all bits inverted) if N = 1. Proof: for
    k ≥ 0, P(X = k) = 1/(1 + q) · (1 − q)·qᵏ; for k < 0, P(X = k) = q/(1 + q) · (1 − q)·q^(−k−1); both are
    (1 − q)/(1 + q) · q^|k|. ∎ G comes from independent binary digits (`rowspace.noise.geometric`).

    Parameters
    ----------
    scale : Fraction
        In [2⁻²⁰, 2⁴⁵). Variance is 2q/(1 − q)², about 2·scale².
    size : int
        Number of samples, ≥ 0.
    random : BitSource
        `SecureRandom()` for anything that is released.

    Returns
    -------
    int64 array of shape (size,). Cost per sample: a random byte and about a nanosecond per binary digit of
    8·scale.

    Guarantees
    ----------
    - The distribution is exact; the only assumption is that AES is a good generator. No floating point is
      involved (``tests/noise/test_laplace.py``: `test_follows_its_distribution`;
      ``tests/noise/test_bernoulli.py``: `test_every_tie_is_decided_like_the_reference`).
    - A value beyond 64 bits, however unlikely, is reduced modulo 2⁶⁴ like the sum it is added to: (a + X)
      mod 2⁶⁴ depends on X mod 2⁶⁴ only, so this is post-processing of the exact noisy sum and costs no
      privacy (`test_wraps_modulo_word`).

    Examples
    --------
    >>> from fractions import Fraction
    >>> from rowspace.noise import InsecureSeededRandom, discrete_laplace
    >>> noise = discrete_laplace(Fraction(20), 100_000, InsecureSeededRandom(1))
    >>> noise.dtype.name, noise.shape, round(noise.std())  # √(2q)/(1 − q) = 28.28
    ('int64', (100000,), 28)
    """
    sampler = _sampler(checked_scale("scale", scale))
    size, random = checked_size(size), checked_source(random)
    out = np.empty(size, dtype=np.int64)
    for start in range(0, size, CHUNK):
        piece = out[start : start + CHUNK]
        piece[:] = signed_values(sampler.draw(piece.size, random))
    return out


def laplace_geometric(scale: Fraction) -> SignedGeometric:
    """Return the geometric variable and sign that `signed_values` turns into a discrete Laplace variable."""
    return SignedGeometric(rate=1 / scale, negative=Logistic(1 / scale))


def signed_values(sample: SignedGeometricSample) -> NDArray[np.int64]:
    """Return G or −1 − G by the sign, modulo 2⁶⁴: inverting all bits is a xor with the sign spread out."""
    spread = -sample.negative  # 0, or all ones in unsigned arithmetic
    inverted = sample.low ^ spread
    values = inverted.view(f"i{inverted.itemsize}").astype(np.int64)
    wide = np.uint64(0) - sample.negative[sample.high_at].astype(np.uint64)
    values[sample.high_at] = (sample.magnitude_modulo_word() ^ wide).view(np.int64)
    return values


@lru_cache(maxsize=16)
def _sampler(scale: Fraction) -> SignedGeometric:
    return laplace_geometric(scale)
