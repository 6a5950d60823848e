"""The one place where counts meet noise."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from rowspace import operators as op
from rowspace.exceptions import IntegerOverflow, InvalidInput
from rowspace.measure import NoisyAnswers, draw, measure, measure_keys
from rowspace.noise import InsecureSeededRandom
from rowspace.privacy import ApproxDP, DiscreteGaussian, DiscreteLaplace, RoundedGaussian, threshold
from rowspace.strategy import MAX_RECORDS, dropped_bits

MODELS = [DiscreteLaplace(Fraction(3)), DiscreteGaussian(Fraction(9)), RoundedGaussian(Fraction(2000))]


@pytest.mark.parametrize("noise", MODELS, ids=str)
def test_exact_integers(noise):
    """Answers minus the same noise are A·x to the last bit, at sizes where float64 would round."""
    A = op.Stack(op.Hierarchy(8), 2**20 * op.Identity(8))
    x = np.array([2**36 + 1, 0, 3, 1, 2**30 + 7, 5, 2, 1])
    measured = measure(A, noise, x, InsecureSeededRandom(5))
    drawn = draw(noise, A.shape[0], InsecureSeededRandom(5))
    exact = [sum(int(a) * int(v) for a, v in zip(row, x, strict=True)) for row in A.to_dense()]
    assert measured.answers.dtype == np.int64
    assert (measured.answers - drawn).tolist() == exact


def test_rounding_comes_after_the_noise():
    """A wide strategy: the answers are (A·x + noise)/2^bits rounded, with A·x beyond 64 bits."""
    A = op.SpectralIntegers(
        op.Cosines(5), 2**17 * np.array([1, 0, 0, 0, 0]) + 1, [2**14 + 1, 2**15, 2**16, 5, 2**16]
    )
    bits = dropped_bits(A)
    assert bits > 0
    for x in ([2**39, 1, 0, 3, 2**38], [0, 0, 0, 0, 0], [1, 2, 3, 4, 5]):
        noise = DiscreteGaussian(Fraction(2**50))
        measured = measure(A, noise, x, InsecureSeededRandom(5))
        drawn = draw(noise, 5, InsecureSeededRandom(5)).tolist()
        rows = A.to_dense().astype(np.int64).tolist()
        noisy = [
            sum(a * v for a, v in zip(row, x, strict=True)) + z for row, z in zip(rows, drawn, strict=True)
        ]
        assert measured.answers.tolist() == [(y + 2**bits // 2) // 2**bits for y in noisy]


def test_measurement_holds_no_counts():
    measured = measure(op.Identity(3), MODELS[0], [10, 20, 30])
    assert {f.name for f in dataclasses.fields(NoisyAnswers)} == {"strategy", "noise", "answers"}
    with pytest.raises(ValueError, match="read-only"):
        measured.answers[0] = 1


def test_overflow_is_refused_beforehand():
    class Untouchable:
        def __array__(self, *_args, **_keywords):
            raise AssertionError("the data was touched")

    with pytest.raises(IntegerOverflow):
        measure(op.Dense([[float(2**41)]]), MODELS[0], Untouchable())


@pytest.mark.parametrize("x", [[MAX_RECORDS + 1, 0], [-1, 2], [2**62, 2**62]])
def test_counts_past_the_public_bound_are_refused_without_showing_them(x):
    with pytest.raises(IntegerOverflow) as caught:
        measure(op.Identity(2), MODELS[0], x)
    assert str(x[0]) not in str(caught.value).replace(str(MAX_RECORDS), "")


@pytest.mark.parametrize("x", [[1.0, 2.0], [1, 2, 3], [[1, 2, 3]], ["a", "b"], [True, False]])
def test_wrong_counts(x):
    with pytest.raises(InvalidInput, match="expected 2 integer counts"):
        measure(op.Identity(2), MODELS[0], x)


def test_unknown_noise():
    with pytest.raises(InvalidInput, match="noise model"):
        draw(3, 1, InsecureSeededRandom(0))


def test_own_types_are_refused():
    class Doubled(op.Identity):
        def _apply(self, x):
            return 2 * x

    class Silent(DiscreteLaplace):
        pass

    for strategy, noise in ((Doubled(2), MODELS[0]), (op.Identity(2), Silent(Fraction(3)))):
        with pytest.raises(InvalidInput, match="rowspace's own"):
            measure(strategy, noise, [1, 2])


def test_counts_are_used_as_they_were_checked(monkeypatch):
    """An array that the caller can still write to is copied before it is checked."""
    x = np.array([3, 4])
    asked = op.Identity._divided
    shared = []

    def watch(self, array, bits):
        shared.append(np.shares_memory(array, x))
        return asked(self, array, bits)

    monkeypatch.setattr(op.Identity, "_divided", watch)
    measure(op.Identity(2), MODELS[0], x)
    x.setflags(write=False)
    measure(op.Identity(2), MODELS[0], x)
    assert shared == [False, True]


def test_keys_below_the_threshold_are_gone():
    """What is shown is count plus noise, from the threshold on; all else is dropped, whatever it was."""
    noise = threshold(ApproxDP(1.0, 1e-8))
    counts = np.array([1, 18, 19, 500, 2] * 50)
    where, noisy = measure_keys(noise, noise.least, counts)
    assert len(where) == len(noisy)
    assert np.all(noisy >= noise.least)
    assert np.all(np.abs(noisy - counts[where]) <= noise.reach)
    assert set(np.flatnonzero(counts == 500)) <= set(where)
    with pytest.raises(InvalidInput, match="19 or more"):
        measure_keys(noise, noise.least - 1, counts)
    for wrong in ([0], [-3], [2**61]):
        with pytest.raises(IntegerOverflow):
            measure_keys(noise, noise.least, wrong)

    class Lower(type(noise)):
        least = 1

    with pytest.raises(InvalidInput):
        measure_keys(Lower(noise.scale, noise.reach), 1, counts)
