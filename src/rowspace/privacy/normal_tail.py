"""Rigorous enclosures of the Gaussian mechanism's privacy curve.

For noise N(0, σ²) on an answer of unit L2 sensitivity, the least δ for a given ε is (Balle & Wang 2018)

    δ(σ) = Φ(a) − e^ε Φ(−b),      a = 1/(2σ) − εσ,   b = 1/(2σ) + εσ.

Because b² − a² = 2ε, e^ε φ(b) = φ(a); with the Mills ratio M(x) = Φ(−x)/φ(x) this is

    δ(σ) = φ(a)·(M(−a) − M(b)),

where nothing overflows and the only cancellation left is paid for with digits: the caller asks again
with more of them until the interval is narrow enough.

Interval arithmetic in decimal: every result encloses the true value, whatever was rounded on the way.

`decimal` rounds each of + − × ÷ exactly as its context says, so rounding lower ends down and upper ends up
gives rigorous bounds. Its `exp` and `ln` are correctly rounded to the nearest, so the neighbour either way
encloses. The exponent range (10^±10¹⁸) is far past what privacy parameters reach; an overflow would raise.
Every rounded operation names its context, so the caller's own decimal settings have no say.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from functools import lru_cache


class Precision:
    """A pair of contexts with the same number of digits, one rounding down and one rounding up."""

    __slots__ = ("digits", "down", "up")

    def __init__(self, digits: int) -> None:
        self.digits = digits
        self.down = _context(digits, decimal.ROUND_FLOOR)
        self.up = _context(digits, decimal.ROUND_CEILING)

    def exact(self, value: float | Decimal) -> Interval:
        """The interval that is one number: every int and float is exactly a decimal, and so is a decimal."""
        return Interval(Decimal(value), Decimal(value), self)


class Interval:
    """All real numbers from `low` to `high`.

    >>> third = Precision(20).exact(1) / Precision(20).exact(3)
    >>> third.low < third.high, 0.333 < third.low, third.high < 0.334
    (True, True, True)
    """

    __slots__ = ("high", "low", "precision")

    def __init__(self, low: Decimal, high: Decimal, precision: Precision) -> None:
        self.low = low
        self.high = high
        self.precision = precision

    def __add__(self, other: Interval) -> Interval:
        down, up = self.precision.down, self.precision.up
        return Interval(down.add(self.low, other.low), up.add(self.high, other.high), self.precision)

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def __neg__(self) -> Interval:
        return Interval(self.high.copy_negate(), self.low.copy_negate(), self.precision)

    def __mul__(self, other: Interval) -> Interval:
        down, up = self.precision.down, self.precision.up
        if self.low >= 0 and other.low >= 0:
            return Interval(
                down.multiply(self.low, other.low), up.multiply(self.high, other.high), self.precision
            )
        corners = [(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(
            min(down.multiply(a, b) for a, b in corners),
            max(up.multiply(a, b) for a, b in corners),
            self.precision,
        )

    def __truediv__(self, other: Interval) -> Interval:
        """Quotient of a non-negative interval by a positive one: all that is ever needed here."""
        if self.low < 0 or other.low <= 0:
            raise ArithmeticError("interval division is defined here for non-negative by positive only")
        down, up = self.precision.down, self.precision.up
        return Interval(down.divide(self.low, other.high), up.divide(self.high, other.low), self.precision)

    def squared(self) -> Interval:
        """{x² : x in the interval}, which is tighter than the product with itself when 0 is inside."""
        size = sorted((self.low.copy_abs(), self.high.copy_abs()))
        least = Decimal(0) if self.low <= 0 <= self.high else size[0]
        down, up = self.precision.down, self.precision.up
        return Interval(down.multiply(least, least), up.multiply(size[1], size[1]), self.precision)

    def width_within(self, relative: Decimal) -> bool:
        """Whether the width is at most `relative` times the upper end."""
        down, up = self.precision.down, self.precision.up
        return up.subtract(self.high, self.low) <= down.multiply(self.high, relative)

    def exp(self) -> Interval:
        """{eˣ : x in the interval}."""
        down, up = self.precision.down, self.precision.up
        low = down.next_minus(down.exp(self.low))
        return Interval(max(low, Decimal(0)), up.next_plus(up.exp(self.high)), self.precision)

    def log(self) -> Interval:
        """{ln x : x in the interval}, for a positive interval."""
        down, up = self.precision.down, self.precision.up
        return Interval(down.next_minus(down.ln(self.low)), up.next_plus(up.ln(self.high)), self.precision)


def _context(digits: int, rounding: str) -> decimal.Context:
    """A context with the widest exponents, that raises rather than answer NaN or infinity."""
    return decimal.Context(
        prec=digits,
        rounding=rounding,
        Emin=decimal.MIN_EMIN,
        Emax=decimal.MAX_EMAX,
        traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
    )


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
