"""MinErrorSDP: the strategy of least total error under Laplace noise, Program 1 of the paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

import cvxpy as cp
import numpy as np

from rowspace.exceptions import InvalidInput
from rowspace.operators import Operator, Vector, check_number, check_size
from rowspace.privacy import Privacy
from rowspace.strategy import Result
from rowspace.strategy.column_balls import descend, unit_sensitivity
from rowspace.strategy.min_error import STEPS, LeastError

from .rank_constrained import RankConstrained

GROWTH = 2.0
"""Factor by which the weight of the rank constraint grows every round."""

SEARCHES_PER_START = 12
"""Local searches from random strategies for each start of the program."""


@dataclass(frozen=True)
class MinErrorSDP:
    """The strategy of least error under Laplace noise with at most `rows` rows (default n), for up to 16 cells.

    A semidefinite program with a rank constraint, by the trace heuristic (`rank_constrained`): `starts` times at most
    `max_rounds` programs, until the rank constraint holds to `tolerance`. Each solution is then made exact: Z = AᵗA,
    columns of norm one, and a local search; the local searches of `MinError` come on top. The problem is not convex and
    the result need not be the global optimum; the lower bound says how far it could be.
    Seconds up to 10 cells. Any workload, also of deficient rank. Beyond, use `PIdentity`.

    Guarantees:
        - never worse than the identity when it may have n rows (`test_laws_on_random_workloads`);
        - the error is that of the returned matrix itself (`test_error_by_brute_force`).

    >>> from rowspace import PureDP, operators as op
    >>> result = MinErrorSDP(starts=1).optimize(op.Ranges(4), PureDP(2.0**0.5))    # unit variance 1
    >>> round(result.total_error, 6)                                # the identity is optimal
    20.0
    """

    rows: int | None = None
    starts: int = 3
    max_rounds: int = 12
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        if self.rows is not None:
            check_size("rows", self.rows)
        check_size("starts", self.starts)
        check_size("max_rounds", self.max_rounds)
        if check_number("tolerance", self.tolerance) <= 0:
            raise InvalidInput(f"expected a tolerance above zero, got {self.tolerance}; 1e-6 is the default")

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The best strategy found, judged."""
        problem = LeastError.of(W, privacy, self.rows)
        rng = np.random.default_rng(0) if rng is None else rng
        searches = self.starts * SEARCHES_PER_START
        rounded: list[int] = []
        found = chain(self._solutions(problem, rng, rounded), problem.local_minima(searches, rng))
        status = f"best of {self.starts} starts of the program and {searches} local searches"
        result = problem.best(found, "least error (Program 1)", status)
        if not rounded:
            return result
        note = f"the rank was rounded after {len(rounded)} starts, more starts may help"
        return replace(result, status=f"{result.status}; {note}")

    def _solutions(
        self, problem: LeastError, rng: np.random.Generator, rounded: list[int]
    ) -> Iterator[tuple[Vector, int]]:
        """Locally optimal strategies near the program's solutions, with the programs solved for each.

        `rounded` gets the starts whose rank constraint did not come to hold.
        """
        program = least_error_program(problem.L, problem.m)
        for number in range(self.starts):
            start = _start(problem, number, rng)
            settled = program.settle(start, 1.0, GROWTH, self.tolerance, self.max_rounds)
            if settled is None or settled.defect > self.tolerance:
                rounded.append(number)
            if settled is None:
                yield descend(start, problem.L, STEPS), self.max_rounds
            else:
                end = settled.A if settled.defect <= self.tolerance else settled.completed()
                yield descend(end, problem.L, STEPS), settled.rounds


def least_error_program(L: Vector, m: int) -> RankConstrained:
    """minimize tr T with [[Z, L], [Lᵗ, T]] ⪰ 0, columns of A of L1 norm at most one, and Z = AᵗA.

    By Schur's complement T ⪰ LᵗZ⁺L, so tr T is tr((AᵗA)⁺WᵗW). The paper writes the same bound query by query,
    u_i ≥ 2(W(AᵗA)⁻¹Wᵗ)_ii, in n blocks with W⁻¹; this one block needs no inverse, so any workload will do.
    """
    n, r = L.shape
    A, Z, T = cp.Variable((m, n)), cp.Variable((n, n), symmetric=True), cp.Variable((r, r), symmetric=True)
    constraints = [cp.bmat([[Z, L], [L.T, T]]) >> 0, cp.sum(cp.abs(A), axis=0) <= 1]
    return RankConstrained(A, Z, cp.trace(T), constraints)


def _start(problem: LeastError, number: int, rng: np.random.Generator) -> Vector:
    """The identity where there are rows enough, then random rotations of a strategy with a good profile."""
    if number == 0 and problem.may_be_identity:
        return np.eye(problem.m, len(problem.L))
    return unit_sensitivity(problem.rotated(rng))
