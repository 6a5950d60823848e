"""Interval arithmetic in decimal: every result encloses the true value, whatever was rounded on the way.

`decimal` rounds each of + − × ÷ exactly as its context says, so rounding lower ends down and upper ends up
gives rigorous bounds. Its `exp` and `ln` are correctly rounded to the nearest, so the neighbour either way
encloses. The exponent range (10^±10¹⁸) is far past what privacy parameters reach; an overflow would raise.
Every rounded operation names its context, so the caller's own decimal settings have no say.
"""

from __future__ import annotations

import decimal
from decimal import Decimal


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
