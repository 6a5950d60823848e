"""The two rooms agree on what can be drawn: every parameter this one hands out, the samplers take."""

from fractions import Fraction

import pytest

from rowspace import noise
from rowspace.privacy import ZCDP, ApproxDP, PureDP
from rowspace.privacy.validation import LEAST_SCALE, SCALE_LIMIT

LARGEST = SCALE_LIMIT * (1 - Fraction(1, 2**53))


@pytest.mark.parametrize("scale", [LEAST_SCALE, Fraction(3, 2**11), Fraction(2**53 - 1, 2**9), LARGEST])
def test_the_samplers_take_the_whole_range(scale: Fraction) -> None:
    random = noise.InsecureSeededRandom(1)
    assert noise.discrete_laplace(scale, 3, random).shape == (3,)
    assert noise.rounded_gaussian(scale, 3, random).shape == (3,)


def test_squares_reach_as_far() -> None:
    random = noise.InsecureSeededRandom(2)
    for variance in (LEAST_SCALE**2, SCALE_LIMIT**2 * (1 - Fraction(1, 2**53))):
        assert noise.discrete_gaussian(variance, 3, random).shape == (3,)


@pytest.mark.parametrize("budget", [1e-7, 0.1, 1 / 3, 7.3, 1e5])
def test_every_calibrated_parameter_is_taken(budget: float) -> None:
    random = noise.InsecureSeededRandom(3)
    assert noise.discrete_laplace(PureDP(budget).noise(11).scale, 2, random).size == 2
    assert noise.discrete_gaussian(ZCDP(budget).noise(11).sigma_squared, 2, random).size == 2
    assert noise.rounded_gaussian(ApproxDP(budget, 1e-9).noise(11).sigma, 2, random).size == 2
