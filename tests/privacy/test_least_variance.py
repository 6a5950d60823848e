"""No integer strategy draws less noise per squared sensitivity than plain counts: docs/design/014-what-is-drawn.md."""

from __future__ import annotations

from fractions import Fraction
from math import cosh, exp, inf, log, nextafter, sinh, sqrt

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rowspace as rs
from rowspace.privacy import ApproxDPTheorem3, DiscreteGaussian, DiscreteLaplace, RoundedGaussian

UNITS = [None, rs.PrivacyUnit("person", 3)]
BUDGETS = st.floats(0.01, 20)


@st.composite
def guarantees(draw):
    """Every kind of guarantee, neighbour and unit."""
    budget, rest = (
        draw(BUDGETS),
        {
            "neighbours": draw(st.sampled_from(["add-remove", "replace-one"])),
            "unit": draw(st.sampled_from(UNITS)),
        },
    )
    kind = draw(st.sampled_from([rs.PureDP, rs.ZCDP, rs.ApproxDP, ApproxDPTheorem3]))
    if kind in (rs.PureDP, rs.ZCDP):
        return kind(budget, **rest)
    return kind(budget, draw(st.sampled_from([1e-2, 1e-6, 1e-12])), **rest)


@given(guarantees(), st.integers(1, 10**6))
def test_no_scale_has_less_variance(privacy, norm):
    per_sensitivity = privacy.noise(norm).variance / norm ** (3 - privacy.norm)
    assert per_sensitivity >= privacy.least_variance * (1 - 1e-9)
    assert privacy.least_variance <= privacy.unit_variance


@given(guarantees())
def test_it_is_what_plain_counts_have_or_the_limit_of_fine_grids(privacy):
    """So it cannot be raised: some strategy, or a sequence of them, has it."""
    reached = (privacy.noise(1).variance, privacy.noise(10**9).variance / 10 ** (9 * (3 - privacy.norm)))
    assert privacy.least_variance == pytest.approx(min(reached), rel=1e-9)


@given(st.floats(1e-3, 1e3), st.floats(1.001, 4))
def test_lemma_1_laplace(scale, factor):
    """var/scale² grows with the scale."""
    near, far = (DiscreteLaplace(Fraction(s)) for s in (scale, scale * factor))
    assert near.variance / scale**2 <= far.variance / (scale * factor) ** 2 * (1 + 1e-12)
    if scale > 0.01:
        assert near.variance == pytest.approx(1 / (2 * sinh(1 / (2 * scale)) ** 2), rel=1e-9)


@pytest.mark.parametrize("power", range(9))  # θ and π²/θ change places below
@mpmath.workdps(60)
def test_lemma_2_theta_functions(power):
    """With Z = Σe^(−θk²): D² ln Z is the alternating sum Σ(−1)^(n+1) g(nθ), the same at θ and π²/θ, and positive."""
    theta = mpmath.pi * mpmath.mpf(2) ** (mpmath.mpf(power) / 4)

    def second(at):
        def log_sum(u):
            return mpmath.log(mpmath.nsum(lambda k: mpmath.exp(-mpmath.exp(u) * k * k), [-inf, inf]))

        return mpmath.diff(log_sum, mpmath.log(at), 2)

    def g(x):
        return x * (x * mpmath.cosh(x) - mpmath.sinh(x)) / mpmath.sinh(x) ** 2

    far = max(theta, mpmath.pi**2 / theta)
    series = sum((-1) ** (n + 1) * g(n * far) for n in range(1, 60))
    assert second(theta) > 0
    assert abs(second(theta) / second(mpmath.pi**2 / theta) - 1) < 1e-12
    assert abs(series / second(far) - 1) < 1e-12


@given(st.floats(3.2, 300))
def test_lemma_2_terms_fall(x):
    """g(x) = x(x cosh x − sinh x)/sinh² x falls from π on: y² − 3y + 1 > 0 for y = x·coth x ≥ π."""
    y = x * cosh(x) / sinh(x)
    assert y * y - 3 * y + 1 > 0


@given(st.floats(0.05, 100), st.floats(1.001, 4))
def test_lemma_2_gaussian(square, factor):
    """var/σ² grows with σ²."""
    near, far = (DiscreteGaussian(Fraction(s)) for s in (square, square * factor))
    assert near.variance / square <= far.variance / (square * factor) * (1 + 1e-12)


@given(st.floats(0.02, 10), st.floats(1.001, 4))
def test_lemma_3_rounded_gaussian(sigma, factor):
    """var/σ² grows up to σ = 0.4 and is at least one from there on."""
    near, far = (RoundedGaussian(Fraction(s)).variance / s**2 for s in (sigma, sigma * factor))
    assert far >= min(near, 1.0) * (1 - 1e-12)
    if sigma >= 0.4:
        assert near >= 1
        series = sigma**2 + 1 / 12
        for m in range(1, 20):
            series += (
                4
                * (-1) ** m
                * exp(-2 * (3.141592653589793 * m * sigma) ** 2)
                * (sigma**2 + 1 / (39.4784176 * m * m))
            )
        assert near * sigma**2 == pytest.approx(series, rel=1e-7)


@given(st.lists(st.tuples(st.integers(1, 9), st.floats(1e-3, 1)), min_size=1, max_size=6), BUDGETS)
def test_lemma_4_shares_of_a_budget(rows, budget):
    """Rows with scales of their own: what they tell adds up to no more than one row with the whole budget tells."""
    spent = sum(entry * share for entry, share in rows)
    shares = [(entry, share * budget / spent) for entry, share in rows]
    told = sum(
        entry / sqrt(DiscreteLaplace(Fraction(1 / share)).variance) for entry, share in _drawable(shares)
    )
    assert told <= 1 / sqrt(rs.PureDP(budget).least_variance) * (1 + 1e-6)
    squares = [(entry, share * budget / sum(e * e * s for e, s in rows)) for entry, share in rows]
    told = sum(
        entry**2 / DiscreteGaussian(Fraction(1 / (2 * share))).variance for entry, share in _drawable(squares)
    )
    assert told <= 1 / rs.ZCDP(budget).least_variance * (1 + 1e-6)


def _drawable(shares):
    """Without the rows whose noise is too coarse to be drawn; they tell nothing."""
    return [(entry, share) for entry, share in shares if share > 1e-9]


def test_it_is_far_below_the_continuous_law_at_large_budgets():
    assert rs.PureDP(0.01).least_variance == pytest.approx(2e4, rel=1e-4)
    assert rs.PureDP(8.0).least_variance == pytest.approx(2 * exp(-8) / (1 - exp(-8)) ** 2)
    assert rs.ZCDP(10.0).least_variance == pytest.approx(2 * exp(-10), rel=1e-3)
    assert rs.ApproxDP(1.0, 1e-6).least_variance == rs.ApproxDP(1.0, 1e-6).unit_variance
    assert 0 < rs.ApproxDP(60.0, 1e-6).least_variance < 0.5 * rs.ApproxDP(60.0, 1e-6).unit_variance
    assert rs.PureDP(1e-30).least_variance == rs.PureDP(1e-30).unit_variance
    assert [rs.PureDP(e).is_coarse for e in (0.1, 1.0)] == [False, True]
    assert nextafter(0, 1) > rs.PureDP(1e6).least_variance >= 0
    assert log(rs.PureDP(50.0).least_variance) == pytest.approx(log(2) - 50)
