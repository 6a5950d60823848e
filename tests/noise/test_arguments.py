"""Bad input: one clear error, before a bit is drawn."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from rowspace import noise
from rowspace.exceptions import InvalidInput
from rowspace.noise import discrete_gaussian, discrete_laplace, rounded_gaussian

from .scripted import ScriptedBits

SAMPLERS = [discrete_laplace, discrete_gaussian, rounded_gaussian]
ALL = pytest.mark.parametrize("draw", SAMPLERS)
UNTOUCHED = ScriptedBits()  # fails when a bit is drawn


@ALL
@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), Fraction(1, 2**41), Fraction(2**90), -3])
def test_scale_out_of_range(draw: Callable[..., object], scale: Fraction) -> None:
    with pytest.raises(InvalidInput, match=r"expected a value in \[2\^-[24]0, 2\^(45|90)\), got about"):
        draw(scale, 10, UNTOUCHED)


@ALL
@pytest.mark.parametrize("scale", [1.0, "1", None, True, float("nan"), np.float64(2)])
def test_scale_of_the_wrong_type(draw: Callable[..., object], scale: object) -> None:
    with pytest.raises(InvalidInput, match="expected a Fraction"):
        draw(scale, 10, UNTOUCHED)


@pytest.mark.parametrize("draw", [discrete_gaussian, rounded_gaussian])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2**53 + 1, 2**20)])
def test_gaussian_parameters_are_floats(draw: Callable[..., object], scale: Fraction) -> None:
    with pytest.raises(InvalidInput, match="a float64 holds exactly"):
        draw(scale, 10, UNTOUCHED)


@ALL
@pytest.mark.parametrize("size", [-1, 1.0, "1", None, True])
def test_size(draw: Callable[..., object], size: object) -> None:
    with pytest.raises(InvalidInput, match="size: expected"):
        draw(Fraction(1), size, UNTOUCHED)


@ALL
def test_source(draw: Callable[..., object]) -> None:
    with pytest.raises(InvalidInput, match=r"expected a BitSource, got Generator; .*SecureRandom"):
        draw(Fraction(1), 1, np.random.default_rng(1))


@ALL
def test_ends_of_the_range_and_numpy_sizes(draw: Callable[..., np.ndarray]) -> None:
    power = 2 if draw is discrete_gaussian else 1
    random = noise.SecureRandom()
    assert not draw(Fraction(1, 2**20) ** power, np.int64(5), random).any()
    assert draw(Fraction((2**53 - 1) * 2 ** (45 * power), 2**53), 5, random).all()
    assert draw(3, 5, random).shape == (5,)


def test_surface() -> None:
    public = {name for name in vars(noise) if not name.startswith("_")}
    modules = {name for name in public if type(getattr(noise, name)).__name__ == "module"}
    assert set(noise.__all__) == public - modules
