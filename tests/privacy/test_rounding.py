"""Upward rounding: never below, hardly above, always of 53 significant bits."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowspace.exceptions import IntegerOverflow, InvalidPrivacy
from rowspace.privacy import ZCDP, ApproxDP, ApproxDPTheorem3, PureDP, analytic_gaussian_sigma
from rowspace.privacy.validation import (
    LEAST_SCALE,
    SCALE_LIMIT,
    check_drawable,
    drawable,
    dyadic_ceiling,
    dyadic_sqrt_ceiling,
)

positive_fractions = st.builds(Fraction, st.integers(1, 2**200), st.integers(1, 2**200))
budgets = st.floats(1e-6, 1e3)
norms = st.integers(1, 10**7)  # at the smallest budget, the largest scale that may be drawn
slack = 1 + Fraction(1, 2**50)


def has_53_bits(value: Fraction) -> bool:
    denominator_is_power_of_two = value.denominator & (value.denominator - 1) == 0
    odd_part = value.numerator // (value.numerator & -value.numerator)
    return denominator_is_power_of_two and odd_part < 2**53


@given(positive_fractions)
def test_dyadic_ceiling(value: Fraction) -> None:
    rounded = dyadic_ceiling(value)
    assert value <= rounded <= value * slack
    assert has_53_bits(rounded)
    assert dyadic_ceiling(rounded) == rounded


@given(positive_fractions)
def test_dyadic_sqrt_ceiling(square: Fraction) -> None:
    root = dyadic_sqrt_ceiling(square)
    assert square <= root**2 <= square * slack**2
    assert has_53_bits(root)


@given(st.integers(1, 2**53 - 1), st.integers(-60, 60))
def test_exact_squares_have_exact_roots(numerator: int, exponent: int) -> None:
    root = numerator * Fraction(2) ** exponent
    assert dyadic_sqrt_ceiling(root**2) == root


@given(st.integers(2**52, 2**53), st.fractions(0, 1))
def test_numbers_around_a_power_of_two(numerator: int, rest: Fraction) -> None:
    value = numerator + rest
    assert value <= dyadic_ceiling(value) <= value * slack
    assert has_53_bits(dyadic_ceiling(value))


@given(budgets, norms)
def test_scales_are_rounded_up(budget: float, norm: int) -> None:
    scale = PureDP(budget).noise(norm).scale
    wanted = norm / Fraction(budget)
    assert wanted <= scale <= wanted * slack

    sigma_squared = ZCDP(budget).noise(norm).sigma_squared
    wanted = norm / (2 * Fraction(budget))
    assert wanted <= sigma_squared <= wanted * slack

    assert has_53_bits(scale)
    assert has_53_bits(sigma_squared)


@pytest.mark.parametrize("delta", [1e-300, 1e-12, 0.3])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("norm", [1, 2, 3, 10**12 + 1])
def test_gaussian_deviations_are_rounded_up(epsilon: float, delta: float, norm: int) -> None:
    unit = Fraction(analytic_gaussian_sigma(epsilon, delta))
    sigma = ApproxDP(epsilon, delta).noise(norm).sigma
    assert norm * unit**2 <= sigma**2 <= norm * unit**2 * slack**2


def test_integral_budgets_round_nothing() -> None:
    assert PureDP(0.25).noise(3).scale == 12
    assert ZCDP(0.125).noise(9).sigma_squared == 36
    assert ApproxDP(1.0, 1e-6).noise(4).sigma == 2 * Fraction(analytic_gaussian_sigma(1.0, 1e-6))


def test_vanishing_noise_is_raised_to_what_can_be_drawn() -> None:
    assert PureDP(1e300).noise(1).scale == LEAST_SCALE
    assert ZCDP(1e300).noise(1).sigma_squared == LEAST_SCALE**2
    assert ApproxDP(1e20, 0.5).noise(1).sigma == LEAST_SCALE


@pytest.mark.parametrize(
    "privacy", [PureDP(1e-12), ZCDP(1e-25), ApproxDP(1e-12, 1e-300), ApproxDPTheorem3(1e-12, 1e-300)], ids=str
)
def test_noise_too_large_for_64_bits_is_refused(privacy: PureDP | ZCDP | ApproxDP | ApproxDPTheorem3) -> None:
    with pytest.raises(IntegerOverflow, match="larger budget"):
        privacy.noise(10**6)


@pytest.mark.parametrize("power", [1, 2])
def test_limits_of_what_can_be_drawn(power: int) -> None:
    largest = SCALE_LIMIT**power * (1 - Fraction(1, 2**53))
    assert drawable(largest, power) == largest
    check_drawable("scale", largest, power)
    check_drawable("scale", LEAST_SCALE**power, power)
    for bad in (
        SCALE_LIMIT**power,
        LEAST_SCALE**power / 2,
        Fraction(1, 3),
        Fraction(0),
        Fraction(-1),
        1,
        1.0,
        None,
    ):
        with pytest.raises(InvalidPrivacy, match="significant bits"):
            check_drawable("scale", bad, power)


@pytest.mark.parametrize("bad", [0, -1, True, 1.0, float("nan"), "3", None])
def test_integer_norm_must_be_a_positive_integer(bad: object) -> None:
    for privacy in (PureDP(1.0), ZCDP(1.0), ApproxDP(1.0, 0.1), ApproxDPTheorem3(1.0, 0.1)):
        with pytest.raises(InvalidPrivacy, match="whole number >= 1"):
            privacy.noise(bad)  # type: ignore[arg-type]
