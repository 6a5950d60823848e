"""MinError: the strategy of least total error under Laplace noise, by local searches from many starts.

The paper's Program 1 states this problem as a semidefinite program with a rank constraint. `MinErrorSDP` of the package
`rowspace_paper` starts from its solutions too, and ends where these searches end: on 69 workloads of 2 to 8 cells the
errors differ by less than 1e-9.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import scipy

from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.operators import Dense, Identity, Operator, Vector, check_size
from rowspace.privacy import Privacy

from .column_balls import descend, exactly_supporting, unit_error
from .result import Result, judged
from .row_space import row_space_factor, workload_gram

MOST_CELLS = 16
MOST_ROWS = 64

STEPS = 1000
"""Most steps of a local search; it takes hundredths of a second."""

_TRACE = 1e-5


@dataclass(frozen=True)
class MinError:
    """The strategy of least error under Laplace noise with at most `rows` rows (default n), for up to 16 cells.

    Local searches (`column_balls`) from each of `starts` and from `searches` random strategies. The problem is not
    convex and the result need not be the global optimum; the lower bound says how far it could be.
    Seconds up to 10 cells. Any workload, also of deficient rank. Beyond, use `PIdentity`.

    Guarantees:
        - never worse than the identity when it may have n rows (`test_laws_on_random_workloads`);
        - the error is that of the returned matrix itself (`test_error_by_brute_force`).

    >>> from rowspace import PureDP, operators as op
    >>> result = MinError().optimize(op.Prefix(8), PureDP(2.0**0.5))    # unit variance 1: the identity has 36
    >>> result.total_error < 35.5
    True
    """

    rows: int | None = None
    searches: int = 36
    starts: Sequence[Operator] = ()

    def __post_init__(self) -> None:
        if self.rows is not None:
            check_size("rows", self.rows)
        check_size("searches", self.searches)

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The best strategy found, judged."""
        problem = LeastError.of(W, privacy, self.rows)
        found = chain(
            problem.improved(self.starts),
            problem.local_minima(self.searches, np.random.default_rng(0) if rng is None else rng),
        )
        searches = len(self.starts) + self.searches
        return problem.best(
            found, "least error (local search)", f"best of {searches} local searches; more may help"
        )


@dataclass(frozen=True)
class LeastError:
    """The problem: a strategy of at most m rows for the workload W, with WᵗW = LLᵗ up to a factor."""

    W: Operator
    privacy: Privacy
    L: Vector
    m: int

    @classmethod
    def of(cls, W: Operator, privacy: Privacy, rows: int | None) -> LeastError:
        """The problem for at most `rows` rows (default n), or a clear refusal."""
        n = W.shape[1]
        if privacy.norm != 1:
            raise InvalidInput(
                "expected Laplace noise (PureDP): columns are measured by L1; for Gaussian noise GaussianOptimal "
                "finds the optimum"
            )
        if n > MOST_CELLS:
            raise TooLarge(
                f"the strategy of least error is searched for up to {MOST_CELLS} cells, got {n}; use PIdentity"
            )
        m = n if rows is None else rows
        if m > MOST_ROWS:
            raise TooLarge(f"expected at most {MOST_ROWS} rows, got {m}; allow fewer rows")
        L = row_space_factor(W, workload_gram(W))
        if m < L.shape[1]:
            raise InvalidInput(
                f"expected at least {L.shape[1]} rows, the workload's rank, got {m}: fewer cannot answer it"
            )
        # One scale for all workloads, so that weights and tolerances mean the same.
        return cls(W, privacy, L / np.sqrt(np.einsum("ij,ij->", L, L) / n), m)

    @property
    def may_be_identity(self) -> bool:
        """Whether the identity has few enough rows."""
        return self.m >= len(self.L)

    def local_minima(self, searches: int, rng: np.random.Generator) -> Iterator[tuple[Vector, int]]:
        """Strategies where a local search ended, each with the steps it counts for."""
        for search in range(searches):
            yield descend(self.near_identity(rng) if search % 2 else self.rotated(rng), self.L, STEPS), 1

    def improved(self, starts: Sequence[Operator]) -> Iterator[tuple[Vector, int]]:
        """Where local searches from strategies at hand ended, however many rows these have."""
        for start in starts:
            if start.shape[1] == len(self.L) and start.shape[0] <= MOST_ROWS:
                yield descend(start.to_dense(), self.L, STEPS), 1

    def near_identity(self, rng: np.random.Generator) -> Vector:
        """The identity (its first m rows) with noise in every entry."""
        shape = (self.m, len(self.L))
        return np.asarray(np.eye(*shape) + 0.3 * rng.standard_normal(shape))

    def rotated(self, rng: np.random.Generator) -> Vector:
        """A random rotation of F, FFᵗ = (LLᵗ)^½, the singular value strategy: it supports the workload and no more."""
        left, values, _ = scipy.linalg.svd(self.L, full_matrices=False)
        Q, R = np.linalg.qr(rng.standard_normal((self.m, self.L.shape[1])))
        return np.asarray(Q * np.sign(np.diagonal(R)) @ (left * np.sqrt(values)).T)

    def best(self, found: Iterable[tuple[Vector, int]], name: str, status: str) -> Result:
        """The best of the strategies found, judged; of those found so far when interrupted."""
        started = time.perf_counter()
        best = np.eye(self.m, len(self.L)) if self.may_be_identity else None
        least = float("inf") if best is None else unit_error(best, self.L)
        steps = 0
        try:
            for A, taken in found:
                steps += taken
                best, least = _better(best, least, A, self.L)
            if best is not None:
                # Once more with a fresh memory: the last digits.
                best, least = _better(best, least, descend(best, self.L, STEPS), self.L)
        except KeyboardInterrupt:
            if best is None:
                raise
            status = "interrupted; best so far"
        if best is None:
            raise InvalidInput(
                f"found no strategy of {self.m} rows that supports the workload; allow more rows"
            )
        best = _without_traces(best)

        def result(A: Operator, status: str) -> Result:
            seconds = time.perf_counter() - started
            return judged(name, A, self.W, self.privacy, status=status, steps=steps, seconds=seconds)

        reached = result(Dense(best[np.abs(best).sum(axis=1) > 0]), status)
        if not self.may_be_identity:
            return reached
        identity = result(Identity(len(self.L)), f"the identity is no worse; {status}")
        return reached if reached.total_error < identity.total_error else identity


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
