"""Rigorous enclosures of the Gaussian mechanism's privacy curve.

For noise N(0, σ²) on an answer of unit L2 sensitivity, the least δ for a given ε is (Balle & Wang 2018)

    δ(σ) = Φ(a) − e^ε Φ(−b),      a = 1/(2σ) − εσ,   b = 1/(2σ) + εσ.

Because b² − a² = 2ε, e^ε φ(b) = φ(a); with the Mills ratio M(x) = Φ(−x)/φ(x) this is

    δ(σ) = φ(a)·(M(−a) − M(b)),

where nothing overflows and the only cancellation left is paid for with digits: the caller asks again
with more of them until the interval is narrow enough.
"""

from __future__ import annotations

import math
from decimal import Decimal
from functools import lru_cache

from .intervals import Interval, Precision

_SWITCH = 6
"""Series up to here, continued fraction past it: both take about 50 terms here for 50 digits."""


def delta_interval(sigma: float | Decimal, epsilon: float, digits: int) -> Interval:
    """An interval that contains δ(σ), computed with the given number of digits."""
    precision = Precision(digits)
    s, e = precision.exact(sigma), precision.exact(epsilon)
    half_step = precision.exact(1) / (s + s)
    a, b = half_step - e * s, half_step + e * s
    density = (-(a.squared() / precision.exact(2))).exp() / _twice(_root_half_pi(digits))
    if a.low > _SWITCH:
        # Φ(a) = 1 − φ(a) M(a): δ is near 1, and e^(a²/2) need not be formed.
        return precision.exact(1) - density * (mills_ratio(a) + mills_ratio(b))
    return density * (mills_ratio(-a) - mills_ratio(b))


def mills_ratio(x: Interval) -> Interval:
    """M(x) = Φ(−x)/φ(x) = e^(x²/2) ∫ₓ^∞ e^(−t²/2) dt, for x ≥ −6 or so (below, slow and wide)."""
    return _fraction(x) if x.low > _SWITCH else _series(x)


def _series(x: Interval) -> Interval:
    """M(x) = √(π/2)·e^(x²/2) − S(x)."""
    half_square = x.squared() / x.precision.exact(2)
    return _root_half_pi(x.precision.digits) * half_square.exp() - _integral_series(x)


def _integral_series(x: Interval) -> Interval:
    """S(x) = e^(x²/2) ∫₀ˣ e^(−t²/2) dt = x·Σₙ x²ⁿ/(2n+1)!!, by S' = 1 + xS and S(0) = 0.

    Truncation: the terms are positive and term n + 1 is term n times x²/(2n + 3). Once x² ≤ n + 1 that and
    every later ratio is below ½, so the whole rest is at most the last term added; it widens the sum.
    """
    precision = x.precision
    y = x.squared()
    term = total = precision.exact(1)
    n = 0
    while y.high > n + 1 or term.high > precision.down.scaleb(total.low, -precision.digits):
        n += 1
        term = term * y / precision.exact(2 * n + 1)
        total = total + term
    rest = Interval(Decimal(0), term.high, precision)
    return x * (total + rest)


def _fraction(x: Interval) -> Interval:
    """M(x) = 1/T₁ by the continued fraction T_k = x + k/T_{k+1}, for x > 0.

    Proof. Let J_k = ∫₀^∞ tᵏ e^(−xt−t²/2) dt, so J₀ = M(x). Integrating tᵏ·(x + t)·e^(−xt−t²/2) by parts,
    x J₀ + J₁ = 1 and x J_k + J_{k+1} = k J_{k−1}. Put T_k = x + J_k/J_{k−1}: the first identity gives
    T₁ = 1/J₀; the second, divided by J_k, is T_{k+1} = k J_{k−1}/J_k, hence T_k = x + k/T_{k+1}. All J are
    positive, so T_{k+1} > x and x < T_k < x + k/x. Starting from that interval encloses the truncation;
    interval arithmetic encloses the rest.
    """
    precision = x.precision
    steps = _steps(float(x.low), precision.digits)
    tail = Interval(x.low, (x + precision.exact(steps + 1) / x).high, precision)
    for k in range(steps, 0, -1):
        tail = x + precision.exact(k) / tail
    return precision.exact(1) / tail


def _steps(x: float, digits: int) -> int:
    """How many steps of the continued fraction give that many digits; fewer would only widen the enclosure.

    Step k shrinks the interval by k/T², where T ≈ x + k/T.
    """
    k, gained = 0, 0.0
    while gained < digits:
        k += 1
        tail = 0.5 * (x + math.hypot(x, 2.0 * math.sqrt(k)))
        gained += 2.0 * math.log10(tail) - math.log10(k)
    return k


@lru_cache(maxsize=16)
def _root_half_pi(digits: int) -> Interval:
    """√(π/2) = e^(−x²/2)·(M(x) + S(x)) at any x: the two expansions must agree where they meet."""
    precision = Precision(digits)
    x = precision.exact(_SWITCH)
    return (_fraction(x) + _integral_series(x)) / (x.squared() / precision.exact(2)).exp()


def _twice(x: Interval) -> Interval:
    return x + x
