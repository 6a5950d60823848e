"""MinSensitivity: the strategy of least L1 sensitivity among all with the same error profile (Problem 2 of the paper).

Strategies with one profile are the matrices QR with RᵗR = AᵗA and QᵗQ = I (Theorem 2). Their errors differ only by the
squared sensitivity max_j ‖Q r_j‖₁, so the search is over Q. `MinSensitivity` descends on a smoothed sensitivity from
many starts (`rotation_search`) and finishes with linear programs (`rotation_polish`); `MinSensitivityProgram` is
Program 3 itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.operators import Dense, Operator, Vector, check_operators, check_size
from rowspace.privacy import Neighbours, Privacy
from rowspace.strategy import Optimizer, Result
from rowspace.strategy.result import judged

from .rotation_search import default_restarts, search_rotations

MOST_CELLS = 256
"""Largest strategy to rotate: a start takes seconds at 128 cells, minutes past this."""


@dataclass(frozen=True)
class Rotated:
    """A strategy with the same profile as the given one, and its L1 sensitivity.

    `lower_bound` is ‖A‖₂: no strategy with this profile has a smaller sensitivity.
    """

    strategy: Operator
    sensitivity: float
    lower_bound: float
    status: str
    steps: int
    seconds: float


@dataclass(frozen=True)
class MinSensitivity:
    """Rotate the strategy of `base` (an optimizer, or a strategy itself) to the least L1 sensitivity found.

    `rows`: rows the result may have, at least the strategy's rank; by default as many as it has, up to twice the rank.
    `restarts`: how many starts are followed at once; by default 64 up to 16 cells, falling to 4 at 64 cells.
    Cost: about a second at 8 cells, seconds at 16, half a minute at 128; `TooLarge` past 256.
    Under Gaussian noise all rotations are equal and the base's own result is returned.

    Guarantees:
        - the error profile is kept to 1e-9 (`test_profile_is_kept`);
        - never worse than the base (`test_never_above_the_given_sensitivity`);
        - the error is that of the returned matrix itself (`test_error_by_brute_force`).

    >>> from rowspace import PureDP, operators as op
    >>> from rowspace.error import total_error
    >>> result = MinSensitivity(op.Haar(8)).optimize(op.Ranges(8), PureDP(1.0))
    >>> round(result.total_error / total_error(op.Haar(8), op.Ranges(8), PureDP(1.0)), 4)   # 8 / 16
    0.5
    """

    base: Optimizer | Operator
    rows: int | None = None
    restarts: int | None = None

    def __post_init__(self) -> None:
        check_base(self.base)
        if self.rows is not None:
            check_size("rows", self.rows)
        if self.restarts is not None:
            check_size("restarts", self.restarts)

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The base's strategy, rotated; the base's own result where no rotation is better."""
        rng = np.random.default_rng(0) if rng is None else rng

        def search(A: Operator, changes: Changes) -> Rotated:
            return _searched(A, self.rows, self.restarts, rng, changes)

        return improved(self.base, W, privacy, rng, search)


def least_sensitivity(
    A: Operator, rows: int | None = None, restarts: int | None = None, rng: np.random.Generator | None = None
) -> Rotated:
    """The strategy of least L1 sensitivity found among those with the profile of A; A itself when none is better.

    Arguments and cost as in `MinSensitivity`.

    >>> from rowspace import operators as op
    >>> found = least_sensitivity(op.Hierarchy(4))               # the paper: from 3 to 2.896
    >>> round(found.sensitivity, 4), found.strategy.shape, round(found.lower_bound, 4)
    (2.5779, (4, 4), 1.7321)
    """
    check_operators(A)
    for name, number in (("rows", rows), ("restarts", restarts)):
        if number is not None:
            check_size(name, number)
    rng = np.random.default_rng(0) if rng is None else rng
    return _searched(A, rows, restarts, rng, columns)


Changes = Callable[[Vector], Vector]
"""From a strategy's columns to the changes of its answers between neighbours: what the sensitivity is the norm of."""


def columns(R: Vector) -> Vector:
    """Adding or removing a record changes the answers by a column."""
    return R


def column_differences(R: Vector) -> Vector:
    """Replacing a record changes the answers by the difference of two columns."""
    first, second = np.triu_indices(R.shape[1], 1)
    return np.asarray(R[:, first] - R[:, second]) if len(first) else R


def improved(
    base: Optimizer | Operator,
    W: Operator,
    privacy: Privacy,
    rng: np.random.Generator,
    search: Callable[[Operator, Changes], Rotated],
) -> Result:
    """The base's result, or the one of the rotation that `search` finds where that has less error."""
    started = time.perf_counter()
    if isinstance(base, Operator):
        found = judged("given strategy", base, W, privacy, status="as given", steps=0, seconds=0.0)
    else:
        found = base.optimize(W, privacy, rng)
    if privacy.norm == 2:
        return found
    replace = privacy.neighbours is Neighbours.REPLACE_ONE
    rotated = search(found.strategy, column_differences if replace else columns)
    result = judged(
        f"{found.name}, rotated",
        rotated.strategy,
        W,
        privacy,
        status=f"{found.status}; {rotated.status}",
        steps=found.steps + rotated.steps,
        seconds=time.perf_counter() - started,
        unit_bound=found.lower_bound / privacy.unit_variance,
    )
    return result if result.total_error < found.total_error else found


def check_base(base: object) -> None:
    """An optimizer or a strategy, or `InvalidInput`."""
    if not isinstance(base, Operator) and not callable(getattr(base, "optimize", None)):
        raise InvalidInput(
            f"expected base to be an optimizer or a strategy (operator), got {type(base).__name__}"
        )


@dataclass(frozen=True)
class Factor:
    """A = QR: R (r × n) of full row rank holds the profile, Q (m × r) with orthonormal columns the rotation."""

    Q: Vector
    R: Vector

    @classmethod
    def of(cls, A: Operator) -> Factor:
        """From the singular values; `TooLarge` past `MOST_CELLS` cells."""
        n = A.shape[1]
        if n > MOST_CELLS:
            raise TooLarge(
                f"rotations are searched up to {MOST_CELLS} cells, got {n}; use PIdentity or Hierarchical, whose "
                "strategies have small L1 sensitivity by construction"
            )
        left, values, right = scipy.linalg.svd(A.to_dense(), full_matrices=False)
        kept = values > max(A.shape) * np.finfo(float).eps * values[0]
        if not kept.any():
            raise InvalidInput("expected a strategy with at least one non-zero entry, got only zeros")
        return cls(np.asarray(left[:, kept]), np.asarray(values[kept, None] * right[kept]))

    def check_rows(self, rows: int | None) -> int:
        """The rows to search with: at least the rank."""
        rank = len(self.R)
        if rows is None:
            return min(len(self.Q), 2 * rank)
        if rows < rank:
            raise InvalidInput(
                f"expected at least {rank} rows, the strategy's rank, got {rows}: fewer cannot keep its profile"
            )
        return rows


def _searched(
    A: Operator, rows: int | None, restarts: int | None, rng: np.random.Generator, changes: Changes
) -> Rotated:
    """Anneal from many starts, shake the best and anneal again, polish: the least sensitivity found."""
    started = time.perf_counter()
    factor = Factor.of(A)
    m, C = factor.check_rows(rows), changes(factor.R)
    scale = float(np.linalg.norm(C, axis=0).max())
    given = float(np.abs(changes(A.to_dense())).sum(axis=0).max())
    if scale == 0.0 or given <= scale * (1 + 1e-12):
        return Rotated(A, given, scale, "already the least possible", 0, time.perf_counter() - started)
    best, least, steps, status = (
        None,
        given,
        0,
        "rotated to a minimum of the sensitivity, perhaps not the least",
    )
    try:
        for Q, taken in search_rotations(
            factor.Q, factor.R, C, m, restarts or default_restarts(m, len(factor.R)), rng
        ):
            steps += taken
            reached = float(np.abs(changes(Q @ factor.R)).sum(axis=0).max())
            if reached < least:
                best, least = Q, reached
    except KeyboardInterrupt:
        if best is None:
            raise
        status = "interrupted; best so far"
    if best is None:
        return Rotated(A, given, scale, "no better rotation found", steps, time.perf_counter() - started)
    strategy = Dense(best[np.abs(best).sum(axis=1) > 0] @ factor.R)
    return Rotated(strategy, least, scale, status, steps, time.perf_counter() - started)
