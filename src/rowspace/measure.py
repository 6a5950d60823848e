"""The only place where counts and noise meet.

Guarantees
- The noisy answers are A_int·x + noise in exact 64-bit integers: no rounding, so no floating-point attack
  (tests/test_measure.py::test_exact_integers).
- The noise is drawn independently for every answer from the model the plan was calibrated with
  (tests/test_mechanism.py::test_standardized_errors).
- Where answers would not fit 64 bits (`planning.dropped_bits`), low bits are rounded off after the noise is on, which
  is post-processing (tests/test_measure.py::test_rounding_comes_after_the_noise).
- Overflow is impossible for up to `record_limit` records, and is ruled out from the strategy alone, before any
  data is touched (tests/test_measure.py::test_overflow_is_refused_beforehand).
- Of records counted in parts, where there are measures, the noise covers a record with any value
  (tests/test_measures.py::test_one_record_moves_the_answers_by_no_more_than_the_noise_covers).
- A `NoisyAnswers` holds noisy answers only (tests/test_measure.py::test_measurement_holds_no_counts).
- Of keys that nobody declared only those are looked at further whose noisy count reaches a threshold
  (tests/test_measure.py::test_keys_below_the_threshold_are_gone).
- Strategies and noise of types of the caller's own are refused, and counts that change after they were checked are
  not used (tests/test_measure.py::test_own_types_are_refused, ::test_counts_are_used_as_they_were_checked).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .exceptions import IntegerOverflow, InvalidInput
from .noise import (
    BitSource,
    SecureRandom,
    discrete_gaussian,
    discrete_laplace,
    rounded_gaussian,
    truncated_laplace,
)
from .operators import Operator
from .planning import checked_strategy
from .privacy import (
    DiscreteGaussian,
    DiscreteLaplace,
    GaussianThreshold,
    NoiseModel,
    RoundedGaussian,
    TruncatedLaplace,
)
from .strategy import Strategy, asked_of_parts, check_overflow, dropped_bits, record_limit

Integers = npt.NDArray[np.int64]

_MOST_OF_A_KEY = 2**60
"""Most records of one key: with noise they fit 64 bits."""


@dataclass(frozen=True)
class NoisyAnswers:
    """Noisy answers to an integer strategy, and the noise model they were drawn with."""

    strategy: Operator
    noise: NoiseModel
    answers: Integers


def measure(
    strategy: Operator, noise: NoiseModel, counts: Any, random: BitSource | None = None, *, parts: int = 1
) -> NoisyAnswers:
    """Ask the strategy of the counts and add noise; `random` is for tests and defaults to a fresh secure source.

    counts: one integer per cell; for a strategy of tables, something with `table(attributes)`, the counts over some.
    parts: how many of these make a record, where there are measures: `rowspace.strategy.parts`.
    """
    strategy = checked_strategy(strategy, noise)
    check_overflow(strategy, parts)
    bits, limit = dropped_bits(strategy), parts * record_limit(strategy, parts)
    blocks = Strategy.of(asked_of_parts(strategy, parts)).exact_answers(
        counts, bits, lambda given: _checked(given, limit)
    )
    random = random or SecureRandom()
    answers = np.empty(strategy.shape[0], dtype=np.int64)
    for where, high, low in blocks:
        low += draw(noise, len(low), random)
        low += 2**bits // 2
        low >>= bits
        high += low
        answers[where] = high
    answers.setflags(write=False)
    return NoisyAnswers(strategy, noise, answers)


def measure_keys(
    threshold: TruncatedLaplace | GaussianThreshold,
    least: int,
    counts: Any,
    random: BitSource | None = None,
) -> tuple[npt.NDArray[np.intp], Integers]:
    """Where noisy counts of keys reach `least`, and those noisy counts; of all others nothing is kept.

    counts: how many records or units have each key. random: for tests; a fresh secure source unless given.
    """
    if type(threshold) not in (TruncatedLaplace, GaussianThreshold):
        raise InvalidInput(f"expected a threshold of rowspace's own, got {type(threshold).__name__}")
    if least < threshold.least:
        raise InvalidInput(
            f"expected a threshold of {threshold.least} or more, as the promise needs, got {least}"
        )
    noisy = np.array(counts, dtype=np.int64).reshape(-1)
    if noisy.size and (noisy.min() < 1 or noisy.max() > _MOST_OF_A_KEY):
        raise IntegerOverflow(f"expected keys of 1 to {_MOST_OF_A_KEY} records each")
    random = random or SecureRandom()
    match threshold:
        case TruncatedLaplace(scale=scale, reach=reach):
            noisy += truncated_laplace(scale, reach, len(noisy), random)
        case GaussianThreshold(noise=noise):
            noisy += draw(noise, len(noisy), random)
    where = np.flatnonzero(noisy >= least)
    return where, noisy[where]


def _checked(counts: Any, limit: int) -> Integers:
    """Counts as 64-bit integers, or an error that says nothing about them but that they break the public bound."""
    given = np.asarray(counts)
    # What somebody else can still write to is copied: it must not change between this check and its use.
    x = given.astype(np.int64, copy=given.flags.writeable)
    # No count may pass the bound alone, so that their 64-bit sum cannot wrap before it is compared.
    if x.size and (x.min() < 0 or x.max() > limit or _sum_exceeds(x.reshape(-1), limit)):
        raise IntegerOverflow(f"expected non-negative counts of at most {limit} in all")
    return x


def _sum_exceeds(x: Integers, bound: int) -> bool:
    """Whether Σx > bound, for x ≥ 0: both halves of 2²⁰ counts fit 64 bits, and blocks are added up in Python."""
    blocks = (x[start : start + 2**20] for start in range(0, x.size, 2**20))
    return (
        sum((int((block >> 32).sum()) << 32) + int((block & (2**32 - 1)).sum()) for block in blocks) > bound
    )


def draw(noise: NoiseModel, size: int, random: BitSource) -> Integers:
    """`size` independent samples of a noise model."""
    match noise:
        case DiscreteLaplace(scale=scale):
            return discrete_laplace(scale, size, random)
        case DiscreteGaussian(sigma_squared=variance):
            return discrete_gaussian(variance, size, random)
        case RoundedGaussian(sigma=sigma):
            return rounded_gaussian(sigma, size, random)
    raise InvalidInput(f"expected a noise model, got {type(noise).__name__}")
