"""Discrete Gaussian noise, drawn exactly: the noise of zero-concentrated differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import isqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rowspace.noise.arguments import checked_float, checked_scale, checked_size, checked_source, collect
from rowspace.noise.bernoulli import DRAWN_BITS, accept, is_below
from rowspace.noise.bits import BitSource
from rowspace.noise.expansion import ExpNegative
from rowspace.noise.laplace import SignedGeometric, SignedGeometricSample, laplace_geometric, signed_values

# A float64 holds every integer up to here; proposals beyond it are judged by exact arithmetic.
_EXACT_FLOAT_BITS: Final = 53


def discrete_gaussian(variance: Fraction, size: int, random: BitSource) -> NDArray[np.int64]:
    """Draw `size` independent integers X with P(X = k) ∝ exp(−k² / (2·variance)).

    Method (Canonne, Kamath and Steinke, 2020). With σ² = variance and t = ⌊σ⌋ + 1, propose a discrete
    Laplace Y of scale t and accept it with probability exp(−γ), γ = (|Y| − σ²/t)² / (2σ²). Proof: the
    accepted Y = k has weight exp(−|k|/t) · exp(−(k² − 2|k|σ²/t + σ⁴/t²)/(2σ²)) = exp(−k²/(2σ²)) ·
    exp(−σ²/(2t²)), and the last factor does not depend on k. ∎ Large scales accept three proposals in four.

    Parameters
    ----------
    variance : Fraction
        In [2⁻⁴⁰, 2⁹⁰), exactly representable as a float64. It is the parameter σ²; the variance of X is
        slightly smaller, and equal to it within 10⁻⁶ from σ² = 1 on.
    size, random : the number of samples, ≥ 0, and a `BitSource`: `SecureRandom()` for anything that is released.

    Returns
    -------
    int64 array of shape (size,). Cost: about two draws of `discrete_laplace`.

    Guarantees
    ----------
    - The distribution is exact; the only assumption is that AES is a good generator
      (``tests/noise/test_gaussian.py``: `test_discrete_gaussian_follows_its_distribution`).
    - Floating point decides an acceptance only outside a proven margin; inside it integers do
      (``tests/noise/test_acceptance.py``: `test_margin_is_far_above_the_error`;
      ``tests/noise/test_slow_paths.py``).
    - A value beyond 64 bits is reduced modulo 2⁶⁴, which is post-processing (see `discrete_laplace`).

    Examples
    --------
    >>> from rowspace.noise import InsecureSeededRandom
    >>> noise = discrete_gaussian(Fraction(400), 100_000, InsecureSeededRandom(1))
    >>> noise.dtype.name, noise.shape, round(noise.std())
    ('int64', (100000,), 20)
    """
    sampler = _sampler(checked_float("variance", checked_scale("variance", variance, power=2)))
    return collect(sampler.batch, checked_size(size), checked_source(random))


@dataclass(frozen=True)
class _DiscreteGaussian:
    variance: Fraction

    @cached_property
    def t(self) -> int:
        return isqrt(int(self.variance)) + 1  # ⌊√v⌋ = ⌊√⌊v⌋⌋

    @cached_property
    def proposal(self) -> SignedGeometric:
        return laplace_geometric(Fraction(self.t))

    def batch(self, count: int, random: BitSource) -> NDArray[np.int64]:
        """Return what is accepted out of `count` proposals."""
        sample = self.proposal.draw(count, random)
        values = signed_values(sample)

        def decide_exactly(index: int, word: int) -> bool:
            exponent = self.exponent(_absolute(sample, index))
            return exponent == 0 or is_below(word, DRAWN_BITS, ExpNegative(exponent), random)

        beyond_float = sample.at_least_power_of_two(_EXACT_FLOAT_BITS)
        return values[accept(self.approximate_exponent(values), decide_exactly, random, beyond_float)]

    def exponent(self, absolute: int) -> Fraction:
        """Return γ for |Y| = absolute."""
        return (absolute - self.variance / self.t) ** 2 / (2 * self.variance)

    def approximate_exponent(self, values: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return γ̂ with |γ̂ − γ| ≤ (1 + γ)·2⁻⁴⁹, for |Y| ≤ 2⁵³.

        With u = 2⁻⁵³: |Y|, σ² and t are exact, c = σ²/t ≤ σ is off by c·u, and d = |Y| − c by ε ≤ (c +
        |d|)·u·(1 + u). So d²/(2σ²) is off by (2|d|ε + ε²)/(2σ²) ≤ (|d|·c + d²)/σ² · 1.01u ≤ (√(2γ) +
        2γ)·1.01u ≤ (1 + 4γ)·u, and the square, the reciprocal, its rounding and the product add less than
        4γ·u: (1 + 8γ)·u in all. Nothing underflows: d is zero or a multiple of 2⁻¹⁰⁰, and 1/(2σ²) ≥ 2⁻⁹¹. ∎
        """
        variance = float(self.variance)
        distance = np.abs(values.astype(np.float64))
        distance -= variance / self.t
        np.square(distance, out=distance)
        distance *= 1 / (2 * variance)
        return distance


def _absolute(sample: SignedGeometricSample, index: int) -> int:
    """Return |Y| of one proposal: G, or |−1 − G| = G + 1."""
    return sample.magnitude(index) + int(sample.negative[index])


@lru_cache(maxsize=16)
def _sampler(variance: Fraction) -> _DiscreteGaussian:
    return _DiscreteGaussian(variance)
