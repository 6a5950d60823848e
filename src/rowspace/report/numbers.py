"""Figures as people read them: thousands apart, no more digits than mean something, columns that align."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rowspace.notebook import shown_above as shown_above
from rowspace.notebook import whole as whole

_MOST_DECIMALS = 4
_PLAIN = 1e12


def figures(values: Sequence[float | None], digits: int = 3) -> list[str]:
    """A column of positive figures with one number of decimals: the smallest shows `digits` digits.

    >>> figures([12.4658, 9.4737, 1234.5])
    ['12.47', '9.47', '1,234.50']
    >>> figures([None, math.inf, 20.0])
    ['–', '∞', '20.0']
    """
    finite = [abs(value) for value in values if value is not None and math.isfinite(value) and value]
    decimals = _decimals(min(finite, default=1.0), digits)
    return [_fixed(value, decimals) for value in values]


def counts(values: Sequence[float], std_errors: Sequence[float]) -> list[str]:
    """A column of noisy counts: decimals only as far as the smallest standard error has two digits.

    >>> counts([1234.567, -3.2], [12.0, 9.1])
    ['1,234.6', '-3.2']
    """
    known = [error for error in std_errors if error > 0 and math.isfinite(error)]
    decimals = _decimals(min(known, default=1.0), 2)
    return [_fixed(value, decimals) for value in values]


def _decimals(smallest: float, digits: int) -> int:
    """Decimals that give a number so many significant digits."""
    return min(_MOST_DECIMALS, max(0, digits - 1 - math.floor(math.log10(smallest))))


def _fixed(value: float | None, decimals: int) -> str:
    """One figure, or a dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if abs(value) >= _PLAIN:
        return f"{value:.3g}"
    text = f"{value:,.{decimals}f}"
    # A small negative number rounds to "-0.0", which says nothing.
    return text.removeprefix("-") if not text.strip("-0.,") else text
