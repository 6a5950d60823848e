"""Interval arithmetic encloses the exact result, and ignores the caller's decimal settings."""

import decimal
from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowspace.privacy import calibration, normal_tail
from rowspace.privacy.calibration import analytic_gaussian_sigma, gaussian_delta
from rowspace.privacy.normal_tail import Interval, Precision, delta_interval, mills_ratio

COARSE = Precision(5)  # few digits, so that every operation rounds

floats = st.floats(-1e6, 1e6)
positive = st.floats(1e-6, 1e6)


def interval(a: float, b: float) -> Interval:
    return Interval(Decimal(min(a, b)), Decimal(max(a, b)), COARSE)


def holds(result: Interval, exact: Fraction) -> bool:
    return Fraction(result.low) <= exact <= Fraction(result.high)


@given(floats, floats, floats, floats)
def test_sums_products_and_squares_enclose(a: float, b: float, c: float, d: float) -> None:
    x, y = interval(a, b), interval(c, d)
    for p in map(Fraction, (a, b)):
        assert holds(-x, -p)
        assert holds(x.squared(), p * p)
        for q in map(Fraction, (c, d)):
            assert holds(x + y, p + q)
            assert holds(x - y, p - q)
            assert holds(x * y, p * q)
    if x.low <= 0 <= x.high:
        assert holds(x.squared(), Fraction(0))


@given(positive, positive, positive, positive)
def test_quotients_enclose(a: float, b: float, c: float, d: float) -> None:
    quotient = interval(a, b) / interval(c, d)
    assert all(holds(quotient, Fraction(p) / Fraction(q)) for p in (a, b) for q in (c, d))


def test_division_outside_its_range_is_refused() -> None:
    with pytest.raises(ArithmeticError):
        interval(-1.0, 1.0) / interval(1.0, 2.0)
    with pytest.raises(ArithmeticError):
        interval(1.0, 1.0) / interval(0.0, 2.0)


@given(st.floats(-700, 700))
def test_exp_and_log_enclose(x: float) -> None:
    with mpmath.workdps(60):
        exponential = interval(x, x).exp()
        assert mpmath.mpf(str(exponential.low)) < mpmath.exp(x) < mpmath.mpf(str(exponential.high))
        logarithm = exponential.log()
        assert mpmath.mpf(str(logarithm.low)) < x < mpmath.mpf(str(logarithm.high))


@pytest.mark.parametrize("digits", [30, 50, 100, 400])
@pytest.mark.parametrize("x", [-6.0, -1.0, 0.0, 1e-30, 0.5, 3.0, 5.999, 6.0, 6.001, 40.0, 1e3, 1e8])
def test_mills_ratio_against_mpmath(x: float, digits: int) -> None:
    value = mills_ratio(Precision(digits).exact(x))
    with mpmath.workdps(digits + 40):
        exact = (
            mpmath.sqrt(mpmath.pi / 2) * mpmath.exp(mpmath.mpf(x) ** 2 / 2) * mpmath.erfc(x / mpmath.sqrt(2))
        )
        assert mpmath.mpf(str(value.low)) <= exact <= mpmath.mpf(str(value.high))
    assert value.width_within(Decimal(f"1e-{digits - 20}"))


def test_more_digits_nest() -> None:
    outer, inner = delta_interval(4.0, 1.0, 30), delta_interval(4.0, 1.0, 60)
    assert outer.low <= inner.low <= inner.high <= outer.high


def test_the_callers_decimal_context_has_no_say() -> None:
    expected = gaussian_delta(0.7, 2.0), analytic_gaussian_sigma(0.77, 1e-5)
    calibration._least_sigma.cache_clear()
    normal_tail._root_half_pi.cache_clear()
    hostile = decimal.Context(
        prec=2, Emin=-3, Emax=3, traps=[decimal.Inexact, decimal.Overflow, decimal.Underflow]
    )
    with decimal.localcontext(hostile):
        assert (gaussian_delta(0.7, 2.0), analytic_gaussian_sigma(0.77, 1e-5)) == expected
