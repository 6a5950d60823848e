"""The limits of (ε, δ) budgets in ρ, against exact values in high precision."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from rowspace.privacy import zcdp_to_approx
from rowspace.privacy.filters import concentrated_limit, gaussian_limit, gaussian_rho, on_grid, pure_rho

BUDGETS = [(1.0, 1e-6), (0.1, 1e-12), (1e-6, 1e-15), (10.0, 0.5), (50.0, 1e-9), (1e-3, 0.9), (0.3, 1e-100)]


def exact(number: Fraction | float) -> mpmath.mpf:
    number = Fraction(number)
    return mpmath.mpf(number.numerator) / number.denominator


def gaussian_delta(rho: Fraction, epsilon: Fraction | float) -> mpmath.mpf:
    """Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) at μ = √(2ρ), to a hundred digits and more."""
    mu, e = mpmath.sqrt(2 * exact(rho)), exact(epsilon)
    return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_the_gaussian_limit_is_exact(epsilon: float, delta: float) -> None:
    """Never a δ above the stated one, for both readings of the numbers; and hardly less could be allowed."""
    limit = gaussian_limit(epsilon, delta)
    with mpmath.workdps(400):
        for e, d in ((Fraction(epsilon), Fraction(delta)), (Fraction(repr(epsilon)), Fraction(repr(delta)))):
            assert gaussian_delta(limit, e) <= exact(d)
        assert gaussian_delta(limit * (1 + Fraction(1, 10**12)), epsilon) > delta


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_the_concentrated_limit_is_proved(epsilon: float, delta: float) -> None:
    """Some order α proves it, in high precision; and the float conversion agrees that more would not do."""
    limit = concentrated_limit(epsilon, delta)
    with mpmath.workdps(200):

        def bound(order: mpmath.mpf) -> mpmath.mpf:
            return (
                order * exact(limit)
                - mpmath.log(order * exact(delta)) / (order - 1)
                + mpmath.log(1 - 1 / order)
            )

        with mpmath.workdps(40):
            near = min(
                (mpmath.mpf(10) ** (mpmath.mpf(k) / 100) for k in range(-600, 900)),
                key=lambda step: bound(1 + step),
            )
            for parts in (10**3, 10**5, 10**7):  # ever closer around the best step so far
                tried = [near * (1 + mpmath.mpf(k) / parts) for k in range(-150, 151)]
                near = min(tried, key=lambda step: bound(1 + step))
        best = bound(1 + near)
        assert best <= exact(epsilon) * (1 + mpmath.mpf(10) ** -8)
    assert zcdp_to_approx(1.001 * float(limit), delta) > epsilon
    assert limit < gaussian_limit(epsilon, delta)


@pytest.mark.parametrize("epsilon", ["1e-20", "1e-9", "0.01", "1", "3.3", "8", "8.1", "100"])
def test_pure_noise_is_gaussian_private(epsilon: str) -> None:
    """Φ(μ/2) ≥ e^ε/(1 + e^ε), and up to 8 hardly more."""
    e = Fraction(epsilon)
    rho = pure_rho(e)
    with mpmath.workdps(200):
        needed = mpmath.exp(exact(e)) / (1 + mpmath.exp(exact(e)))
        assert mpmath.ncdf(mpmath.sqrt(2 * exact(rho)) / 2) >= needed
        if e <= 8:
            less = rho * (1 - Fraction(1, 10**12))
            assert mpmath.ncdf(mpmath.sqrt(2 * exact(less)) / 2) < needed


def test_the_grid_rounds_up() -> None:
    for amount in (Fraction(1, 3), Fraction(10**40 + 1, 7), Fraction(1, 10**90), Fraction(1, 2**256)):
        rounded = on_grid(amount)
        assert 0 <= rounded - amount < Fraction(1, 2**256)
        assert 2**256 % rounded.denominator == 0
    assert gaussian_rho(Fraction(1, 2)) == 1
