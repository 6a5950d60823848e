"""The analytic Gaussian calibration against 60-digit arithmetic and published figures."""

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace.exceptions import InvalidPrivacy
from rowspace.privacy import analytic_gaussian_sigma, gaussian_delta, paper_gaussian_sigma, zcdp_to_approx

from .bad_values import BAD_DELTA, BAD_POSITIVE

EPSILONS = [1e-6, 1e-3, 0.1, 1.0, 3.0, 10.0, 100.0, 1e3]
DELTAS = [1e-300, 1e-100, 1e-20, 1e-10, 1e-6, 1e-3, 0.1, 0.5, 0.99, 1 - 1e-12]


def reference_delta(sigma: mpmath.mpf | float, epsilon: float) -> mpmath.mpf:
    """δ(σ) straight from the definition; the caller sets a precision that survives the cancellation."""
    sigma, epsilon = mpmath.mpf(sigma), mpmath.mpf(epsilon)
    a, b = 1 / (2 * sigma) - epsilon * sigma, 1 / (2 * sigma) + epsilon * sigma
    return mpmath.ncdf(a) - mpmath.exp(epsilon) * mpmath.ncdf(-b)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_analytic_sigma_is_least(epsilon: float, delta: float) -> None:
    sigma = analytic_gaussian_sigma(epsilon, delta)
    with mpmath.workdps(400):
        assert reference_delta(sigma, epsilon) <= delta
        assert reference_delta(math.nextafter(sigma, 0.0), epsilon) > delta
        assert reference_delta(sigma * (1 - 1e-9), epsilon) > delta


@pytest.mark.parametrize("epsilon", [1e-300, 1e-100, 1e-30, 1e6, 1e15, 1e200])
@pytest.mark.parametrize("delta", [1e-300, 1e-200, 1e-6, 0.9])
def test_absurd_budgets_still_calibrate(epsilon: float, delta: float) -> None:
    sigma = analytic_gaussian_sigma(epsilon, delta)
    assert gaussian_delta(sigma, epsilon) <= math.nextafter(delta, 1.0)
    assert gaussian_delta(math.nextafter(sigma, 0.0), epsilon) >= delta


def test_published_figure() -> None:
    """dp-accounting 0.6: get_sigma_gaussian(1, 1e-6) = 4.22468."""
    assert analytic_gaussian_sigma(1.0, 1e-6) == pytest.approx(4.22468, abs=5e-6)


@pytest.mark.parametrize("sigma", [1e-3, 0.1, 0.7, 1.0, 4.2, 37.0, 1e6])
@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 1.0, 17.0, 500.0])
def test_gaussian_delta_against_mpmath(sigma: float, epsilon: float) -> None:
    value = gaussian_delta(sigma, epsilon)
    with mpmath.workdps(60):
        exact = reference_delta(sigma, epsilon) if (epsilon * sigma) ** 2 < 1e4 else mpmath.mpf(0)
        assert value >= exact
        assert value <= exact * (1 + mpmath.mpf(2) ** -51) + mpmath.mpf(2) ** -1074


def test_underflowing_delta_is_rounded_up_to_the_least_float() -> None:
    assert gaussian_delta(1e6, 500.0) == math.ulp(0.0)
    assert gaussian_delta(1e-3, 1.0) == 1.0


@settings(max_examples=40)
@given(st.floats(1e-3, 1e2), st.floats(1e-12, 0.5), st.floats(1.01, 3.0))
def test_sigma_falls_as_either_budget_grows(epsilon: float, delta: float, factor: float) -> None:
    sigma = analytic_gaussian_sigma(epsilon, delta)
    assert analytic_gaussian_sigma(epsilon * factor, delta) <= sigma
    assert analytic_gaussian_sigma(epsilon, min(delta * factor, 0.9)) <= sigma


def test_both_budgets_vanishing_is_refused() -> None:
    with pytest.raises(InvalidPrivacy, match="vanishing"):
        analytic_gaussian_sigma(1e-305, 5e-324)


@pytest.mark.parametrize("delta", [1e-300, 1e-9, 1e-6, 0.1, 0.9])
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0])
def test_theorem_3_is_private(epsilon: float, delta: float) -> None:
    sigma = paper_gaussian_sigma(epsilon, delta)
    assert sigma == pytest.approx(math.sqrt(8 * math.log(2 / delta)) / epsilon, rel=1e-14)
    assert sigma >= analytic_gaussian_sigma(epsilon, delta)
    assert gaussian_delta(sigma, epsilon) <= delta


@pytest.mark.parametrize("delta", [1e-300, 1e-9, 0.1, 0.9])
def test_theorem_3_ends_where_the_paper_says(delta: float) -> None:
    limit = 8 * math.log(2 / delta)
    assert gaussian_delta(paper_gaussian_sigma(limit * (1 - 1e-12), delta), limit * (1 - 1e-12)) <= delta
    with pytest.raises(InvalidPrivacy, match="Theorem 3"):
        paper_gaussian_sigma(limit * (1 + 1e-12), delta)


@pytest.mark.parametrize("delta", [1e-300, 1e-12, 1e-6, 1e-2, 0.5, 0.99])
@pytest.mark.parametrize("rho", [1e-8, 1e-3, 0.1, 0.5, 2.0, 50.0])
def test_zcdp_implies_the_stated_approximate_guarantee(rho: float, delta: float) -> None:
    """The Gaussian mechanism is tight for zCDP, so it must be covered; and no order α tried does better."""
    epsilon = zcdp_to_approx(rho, delta)
    sigma = math.sqrt(0.5 / rho)
    assert epsilon == 0.0 or gaussian_delta(sigma, epsilon) <= delta
    by_hand = min(
        order * rho + math.log(1 / (order * delta)) / (order - 1) + math.log1p(-1 / order)
        for order in (1 + math.exp(u / 20) for u in range(-200, 400))
    )
    assert epsilon <= max(by_hand, 0.0) * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize(
    "delta", [1e-300, 1e-6, 0.5, 1 - 1e-6, 0.9999999974902418, 1 - 2.0**-40, 1 - 2.0**-53]
)
@pytest.mark.parametrize("rho", [1e-6, 0.5, 4774.268505691045, 72026.66184821213, 1e9])
def test_zcdp_conversion_is_never_below_its_formula(rho: float, delta: float) -> None:
    """Every α gives a valid ε, so the least over α, in 60 digits, must not be more than what is stated."""
    epsilon = zcdp_to_approx(rho, delta)
    with mpmath.workdps(60):

        def at(log_order: mpmath.mpf) -> mpmath.mpf:
            excess = mpmath.exp(log_order)
            order = 1 + excess
            return order * rho - mpmath.log(order * mpmath.mpf(delta)) / excess - mpmath.log1p(1 / excess)

        low, high = mpmath.mpf(-60), mpmath.mpf(60)
        for _ in range(180):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, right) if at(left) < at(right) else (left, high)
        assert epsilon >= at(low)


def test_what_was_spent_is_never_rounded_down() -> None:
    third = Fraction(1, 3) + Fraction(1, 2**60)
    assert zcdp_to_approx(third, 1e-6) >= zcdp_to_approx(math.nextafter(1 / 3, 1.0), 1e-6)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", BAD_POSITIVE, ids=repr)
def test_bad_positive_parameters(bad: object) -> None:
    for call in (
        lambda: analytic_gaussian_sigma(bad, 0.1),  # type: ignore[arg-type]
        lambda: paper_gaussian_sigma(bad, 0.1),  # type: ignore[arg-type]
        lambda: gaussian_delta(bad, 1.0),  # type: ignore[arg-type]
        lambda: gaussian_delta(1.0, bad),  # type: ignore[arg-type]
        lambda: zcdp_to_approx(bad, 0.1),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidPrivacy, match="positive finite"):
            call()


@pytest.mark.parametrize("bad", BAD_DELTA, ids=repr)
def test_bad_delta(bad: object) -> None:
    for function in (analytic_gaussian_sigma, paper_gaussian_sigma, zcdp_to_approx):
        with pytest.raises(InvalidPrivacy, match="strictly between 0 and 1"):
            function(1.0, bad)  # type: ignore[arg-type]
