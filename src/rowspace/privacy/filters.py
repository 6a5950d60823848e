"""Budgets in (ε, δ) in the currency of ρ: how much may be spent in all, however the amounts are chosen.

A *filter* is a rule, fixed before the first answer, that says when to stop; it is valid when everything that it let
through is (ε, δ)-differentially private together, even if each amount was chosen in the light of earlier answers.
Taking the least of several valid bounds afterwards, or stopping by composed loss distributions, is no filter.

*Gaussian noise.* Noise of deviation σ at unit L2 sensitivity is μ-Gaussian private (its trade-off curve is that of
N(0, 1) against N(μ, 1)) with μ = 1/σ. Stopping before Σ μ² passes a bound is a filter for Gaussian privacy of that
bound (Smith & Thakurta 2022, "Fully adaptive composition for Gaussian differential privacy"; Koskela, Tobaben &
Honkela 2023). Proof: let D(s, c) = E max(0, 1 − e^(c−L)) be the δ at ε = c of √s-Gaussian privacy, L its loss. With s
what is left of Σ μ², and L₁, L₂, … the losses so far, D(s, ε − L₁ − L₂ − …) does not grow in the mean, whatever step is
chosen next: for Gaussian noise of μ² ≤ s it stays the same, since Gaussian losses add up; and D is convex in e^(−L), so
a step that is post-processing of such noise makes it no larger. It begins as the δ of the whole budget, and at the end
is at least D(0, ·), whose mean is the δ of all that was released. In ρ = μ²/2 the limit is the ρ of one release with
the whole budget: exact, nothing is lost.

*Any concentrated noise.* Stopping before Σ ρ passes a bound is a filter for zCDP (Feldman & Zrnic 2021, the Rényi
filter, at every order; Whitehouse, Ramdas, Rogers & Wu 2023), which is turned into (ε, δ) once.

*Pure noise under the Gaussian filter.* Every ε-DP mechanism is post-processing of randomized response, a bit that is
right with probability e^ε/(1 + e^ε) (Kairouz, Oh & Viswanath 2015). That bit is itself post-processing of N(0, 1)
against N(μ, 1), cut in the middle, if Φ(μ/2) ≥ e^ε/(1 + e^ε), that is if the total variation 2Φ(μ/2) − 1 is at least
tanh(ε/2). So it is μ-Gaussian private.

Guarantees:
    - no float takes part in a comparison: limits are rounded down and costs up, in interval arithmetic, and the exact
      δ of what they let through is at most δ (`test_the_gaussian_limit_is_exact`,
      `test_the_concentrated_limit_is_proved`, `test_pure_noise_is_gaussian_private`).
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import scipy

from .calibration import analytic_gaussian_sigma
from .normal_tail import Interval, Precision, delta_interval
from .validation import float_within

_DIGITS = 100

# Sums of thousands of different fractions would grow without end. On this grid they do not, and what is rounded is far
# below what a float can state.
_GRID = 2**256

_FEW = 8
"""Up to this ε pure noise is charged closely; more would empty any budget worth the name."""


def on_grid(amount: Fraction) -> Fraction:
    """The least multiple of 2⁻²⁵⁶ that is not below the amount: what is charged where it is no short decimal."""
    return Fraction(-(-amount.numerator * _GRID // amount.denominator), _GRID)


def gaussian_rho(sigma_squared: Fraction) -> Fraction:
    """1/(2σ²), what Gaussian noise of this variance at unit sensitivity costs, rounded up."""
    return on_grid(1 / (2 * sigma_squared))


@lru_cache(maxsize=1024)
def gaussian_limit(epsilon: float, delta: float) -> Fraction:
    """The most ρ = Σ 1/(2σ²) of Gaussian noise that is (ε, δ)-private in all: exact to one part in 10⁵⁰ or so.

    >>> limit = gaussian_limit(1.0, 1e-6)
    >>> float(limit), limit == gaussian_rho(Fraction(analytic_gaussian_sigma(1.0, 1e-6)) ** 2)
    (0.0280..., True)
    """
    epsilon, delta = float_within(epsilon), float_within(delta)
    variance = Fraction(analytic_gaussian_sigma(epsilon, delta)) ** 2
    rounded_up = gaussian_rho(variance)
    # One release with the whole budget costs this much: certified here, unless the least σ is a float to 60 digits.
    if _is_private(1 / (2 * rounded_up), epsilon, delta):
        return rounded_up
    return rounded_up - Fraction(1, _GRID)


def _is_private(sigma_squared: Fraction, epsilon: float, delta: float) -> bool:
    """Whether Gaussian noise of this variance is certainly (ε, δ)-private."""
    precision = Precision(_DIGITS)
    square = precision.down.divide(Decimal(sigma_squared.numerator), Decimal(sigma_squared.denominator))
    root = precision.down.next_minus(precision.down.sqrt(square))  # a smaller σ has a larger δ
    return delta_interval(root, epsilon, _DIGITS).high <= Decimal(delta)


@lru_cache(maxsize=1024)
def concentrated_limit(epsilon: float, delta: float) -> Fraction:
    """A ρ such that ρ-zCDP implies (ε, δ)-differential privacy: the largest, but for the search of the order.

    `calibration.zcdp_to_approx` proves ε ≥ αρ + ln(1/(αδ))/(α − 1) + ln(1 − 1/α) to be enough, for any one α > 1.
    Solved for ρ it is evaluated downward at the best α that the search finds; any other would be valid, too.

    >>> 0.0178 < concentrated_limit(1.0, 1e-6) < 0.0280
    True
    """
    epsilon, delta = float_within(epsilon), float_within(delta)

    def rho(log_excess: float) -> float:
        x = math.exp(log_excess)  # α − 1
        return (epsilon + (math.log1p(x) + math.log(delta)) / x + math.log1p(1.0 / x)) / (1.0 + x)

    # α* is about 1 + 2 ln(1/δ)/ε.
    centre = math.log(2.0 * max(-math.log(delta), 1e-3) / epsilon)
    best = scipy.optimize.minimize_scalar(
        lambda u: -rho(u), bounds=(max(centre - 12.0, -30.0), centre + 12.0), method="bounded"
    )
    p = Precision(_DIGITS)
    one, x = p.exact(1), p.exact(math.exp(float(best.x)))
    gain = _quotient((one + x).log() + p.exact(delta).log(), x) + (one + one / x).log()
    total = p.exact(epsilon) + gain
    return max(Fraction(0), Fraction(p.down.divide(total.low, (one + x).high)))


def _quotient(a: Interval, b: Interval) -> Interval:
    """a/b for b > 0 and an a of any sign."""
    return a * (a.precision.exact(1) / b)


@lru_cache(maxsize=1024)
def pure_rho(epsilon: Fraction) -> Fraction:
    """μ²/2 of a Gaussian privacy that every ε-DP mechanism has, rounded up.

    >>> 0.78 < pure_rho(Fraction(1, 100)) * 10**4 < 0.79
    True
    """
    if epsilon > _FEW:
        # Φ(−x) ≤ e^(−x²/2)/2 is at most 1/(1 + e^ε) at x² = 2(ε + 1), and μ = 2x.
        return on_grid(4 * (epsilon + 1))
    p = Precision(_DIGITS)
    small = p.exact(0) - Interval(
        p.down.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator)),
        p.up.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator)),
        p,
    )
    fading = small.exp()  # e^(−ε)
    target = (p.exact(1) - fading) / (p.exact(1) + fading)  # tanh(ε/2)
    sigma = 0.5 / float(math.sqrt(2.0) * scipy.special.erfinv(float(target.high)))
    shrink = 2.0**-52
    # 2Φ(μ/2) − 1 is the δ of ε = 0. A smaller σ is a larger μ, and will do in the end.
    while delta_interval(sigma, 0.0, _DIGITS).low < target.high:
        sigma *= 1.0 - shrink
        shrink *= 2.0
    return gaussian_rho(Fraction(sigma) ** 2)
