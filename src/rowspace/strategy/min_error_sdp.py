"""MinError: the strategy of least total error under Laplace noise, Program 1 of the paper."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from rowspace.exceptions import InvalidInput, InvalidWorkload, TooLarge
from rowspace.operators import Dense, Identity, Operator
from rowspace.operators.base import Vector
from rowspace.operators.checks import check_number, check_size
from rowspace.privacy import Privacy

from .column_balls import descend, exactly_supporting, unit_error, unit_sensitivity
from .rank_constrained import RankConstrained
from .result import Result, judged
from .rotations import random_rotations
from .row_space import row_space_factor, workload_gram

MOST_CELLS = 16
MOST_ROWS = 64

GROWTH = 2.0
"""Factor by which the weight of the rank constraint grows every round."""

SEARCHES_PER_START = 12
"""Local searches from random strategies for each start of the program: they take hundredths of a second."""

SEARCH_STEPS = 1000

_TRACE = 1e-5

NAME = "least error (Program 1)"


@dataclass(frozen=True)
class MinErrorSDP:
    """The strategy of least error under Laplace noise with at most `rows` rows (default n), for up to 16 cells.

    A semidefinite program with a rank constraint, by the trace heuristic (`rank_constrained`): `starts` times at most
    `max_rounds` programs, until the rank constraint holds to `tolerance`. Each solution is then made exact: Z = AᵗA,
    columns of norm one, and a local search (`column_balls`). The problem is not convex and the result need not be the
    global optimum; the lower bound says how far it could be.
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
        started = time.perf_counter()
        L, m = self._checked(W, privacy)
        rng = np.random.default_rng(0) if rng is None else rng
        n = len(L)
        may_be_identity = m >= n
        best = np.eye(m, n) if may_be_identity else None
        least = unit_error(best, L) if best is not None else float("inf")
        steps, open_ends, status = 0, 0, ""
        try:
            for A, rounds, settled in self._candidates(L, m, rng):
                steps += rounds
                open_ends += not settled
                best, least = _better(best, least, A, L)
            if best is not None:
                # Once more with a fresh memory: the last digits.
                best, least = _better(best, least, descend(best, L, SEARCH_STEPS), L)
            status = f"best of {self.starts} starts of the program and {self._searches} local searches"
            if open_ends:
                status += f"; after {open_ends} of them the rank was rounded, more starts may help"
        except KeyboardInterrupt:
            if best is None:
                raise
            status = "interrupted; best so far"
        if best is None:
            raise InvalidInput(f"found no strategy of {m} rows that supports the workload; allow more rows")
        best = _without_traces(best)
        result = _judged(Dense(best[np.abs(best).sum(axis=1) > 0]), W, privacy, status, steps, started)
        if not may_be_identity:
            return result
        identity = _judged(Identity(n), W, privacy, f"the identity is no worse; {status}", steps, started)
        return result if result.total_error < identity.total_error else identity

    @property
    def _searches(self) -> int:
        return self.starts * SEARCHES_PER_START

    def _checked(self, W: Operator, privacy: Privacy) -> tuple[Vector, int]:
        """L with WᵗW = LLᵗ and the number of rows, or a clear refusal."""
        n = W.shape[1]
        if privacy.norm != 1:
            raise InvalidInput(
                "expected Laplace noise (PureDP): Program 1 measures columns by L1; for Gaussian noise GaussianOptimal "
                "finds the optimum"
            )
        if n > MOST_CELLS:
            raise TooLarge(
                f"Program 1 is solved up to {MOST_CELLS} cells, got {n}; use PIdentity, or rotate another optimizer's "
                "strategy with MinSensitivity"
            )
        m = n if self.rows is None else self.rows
        if m > MOST_ROWS:
            raise TooLarge(f"Program 1 is solved up to {MOST_ROWS} rows, got {m}; allow fewer rows")
        L = row_space_factor(W, workload_gram(W))
        if L.shape[1] == 0:
            raise InvalidWorkload("expected a workload with at least one non-zero query, got only zeros")
        if m < L.shape[1]:
            raise InvalidInput(
                f"expected at least {L.shape[1]} rows, the workload's rank, got {m}: fewer cannot answer it"
            )
        # One scale for all workloads, so that weights and tolerances mean the same.
        return L / np.sqrt(np.einsum("ij,ij->", L, L) / n), m

    def _candidates(self, L: Vector, m: int, rng: np.random.Generator) -> Iterator[tuple[Vector, int, bool]]:
        """Locally optimal strategies, with the programs solved for each and whether its rank constraint held."""
        n = len(L)
        program = least_error_program(L, m)
        for start in _starts(L, m, self.starts, rng):
            settled = program.settle(start, 1.0, GROWTH, self.tolerance, self.max_rounds)
            if settled is None:
                yield descend(start, L, SEARCH_STEPS), self.max_rounds, False
                continue
            holds = settled.defect <= self.tolerance
            end = settled.A if holds else settled.completed()
            yield descend(end, L, SEARCH_STEPS), settled.rounds, holds
        for search in range(self._searches):
            start = np.eye(m, n) + 0.3 * rng.standard_normal((m, n)) if search % 2 else _rotated(L, m, rng)
            yield descend(start, L, SEARCH_STEPS), 0, True


def least_error_program(L: Vector, m: int) -> RankConstrained:
    """minimize tr T with [[Z, L], [Lᵗ, T]] ⪰ 0, columns of A of L1 norm at most one, and Z = AᵗA.

    By Schur's complement T ⪰ LᵗZ⁺L, so tr T is tr((AᵗA)⁺WᵗW). The paper writes the same bound query by query,
    u_i ≥ 2(W(AᵗA)⁻¹Wᵗ)_ii, in n blocks with W⁻¹; this one block needs no inverse, so any workload will do.
    """
    import cvxpy as cp

    n, r = L.shape
    A, Z, T = cp.Variable((m, n)), cp.Variable((n, n), symmetric=True), cp.Variable((r, r), symmetric=True)
    constraints = [cp.bmat([[Z, L], [L.T, T]]) >> 0, cp.sum(cp.abs(A), axis=0) <= 1]
    return RankConstrained(A, Z, cp.trace(T), constraints)


def _starts(L: Vector, m: int, count: int, rng: np.random.Generator) -> Iterator[Vector]:
    """The identity where there are rows enough, then random rotations of a strategy with a good profile."""
    n = len(L)
    for start in range(count):
        yield np.eye(m, n) if start == 0 and m >= n else unit_sensitivity(_rotated(L, m, rng))


def _rotated(L: Vector, m: int, rng: np.random.Generator) -> Vector:
    """A random rotation of F with FFᵗ = (LLᵗ)^½, the singular value strategy: it supports the workload and no more."""
    left, values, _ = scipy.linalg.svd(L, full_matrices=False)
    return np.asarray(random_rotations(1, m, L.shape[1], rng)[0] @ (left * np.sqrt(values)).T)


def _better(best: Vector | None, least: float, A: Vector, L: Vector) -> tuple[Vector | None, float]:
    """The best so far or A, as found or with its row space cleaned, whichever has least error."""
    for candidate in (A, exactly_supporting(A, L)):
        error = unit_error(candidate, L)
        if error < least * (1 - 1e-9):
            best, least = candidate, error
    return best, least


def _without_traces(A: Vector) -> Vector:
    """A without directions it hardly sees: a search may leave a trace of what no query asks, and no digits for it."""
    U, s, V = scipy.linalg.svd(A, full_matrices=False)
    kept = s > _TRACE * s[0]
    return A if kept.all() else np.asarray((U[:, kept] * s[kept]) @ V[kept])


def _judged(A: Operator, W: Operator, privacy: Privacy, status: str, steps: int, started: float) -> Result:
    return judged(NAME, A, W, privacy, status=status, steps=steps, seconds=time.perf_counter() - started)
