"""Discrete and rounded Gaussian: distribution, moments, small and large parameters."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from rowspace.noise import SecureRandom, discrete_gaussian, rounded_gaussian
from rowspace.noise.laplace import CHUNK

from .goodness import assert_fits, count_cells

N = 1 << 19
SIGMAS = [Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(7, 4), Fraction(21), Fraction(300)]
LARGE = [Fraction(2**20), Fraction(3 * 2**35 + 1, 8), Fraction(2**45 - 1)]
# Parameters whose square is a float64 too.
LARGE_SQUARES = [Fraction(2**40), Fraction(5 * 2**60), Fraction((2**53 - 1) * 2**37)]


def normal_cells(edges: np.ndarray, sigma: float) -> np.ndarray:
    """P(edges[i] ≤ round(Z) < edges[i+1]), tails included."""
    z = (edges - 0.5) / sigma
    # From the side of the smaller tail, so that no cell is a difference of numbers near one.
    below, above = special.ndtr(z), special.ndtr(-z)
    inner = np.where(z[:-1] >= 0, above[:-1] - above[1:], below[1:] - below[:-1])
    return np.concatenate([[below[0]], inner, [above[-1]]])


@pytest.mark.parametrize(
    "variance", [s * s for s in SIGMAS] + [Fraction(3), Fraction(1, 2**40), Fraction(63, 4)]
)
def test_discrete_gaussian_follows_its_distribution(variance: Fraction) -> None:
    """Every integer is a cell. False-alarm rate 1e-9 each."""
    reach = int(10 * variance**0.5) + 3
    k = np.arange(-reach, reach + 1)
    weights = np.exp(-(k.astype(float) ** 2) / (2 * float(variance)))
    values = discrete_gaussian(variance, N, SecureRandom())
    p = np.concatenate([[0.0], weights / weights.sum(), [0.0]])
    assert_fits(count_cells(values, np.append(k, reach + 1)), p)


@pytest.mark.parametrize("sigma", [*SIGMAS, Fraction(1, 2**20)])
def test_rounded_gaussian_follows_its_distribution(sigma: Fraction) -> None:
    """Every integer is a cell. False-alarm rate 1e-9 each."""
    reach = int(10 * sigma) + 3
    edges = np.arange(-reach, reach + 1)
    values = rounded_gaussian(sigma, N, SecureRandom())
    assert_fits(count_cells(values, edges), normal_cells(edges, float(sigma)))


@pytest.mark.parametrize("sigma", LARGE)
def test_rounded_gaussian_at_large_scales(sigma: Fraction) -> None:
    """Cells of a fortieth of sigma, finer than the strips of the proposal. False-alarm rate 1e-9 each."""
    edges = np.round(np.arange(-240, 241) * float(sigma) / 40).astype(np.int64)
    values = rounded_gaussian(sigma, N, SecureRandom())
    assert_fits(count_cells(values, edges), normal_cells(edges, float(sigma)))


@pytest.mark.parametrize("variance", LARGE_SQUARES)
def test_discrete_gaussian_at_large_scales(variance: Fraction) -> None:
    """As above; at σ ≥ 2²⁰ sums over cells equal normal integrals within 1e-13. False-alarm rate 1e-9 each."""
    sigma = float(variance) ** 0.5
    edges = np.round(np.arange(-240, 241) * sigma / 40).astype(np.int64)
    values = discrete_gaussian(variance, N, SecureRandom())
    assert_fits(count_cells(values, edges), normal_cells(edges, sigma))


@pytest.mark.parametrize("shift", [0, 4, 8])
def test_low_digits_at_large_scales(shift: int) -> None:
    """Four binary digits far below the scale are uniform. False-alarm rate 1e-9 each."""
    random = SecureRandom()
    for values in (
        discrete_gaussian(Fraction(2**40), N, random),
        rounded_gaussian(Fraction(2**20), N, random),
        rounded_gaussian(Fraction(2**45 - 1), N, random),
    ):
        assert_fits(np.bincount(values >> shift & 15, minlength=16), np.full(16, 1 / 16))


@pytest.mark.parametrize("sigma", [Fraction(1), Fraction(21), Fraction(2**20)])
def test_moments(sigma: Fraction) -> None:
    """Mean 0 and the exact variance, within 6.5 standard errors: false-alarm rate 1e-10 each."""
    random = SecureRandom()
    k = np.arange(-40, 41)
    for values, variance in (
        (discrete_gaussian(sigma * sigma, N, random), float(sigma) ** 2),
        (
            rounded_gaussian(sigma, N, random),
            (normal_cells(k, 1.0)[1:-1] * k[:-1] ** 2).sum() if sigma == 1 else float(sigma) ** 2 + 1 / 12,
        ),
    ):
        drawn = values.astype(float)
        assert abs(drawn.mean()) < 6.5 * np.sqrt(variance / N)
        assert abs((drawn**2).mean() - variance) < 6.5 * variance * np.sqrt(2.1 / N)


@pytest.mark.parametrize("draw", [discrete_gaussian, rounded_gaussian])
def test_neighbouring_samples_are_independent(draw: object) -> None:
    """Disjoint consecutive pairs have product frequencies. False-alarm rate 1e-9 each."""
    edges = np.array([-3, -1, 0, 1, 2, 4])
    random = SecureRandom()
    cells = np.searchsorted(edges, draw(Fraction(4), N, random), side="right")  # type: ignore[operator]
    p = np.bincount(np.searchsorted(edges, draw(Fraction(4), 16 * N, random), side="right")) / (16 * N)  # type: ignore[operator]
    pairs = np.bincount(cells[0::2] * p.size + cells[1::2], minlength=p.size**2)
    assert_fits(pairs, np.outer(p, p).reshape(-1))


@pytest.mark.parametrize("draw", [discrete_gaussian, rounded_gaussian])
@pytest.mark.parametrize("size", [0, 1, 100, CHUNK, 2 * CHUNK + 1])
def test_any_size(draw: object, size: int) -> None:
    values = draw(Fraction(2**44), size, SecureRandom())  # type: ignore[operator]
    assert values.shape == (size,)
    assert values.dtype == np.int64
    assert np.unique(values).size > 0.98 * size or size == 0
