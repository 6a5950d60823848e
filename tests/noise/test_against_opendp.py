"""An independent implementation draws from the same distributions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest

from rowspace.noise import SecureRandom, discrete_gaussian, discrete_laplace

from .goodness import assert_same

N = 20_000


@pytest.fixture(autouse=True)
def _opendp_features() -> None:
    dp.enable_features("contrib")


@pytest.mark.parametrize("scale", [1.0, 6.5])
def test_discrete_laplace(scale: float) -> None:
    """Two samples, one distribution. False-alarm rate 1e-9 each."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    theirs = np.array((space >> dp.m.then_laplace(scale))([0] * N))
    assert_same(discrete_laplace(Fraction(scale), 10 * N, SecureRandom()), theirs)


@pytest.mark.parametrize("sigma", [1.0, 6.5])
def test_discrete_gaussian(sigma: float) -> None:
    """Two samples, one distribution. False-alarm rate 1e-9 each."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    theirs = np.array((space >> dp.m.then_gaussian(sigma))([0] * N))
    assert_same(discrete_gaussian(Fraction(sigma) ** 2, 10 * N, SecureRandom()), theirs)


def test_the_comparison_notices_a_difference() -> None:
    with pytest.raises(AssertionError):
        assert_same(*(discrete_laplace(Fraction(s), 10 * N, SecureRandom()) for s in (6, 7)))
