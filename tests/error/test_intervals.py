"""Stated coverage is real coverage: against the exact distribution of the noise of an answer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rowspace import error
from rowspace import operators as op
from rowspace.error import Moments
from rowspace.exceptions import InvalidInput
from rowspace.privacy import ZCDP, PureDP
from rowspace.tables import Residuals, products_of

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)


def exact_coverage(coefficients, half_width, variance=2.0):
    """P(|Σ c·Laplace| ≤ h) by inverting the exact characteristic function Π 1/(1 + c²v t²/2).

    The lattice sum below is the trapezoid rule, exact up to the tail beyond half a period (chosen at 60
    standard deviations, mass below e^−60).
    """
    c = np.asarray(coefficients, dtype=float)
    std = np.sqrt(variance * np.sum(c**2))
    period = 120 * std
    t = 2 * np.pi * np.arange(1, 400_000) / period
    log_phi = np.zeros_like(t)
    for coefficient in c:
        log_phi -= np.log1p(coefficient**2 * variance / 2 * t**2)
    return 2 * half_width / period + 4 / period * np.sum(np.sin(half_width * t) / t * np.exp(log_phi))


def moments_of(coefficients):
    """The moments of one query with these coefficients, on no lattice."""
    c = np.abs(np.asarray(coefficients, dtype=float))
    return Moments(*(np.array([v]) for v in ((c**2).sum(), (c**4).sum(), c.max(), 0.0)))


def quantile(coefficients, level):
    """Half-width for continuous Laplace noise of variance 2."""
    return error.standard_quantile(moments_of(coefficients), 3.0, level)[0] * np.sqrt(
        2 * np.sum(np.square(coefficients))
    )


@pytest.mark.parametrize("level", LEVELS)
def test_exact_for_one_laplace_and_for_equal_weights(level):
    assert quantile([1.0], level) == pytest.approx(-np.log(1 - level), rel=2e-4)
    for terms in (2, 5, 20):
        assert exact_coverage(np.ones(terms), quantile(np.ones(terms), level)) == pytest.approx(
            level, abs=5e-4
        )


@pytest.mark.parametrize("level", LEVELS)
def test_normal_for_normal_noise(level):
    normal = stats.norm.ppf(0.5 + level / 2)
    assert error.standard_quantile(moments_of([1.0, 2.0]), 0.0, level) == pytest.approx(normal)
    assert error.standard_quantile(moments_of(np.ones(10_000)), 3.0, level) == pytest.approx(normal, rel=1e-3)


@given(st.lists(st.floats(0.02, 1.0), min_size=1, max_size=30), st.sampled_from(LEVELS))
@settings(max_examples=80, deadline=None)
def test_any_weights_cover_what_is_stated(coefficients, level):
    tolerance = 2e-3 if level >= 0.8 else 5e-3
    assert exact_coverage(coefficients, quantile(coefficients, level)) == pytest.approx(level, abs=tolerance)


@pytest.mark.parametrize("others", [1, 3, 10, 30, 100])
@pytest.mark.parametrize("size", [0.02, 0.1, 0.2, 0.4, 0.7])
def test_one_large_among_many_small(size, others):
    """The hardest case for two matched moments: a Laplace core in a nearly normal rest."""
    coefficients = [1.0] + [size] * others
    for level in LEVELS:
        assert exact_coverage(coefficients, quantile(coefficients, level)) == pytest.approx(level, abs=2e-3)


@pytest.mark.parametrize("privacy", [PureDP(0.3), PureDP(1.0), PureDP(3.0), ZCDP(0.5), ZCDP(4.0)], ids=str)
@pytest.mark.parametrize("cells", [1, 2, 3, 7])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_integer_noise_covers_at_least_what_is_stated(privacy, cells, level):
    """Sums of few integer noises: the exact lattice probability reaches the level, and two steps less does not."""
    noise = privacy.noise(1)
    points = 4096
    t = 2 * np.pi * np.arange(points) / points
    pmf = np.fft.fft(noise.characteristic(t) ** cells).real / points
    sums = np.array([float(cells)])
    width = error.half_widths(Moments(sums, sums, np.ones(1), np.ones(1)), noise, level)[0]
    assert width == int(width)
    covered = pmf[0] + 2 * pmf[1 : int(width) + 1].sum()
    assert covered >= level - 1e-3
    if width >= 2:
        assert covered - 2 * pmf[int(width) - 1 : int(width) + 1].sum() < level


@pytest.mark.parametrize("missing", [1e-4, 1e-6, 1e-7, 1e-9, 1e-12])
def test_levels_close_to_one(missing):
    """What is asked of each interval where many must hold at once: the tail itself is right, not just the level."""
    assert quantile([1.0], 1 - missing) == pytest.approx(-np.log(missing), rel=1e-4)
    two = quantile([1.0, 0.5], 1 - missing)  # P(|S| > h) = (4e^(−h) − e^(−2h))/3
    assert (4 * np.exp(-two) - np.exp(-2 * two)) / 3 == pytest.approx(missing, rel=0.02)
    assert error.standard_quantile(moments_of([1.0]), 0.0, 1 - missing) == pytest.approx(
        stats.norm.isf(missing / 2), rel=1e-4
    )


COARSE = [*map(PureDP, (1.0, 3.0, 8.0)), *map(ZCDP, (0.3, 2.0, 4.0))]


@pytest.mark.parametrize("privacy", COARSE, ids=str)
@pytest.mark.parametrize(
    "coefficients",
    [(1,), (1,) * 70, (1, 2), (1, 2, 4), (4, 7), (1, 30), (6, 10, 15), (1, 3, 5, 8, 11), (10, *(1,) * 30)],
    ids=lambda c: f"{c[:5]} of {len(c)}",
)
def test_unequal_steps_cover_at_least_what_is_stated(privacy, coefficients):
    """Integer noise of one or few steps, weighted differently: the exact lattice probability reaches the level,
    whether or not the lattice is known.
    """
    noise = privacy.noise(1)
    points = 4096
    t = 2 * np.pi * np.arange(points) / points
    phi = np.prod([noise.characteristic(c * t) for c in coefficients], axis=0)
    within = np.cumsum(np.fft.fft(phi).real[: points // 2] / points)
    within = 2 * within - within[0]
    c = np.array(coefficients, dtype=float)
    for spacing in (0.0, 1.0):
        parts = Moments(*(np.array([v]) for v in ((c**2).sum(), (c**4).sum(), c.max(), spacing)))
        for level in (0.8, 0.95, 0.999):
            (width,) = error.half_widths(parts, noise, level)
            assert within[int(width + 1e-9)] >= level - 1.5e-3
            assert not np.signbit(width)


@pytest.mark.parametrize("privacy", [PureDP(50.0), ZCDP(200.0), PureDP(5000.0)], ids=str)
def test_noise_that_is_never_seen_needs_no_interval(privacy):
    c = np.array([1.0, 2.0, 5.0])
    parts = Moments(*(np.array([v]) for v in ((c**2).sum(), (c**4).sum(), 5.0, 1.0)))
    assert error.half_widths(parts, privacy.noise(1), 0.9999) == [0.0]


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 2, float("nan"), "95%", None])
def test_levels_outside_zero_to_one_are_refused(level):
    parts = moments_of([1.0])
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        error.half_widths(parts, PureDP(1.0).noise(1), level)


def test_coefficients_whose_powers_vanish():
    """A file may hold a strategy with coefficients of 10⁻¹⁰⁰: the width of one Laplace variable, no failure."""
    faint = Moments(*(np.array([value]) for value in (1e-200, 0.0, 1e-100, 0.0)))
    with np.errstate(all="ignore"):
        assert error.half_widths(faint, PureDP(1.0).noise(1), 0.95)[0] > 0


def test_noise_that_is_never_drawn_but_as_zero():
    """Its variance is among the smallest numbers: no width, and no warning of an overflow."""
    noise = PureDP(715.0).noise(1)
    assert 0 < noise.variance < 1e-308
    parts = Moments(*(np.array([value]) for value in (2.0, 2.0, 1.0, 0.0)))
    assert error.half_widths(parts, noise, 0.95)[0] == pytest.approx(0, abs=1e-2)


@pytest.mark.parametrize("privacy", [ZCDP(0.05), ZCDP(0.3), ZCDP(2.0)], ids=str)
@pytest.mark.parametrize("weights", [(1.0, 0.0), (3.0, 2.0)], ids=["alone", "beside cells"])
def test_the_total_of_residuals_moves_in_its_own_steps(privacy, weights):
    """It is one answer divided by its weight, whatever the other tables say: the exact law of one noise variable."""
    A = Residuals((3, 4), ((), (0,)), weights)
    W = products_of(op.Kronecker(op.Total(3), op.Total(4)), (3, 4))
    parts = error.table_moments(A, W)
    (coefficient,) = (op.Total(12).to_dense() @ np.linalg.pinv(A.to_dense()))[:, :1].ravel()
    assert parts.spacing == pytest.approx([coefficient])
    noise = privacy.noise(1)
    t = 2 * np.pi * np.arange(4096) / 4096
    pmf = np.fft.fft(noise.characteristic(t)).real / 4096
    for level in (0.8, 0.95, 0.999):
        (width,) = error.half_widths(parts, noise, level)
        steps = round(width / coefficient)
        assert width == pytest.approx(steps * coefficient)
        assert pmf[0] + 2 * pmf[1 : steps + 1].sum() >= level - 1e-9
        assert steps == 0 or pmf[0] + 2 * pmf[1:steps].sum() < level
