"""From a real strategy to the integer matrix that is asked of the data, with overflow ruled out beforehand."""

from __future__ import annotations

from math import frexp, sqrt

import numpy as np

from rowspace.exceptions import IntegerOverflow
from rowspace.operators import Indices, Operator, Vector
from rowspace.privacy import NoiseModel, Privacy, RoundedGaussian, integer_norm

from .participation import Horizon, step_over
from .strategy import Strategy

MAX_RECORDS = 2**40
"""Public bound on the number of records (about 10¹²); larger tables are refused."""

LEAST_RECORDS = 2**30
"""Strategies that cannot be asked of a billion records are refused."""

PRECISION = 20
"""Bits to which a real strategy's entries are rounded, fewer where products of entries would overflow."""

FINE_GRID = 2**10
"""Least standard deviation of noise that is rounded, in grid steps: rounding then adds under 10⁻⁷ of variance."""


def to_integers(
    strategy: Operator, privacy: Privacy, parts: int = 1, horizon: Horizon | None = None
) -> tuple[Operator, NoiseModel]:
    """The integer strategy and its exactly calibrated noise. A scalar multiple changes no error, so it is free.

    parts: into how many a record is divided when it is counted; the strategy is a multiple of it (`parts`).
    horizon: the cells of a plan over periods.
    """
    for bits in range(PRECISION, 3, -1):
        integers = strategy.supporting_integers(bits)
        integers = integers if parts == 1 else parts * integers
        if not _overflows(integers, parts) and _suits_noise(integers, privacy):
            break
    check_overflow(integers, parts)
    Strategy.of(integers).check_rank()
    noise = calibrated_noise(integers, privacy, horizon)
    if isinstance(noise, RoundedGaussian) and noise.sigma < FINE_GRID and integer_norm(integers, privacy):
        factor = 1
        while factor * noise.sigma < FINE_GRID:
            factor *= 2
        finer = factor * integers
        check_overflow(finer, parts)
        fine = calibrated_noise(finer, privacy, horizon)
        # Noise far below one is rounded away on the plain grid, which no fine grid does.
        if fine.variance < factor**2 * noise.variance:
            return finer, fine
    return integers, noise


def calibrated_noise(integers: Operator, privacy: Privacy, horizon: Horizon | None = None) -> NoiseModel:
    """The noise this integer strategy needs. Where neighbours cannot differ (norm 0) one unit is kept all the same.

    horizon: the cells of a plan over periods, in several of which a unit may be.
    """
    return privacy.noise_of_step(step_over(integers, privacy, horizon))


def record_limit(integers: Operator, parts: int = 1) -> int:
    """The most records this strategy can be asked of in exact 64-bit arithmetic: public, and `MAX_RECORDS` for most.

    Records in many parts need some of the 64 bits, so that there can be fewer of them.
    """
    most = MAX_RECORDS
    if parts > 1:
        most = max(LEAST_RECORDS, min(most, int(2**62 / max(1.0, integers.largest_entry()))))
    return min(most, 2**62 // max(1, integers.largest_inner_entry()))


def dropped_bits(integers: Operator) -> int:
    """How many low bits are rounded off the noisy answers so that they fit 64 bits; none unless the strategy is wide.

    Rounding numbers that already carry their noise is post-processing: the noise is calibrated to, and added on, the
    full integer grid, so the guarantee knows nothing of it.
    """
    if not integers.wide:
        return 0
    return max(0, frexp(integers.largest_entry() * record_limit(integers))[1] - 62)


def check_overflow(integers: Operator, parts: int = 1) -> None:
    """Raise `IntegerOverflow` unless every exact answer on up to `MAX_RECORDS` records fits 63 bits with room.

    Each answer is Σ a_ij x_j with Σ x_j ≤ `record_limit`, so it is at most max|a_ij| times that in size, and
    so is every partial sum on the way. Half the range is left to the noise; noise beyond that (probability
    below e^(−2²⁰) at any scale the samplers accept) would wrap around, which is post-processing.
    """
    if _overflows(integers, parts):
        grid = "; give measures fewer steps" if parts > 1 else ""
        raise IntegerOverflow(
            f"strategy entries up to {integers.largest_entry():.3g} times {record_limit(integers, parts)} records do "
            f"not fit 64 bits{grid}"
        )


def _overflows(integers: Operator, parts: int) -> bool:
    limit = record_limit(integers, parts)
    too_few = limit < LEAST_RECORDS or dropped_bits(integers) > 60
    return too_few or integers.largest_entry() * limit > 2.0 ** (62 + dropped_bits(integers))


def _suits_noise(integers: Operator, privacy: Privacy) -> bool:
    """Whether the noise can be drawn and, for a wide strategy, is so large that rounding what has it adds nothing."""
    try:
        noise = calibrated_noise(integers, privacy)
    except IntegerOverflow:
        return False  # fewer bits need less noise
    bits = dropped_bits(integers)
    return bits == 0 or sqrt(noise.variance) >= FINE_GRID * 2**bits


def noisy_values(integers: Operator, answers: Indices) -> Vector:
    """Noisy answers in the strategy's own unit."""
    return np.ldexp(answers, dropped_bits(integers))
