"""Mechanisms to attack: the healthy one, and the same with one fault planted.

Each is a function ``(counts, size) -> outputs`` as `audits.attacks` takes it.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import rowspace as rs
from rowspace.measure import draw
from rowspace.noise import BitSource, InsecureSeededRandom, SecureRandom
from rowspace.operators import Operator
from rowspace.planning import Plan
from rowspace.privacy import DiscreteGaussian, DiscreteLaplace, NoiseModel, RoundedGaussian, sensitivity
from rowspace.strategy import dropped_bits

from .attacks import Counts, Mechanism, Outputs


def through_release(plan: Plan) -> Mechanism:
    """`rs.release`, once for every row: the thing itself, about a millisecond a release."""
    return lambda counts, size: np.array([rs.release(plan, counts).noisy_answers for _ in range(size)])


def healthy(plan: Plan, random: BitSource | None = None, noise: NoiseModel | None = None) -> Mechanism:
    """What `rs.release` does, many releases at once.

    Equivalent to `through_release`: `measure` is A·x plus one call of `draw` for all answers, samples of one call are
    independent like those of two, and all else in a release is a function of the noisy answers
    (tests/audit/test_attacks.py::test_the_fast_path_is_the_release, bit for bit with the same stream).
    """
    if dropped_bits(plan.strategy):
        raise ValueError("expected a strategy whose answers fit 64 bits, got one that drops low bits")

    def sample(counts: Counts, size: int) -> Outputs:
        answers, _ = plan.strategy.divided(counts, 0)
        drawn = draw(noise or plan.noise, size * len(answers), random or SecureRandom())
        return np.asarray(answers + drawn.reshape(size, len(answers)))

    return sample


def half_sensitivity(plan: Plan, real: Operator) -> Mechanism:
    """Noise for half the sensitivity."""
    return healthy(plan, noise=_half(plan.noise))


def _half(noise: NoiseModel) -> NoiseModel:
    match noise:
        case DiscreteLaplace(scale=scale):
            return DiscreteLaplace(scale / 2)
        case DiscreteGaussian(sigma_squared=variance):
            return DiscreteGaussian(variance / 4)
        case RoundedGaussian(sigma=sigma):
            return RoundedGaussian(Fraction(sigma) / 2)
    raise TypeError(f"expected a noise model, got {type(noise).__name__}")


def reused_seed(plan: Plan, real: Operator) -> Mechanism:
    """Every run starts its noise from the same seed, so the i-th releases of two runs share it."""
    return lambda counts, size: healthy(plan, InsecureSeededRandom(7))(counts, size)


def float_noise(plan: Plan, real: Operator) -> Mechanism:
    """Textbook noise in floating point, correctly calibrated: right on paper, wrong in the low bits."""
    matrix, privacy = real.to_dense(), plan.privacy
    deviation = sensitivity(real, privacy) * privacy.unit_variance**0.5
    generator = np.random.default_rng()

    def sample(counts: Counts, size: int) -> Outputs:
        shape = (size, len(matrix))
        if privacy.norm == 1:
            noise = generator.laplace(0.0, deviation / 2**0.5, shape)
        else:
            noise = generator.normal(0.0, deviation, shape)
        return np.asarray(matrix @ counts + noise)

    return sample


def unrounded_strategy(plan: Plan, real: Operator) -> Mechanism:
    """Integer noise for the rounded strategy, but the answers are those of the real one."""
    factor = np.abs(plan.strategy.to_dense()).max() / np.abs(real.to_dense()).max()
    matrix, noise = factor * real.to_dense(), healthy(plan)
    return lambda counts, size: matrix @ counts + noise(np.zeros_like(counts), size)


FAULTS = {
    "half the sensitivity": half_sensitivity,
    "reused seed": reused_seed,
    "float noise": float_noise,
    "unrounded strategy": unrounded_strategy,
}
