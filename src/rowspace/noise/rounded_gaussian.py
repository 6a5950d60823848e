"""Gaussian noise rounded to the nearest integer, drawn exactly: the noise of (ε, δ)-differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rowspace.noise.arguments import checked_float, checked_scale, checked_size, checked_source, collect
from rowspace.noise.bernoulli import DRAWN_BITS, accept
from rowspace.noise.bits import BitSource
from rowspace.noise.expansion import STRIPS, LazyHalfNormal, Logistic
from rowspace.noise.laplace import SignedGeometric

_FRACTION_BITS: Final = 64
# The strip number and a fair sign.
_PROPOSAL: Final = SignedGeometric(rate=Fraction(1, STRIPS), negative=Logistic(Fraction(0)))


def rounded_gaussian(sigma: Fraction, size: int, random: BitSource) -> NDArray[np.int64]:
    """Draw `size` independent integers X = round(Z), with Z normal of mean 0 and standard deviation `sigma`.

    Why. If a is an integer then a + round(Z) = round(a + Z): releasing a + X is post-processing of the
    continuous Gaussian mechanism, so its tight (ε, δ) calibration holds for what is released, exactly.

    Method. Propose y = (k + x)/16 with k geometric, P(k) ∝ e^(−k/16), and x uniform on [0, 1); accept with
    probability e^−γ, γ = ((k − 16)² + 2kx + x²)/512 ≥ 0. Proof: y²/2 = (k² + 2kx + x²)/512 and (k − 16)² =
    k² − 32k + 256, so γ = y²/2 − k/16 + 1/2, and the accepted y has density ∝ e^(−k/16) · e^−γ = e^(−y²/2)
    · e^(−1/2): half-normal. With a fair sign it is normal, and X = ±round(σ·y). ∎ The idea is Karney's
    (2016); strips of 1/16 under the tangent of the parabola raise the acceptance from 0.49 to
    √(π/2)·e^(−1/2)·16·(1 − e^(−1/16)) = 0.737. x is known to 64 bits and extended when a decision needs
    more.

    Parameters
    ----------
    sigma : Fraction
        In [2⁻²⁰, 2⁴⁵), exactly representable as a float64. Variance of X is about σ² + 1/12.
    size, random : the number of samples, ≥ 0, and a `BitSource`: `SecureRandom()` for anything that is released.

    Returns
    -------
    int64 array of shape (size,). Cost: about that of `discrete_gaussian`; from σ = 2⁴⁰ on
    the exact rounding of a growing share of samples (5 % at 2⁴⁵) shows.

    Guarantees
    ----------
    - The distribution is exact; the only assumption is that AES is a good generator
      (``tests/noise/test_gaussian.py``: `test_rounded_gaussian_follows_its_distribution`).
    - Floating point decides acceptance and rounding only outside proven margins; inside them integers do
      (``tests/noise/test_acceptance.py``: `test_margin_is_far_above_the_error`;
      ``tests/noise/test_slow_paths.py``).
    - A value beyond 64 bits is reduced modulo 2⁶⁴, which is post-processing (see `discrete_laplace`).

    Examples
    --------
    >>> from rowspace.noise import InsecureSeededRandom
    >>> noise = rounded_gaussian(Fraction(20), 100_000, InsecureSeededRandom(1))
    >>> noise.dtype.name, noise.shape, round(noise.std())
    ('int64', (100000,), 20)
    """
    sampler = _RoundedGaussian(checked_float("sigma", checked_scale("sigma", sigma)))
    return collect(sampler.batch, checked_size(size), checked_source(random))


@dataclass(frozen=True)
class _RoundedGaussian:
    sigma: Fraction

    def batch(self, count: int, random: BitSource) -> NDArray[np.int64]:
        """Return what is accepted out of `count` proposals, rounded and signed."""
        sample = _PROPOSAL.draw(count, random)
        strips = sample.low.astype(np.float64)
        strips[sample.high_at] = sample.magnitude_modulo_word()
        words = random.words64(count)
        fractions = words.astype(np.float64)
        fractions *= 2.0**-_FRACTION_BITS
        points: dict[int, LazyHalfNormal] = {}

        def point(index: int) -> LazyHalfNormal:
            # Kept, so that bits drawn to settle the acceptance are the ones that settle the rounding.
            if index not in points:
                points[index] = LazyHalfNormal(sample.magnitude(index), int(words[index]), _FRACTION_BITS)
            return points[index]

        def decide_exactly(index: int, word: int) -> bool:
            return point(index).is_accepted(word, DRAWN_BITS, random)

        kept = np.flatnonzero(accept(_approximate_exponent(strips, fractions), decide_exactly, random))
        scaled = strips[kept]
        scaled += fractions[kept]
        scaled *= float(self.sigma) / STRIPS
        nearest, doubtful = self._nearest_integers(scaled)
        nearest[doubtful] = 0  # may exceed int64; replaced below
        magnitudes = nearest.astype(np.int64)
        for i in doubtful.tolist():
            magnitudes[i] = _as_word(point(int(kept[i])).rounded(self.sigma, random))
        negative = sample.negative[kept].astype(np.int64)
        return (magnitudes ^ -negative) + negative  # two's complement negation where the sign says so

    def _nearest_integers(self, scaled: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return the nearest integers and the indices where the error of `scaled` could change them.

        With u = 2⁻⁵³: x is off by x·u + 2⁻⁶⁴ (conversion, unknown further bits), k + x and the product by
        one rounding each, σ and the division by 16 are exact. So σ·y is off by less than 3.01u·σ·y + σ·2⁻⁶⁸
        < scaled·2⁻⁵¹ + σ·2⁻⁶⁷. The margin is twice that, which covers its own rounding. The distance to the
        nearest integer is exact: it is at most 1/2 and a multiple of the last place of `scaled`. From 2⁴⁹
        on every sample is doubtful. ∎
        """
        nearest = np.rint(scaled)
        margin = scaled * 2.0**-50
        margin += float(self.sigma) * 2.0**-66
        scaled -= nearest
        np.abs(scaled, out=scaled)
        scaled += margin
        return nearest, np.flatnonzero(scaled >= 0.5)


def _approximate_exponent(strips: NDArray[np.float64], fractions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return γ̂ = ((k − 16)² + x·(2k + x))/512 with |γ̂ − γ| ≤ (1 + γ)·2⁻⁴⁹.

    Every term is non-negative, so the roundings stay relative: at most 2 for k (none below 2⁵³), 2 for (k −
    16)², 1 for x, 2 for x·(2k + x), 1 for the sum: below 10·γ·2⁻⁵³. The bits of x beyond the 64th add at
    most (2k + 2)·2⁻⁶⁴/512 < (1 + γ)·2⁻⁶⁰, because k ≤ 16 + √(512·γ). ∎
    """
    exponent = strips - STRIPS
    np.square(exponent, out=exponent)
    cross = strips * 2
    cross += fractions
    cross *= fractions
    exponent += cross
    exponent *= 1 / (2 * STRIPS**2)
    return exponent


def _as_word(value: int) -> int:
    """Reduce an integer modulo 2⁶⁴ to the range of int64."""
    return (value + 2**63) % 2**64 - 2**63
