"""p-Identity strategies for Laplace noise: every cell, and p weighted sums chosen for the workload.

Descent over Θ that remembers the best point it has seen, so that stopping it at any time loses nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import scipy

from rowspace.error import noise_level, profile_trace
from rowspace.exceptions import InvalidInput, InvalidWorkload, TooLarge
from rowspace.operators import (
    DENSE_LIMIT,
    Identity,
    Operator,
    Vector,
    check_number,
    check_operators,
    check_size,
)
from rowspace.operators import PIdentity as PIdentityOperator
from rowspace.privacy import Privacy

from .p_identity_starts import SPACINGS, Start, random_start, starts
from .result import Result, judged

LAP = 20
"""Steps after which the better half of the starts goes on."""

RANDOM_LIMIT = 2**13
"""Largest p·n at which a random start is tried unasked (256 cells and p = 15, about a second)."""

FEW_CELLS, FEW_STARTS = 16, 4
"""So many random starts for so few cells take milliseconds; one of them may end at the identity."""

SPARSE = 0.25
"""Share of non-zero entries below which the rows are stored sparsely."""

Progress = Callable[[int, float], None]
"""Called after every step with its number and the least total error so far."""


@dataclass(frozen=True)
class PIdentity:
    """A = [I; Θ]·D with Θ ≥ 0 (p × n) and D making every column sum to one, optimized over Θ.

    The best known family for Laplace noise on one attribute. L-BFGS-B with the exact gradient, started from tents
    (module `p_identity_starts`), the better half of which goes on every twenty steps; the best one runs until the
    error falls by less than `tolerance` in twenty steps, or for `max_steps`. All ranges take about 2 s at 1024
    cells, 15 s at 4096, 35 s at 8192 and some minutes at 16,384.

    p: rows of Θ; left open, n/20, n/17 and n/15 are tried, more or fewer where they do better, and one.
    restarts: random starts on top, for workloads whose cells have no order; left open, one where it is cheap.
    progress: see `Progress`.

    Guarantees:
        - the column sums are one: the sensitivity is that of the identity (`test_columns_sum_to_one`);
        - every workload is supported, and the error is at most the identity's (`test_laws_on_random_workloads`).

    >>> from rowspace import PureDP, operators as op
    >>> result = PIdentity().optimize(op.Ranges(64), PureDP(2**0.5))       # unit variance 1
    >>> round(result.total_error, -1), Identity(64).profile_trace(op.Ranges(64))
    (32060.0, 45760.0)
    """

    p: int | None = None
    restarts: int | None = None
    max_steps: int = 500
    tolerance: float = 2e-4
    progress: Progress | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.p is not None:
            check_size("p", self.p)
        if self.restarts is not None:
            check_size("restarts", self.restarts, 0)
        check_size("max_steps", self.max_steps)
        if check_number("tolerance", self.tolerance) <= 0:
            raise InvalidInput(f"expected a tolerance above zero, got {self.tolerance}; 2e-4 is the default")

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The p-Identity strategy of least total error found, or the identity where none is better.

        Ctrl-C stops the search and returns the best so far.
        """
        started = time.perf_counter()
        check_operators(W)
        p = self._checked_rows(W, privacy)
        per_unit = privacy.unit_variance * W.squared_frobenius()
        report = self.progress or (lambda step, error: None)
        descent = Descent(self.tolerance, lambda step, value: report(step, per_unit * value))
        try:
            status = self._search(W, p, descent, np.random.default_rng(0) if rng is None else rng)
        except KeyboardInterrupt:
            if descent.best is None:
                raise
            status = "interrupted; best so far"
        A = _better_than_identity(descent.best, W, privacy)
        more = A.shape[0] - A.shape[1]
        return judged(
            "identity" if isinstance(A, Identity) else f"p-identity, {more} {'row' if more == 1 else 'rows'}",
            A,
            W,
            privacy,
            status="no p-identity strategy found is better" if isinstance(A, Identity) else status,
            steps=descent.steps,
            seconds=time.perf_counter() - started,
        )

    def _search(self, W: Operator, p: int, descent: Descent, rng: np.random.Generator) -> str:
        """Race the starts, finish the best, then any random ones, each to its end; how it ended."""
        running = [(start, start.value, False) for start in starts(W, self.p)]
        used = 0
        # More levels start slower and end lower: a start is dropped only half of the field at a time.
        while len(running) > 1 and used < self.max_steps:
            lap = min(LAP, self.max_steps - used)
            raced = [end if end[2] else descent.run(end[0], lap) for end in running]
            running = sorted(raced, key=lambda end: end[1])[: (len(raced) + 1) // 2]
            used += lap
        front, _, converged = running[0]
        if not converged and used < self.max_steps:
            _, _, converged = descent.run(front, self.max_steps - used)
        unasked = FEW_STARTS if W.shape[1] <= FEW_CELLS else 1 if p * W.shape[1] <= RANDOM_LIMIT else 0
        for _ in range(unasked if self.restarts is None else self.restarts):
            _, _, finished = descent.run(random_start(W, p, rng), self.max_steps)
            converged = converged and finished
        if converged:
            return "converged; random restarts or another p may find a better one"
        return f"stopped after {self.max_steps} steps while still improving; raise max_steps"

    def _checked_rows(self, W: Operator, privacy: Privacy) -> int:
        """The number of rows at most in Θ, after refusing what this method cannot do."""
        if privacy.norm != 1:
            raise InvalidInput(
                "expected privacy with Laplace noise (PureDP); for Gaussian noise use GaussianOptimal, "
                "which is proven optimal"
            )
        n = W.shape[1]
        p = max(2, round(n / min(SPACINGS))) if self.p is None else self.p
        if p * n > DENSE_LIMIT:
            raise TooLarge(
                f"p-Identity with {p} rows over {n} cells works on more than {DENSE_LIMIT} numbers; "
                "give a smaller p, or use Hierarchical"
            )
        if not W.squared_frobenius() > 0:
            raise InvalidWorkload("expected a workload with at least one non-zero query")
        return p


def _better_than_identity(found: Start | None, W: Operator, privacy: Privacy) -> Operator:
    """The strategy found, or the identity when that has no more error."""
    identity = Identity(W.shape[1])
    theta = found.loss.support.matrix(found.entries) if found is not None else None
    if theta is None or not theta.nnz:
        return identity
    sparse_enough = theta.nnz < SPARSE * theta.shape[0] * theta.shape[1]
    A = PIdentityOperator.normalized(theta if sparse_enough else theta.toarray())
    pair: list[Operator] = [A, identity]
    return min(pair, key=lambda B: noise_level(B, privacy) * profile_trace(B, W))


PATIENCE = 20
"""Steps over which the tolerance is measured: single steps of L-BFGS are uneven."""


LARGEST = 1e2
"""Largest entry of Θ. A workload that depends on no single cell pushes the cells' own weights to zero, and with them
the digits of Woodbury's difference; at this bound the error is within 2 % of that limit and has nine digits."""


@dataclass
class Descent:
    """L-BFGS-B from any number of starts; `best` is the least value met in all of them, and where.

    report: called after every step with the number of steps so far and the least value.
    """

    tolerance: float
    report: Callable[[int, float], None]
    best: Start | None = None
    value: float = np.inf
    steps: int = 0

    def run(self, start: Start, max_steps: int) -> tuple[Start, float, bool]:
        """(where it got to, its value, whether it converged): stops after max_steps or below the tolerance."""
        history: list[float] = []

        def evaluate(x: Vector) -> tuple[float, Vector]:
            value, gradient = start.loss(x)
            if value < self.value:
                self.value, self.best = value, replace(start, entries=x.copy())
            return value, gradient

        # scipy knows what to pass by the parameter's name.
        def after_step(intermediate_result: scipy.optimize.OptimizeResult) -> None:
            self.steps += 1
            history.append(float(intermediate_result.fun))
            self.report(self.steps, self.value)
            if (
                history[-PATIENCE - 1 : -PATIENCE]
                and history[-PATIENCE - 1] - history[-1] < self.tolerance * history[-1]
            ):
                raise StopIteration

        end = scipy.optimize.minimize(
            evaluate,
            start.entries,
            jac=True,
            method="L-BFGS-B",
            bounds=scipy.optimize.Bounds(0.0, LARGEST),
            callback=after_step,
            options={
                "maxiter": max_steps,
                "maxfun": 20 * max_steps,
                # Single steps say nothing, the first one after a restart least of all: `after_step` decides.
                "ftol": 0.0,
                "gtol": 0.0,
            },
        )
        return replace(start, entries=end.x), float(end.fun), len(history) < max_steps
