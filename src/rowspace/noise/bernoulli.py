"""Exact coin flips with any probability, many at a time.

A flip compares a uniform real U, whose bits are drawn only as far as needed, with p: it succeeds when
U < p. Let u and P be the first n bits of U and p, as integers.

- If u < P then U < (u + 1)/2ⁿ ≤ P/2ⁿ ≤ p: success.
- If u > P then U ≥ u/2ⁿ ≥ (P + 1)/2ⁿ > p: failure.
- Only u = P leaves the matter open, with probability 2⁻ⁿ, and then more bits of both are taken.

So a flip succeeds exactly when U < p, which has probability p. No bias enters at any point.

Flips of probability e^−γ, γ different for every sample: floating point proposes, a proven margin disposes.

The caller computes an approximation γ̂ in float64 with |γ̂ − γ| ≤ (1 + γ)·2⁻⁴⁴. From it follows an
approximation of e^−γ that is off by less than 2⁻⁴¹ (proof below), and U is compared with it. Where the
first 32 bits of U leave U within twice that bound of the approximation (a chance of about 2⁻³²), floating
point has no say: the caller decides by integers of growing size.

Error bound. Only +, −, × and rounding to an integer are used, whose errors IEEE 754 fixes; the library's
`exp` is not. Write c = min(γ̂, 45) = j/64 + r with j the nearest integer, |r| ≤ 1/128. Scaling by 64 and
the subtraction are exact: either j = 0, or both terms are multiples of the last place of c while the
difference is at most 2⁻⁷.

1. e^(−r) = 1 − r + r²/2 − r³/6 + r⁴/24 + R with |R| ≤ |r|⁵·e^|r|/120 < 2⁻⁴¹·⁸. Horner's scheme on |r| ≤ 2⁻⁷
   and the product with the tabulated e^(−j/64) ≤ 1 add fewer than 8 roundings of size 2⁻⁵³: below
   2⁻⁵⁰.
2. |e^−γ̂ − e^−γ| ≤ (1 + γ)·2⁻⁴⁴ · e^(−γ + (1 + γ)·2⁻⁴⁴) < 2⁻⁴³·⁹ while γ ≤ 46, because (1 + γ)·e^−γ ≤ 1.
   For γ > 46, γ̂ is above 45 and cut.
3. Cutting at 45 is an error of at most e⁻⁴⁵ < 2⁻⁶⁴.

Together below 2⁻⁴¹. The margin is 2⁻⁴⁰; the roundings of `excess` (2⁻⁵³ relative to U's range) are absorbed
by its other half. ∎
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache
from typing import Final

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


FloatArray = NDArray[np.float64]

DRAWN_BITS: Final = 32
_SCALE: Final = 2.0**DRAWN_BITS
_MARGIN: Final = 2.0**-40 * _SCALE
_STEPS_PER_UNIT: Final = 64
_CUT: Final = 45


def accept(
    exponent: FloatArray,
    decide_exactly: Callable[[int, int], bool],
    random: BitSource,
    distrusted: NDArray[np.intp] | None = None,
) -> NDArray[np.bool_]:
    """Flip a coin of probability e^−γ for every γ, given approximations `exponent` within (1 + γ)·2⁻⁴⁴.

    `decide_exactly(index, word)` settles U < e^−γ for one sample, given that the first 32 bits of U are
    `word`; it is also called for the indices in `distrusted`, whose approximation is not within the bound.
    """
    words = random.words32(exponent.size)
    # U·2³² lies in [word, word + 1). With `excess` = p̂·2³² − word: at least 1 + margin means U < p, at
    # most −margin means U > p.
    excess = exp_negative(exponent)
    excess *= _SCALE
    excess -= words
    accepted = excess >= 1 + _MARGIN
    doubtful = np.flatnonzero((excess > -_MARGIN) & ~accepted)
    if distrusted is not None and distrusted.size:
        doubtful = np.union1d(doubtful, distrusted)
    for i in doubtful.tolist():
        accepted[i] = decide_exactly(i, int(words[i]))
    return accepted


def exp_negative(exponent: FloatArray) -> FloatArray:
    """Return e^(−exponent) with absolute error below 2⁻⁴¹·⁷, for exponents ≥ 0."""
    cut = np.minimum(exponent, _CUT)
    nearest = np.rint(cut * _STEPS_PER_UNIT)
    table = _exp_table()[nearest.astype(np.intp)]
    nearest *= 1 / _STEPS_PER_UNIT
    cut -= nearest
    r = cut
    result = r * (1 / 24)
    for coefficient in (-1 / 6, 1 / 2, -1.0):
        result += coefficient
        result *= r
    result += 1.0
    result *= table
    return result


@lru_cache(maxsize=1)
def _exp_table() -> FloatArray:
    """Return e^(−j/64) for j = 0 … 45·64, rounded from 30 correct digits."""
    context = Context(prec=30, rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX)
    exponents = (
        context.divide(Decimal(-j), Decimal(_STEPS_PER_UNIT)) for j in range(_CUT * _STEPS_PER_UNIT + 1)
    )
    table = np.array([float(context.exp(x)) for x in exponents])
    table.setflags(write=False)
    return table
