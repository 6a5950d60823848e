"""Discrete Laplace: distribution, moments, independence, wrap-around."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from rowspace.noise import InsecureSeededRandom, SecureRandom, discrete_laplace
from rowspace.noise.laplace import CHUNK, SignedGeometricSample, signed_values

from .goodness import assert_fits, count_cells

N = 1 << 20
SMALL = [Fraction(1, 4), Fraction(1), Fraction(7, 2), Fraction(21), Fraction(100, 3)]
LARGE = [Fraction(1000), Fraction(2**20), Fraction(3 * 2**35 + 1, 8), Fraction(2**45 - 1)]


def upper_tail(k: np.ndarray, scale: Fraction) -> np.ndarray:
    """P(X ≥ k) = q^k / (1 + q) for k ≥ 1, by symmetry 1 − P(X ≥ 1 − k) otherwise."""
    log_q = -1 / float(scale)
    return np.where(
        k >= 1, np.exp(k * log_q) / (1 + np.exp(log_q)), 1 - np.exp((1 - k) * log_q) / (1 + np.exp(log_q))
    )


def cell_probabilities(edges: np.ndarray, scale: Fraction) -> np.ndarray:
    return -np.diff(np.concatenate([[1.0], upper_tail(edges, scale), [0.0]]))


@pytest.mark.parametrize("scale", SMALL)
def test_follows_its_distribution(scale: Fraction) -> None:
    """Every integer is a cell. False-alarm rate 1e-9 each."""
    reach = int(12 * scale) + 3
    edges = np.arange(-reach, reach + 1)
    values = discrete_laplace(scale, N, SecureRandom())
    assert_fits(count_cells(values, edges), cell_probabilities(edges, scale))


@pytest.mark.parametrize("scale", LARGE)
def test_follows_its_distribution_at_large_scales(scale: Fraction) -> None:
    """Cells of a tenth of the scale. False-alarm rate 1e-9 each."""
    edges = np.round(np.arange(-100, 101) * float(scale) / 10).astype(np.int64)
    values = discrete_laplace(scale, N, SecureRandom())
    assert_fits(count_cells(values, edges), cell_probabilities(edges, scale))


@pytest.mark.parametrize("scale", LARGE[1:])
@pytest.mark.parametrize("shift", [0, 4, 8, 12])
def test_low_digits_are_right_at_large_scales(scale: Fraction, shift: int) -> None:
    """Four binary digits at a time: uniform within 2⁻⁴ᵗʰ of the scale. False-alarm rate 1e-9 each."""
    values = discrete_laplace(scale, N, SecureRandom())
    assert_fits(np.bincount(values >> shift & 15, minlength=16), np.full(16, 1 / 16))


@pytest.mark.parametrize("scale", [Fraction(1, 4), Fraction(21), Fraction(2**20)])
def test_moments(scale: Fraction) -> None:
    """Mean 0, variance 2q/(1 − q)², within 6.5 standard errors: false-alarm rate 1e-10 each."""
    values = discrete_laplace(scale, N, SecureRandom()).astype(float)
    q = np.exp(-1 / float(scale))
    variance = 2 * q / (1 - q) ** 2
    kurtosis = 6 + (1 - q) ** 2 / (2 * q) + 3e-9  # 3 + excess: 3 + 3 + 1/variance
    assert abs(values.mean()) < 6.5 * np.sqrt(variance / N)
    assert abs((values**2).mean() - variance) < 6.5 * variance * np.sqrt((kurtosis - 1) / N)


def test_neighbouring_samples_are_independent() -> None:
    """Consecutive pairs, also across chunk borders: product probabilities. False-alarm rate 1e-9 each."""
    scale, edges = Fraction(3), np.array([-3, -1, 0, 1, 2, 4])
    values = discrete_laplace(scale, N, SecureRandom())
    cells = np.searchsorted(edges, values, side="right")
    p = cell_probabilities(edges, scale)
    for lag in (1, 8, CHUNK):
        first, second = cells[:-lag], cells[lag:]
        if lag == 1:  # overlapping pairs are dependent, so take disjoint ones
            first, second = cells[0::2], cells[1::2]
        else:
            block = np.arange(first.size) // lag % 2 == 0
            first, second = first[block], second[block]
        assert_fits(np.bincount(first * p.size + second, minlength=p.size**2), np.outer(p, p).reshape(-1))


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5])
def test_any_size(size: int) -> None:
    values = discrete_laplace(Fraction(2**30), size, SecureRandom())
    assert values.shape == (size,)
    assert values.dtype == np.int64
    assert np.unique(values).size > 0.99 * size or size == 0


def test_seeded_noise_repeats_and_secure_noise_does_not() -> None:
    scale = Fraction(2**30)
    first, again = (discrete_laplace(scale, 100, InsecureSeededRandom(1)) for _ in range(2))
    assert (first == again).all()
    random = SecureRandom()
    assert (discrete_laplace(scale, 100, random) != discrete_laplace(scale, 100, random)).mean() > 0.9


@pytest.mark.parametrize("high", [1, 2**17 - 1, 2**17, 2**18 - 1, 2**18, 2**40 + 3])
@pytest.mark.parametrize("low", [0, 1, 2**46 - 1])
@pytest.mark.parametrize("negative", [0, 1])
def test_wraps_modulo_word(high: int, low: int, negative: int) -> None:
    """Beyond 64 bits the sampler returns what adding the exact integer in 64 bits would."""
    sample = SignedGeometricSample(
        digits=46,
        low=np.array([7, low], dtype=np.uint64),
        negative=np.array([0, negative], dtype=np.uint64),
        high_at=np.array([1]),
        high=np.array([high], dtype=np.uint64),
    )
    magnitude = low + (high << 46)
    exact = -1 - magnitude if negative else magnitude
    assert signed_values(sample).tolist() == [7, (exact + 2**63) % 2**64 - 2**63]
