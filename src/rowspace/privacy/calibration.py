"""How much Gaussian noise a budget asks for: the analytic Gaussian mechanism, certified.

The noise drawn is a continuous Gaussian rounded to the nearest integer. That costs no privacy: the exact
answers f = A_int·x are integers and rounding commutes with integer shifts, so f + round(σG) = round(f + σG)
except on the null set of ties. What is released is thus a function of f + σG alone, post-processing of the
continuous mechanism, and inherits its (ε, δ) exactly.

All figures here are for unit L2 sensitivity; σ is proportional to the sensitivity.
"""

from __future__ import annotations

import math
from decimal import Decimal
from functools import lru_cache
from itertools import count

import scipy

from rowspace.exceptions import InvalidPrivacy

from .normal_tail import Interval, Precision, delta_interval
from .validation import positive_finite, probability

_DIGITS = (50, 100, 200, 400, 800, 1600)
"""Precisions tried in turn; the first settles all but extreme parameters."""

_TWENTY_DIGITS = Decimal("1e-20")
_BELOW_ALL_FLOATS = Decimal("1e-400")

_NEWTON_STEPS = 100
"""Past this many steps the search bisects: a guarantee of ending, never reached in the tests."""


def gaussian_delta(sigma: float, epsilon: float) -> float:
    """The least δ for which Gaussian noise of deviation `sigma` on unit L2 sensitivity is (ε, δ)-private.

    Guarantees:
        - never below the true value, and at most two units in the last place above it
          (`test_gaussian_delta_against_mpmath`).

    >>> round(gaussian_delta(4.22468, 1.0), 10)
    1e-06
    """
    sigma, epsilon = positive_finite("sigma", sigma), positive_finite("epsilon", epsilon)
    for digits in _DIGITS:
        delta = delta_interval(sigma, epsilon, digits)
        if _float_ceiling(delta.high) <= math.nextafter(_float_ceiling(delta.low), 1.0):
            break
    return min(1.0, _float_ceiling(delta.high))


def analytic_gaussian_sigma(epsilon: float, delta: float) -> float:
    """The least float σ whose Gaussian noise on unit L2 sensitivity is (ε, δ)-differentially private.

    Cost: about ten evaluations of the privacy curve, some milliseconds; remembered afterwards.

    Guarantees:
        - δ(σ) ≤ δ, certified in interval arithmetic (`test_analytic_sigma_is_least`);
        - no smaller float has that property (same test).

    >>> round(analytic_gaussian_sigma(1.0, 1e-6), 5)
    4.22468
    """
    return _least_sigma(positive_finite("epsilon", epsilon), probability("delta", delta))


def paper_gaussian_variance(epsilon: float, delta: float) -> Interval:
    """An enclosure of 8 ln(2/δ)/ε², the noise variance of the paper's Theorem 3 at unit L2 sensitivity."""
    epsilon, delta = positive_finite("epsilon", epsilon), probability("delta", delta)
    precision = Precision(_DIGITS[0])
    ratio = precision.exact(2) / precision.exact(delta)
    eight_logs = precision.exact(8) * ratio.log()
    if eight_logs.low < Decimal(epsilon):
        raise InvalidPrivacy(
            f"expected epsilon <= 8 ln(2/delta) = {float(eight_logs.low):.6g}, the range of the paper's "
            f"Theorem 3, got {epsilon!r}; use ApproxDP, which has no such limit"
        )
    return eight_logs / precision.exact(epsilon).squared()


def paper_gaussian_sigma(epsilon: float, delta: float) -> float:
    """The noise deviation √(8 ln(2/δ))/ε of the paper's Theorem 3, for ε ≤ 8 ln(2/δ).

    >>> paper_gaussian_sigma(1.0, 1e-6) / analytic_gaussian_sigma(1.0, 1e-6)
    2.55...
    """
    return math.sqrt(_float_ceiling(paper_gaussian_variance(epsilon, delta).high))


def zcdp_to_approx(rho: float, delta: float) -> float:
    """An ε such that every ρ-zCDP mechanism is (ε, δ)-differentially private.

    Proof (after Canonne, Kamath & Steinke 2020). Let Z be the privacy loss; zCDP says that
    E e^((α−1)Z) ≤ e^((α−1)αρ) for all α > 1. The least δ is
    E max(0, 1 − e^(ε−Z)) ≤ e^((α−1)αρ) · sup_z (1 − e^(ε−z)) e^(−(α−1)z). With y = e^(ε−z) the supremum is
    e^(−(α−1)ε)·max_y (1 − y) y^(α−1) = e^(−(α−1)ε)·(1/α)(1 − 1/α)^(α−1), at y = 1 − 1/α. Solving for ε:

        ε = αρ + ln(1/(αδ))/(α − 1) + ln(1 − 1/α),   valid for every α > 1,

    so the minimization need not be exact; only the last evaluation is rounded up, by far more than its
    floating-point error.

    >>> round(zcdp_to_approx(0.5, 1e-6), 4)
    5.2215
    """
    checked, delta = positive_finite("rho", rho), probability("delta", delta)
    rho = (
        math.nextafter(checked, math.inf) if checked < rho else checked
    )  # what was spent is never rounded down

    def parts(log_order: float) -> tuple[float, float, float]:
        excess = math.exp(log_order)  # α − 1
        order = 1.0 + excess
        # Not ln(αδ): where α and δ are near one, their product keeps nothing of what both differ from it by.
        return order * rho, -(math.log1p(excess) + math.log(delta)) / excess, -math.log1p(1.0 / excess)

    # α* ≈ 1 + √(ln(1/δ)/ρ); a factor e¹² either way is ample, and any point is valid.
    centre = 0.5 * math.log(max(-math.log(delta), 1e-3) / rho)
    best = scipy.optimize.minimize_scalar(
        lambda u: sum(parts(u)), bounds=(max(centre - 12.0, -30.0), centre + 12.0), method="bounded"
    )
    terms = parts(float(best.x))
    return max(0.0, sum(terms) + 1e-13 * sum(map(abs, terms)))


@lru_cache(maxsize=1024)
def _least_sigma(epsilon: float, delta: float) -> float:
    """Safeguarded Newton on ln δ(σ) against ln σ, until the bracket is two neighbouring floats.

    δ(σ) falls from 1 to 0 as σ grows, so every σ is on one side of the least one that will do. `passing`
    is only ever set to a σ that `_decide` certified.
    """
    target = Decimal(delta)
    failing, sigma = 0.0, _sufficient_sigma(epsilon, delta)
    while (value := _decide(sigma, epsilon, delta)).high > target:
        failing, sigma = sigma, 2.0 * sigma
    passing = sigma
    for step in count():
        if passing <= math.nextafter(failing, math.inf):
            break
        if step < _NEWTON_STEPS:
            # Of the upper end alone: the lower one may be zero, far out where δ(σ) is less than any float.
            guess = _newton(sigma, epsilon, math.log(delta), float(value.precision.up.ln(value.high)))
        else:
            guess = failing + (passing - failing) / 2
        sigma = min(max(guess, math.nextafter(failing, math.inf)), math.nextafter(passing, 0.0))
        value = _decide(sigma, epsilon, delta)
        if value.high <= target:
            passing = sigma
        else:
            failing = sigma
    return passing


def _sufficient_sigma(epsilon: float, delta: float) -> float:
    """A σ that is large enough, by the better of two textbook bounds, with room for rounding.

    ρ-zCDP with ρ = (√(L + ε) − √L)², L = ln(1/δ), implies (ε, δ) (Bun & Steinke 2016), and σ = 1/√(2ρ). Also
    δ(σ) at any ε is at most its value at ε = 0, 2Φ(1/(2σ)) − 1 ≤ 1/(σ√(2π)).
    """
    logs = -math.log(delta)
    by_concentration = (math.sqrt(logs + epsilon) + math.sqrt(logs)) / math.sqrt(2.0) / epsilon
    by_distance = 1.0 / math.sqrt(2.0 * math.pi) / delta
    sigma = min(by_concentration, by_distance) * (1.0 + 1e-12)
    if sigma > 2.0**1000:
        raise InvalidPrivacy(
            f"expected epsilon and delta not both vanishing, got epsilon={epsilon!r} and delta={delta!r}; "
            "the noise they ask for has no floating-point representation"
        )
    return sigma


def _decide(sigma: float, epsilon: float, delta: float) -> Interval:
    """An enclosure of δ(σ), good to 20 digits, that does not have `delta` inside: its upper end decides.

    If even the last precision cannot tell (it would take a tie to a thousand digits), the upper end is above
    `delta`, and the answer errs toward more noise.
    """
    target = Decimal(delta)
    for digits in _DIGITS:
        value = delta_interval(sigma, epsilon, digits)
        accurate = value.width_within(_TWENTY_DIGITS) or value.high < _BELOW_ALL_FLOATS
        if accurate and (value.high <= target or value.low > target):
            break
    return value


def _newton(sigma: float, epsilon: float, log_target: float, log_value: float) -> float:
    """One Newton step for ln δ(σ) = ln δ in the variable ln σ.

    dδ/d(1/σ) = φ(a), since δ' = φ(a)a' + e^ε φ(b)b' = φ(a)(a + b)' and a + b = 1/σ; hence
    d ln δ / d ln σ = −φ(a)/(σ δ(σ)).
    """
    a = 0.5 / sigma - epsilon * sigma
    log_elasticity = -0.5 * a * a - 0.5 * math.log(2.0 * math.pi) - math.log(sigma) - log_value
    step = (log_value - log_target) * math.exp(min(-log_elasticity, 700.0))
    return sigma * math.exp(min(max(step, -1.0), 1.0))


def _float_ceiling(value: Decimal) -> float:
    """The least float ≥ value, for values up to the largest float; 0 for negative ones."""
    if value <= 0:
        return 0.0
    nearest = float(value)
    return nearest if Decimal(nearest) >= value else math.nextafter(nearest, math.inf)
