"""Exact coin flips with any probability, many at a time.

A flip compares a uniform real U, whose bits are drawn only as far as needed, with p: it succeeds when
U < p. Let u and P be the first n bits of U and p, as integers.

- If u < P then U < (u + 1)/2ⁿ ≤ P/2ⁿ ≤ p: success.
- If u > P then U ≥ u/2ⁿ ≥ (P + 1)/2ⁿ > p: failure.
- Only u = P leaves the matter open, with probability 2⁻ⁿ, and then more bits of both are taken.

So a flip succeeds exactly when U < p, which has probability p. No bias enters at any point.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rowspace.noise.bits import BitSource
from rowspace.noise.expansion import Probability


def is_below(drawn: int, bits: int, p: Probability, random: BitSource) -> bool:
    """Decide U < p, given the first `bits` bits of U as an integer; draws more while they tie those of p."""
    while drawn == (expected := p.prefix(bits)):
        drawn = drawn << 64 | int(random.words64(1)[0])
        bits += 64
    return drawn < expected


class Coin:
    """Flips of one probability, from 64-bit words."""

    def __init__(self, p: Probability) -> None:
        self._p = p
        self._threshold = np.uint64(p.prefix(64))

    def flips(self, count: int, random: BitSource) -> NDArray[np.bool_]:
        """Return `count` independent Bernoulli(p) flips."""
        words = random.words64(count)
        heads = words < self._threshold
        for i in np.flatnonzero(words == self._threshold):
            heads[i] = is_below(int(words[i]), 64, self._p, random)
        return heads


class FlipBytes:
    """Bytes of eight independent flips each: bit j of byte b has probability `probabilities[8·b + j]`.

    The first byte of U settles a flip in 255 of 256 cases, so a flip costs one random byte, two vectorized
    comparisons and its share of one `packbits`. The others are refined with 64 bits more, and in 2⁻⁷² of
    all cases by `is_below`.
    """

    def __init__(self, probabilities: tuple[Probability, ...], capacity: int) -> None:
        """Prepare draws of up to `capacity` samples: thresholds repeated so that comparisons run flat."""
        if len(probabilities) % 8:
            raise ValueError("whole bytes need a multiple of eight probabilities")
        self._probabilities = probabilities
        self.bytes_per_sample = len(probabilities) // 8
        leading = np.array([p.prefix(8) for p in probabilities], dtype=np.uint8)
        self._leading = np.tile(leading.reshape(self.bytes_per_sample, 8), capacity)
        self._following = np.array([p.prefix(72) % 2**64 for p in probabilities], dtype=np.uint64)

    def draw(self, count: int, random: BitSource) -> NDArray[np.uint8]:
        """Return shape (bytes_per_sample, count): row b has byte b of every sample; `count` ≤ capacity."""
        row = 8 * count
        words = random.words8(self.bytes_per_sample * row).reshape(self.bytes_per_sample, row)
        leading = self._leading[:, :row]
        heads = (words < leading).reshape(-1)
        open_at = np.flatnonzero(words == leading)
        heads[open_at] = self._refined(open_at // row * 8 + open_at % 8, random)
        return np.packbits(heads, bitorder="little").reshape(self.bytes_per_sample, count)

    def _refined(self, planes: NDArray[np.intp], random: BitSource) -> NDArray[np.bool_]:
        """Decide the flips whose first byte tied; `planes` says which probability each one has."""
        words, following = random.words64(planes.size), self._following[planes]
        heads = words < following
        for i in np.flatnonzero(words == following):
            p = self._probabilities[planes[i]]
            heads[i] = is_below(p.prefix(8) << 64 | int(words[i]), 72, p, random)
        return heads
