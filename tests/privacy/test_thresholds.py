"""Thresholds for unknown keys: the least that is private, by brute force over neighbours and in many digits."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from rowspace.exceptions import InvalidPrivacy
from rowspace.privacy import ZCDP, ApproxDP, GaussianThreshold, PureDP, Threshold, TruncatedLaplace, threshold
from rowspace.privacy.thresholds import _gaussian, _laplace

PARAMETERS = [(1.0, 1e-8), (0.1, 1e-8), (0.3, 1e-3), (3.0, 0.2), (1e-6, 1e-12), (40.0, 1e-300), (0.1, 0.9)]


def exact(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


@pytest.mark.parametrize(("epsilon", "delta"), PARAMETERS)
@pytest.mark.parametrize("changed", [1, 2, 7, 1000])
def test_the_threshold_is_the_least_that_is_private(epsilon: float, delta: float, changed: int) -> None:
    with mpmath.workdps(80):
        allowed = min(mpmath.mpf(delta), mpmath.mpf(repr(delta)))
        laplace = _laplace(epsilon, delta, changed)
        assert (
            laplace.scale * Fraction(epsilon) >= changed or laplace.scale * Fraction(repr(epsilon)) >= changed
        )
        q = mpmath.exp(-1 / exact(laplace.scale))

        def end(reach: int) -> mpmath.mpf:
            return q**reach * (1 - q) / (1 + q - 2 * q ** (reach + 1))

        assert changed * end(laplace.reach) <= allowed
        assert laplace.reach == 1 or changed * end(laplace.reach - 1) > allowed
        gaussian = _gaussian(epsilon, delta, changed)
        assert gaussian.noise == ApproxDP(epsilon, delta / 2).noise(changed)

        def passes(least: int) -> mpmath.mpf:
            return changed * mpmath.ncdf(-(least - mpmath.mpf(3) / 2) / exact(gaussian.noise.sigma))

        half = allowed / 2
        assert passes(gaussian.least) <= half / (1 + half)
        assert gaussian.least == 2 or passes(gaussian.least - 1) > half / (1 + half) * (
            1 - mpmath.mpf(10) ** -20
        )


def law(noise: Threshold, count: int) -> dict[int | None, float]:
    """What is shown of one key: nothing, or its noisy count. A key of no records is never looked at."""
    if count == 0:
        return {None: 1.0}
    far = noise.least + math.ceil(40 * noise.std_error) + count
    n = np.arange(noise.least, far + 1)
    tails = noise.at_least(np.append(n, far + 1) - count)
    shown = {int(value): float(p) for value, p in zip(n, tails[:-1] - tails[1:], strict=True) if p > 0}
    return {None: 1.0 - float(tails[0]), **shown}


def divergence(noise: Threshold, epsilon: float, ones: tuple[int, ...], others: tuple[int, ...]) -> float:
    """sup over events of P(E) − e^ε P′(E), for the counts of a few keys."""
    P, Q = ([law(noise, count) for count in counts] for counts in (ones, others))
    # Keys that are alike on both sides say nothing.
    differ = [i for i in range(len(ones)) if ones[i] != others[i]]
    found = 0.0
    for outcome in product(*(P[i].items() for i in differ)):
        p = math.prod(probability for _, probability in outcome)
        q = math.prod(Q[i].get(value, 0.0) for i, (value, _) in zip(differ, outcome, strict=True))
        found += max(0.0, p - math.exp(epsilon) * q)
    return found


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.02), (0.4, 0.1), (2.0, 1e-3)])
@pytest.mark.parametrize("make", [_laplace, _gaussian])
def test_every_pair_of_neighbours_is_private(epsilon: float, delta: float, make: object) -> None:
    """One unit with one or two keys comes, goes or is replaced; counts from none to beyond the threshold."""
    one, two = (make(epsilon, delta, changed) for changed in (1, 2))  # type: ignore[operator]
    for c in (0, 1, 2, one.least - 1, one.least, one.least + 3):
        for pair in (((c,), (c + 1,)), ((c + 1,), (c,))):
            assert divergence(one, epsilon, *pair) <= delta * (1 + 1e-9)
    for a, b in product((0, 1, two.least - 1, two.least), repeat=2):
        for pair in (((a, b), (a + 1, b + 1)), ((a + 1, b + 1), (a, b)), ((a + 1, b), (a, b + 1))):
            assert divergence(two, epsilon, *pair) <= delta * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [1.0, 0.1, 3.0])
@pytest.mark.parametrize("delta", [1e-8, 0.01])
def test_no_mechanism_finds_a_key_more_often(epsilon: float, delta: float) -> None:
    """The recursion of Desfontaines, Voss, Gipson & Mandayam (2022), at the δ that the reach makes use of."""
    noise = threshold(ApproxDP(epsilon, delta))
    used = float(noise.at_least(noise.least - 1))
    assert used <= delta
    best = 0.0
    for count in range(1, 2 * noise.least):
        best = min(math.exp(epsilon) * best + used, 1 - math.exp(-epsilon) * (1 - best - used), 1.0)
        assert float(noise.at_least(noise.least - count)) == pytest.approx(best, rel=1e-6)


def test_a_planted_lower_threshold_is_found_out() -> None:
    """What the brute force is worth: one count less, or noise that is not truncated, breaks the promise."""
    epsilon, delta = 1.0, 0.02
    noise = _laplace(epsilon, delta, 1)

    class Lower(TruncatedLaplace):
        @property
        def least(self) -> int:
            return noise.least - 1

    assert divergence(Lower(noise.scale, noise.reach), epsilon, (1,), (0,)) > delta
    assert divergence(TruncatedLaplace(noise.scale, noise.reach - 1), epsilon, (1,), (0,)) > delta


def test_what_is_taken() -> None:
    assert threshold(ApproxDP(1.0, 1e-8)) == TruncatedLaplace(Fraction(1), 18)
    assert threshold(ApproxDP(1.0, 1e-8, "replace-one")) == threshold(ApproxDP(1.0, 1e-8), keys=2)
    many = threshold(ApproxDP(1.0, 1e-8), keys=50)
    assert isinstance(many, GaussianThreshold)
    assert many.least < _laplace(1.0, 1e-8, 50).least
    for other in (PureDP(1.0), ZCDP(0.5), "1", None):
        with pytest.raises(InvalidPrivacy, match="ApproxDP"):
            threshold(other)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "noise", [TruncatedLaplace(Fraction(3), 7), TruncatedLaplace(Fraction(2**22), 2**24)]
)
def test_standard_errors(noise: TruncatedLaplace) -> None:
    if noise.reach < 100:
        j = np.arange(-noise.reach, noise.reach + 1)
        p = noise.at_least(j) - noise.at_least(j + 1)
        assert p.sum() == pytest.approx(1.0)
        assert noise.std_error == pytest.approx(math.sqrt((p * j * j).sum()))
    else:
        near = TruncatedLaplace(Fraction(2**16), 2**18)
        assert noise.std_error / float(noise.scale) == pytest.approx(near.std_error / 2**16, rel=1e-6)
