"""Trying a candidate: what it finds, what it proposes, and its columns completed where that helps."""

from __future__ import annotations

import numpy as np

from rowspace.error import max_error
from rowspace.exceptions import InvalidInput, TooLarge, UnsupportedWorkload
from rowspace.operators import Operator
from rowspace.privacy import Privacy
from rowspace.threads import one_thread_if_small

from .augment import augment
from .gaussian_optimal import WorstQueryResult
from .result import Optimizer, Proposer, Result, judged
from .strategy import Strategy

DENSE_CELLS = 2048
"""Most cells for which strategies without a closed form (the workload itself, completed columns) are tried."""


def completed(result: Result, W: Operator, privacy: Privacy) -> Result:
    """The result with its deficient columns completed, where that helps."""
    if W.shape[1] > DENSE_CELLS or Strategy.of(result.strategy).sizes is not None:
        return result
    A = augment(result.strategy, privacy)
    if A is result.strategy:
        return result
    name, status = f"{result.name}, completed", f"{result.status}; deficient columns completed"
    unit_bound = result.lower_bound / privacy.unit_variance
    try:
        better = judged(
            name,
            A,
            W,
            privacy,
            status=status,
            steps=result.steps,
            seconds=result.seconds,
            unit_bound=unit_bound,
        )
    except UnsupportedWorkload:
        return result  # a faint query is lost among digits beside large ones
    if better.total_error >= result.total_error * (1 - 1e-6):
        return result
    if isinstance(result, WorstQueryResult):
        worst = max_error(A, W, privacy)
        return WorstQueryResult(**vars(better), max_error=worst, max_lower_bound=result.max_lower_bound)
    return better


def attempt(
    optimizer: Optimizer, W: Operator, privacy: Privacy, rng: np.random.Generator | None
) -> Result | None:
    """The optimizer's result, or None when the problem is out of its reach."""
    try:
        # A factor of a product is small, whatever the number of cells of the whole.
        with one_thread_if_small(W.shape[1]):
            return optimizer.optimize(W, privacy, rng)
    except (TooLarge, UnsupportedWorkload, InvalidInput):
        return None


def proposal(proposer: Proposer, W: Operator, privacy: Privacy) -> Operator | None:
    """The proposed strategy, or None when the problem is out of its reach."""
    try:
        return proposer.propose(W, privacy)
    except (TooLarge, UnsupportedWorkload, InvalidInput):
        return None
