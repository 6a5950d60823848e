"""The optimal strategy for Gaussian noise: Program 2 of the paper, solved through its dual to a certified gap."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy

from rowspace.error import max_error, noise_level
from rowspace.exceptions import InvalidInput, UnsupportedWorkload
from rowspace.operators import Dense, Identity, Operator, Scaled, Vector, check_number, check_size
from rowspace.privacy import Neighbours, Privacy

from .bounds import unit_lower_bound
from .dual import FullRank, FullRankPoint, RowSpace, certified_bound
from .dual_ascent import Ascent, ascend, start_weights
from .factors import error_trace, factored
from .result import Result, judged
from .row_space import row_space_factor, workload_gram
from .worst_query import ascend_worst, weighing_of

WELL_CONDITIONED = 1e12
"""Largest estimated condition of Λ^½VΛ^½ at which it has digits enough to be decomposed directly."""

FAINT_IDENTITY = 1e-7
"""Share of the largest diagonal entry that every cell is asked where a factor has lost sight of some query."""

NAME = "Gaussian optimum"


@dataclass(frozen=True)
class WorstQueryResult(Result):
    """A result of the worst-query objective: the largest query error and the bound it was certified against.

    `total_error` and `lower_bound` are about the sum over queries, as in every result.
    """

    max_error: float
    max_lower_bound: float

    @property
    def max_ratio(self) -> float:
        """max_error / max_lower_bound: 1 means that no strategy has a smaller largest error."""
        return self.max_error / self.max_lower_bound if self.max_lower_bound > 0 else float("inf")

    def to_dict(self) -> dict[str, Any]:
        """Everything but the strategy, for reports."""
        worst = {k: getattr(self, k) for k in ("max_error", "max_lower_bound", "max_ratio")}
        return {**super().to_dict(), **worst}


@dataclass(frozen=True)
class GaussianOptimal:
    """The strategy of least error under Gaussian noise, to a factor 1 + gap, for any workload up to 4096 cells.

    Cost: one symmetric n × n eigendecomposition a step (a quarter of one where the workload reads the same
    backwards, fewer where its rank is smaller). All ranges take 2 steps to the default gap, prefixes 6 to 8.
    Cells no query asks about, repeated and dependent queries are no trouble. `objective="max"` minimizes the largest
    query error instead of the sum, for up to 2²² queries, and returns a `WorstQueryResult`.

    Under Laplace noise it is the paper's L2 approximation: within a factor n of optimal, with a valid bound.

    Guarantees:
        - the result's lower bound holds for every strategy (`test_no_strategy_beats_the_bound`);
        - never worse than the identity (`test_laws_on_random_workloads`);
        - the error is that of the returned matrix itself (`test_error_by_brute_force`).

    >>> from rowspace import ZCDP, operators as op
    >>> result = GaussianOptimal().optimize(op.Prefix(64), ZCDP(0.5))     # unit variance 1
    >>> round(result.total_error, 2), result.steps, result.ratio < 1 + 1e-6
    (282.2, 6, True)
    """

    gap: float = 1e-6
    max_steps: int = 500
    objective: Literal["total", "max"] = "total"

    def __post_init__(self) -> None:
        if check_number("gap", self.gap) <= 0:
            raise InvalidInput(f"expected a gap above zero, got {self.gap}; 1e-6 is the default")
        check_size("max_steps", self.max_steps)
        if self.objective not in ("total", "max"):
            raise InvalidInput(f"expected objective to be 'total' or 'max', got {self.objective!r}")

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The optimal strategy, judged; nothing is random."""
        started = time.perf_counter()
        if self.objective == "max":
            return self._optimize_worst(W, privacy, started)
        V = workload_gram(W)
        ascent = solve(W, V, self.gap, self.max_steps)
        X = ascent.point.gram()
        try:
            return _judged_total(factored(X, W, privacy.norm), W, V, privacy, ascent, started)
        except UnsupportedWorkload:
            # Nearly singular, and cut where W still looks: a faint identity keeps all that is asked in sight.
            beside = X + FAINT_IDENTITY * float(np.diagonal(X).max()) * np.eye(len(X))
            return _judged_total(Dense(scipy.linalg.cholesky(beside)), W, V, privacy, ascent, started)

    def _optimize_worst(self, W: Operator, privacy: Privacy, started: float) -> WorstQueryResult:
        body, power = (W.of, W.factor**2) if isinstance(W, Scaled) and W.factor else (W, 1.0)
        queries = weighing_of(body)
        ascent = ascend_worst(queries, self.gap, self.max_steps)
        A, status = factored(ascent.strategy.gram(), W, privacy.norm), ascent.ending
        worst, identity = max_error(A, W, privacy), Identity(W.shape[1])
        if (plain := max_error(identity, W, privacy)) <= worst:
            A, worst, status = identity, plain, f"the identity is no worse; {status}"
        add_remove = privacy.neighbours is Neighbours.ADD_REMOVE
        bound = privacy.unit_variance * power * queries.certified(ascent.certificate)
        if status == "certified" and add_remove and privacy.norm == 2:
            status = f"certified: within {max(worst / bound - 1, 0.0):.1e} of the best possible"
        judgement = judged(
            f"{NAME}, worst query",
            A,
            W,
            privacy,
            status=status,
            steps=ascent.steps,
            seconds=time.perf_counter() - started,
        )
        return WorstQueryResult(**vars(judgement), max_error=worst, max_lower_bound=min(bound, worst))


def solve(W: Operator, V: Vector, gap: float, max_steps: int) -> Ascent:
    """Program 2 for WᵗW = V: directly for a well-conditioned V, else through a factor of the row space of W."""
    start = start_weights(V)
    if _is_well_conditioned(V):
        ascent = ascend(FullRank.of(V), start, gap, max_steps)
        if isinstance(ascent.point, FullRankPoint) and ascent.point.definite:
            return ascent
    ascent = ascend(RowSpace(row_space_factor(W, V)), start, gap, max_steps)
    # The row space was found to rounding; the bound is stated for the workload as given.
    return replace(ascent, bound=certified_bound(V, ascent.point.weights))


def _is_well_conditioned(V: Vector) -> bool:
    norms = np.sqrt(np.diagonal(V))
    if not norms.min() > 0:
        return False
    try:
        pivots = np.diagonal(scipy.linalg.cholesky(V / np.multiply.outer(norms, norms)))
    except scipy.linalg.LinAlgError:
        return False
    # At the optimum Λ is about as uneven as V, and Λ^½VΛ^½ is what is decomposed.
    return bool(max(norms.max() / norms.min(), 1 / pivots.min()) ** 4 < WELL_CONDITIONED)


def _judged_total(
    A: Operator, W: Operator, V: Vector, privacy: Privacy, ascent: Ascent, started: float
) -> Result:
    """The result, or the identity where it is no worse."""
    add_remove = privacy.neighbours is Neighbours.ADD_REMOVE
    unit_bound = ascent.bound if add_remove else max(ascent.bound, unit_lower_bound(W, privacy))
    bound = privacy.unit_variance * unit_bound
    error = noise_level(A, privacy) * error_trace(A, W, V)
    name, status = NAME, ascent.ending
    identity = Identity(W.shape[1])
    if noise_level(identity, privacy) * float(np.trace(V)) <= error:
        A, name, status = identity, f"{NAME} (identity)", f"the identity is no worse; {ascent.ending}"
        error = noise_level(A, privacy) * W.squared_frobenius()
    elif ascent.ending == "certified" and add_remove and privacy.norm == 2:
        status = f"certified: within {max(error / bound - 1, 0.0):.1e} of the best possible"
    # Where they agree to rounding, the computed bound may end a unit in the last place above the error.
    return Result(name, A, error, min(bound, error), status, ascent.steps, time.perf_counter() - started)
