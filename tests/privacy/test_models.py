"""Moments and characteristic functions against sums over the probability masses, in 50-digit arithmetic."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowspace.exceptions import InvalidPrivacy
from rowspace.privacy import DiscreteGaussian, DiscreteLaplace, NoiseModel, RoundedGaussian, noise_from_dict

from .masses import masses

MODELS = [
    *(DiscreteLaplace(Fraction(s)) for s in (0.125, 0.5, 1, 6.25)),
    *(DiscreteGaussian(Fraction(v)) for v in (0.03125, 0.25, 1, 3.75, 3.9990234375, 4, 4.25, 30)),
    *(RoundedGaussian(Fraction(s)) for s in (0.0625, 0.25, 0.5, 1, 1.9990234375, 2, 2.25, 6)),
]
ANGLES = np.array([0.0, 1e-9, 1e-3, 0.3, 1.0, 2.0, 3.0, math.pi, 4.5, 2 * math.pi + 0.3, -0.7, -30.0])
models = pytest.mark.parametrize("model", MODELS, ids=str)


def test_every_model_is_among_them() -> None:
    # By name: a dataclass with slots is made twice.
    assert {model.__name__ for model in NoiseModel.__subclasses__()} == {
        type(model).__name__ for model in MODELS
    }


def moment(model: NoiseModel, order: int) -> mpmath.mpf:
    return 2 * mpmath.fsum(mpmath.mpf(k) ** order * p for k, p in masses(model).items() if k > 0)


@models
def test_variance(model: NoiseModel) -> None:
    with mpmath.workdps(50):
        assert model.variance == pytest.approx(float(moment(model, 2)), rel=1e-13, abs=0)


@models
def test_excess_kurtosis(model: NoiseModel) -> None:
    with mpmath.workdps(50):
        exact = moment(model, 4) / moment(model, 2) ** 2 - 3
        assert model.excess_kurtosis == pytest.approx(float(exact), rel=1e-12, abs=1e-13)


@models
def test_characteristic_function(model: NoiseModel) -> None:
    with mpmath.workdps(50):
        exact = [
            float(mpmath.fsum(p * mpmath.cos(k * mpmath.mpf(t)) for k, p in masses(model).items()))
            for t in ANGLES
        ]
    np.testing.assert_allclose(model.characteristic(ANGLES), exact, rtol=1e-11, atol=2e-15)


@models
def test_characteristic_function_keeps_shapes_and_is_even_and_periodic(model: NoiseModel) -> None:
    t = ANGLES.reshape(3, 4)
    assert model.characteristic(t).shape == (3, 4)
    assert model.characteristic(0.0).shape == ()
    assert float(model.characteristic(0.0)) == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(model.characteristic(-t), model.characteristic(t), rtol=1e-13, atol=1e-16)
    np.testing.assert_allclose(model.characteristic(t + 2 * np.pi), model.characteristic(t), atol=1e-13)


@pytest.mark.parametrize("scale", [2**20, 2**40])
def test_large_noise_behaves_like_its_continuous_cousin(scale: int) -> None:
    t = np.array([1e-3, 0.5, 1.0, 3.0]) / scale
    laplace, gaussian, rounded = (
        DiscreteLaplace(Fraction(scale)),
        DiscreteGaussian(Fraction(scale) ** 2),
        RoundedGaussian(Fraction(scale)),
    )
    assert laplace.variance == pytest.approx(2.0 * scale**2 - 1 / 6, rel=1e-15)
    assert gaussian.variance == scale**2
    assert rounded.variance == pytest.approx(scale**2 + 1 / 12, rel=1e-15)
    np.testing.assert_allclose(laplace.characteristic(t), 1 / (1 + (t * scale) ** 2), rtol=1e-11)
    for model in (gaussian, rounded):
        np.testing.assert_allclose(model.characteristic(t), np.exp(-((t * scale) ** 2) / 2), rtol=1e-11)


def test_noise_too_fine_to_show() -> None:
    least = Fraction(1, 2**20)
    for model in (DiscreteLaplace(least), DiscreteGaussian(least**2), RoundedGaussian(least)):
        assert model.variance == 0.0
        assert model.excess_kurtosis == math.inf
        assert float(model.characteristic(2.0)) == 1.0


dyadics = st.builds(lambda m, k: Fraction(m, 2**k), st.integers(1, 2**45), st.integers(0, 20))


@given(dyadics)
def test_round_trip(value: Fraction) -> None:
    for model in (DiscreteLaplace, DiscreteGaussian, RoundedGaussian):
        if value < 2**45:
            noise = model(value)
            assert noise_from_dict(noise.to_dict()) == noise


@pytest.mark.parametrize(
    "bad",
    [0.5, 1, "1/2", None, True, Fraction(1, 3), Fraction(0), Fraction(-1, 2), Fraction(2**100)],
    ids=repr,
)
@pytest.mark.parametrize("model", [DiscreteLaplace, DiscreteGaussian, RoundedGaussian])
def test_parameters_must_be_drawable(model: type[DiscreteLaplace], bad: Fraction) -> None:
    with pytest.raises(InvalidPrivacy, match="significant bits"):
        model(bad)


HOSTILE = [
    None,
    [],
    "discrete laplace",
    {},
    {"noise": "discrete laplace"},
    {"noise": "discrete laplace", "scale": 1.0, "more": 1},
    {"noise": "discrete laplace", "sigma": 1.0},
    {"noise": "__class__", "scale": 1.0},
    {"noise": ["discrete laplace"], "scale": 1.0},
    *(
        {"noise": "discrete laplace", "scale": bad}
        for bad in (0, -1.0, math.nan, math.inf, True, "1", None, [1], 1e-300, 1e300, 10**400, 2**60 + 1)
    ),
]


@pytest.mark.parametrize("tree", HOSTILE, ids=lambda tree: repr(tree)[:60])
def test_hostile_tables_are_refused(tree: object) -> None:
    with pytest.raises(InvalidPrivacy) as caught:
        noise_from_dict(tree)
    assert len(str(caught.value)) < 400
