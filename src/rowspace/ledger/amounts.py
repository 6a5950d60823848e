"""Amounts of budget: exact fractions, read as they were written and shown without flattery.

A float such as 0.1 is not 1/10 but 0.1000000000000000055…, so ten of them exceed 1. What a person wrote is 1/10: the
shortest decimal that names the float. `rowspace.ledger.costs` says when that reading may be charged.
"""

from __future__ import annotations

import math
from decimal import ROUND_DOWN, ROUND_UP, Context, Decimal, Inexact
from fractions import Fraction

_EXACT_DIGITS = 12
_ROUNDED_DIGITS = 6


def written(number: float) -> Fraction:
    """The shortest decimal that names the float, exactly: what was typed.

    >>> written(0.1), Fraction(0.1) > Fraction(1, 10)
    (Fraction(1, 10), True)
    """
    return Fraction(repr(float(number)))


def at_least(amount: Fraction) -> str:
    """A decimal that is exact or a little too large: for what is spent or asked.

    >>> at_least(Fraction(3, 10)), at_least(Fraction(1, 3)), at_least(Fraction(1, 10**9))
    ('0.3', '0.333334', '1e-9')
    """
    return _decimal(amount, ROUND_UP)


def at_most(amount: Fraction) -> str:
    """A decimal that is exact or a little too small: for what remains.

    >>> at_most(Fraction(2, 3))
    '0.666666'
    """
    return _decimal(amount, ROUND_DOWN)


def float_above(amount: Fraction) -> float:
    """The least float that is not below the amount."""
    nearest = float(amount)
    return nearest if Fraction(nearest) >= amount else math.nextafter(nearest, math.inf)


def _decimal(amount: Fraction, rounding: str) -> str:
    """Up to twelve digits if they are exact, else six, rounded the given way."""
    context = Context(prec=_EXACT_DIGITS, rounding=rounding, traps=[])
    value = context.divide(Decimal(amount.numerator), Decimal(amount.denominator))
    if context.flags[Inexact]:
        value = Context(prec=_ROUNDED_DIGITS, rounding=rounding).plus(value)
    value = value.normalize()
    return f"{value:f}" if value == 0 or -6 <= value.adjusted() < 15 else f"{value:e}".replace("e+", "e")
