"""The worst-query objective: least maximum over queries, by a weight per query on top of the weight per cell.

For importances μ ≥ 0 with Σμ = 1 the largest query error of any strategy is at least its μ-weighted mean, and that
is at least the optimum of Program 2 for V = WᵗMW. So with weights λ over cells as in `dual`,

    max_q error_q  ≥  ‖M^½WΛ^½‖₁²  (sum of singular values, squared),

and the maximum over λ and μ is attained. The expression is symmetric in the two: with x = diag X and
y_q = w_q X⁺ w_qᵗ (both from one eigendecomposition), λ ← λx² and μ ← μy² are each the monotone step of `dual`. They
are taken together, accelerated; a step that falls back is replaced by the second alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from rowspace.exceptions import TooLarge
from rowspace.operators import Operator
from rowspace.operators.base import Vector

from .acceleration import Anderson
from .dual import certified_bound, completed, inverse_of, symmetric_roots
from .weighted_gram import weighted_gram

QUERY_LIMIT = 2**22
"""Most queries that are weighed one by one (all ranges of 2896 cells)."""

LEAST_IMPORTANCE = 1e-10
"""Share of importance spread evenly over the queries, so that WᵗMW keeps the rank of W; the bound loses as much."""


@dataclass(frozen=True)
class Queries:
    """A workload and an orthonormal basis of its row space (None: all of space)."""

    W: Operator
    basis: Vector | None

    def __post_init__(self) -> None:
        if self.W.shape[0] > QUERY_LIMIT:
            raise TooLarge(
                f"the worst-query objective weighs every query, and {self.W.shape[0]} are more than {QUERY_LIMIT}; "
                "use objective='total'"
            )

    def at(self, weights: Vector, importance: Vector) -> WorstPoint:
        """One Gram matrix, one eigendecomposition, one pass over the queries."""
        V = weighted_gram(self.W, importance)
        core = V if self.basis is None else self.basis.T @ V @ self.basis
        # Queries may fade below rounding; a ridge at that level keeps the factorization alive.
        ridge = len(core) * np.finfo(float).eps * np.trace(core)
        T = scipy.linalg.cholesky(core + ridge * np.eye(len(core)), lower=True)
        L = T if self.basis is None else self.basis @ T
        s, U = symmetric_roots((L.T * weights) @ L)
        trace = float(s.sum())
        s = np.maximum(s, np.sqrt(np.finfo(float).eps) * s[-1])
        Y = (L @ U) / np.sqrt(s)
        Z = scipy.linalg.solve_triangular(T, U * np.sqrt(s), lower=True, trans="T")
        inverse = Z if self.basis is None else self.basis @ Z
        return WorstPoint(self, weights, importance, trace, Y, self.W.row_quadratic(inverse @ inverse.T))


@dataclass(frozen=True)
class WorstPoint:
    """X(λ, μ) = YYᵗ and y, the error of every query under it."""

    queries: Queries
    weights: Vector
    importance: Vector
    trace: float
    Y: Vector
    variances: Vector

    @cached_property
    def diagonal(self) -> Vector:
        """x = diag X."""
        return np.asarray(np.einsum("ik,ik->i", self.Y, self.Y))

    @property
    def bound(self) -> float:
        """No strategy of unit L2 norm has a smaller largest error."""
        return self.trace**2

    @cached_property
    def feasible(self) -> tuple[float, Vector]:
        """The largest query error of the better feasible X made from this one, and that X."""
        x = self.diagonal
        # Completing suits optima where most queries and cells have slack, scaling columns those where none has. The
        # latter would leave a row space that is not all of space.
        scales = [np.full_like(x, x.max())] + ([x] if self.queries.basis is None else [])
        candidates = [completed(B @ B.T) for B in (self.Y / np.sqrt(scale)[:, None] for scale in scales)]
        errors = [float(self.queries.W.row_quadratic(inverse_of(X)).max()) for X in candidates]
        best = int(np.argmin(errors))
        return errors[best], candidates[best]


@dataclass(frozen=True)
class WorstAscent:
    """The points of least largest error and of best bound found, and how the search ended."""

    strategy: WorstPoint
    certificate: WorstPoint
    steps: int
    ending: str

    def is_within(self, gap: float) -> bool:
        """Whether the largest error is within a factor 1 + gap of the bound."""
        return self.strategy.feasible[0] <= (1 + gap) * self.certificate.bound

    def certified_bound(self) -> float:
        """The bound, computed afresh from the two sets of weights: one more eigendecomposition."""
        V = weighted_gram(self.certificate.queries.W, self.certificate.importance)
        return certified_bound(V, self.certificate.weights)


def ascend_worst(queries: Queries, gap: float, max_steps: int) -> WorstAscent:
    """Raise the bound from equal weights until the strategy at hand is within a factor 1 + gap of it."""
    m, n = queries.W.shape
    acceleration = Anderson()
    point = queries.at(np.full(n, 1 / n), np.full(m, 1 / m))
    found = WorstAscent(point, point, 1, "certified")
    try:
        while not found.is_within(gap):
            if found.steps >= max_steps:
                return replace(found, ending=f"stopped after {found.steps} steps; raise max_steps")
            logs = np.log(np.concatenate((point.weights, point.importance)))
            by_cell = _log_step(point.weights, point.diagonal)
            by_query = _log_step(point.importance, point.variances)
            proposal = acceleration.propose(logs, np.concatenate((by_cell, by_query)), np.exp(logs))
            trial = queries.at(_simplex(proposal[:n], 0.0), _simplex(proposal[n:], LEAST_IMPORTANCE))
            steps = found.steps + 1
            if trial.bound <= point.bound:
                acceleration.forget()
                trial = queries.at(point.weights, _simplex(by_query, LEAST_IMPORTANCE))
                steps += 1
            point = trial
            found = WorstAscent(
                min(found.strategy, point, key=lambda p: p.feasible[0]),
                max(found.certificate, point, key=lambda p: p.bound),
                steps,
                "certified",
            )
    except KeyboardInterrupt:
        return replace(found, ending="interrupted; best so far")
    return found


def _log_step(weights: Vector, values: Vector) -> Vector:
    """log of weights·values², normalized; what is far from mattering fades at a bounded rate."""
    image = np.log(weights) + 2 * np.log(np.maximum(values, 1e-3 * values.max()))
    return np.asarray(image - scipy.special.logsumexp(image))


def _simplex(logs: Vector, floor: float) -> Vector:
    values = np.maximum(np.exp(logs - logs.max()), 1e-30)
    return np.asarray((1 - floor) * values / values.sum() + floor / len(values))
