"""Binary expansions of probabilities, against an independent multiple-precision library."""

from __future__ import annotations

from decimal import ROUND_UP, localcontext
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowspace.noise.expansion import ExpNegative, Logistic, exp_negative_bracket

RATIONALS = st.builds(
    Fraction, st.integers(min_value=1, max_value=2**60), st.integers(min_value=1, max_value=2**60)
)
BITS = st.integers(min_value=1, max_value=300)


def floor_scaled(value: mpmath.mpf, bits: int) -> int:
    return int(mpmath.floor(value * mpmath.mpf(2) ** bits))


def reference(kind: type, x: Fraction, bits: int) -> int:
    with mpmath.workprec(2000):
        exact = mpmath.mpf(x.numerator) / x.denominator
        value = mpmath.exp(-exact) if kind is ExpNegative else 1 / (1 + mpmath.exp(exact))
        return floor_scaled(value, bits)


@pytest.mark.parametrize("kind", [ExpNegative, Logistic])
@given(x=RATIONALS, bits=BITS)
def test_prefix_is_the_expansion(kind: type, x: Fraction, bits: int) -> None:
    assert kind(x).prefix(bits) == reference(kind, x, bits)


@pytest.mark.parametrize("kind", [ExpNegative, Logistic])
@pytest.mark.parametrize(
    "x", [Fraction(1, 2**200), Fraction(1, 3), Fraction(71), Fraction(73), Fraction(2**70)]
)
@pytest.mark.parametrize("bits", [8, 72, 600])
def test_extreme_exponents(kind: type, x: Fraction, bits: int) -> None:
    assert kind(x).prefix(bits) == reference(kind, x, bits)


@given(x=RATIONALS, bits=st.integers(min_value=0, max_value=80))
def test_longer_prefixes_extend_shorter_ones(x: Fraction, bits: int) -> None:
    assert Logistic(x).prefix(bits + 64) >> 64 == Logistic(x).prefix(bits)


@given(x=st.builds(Fraction, st.integers(1, 1000), st.integers(1, 1000)), digits=st.integers(5, 60))
def test_bracket_holds_the_value(x: Fraction, digits: int) -> None:
    low, high = exp_negative_bracket(x, digits)
    with mpmath.workprec(3000):
        value = mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator)
        assert mpmath.mpf(low.numerator) / low.denominator < value
        assert value < mpmath.mpf(high.numerator) / high.denominator
        assert (high - low) / low < (8 + x) * Fraction(10) ** (1 - digits)


@pytest.mark.parametrize("kind", [ExpNegative, Logistic])
@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("distance", [20, 60, 300])
def test_probabilities_next_to_a_short_binary_fraction(kind: type, side: int, distance: int) -> None:
    """p = 77/256 ± 10^−distance: the first precision tried cannot tell on which side, so it must be raised."""
    with mpmath.workdps(distance + 50):
        p = mpmath.mpf(77) / 256 + side * mpmath.mpf(10) ** -distance
        x = -mpmath.log(p) if kind is ExpNegative else mpmath.log((1 - p) / p)
        rational = Fraction(int(mpmath.nint(x * mpmath.mpf(10) ** (distance + 40))), 10 ** (distance + 40))
    assert kind(rational).prefix(8) == (77 if side > 0 else 76)


def test_fair_coin_is_exact() -> None:
    assert [Logistic(Fraction(0)).prefix(bits) for bits in (1, 8, 72)] == [1, 128, 2**71]


def test_callers_decimal_context_does_not_matter() -> None:
    expected = ExpNegative(Fraction(1, 3)).prefix(200)
    with localcontext() as context:
        context.prec, context.rounding = 3, ROUND_UP
        assert ExpNegative(Fraction(1, 3)).prefix(200) == expected


def test_certain_events_are_refused() -> None:
    with pytest.raises(ValueError, match="x > 0"):
        ExpNegative(Fraction(0))
    with pytest.raises(ValueError, match="x ≥ 0"):
        Logistic(Fraction(-1))
