"""The guarantees as values: validation, plain words, saved tables."""

import dataclasses
import json
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowspace.exceptions import InvalidInput, InvalidPrivacy
from rowspace.privacy import (
    ZCDP,
    ApproxDP,
    ApproxDPTheorem3,
    DiscreteGaussian,
    DiscreteLaplace,
    Neighbours,
    Privacy,
    PureDP,
    RoundedGaussian,
    analytic_gaussian_sigma,
    privacy_from_dict,
)

from .bad_values import BAD_DELTA, BAD_POSITIVE


@pytest.mark.parametrize(
    ("privacy", "words"),
    [
        (PureDP(1), "1-differential privacy (add or remove one record)"),
        (PureDP(0.1, Neighbours.REPLACE_ONE), "0.1-differential privacy (replace one record)"),
        (ApproxDP(1.5, 1e-6), "(1.5, 1e-06)-differential privacy (add or remove one record)"),
        (
            ApproxDPTheorem3(1.0, 1e-6),
            "(1, 1e-06)-differential privacy by the paper's Theorem 3 (add or remove one record)",
        ),
        (ZCDP(0.5, "replace-one"), "0.5-zero-concentrated differential privacy (replace one record)"),
    ],
)
def test_plain_words(privacy: Privacy, words: str) -> None:
    assert str(privacy) == words


@pytest.mark.parametrize(
    ("privacy", "norm", "variance", "model"),
    [
        (PureDP(0.5), 1, 8.0, DiscreteLaplace),
        (ApproxDP(1.0, 1e-6), 2, analytic_gaussian_sigma(1.0, 1e-6) ** 2, RoundedGaussian),
        (ApproxDPTheorem3(0.5, 1e-6), 2, 32 * math.log(2e6), RoundedGaussian),
        (ZCDP(0.25), 2, 2.0, DiscreteGaussian),
    ],
    ids=str,
)
def test_norm_unit_variance_and_noise(privacy: Privacy, norm: int, variance: float, model: type) -> None:
    assert privacy.norm == norm
    assert privacy.unit_variance == pytest.approx(variance, rel=1e-15)
    noise = privacy.noise(10**6)
    assert type(noise) is model
    # At integer_norm Δ (norm 1) or Δ² (norm 2) the integer noise has the continuous variance, up to its lattice.
    sensitivity_squared = 10**12 if norm == 1 else 10**6
    assert noise.variance == pytest.approx(variance * sensitivity_squared, rel=1e-7)


def test_parameters_are_normalized() -> None:
    privacy = PureDP(np.float32(0.5), "add-remove")  # type: ignore[arg-type]
    assert type(privacy.epsilon) is float
    assert privacy.neighbours is Neighbours.ADD_REMOVE
    assert privacy == PureDP(0.5) == PureDP(Fraction(1, 2))  # type: ignore[arg-type]
    assert PureDP(1) != ZCDP(1)
    assert hash(PureDP(1)) == hash(PureDP(1.0))


@pytest.mark.parametrize("stated", [Fraction(1, 10), Fraction(2, 3), 2**53 + 3, np.longdouble(1) / 10])
def test_a_budget_between_two_floats_is_the_lower_one(stated: Fraction) -> None:
    """The nearest float to a tenth is more than a tenth: ε would be more than was stated."""
    for privacy, held in ((PureDP(stated), "epsilon"), (ZCDP(stated), "rho")):  # type: ignore[arg-type]
        assert getattr(privacy, held) <= stated < math.nextafter(getattr(privacy, held), math.inf)


@pytest.mark.parametrize("norm", [1, 3, 7, 12345, 10**9 + 7])
def test_the_decimal_in_the_statement_is_kept(norm: int) -> None:
    """0.1 is said and 0.1000000000000000055 is what the float holds: the noise keeps the lesser of the two."""
    for parameter in (number / 1000 for number in range(1, 400)):
        said = Fraction(str(PureDP(parameter)).split("-")[0])
        pure, concentrated = PureDP(parameter).noise(norm), ZCDP(parameter).noise(norm)
        assert isinstance(pure, DiscreteLaplace)
        assert isinstance(concentrated, DiscreteGaussian)
        assert norm / pure.scale <= min(said, Fraction(parameter))
        assert norm / (2 * concentrated.sigma_squared) <= min(said, Fraction(parameter))


def test_the_decimals_of_approximate_privacy_are_kept() -> None:
    for epsilon, delta in ((0.1, 1e-6), (0.7, 1e-5), (1.1, 0.001), (3.3, 1e-9)):
        sigma = ApproxDP(epsilon, delta).noise(1).sigma  # type: ignore[attr-defined]
        least = [min(Fraction(repr(number)), Fraction(number)) for number in (epsilon, delta)]
        with mpmath.workdps(60):
            e, d, s = (mpmath.mpf(x.numerator) / x.denominator for x in (*least, sigma))
            a, b = 1 / (2 * s) - e * s, 1 / (2 * s) + e * s
            assert mpmath.ncdf(a) - mpmath.exp(e) * mpmath.ncdf(-b) <= d


def test_definitions_are_immutable() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        PureDP(1.0).epsilon = 2.0  # type: ignore[misc]


def test_the_base_is_abstract() -> None:
    with pytest.raises(TypeError):
        Privacy()  # type: ignore[abstract]


@pytest.mark.parametrize("bad", BAD_POSITIVE, ids=repr)
def test_bad_positive_parameters(bad: float) -> None:
    for call in (
        lambda: PureDP(bad),
        lambda: ZCDP(bad),
        lambda: ApproxDP(bad, 1e-6),
        lambda: ApproxDPTheorem3(bad, 1e-6),
    ):
        with pytest.raises(
            InvalidPrivacy, match=r"expected (epsilon|rho) to be a positive finite number, got "
        ):
            call()


@pytest.mark.parametrize("bad", BAD_DELTA, ids=repr)
def test_bad_delta(bad: float) -> None:
    for definition in (ApproxDP, ApproxDPTheorem3):
        with pytest.raises(InvalidPrivacy, match="expected delta strictly between 0 and 1, got "):
            definition(1.0, bad)


@pytest.mark.parametrize("bad", ["ADD_REMOVE", "replace", "", None, 1, True, ["add-remove"]])
def test_bad_neighbours(bad: Neighbours) -> None:
    for call in (lambda: PureDP(1.0, bad), lambda: ZCDP(1.0, bad), lambda: ApproxDP(1.0, 0.1, bad)):
        with pytest.raises(InvalidPrivacy, match="replace-one"):
            call()


def test_theorem_3_refuses_what_the_paper_does_not_cover() -> None:
    with pytest.raises(InvalidPrivacy, match="use ApproxDP"):
        ApproxDPTheorem3(200.0, 1e-6)


def test_bad_privacy_is_also_invalid_input_and_a_value_error() -> None:
    for kind in (InvalidInput, ValueError):
        with pytest.raises(kind):
            PureDP(0)


neighbours = st.sampled_from(Neighbours)
budgets = st.floats(min_value=0, exclude_min=True, allow_infinity=False)
deltas = st.floats(0, 1, exclude_min=True, exclude_max=True)


@given(
    st.one_of(
        st.builds(PureDP, budgets, neighbours),
        st.builds(ZCDP, budgets, neighbours),
        st.builds(ApproxDP, budgets, deltas, neighbours),
        st.builds(ApproxDPTheorem3, st.floats(1e-9, 5.0), deltas, neighbours),
    )
)
def test_round_trip_through_json(privacy: Privacy) -> None:
    assert privacy_from_dict(json.loads(json.dumps(privacy.to_dict()))) == privacy


GOOD = PureDP(1.0).to_dict()


@pytest.mark.parametrize(
    "tree",
    [
        None,
        3,
        "pure",
        [("privacy", "pure")],
        {},
        {"privacy": "pure"},
        {"privacy": "none"},
        {"privacy": None},
        {"privacy": {}, "epsilon": 1.0, "neighbours": "add-remove"},
        {**GOOD, "delta": 0.1},
        {**GOOD, 1: 2},
        {**GOOD, "epsilon": "1.0"},
        {**GOOD, "epsilon": -1.0},
        {**GOOD, "epsilon": math.nan},
        {**GOOD, "epsilon": None},
        {**GOOD, "epsilon": [1.0]},
        {**GOOD, "neighbours": None},
        {**GOOD, "neighbours": "nobody"},
        {"privacy": "x" * 10**6},
        {**GOOD, "y" * 10**6: 1},
    ],
    ids=lambda tree: repr(tree)[:60],
)
def test_hostile_tables_are_refused(tree: object) -> None:
    with pytest.raises(InvalidPrivacy) as caught:
        privacy_from_dict(tree)
    assert len(str(caught.value)) < 400
