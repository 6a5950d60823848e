"""Truncated discrete Laplace noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from rowspace.exceptions import InvalidInput
from rowspace.noise import SecureRandom, truncated_laplace
from rowspace.privacy import TruncatedLaplace

from .goodness import assert_fits

N = 1 << 18


@pytest.mark.parametrize(("scale", "reach"), [(Fraction(1), 2), (Fraction(5), 4), (Fraction(20), 60)])
def test_follows_its_distribution(scale: Fraction, reach: int) -> None:
    """Every integer is a cell. False-alarm rate 1e-9 each."""
    j = np.arange(-reach, reach + 1)
    noise = TruncatedLaplace(scale, reach)
    values = truncated_laplace(scale, reach, N, SecureRandom())
    assert_fits(np.bincount(values + reach, minlength=len(j)), noise.at_least(j) - noise.at_least(j + 1))


def test_stays_within_its_reach() -> None:
    values = truncated_laplace(Fraction(1000), 3, 10_000, SecureRandom())
    assert np.abs(values).max() == 3
    assert truncated_laplace(Fraction(1), 1, 0, SecureRandom()).shape == (0,)


@pytest.mark.parametrize("reach", [0, -1, 1.5, True, 2**63])
def test_bad_reaches_are_refused(reach: object) -> None:
    with pytest.raises(InvalidInput, match="reach"):
        truncated_laplace(Fraction(1), reach, 1, SecureRandom())  # type: ignore[arg-type]
