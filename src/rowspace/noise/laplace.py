"""Discrete Laplace noise, drawn exactly.

A geometric variable with a sign, by independent binary digits: nothing is ever rejected.

Theorem. Let G be geometric, P(G = k) = (1 − q)·qᵏ for k = 0, 1, 2, …, with q = e⁻ʳ. Split G = L + 2ᵈ·H with
0 ≤ L < 2ᵈ. Then the d binary digits of L and H are all independent; digit i is one with probability 1/(1 +
e^(2ⁱ·r)); and H counts the successes before the first failure in flips of probability e^(−2ᵈ·r).

Proof. With k = Σ 2ⁱ·bᵢ + 2ᵈ·h, i < d, the weight factors: qᵏ = Π q^(2ⁱ·bᵢ) · (q^(2ᵈ))ʰ, and (b, h) ranges
over a full product {0,1}ᵈ × {0, 1, …}. So the parts are independent, digit i has odds q^(2ⁱ) : 1, which is
probability q^(2ⁱ)/(1 + q^(2ⁱ)) = 1/(1 + e^(2ⁱ·r)), and P(H = h) ∝ (q^(2ᵈ))ʰ is geometric again. ∎

d is chosen so that H is mostly zero, and so that d digits, the flip "H ≥ 1" and a sign fill whole bytes of
`FlipBytes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rowspace.noise.arguments import CHUNK, checked_scale, checked_size, checked_source
from rowspace.noise.bernoulli import Coin, FlipBytes
from rowspace.noise.bits import BitSource
from rowspace.noise.expansion import ExpNegative, Logistic, Probability

UnsignedArray: TypeAlias = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True)
class SignedGeometricSample:
    """n samples of (G, sign), with G = low + 2^digits · high and `high` zero except where listed."""

    digits: int
    low: UnsignedArray  # shape (n,), the narrowest type that holds digits + 2 bits
    negative: UnsignedArray  # shape (n,), zero or one, same type as low
    high_at: NDArray[np.intp]  # where high ≥ 1
    high: NDArray[np.uint64]  # its value there

    def magnitude_modulo_word(self) -> NDArray[np.uint64]:
        """Return G modulo 2⁶⁴ where high ≥ 1, shape of `high_at`."""
        return self.low[self.high_at].astype(np.uint64) + (self.high << np.uint64(self.digits))

    def magnitude(self, index: int) -> int:
        """Return G of one sample as a Python integer, however large."""
        (listed,) = np.nonzero(self.high_at == index)
        high = int(self.high[listed[0]]) if listed.size else 0
        return int(self.low[index]) + (high << self.digits)

    def at_least_power_of_two(self, exponent: int) -> NDArray[np.intp]:
        """Return the indices with G ≥ 2^exponent, for exponent ≥ digits."""
        return self.high_at[self.high >= np.uint64(2 ** (exponent - self.digits))]


@dataclass(frozen=True)
class SignedGeometric:
    """G with P(G = k) ∝ exp(−k · rate), and an independent sign, negative with probability `negative`."""

    rate: Fraction
    negative: Logistic

    @cached_property
    def digits(self) -> int:
        """Number of binary digits drawn one by one: 6, 14, 22, …, so that P(H ≥ 1) ≤ e⁻²."""
        digits = 6
        while self.rate * 2**digits < 2:
            digits += 8
        return digits

    @cached_property
    def _one_more_high(self) -> Coin:
        return Coin(self._high_continues)

    @property
    def _high_continues(self) -> ExpNegative:
        return ExpNegative(self.rate * 2**self.digits)

    @cached_property
    def _flips(self) -> FlipBytes:
        digits: tuple[Probability, ...] = tuple(Logistic(self.rate * 2**i) for i in range(self.digits))
        return FlipBytes((*digits, self._high_continues, self.negative), CHUNK)

    def draw(self, count: int, random: BitSource) -> SignedGeometricSample:
        """Return `count` ≤ CHUNK independent samples."""
        packed = _little_endian(self._flips.draw(count, random))
        high_at = np.flatnonzero(packed & packed.dtype.type(1 << self.digits))
        return SignedGeometricSample(
            digits=self.digits,
            low=packed & packed.dtype.type((1 << self.digits) - 1),
            negative=packed >> packed.dtype.type(self.digits + 1),
            high_at=high_at,
            high=self._successes_after_first(high_at.size, random),
        )

    def _successes_after_first(self, count: int, random: BitSource) -> NDArray[np.uint64]:
        """Return H given H ≥ 1: one success is there already, the flips after it are fresh."""
        high = np.ones(count, dtype=np.uint64)
        running = np.arange(count)
        while running.size:
            running = running[self._one_more_high.flips(running.size, random)]
            high[running] += np.uint64(1)
        return high


def _little_endian(rows: NDArray[np.uint8]) -> UnsignedArray:
    """Join row 0 (lowest byte), row 1, … into one unsigned integer per column."""
    if len(rows) == 1:
        single: UnsignedArray = rows[0]
        return single
    word = np.dtype(np.uint16 if len(rows) == 2 else np.uint32 if len(rows) <= 4 else np.uint64)
    joined: UnsignedArray = rows[0].astype(word)
    for place, row in enumerate(rows[1:], start=1):
        joined |= row.astype(word) << word.type(8 * place)
    return joined


def discrete_laplace(scale: Fraction, size: int, random: BitSource) -> NDArray[np.int64]:
    """Draw `size` independent integers X with P(X = k) = (1 − q)/(1 + q) · q^|k|, q = e^(−1/scale).

    Method. Let G be geometric, P(G = k) = (1 − q)·qᵏ, and let N be an independent flip of probability q/(1
    + q) = 1/(1 + e^(1/scale)). Then X = G if N = 0, and X = −1 − G (all bits inverted) if N = 1. Proof: for
    k ≥ 0, P(X = k) = 1/(1 + q) · (1 − q)·qᵏ; for k < 0, P(X = k) = q/(1 + q) · (1 − q)·q^(−k−1); both are
    (1 − q)/(1 + q) · q^|k|. ∎ G comes from independent binary digits (`rowspace.noise.laplace`).

    Parameters
    ----------
    scale : Fraction
        In [2⁻²⁰, 2⁴⁵). Variance is 2q/(1 − q)², about 2·scale².
    size, random : the number of samples, ≥ 0, and a `BitSource`: `SecureRandom()` for anything that is released.

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
    >>> from rowspace.noise import InsecureSeededRandom
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
