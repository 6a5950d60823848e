"""From a real strategy to the integer matrix that is asked of the data, with overflow ruled out beforehand."""

from __future__ import annotations

from rowspace.exceptions import IntegerOverflow
from rowspace.operators import Operator
from rowspace.privacy import NoiseModel, Privacy, RoundedGaussian, integer_norm

MAX_RECORDS = 2**40
"""Public bound on the number of records (about 10¹²); larger tables are refused."""

PRECISION = 20
"""Bits to which a real strategy's entries are rounded, fewer where products of entries would overflow."""

FINE_GRID = 2**10
"""Least standard deviation of rounded Gaussian noise, in grid steps: rounding then adds under 10⁻⁷ of variance."""


def to_integers(strategy: Operator, privacy: Privacy) -> tuple[Operator, NoiseModel]:
    """The integer strategy and its exactly calibrated noise. A scalar multiple changes no error, so it is free."""
    for bits in range(PRECISION, 3, -1):
        integers, _ = strategy.integer_form(bits)
        if not _overflows(integers):
            break
    check_overflow(integers)
    noise = calibrated_noise(integers, privacy)
    if isinstance(noise, RoundedGaussian) and noise.sigma < FINE_GRID:
        factor = 1
        while factor * noise.sigma < FINE_GRID:
            factor *= 2
        integers = factor * integers
        check_overflow(integers)
        noise = calibrated_noise(integers, privacy)
    return integers, noise


def calibrated_noise(integers: Operator, privacy: Privacy) -> NoiseModel:
    """The noise this integer strategy needs. Where neighbours cannot differ (norm 0) one unit is kept all the same."""
    return privacy.noise(max(1, integer_norm(integers, privacy)))


def check_overflow(integers: Operator) -> None:
    """Raise `IntegerOverflow` unless every exact answer on up to `MAX_RECORDS` records fits 63 bits with room.

    Each answer is Σ a_ij x_j with Σ x_j ≤ MAX_RECORDS, so it is at most max|a_ij| · MAX_RECORDS in size, and
    so is every partial sum on the way. Half the range is left to the noise; noise beyond that (probability
    below e^(−2²⁰) at any scale the samplers accept) would wrap around, which is post-processing.
    """
    if _overflows(integers):
        raise IntegerOverflow(
            f"strategy entries up to {integers.largest_entry():.3g} times {MAX_RECORDS} records do not fit 64 bits"
        )


def _overflows(integers: Operator) -> bool:
    return integers.largest_entry() * MAX_RECORDS > 2**62
