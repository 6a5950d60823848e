"""The worst-query objective: least maximum over queries, by a weight per query on top of the weight per cell.

For importances μ ≥ 0 with Σμ = 1 the largest query error of any strategy is at least its μ-weighted mean, and that
is at least the optimum of Program 2 for V = WᵗMW. So with weights λ over cells as in `dual`,

    max_q error_q  ≥  ‖M^½WΛ^½‖₁²  (sum of singular values, squared),

and the maximum over λ and μ is attained. The expression is symmetric in the two: with x = diag X and
y_q = w_q X⁺ w_qᵗ (both from one eigendecomposition), λ ← λx² and μ ← μy² are each the monotone step of `dual`. They
are taken together, accelerated; a step that falls back is replaced by the second alone.

Ranges and prefixes look alike at every size, so their weights are found for half the cells first and interpolated:
3 steps take prefixes of 4096 cells to 0.1 % (from equal weights 9). And a step for prefixes needs no dense algebra:
(M^½WΛ^½)⁻¹ has two diagonals, so its Gram matrix has three, whose eigenvectors cost O(n²) (2.5 s for 4096 cells).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy

from rowspace.exceptions import TooLarge
from rowspace.operators import DECOMPOSITION_LIMIT, Operator, Prefix, Ranges, Vector

from .acceleration import Anderson
from .dual import certified_bound, completed, inverse_of, symmetric_roots
from .row_space import row_space_factor, workload_gram
from .weighted_gram import weighted_gram

QUERY_LIMIT = 2**22
"""Most queries that are weighed one by one (all ranges of 2896 cells)."""

LEAST_IMPORTANCE = 1e-10
"""Share of importance spread evenly over the queries, so that WᵗMW keeps the rank of W; the bound loses as much."""

FEW_CELLS, COARSE_GAP = 64, 1e-3
"""Ranges and prefixes of more cells start from those of half as many, solved to this gap or the one asked for."""

_COLUMNS = 512


@dataclass(frozen=True)
class WorstPoint:
    """X(λ, μ) at two sets of weights: x = diag X, y the error of every query under X, and a feasible X made from it."""

    weights: Vector
    importance: Vector
    trace: float
    diagonal: Vector
    variances: Vector
    worst: float
    """The largest query error of the feasible X."""
    gram: Callable[[], Vector]
    """The feasible X, largest diagonal entry 1."""

    @property
    def bound(self) -> float:
        """No strategy of unit L2 norm has a smaller largest error."""
        return self.trace**2


@dataclass(frozen=True)
class Queries:
    """Any workload, and an orthonormal basis of its row space (None: all of space)."""

    W: Operator
    basis: Vector | None

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
        x = np.asarray(np.einsum("ik,ik->i", Y, Y))
        variances = self.W.row_quadratic(inverse @ inverse.T)
        worst, X = self._feasible(Y, x)
        return WorstPoint(weights, importance, trace, x, variances, worst, lambda: X)

    def _feasible(self, Y: Vector, x: Vector) -> tuple[float, Vector]:
        """The largest query error of the better feasible X made from YYᵗ, and that X."""
        # Completing suits optima where most queries and cells have slack, scaling columns those where none has. The
        # latter would leave a row space that is not all of space.
        scales = [np.full_like(x, x.max())] + ([x] if self.basis is None else [])
        candidates = [completed(B @ B.T) for B in (Y / np.sqrt(scale)[:, None] for scale in scales)]
        errors = [float(self.W.row_quadratic(inverse_of(X)).max()) for X in candidates]
        best = int(np.argmin(errors))
        return errors[best], candidates[best]

    def certified(self, point: WorstPoint) -> float:
        """The bound computed afresh from the two sets of weights: one more eigendecomposition."""
        return certified_bound(weighted_gram(self.W, point.importance), point.weights)


@dataclass(frozen=True)
class PrefixQueries(Queries):
    """All prefixes: Λ^½VΛ^½ is the inverse of a matrix of three diagonals, so nothing takes more than O(n²)."""

    def at(self, weights: Vector, importance: Vector) -> WorstPoint:
        """One eigendecomposition of three diagonals. X = d^(−½) S d^(−½) is feasible, with d = diag S."""
        s, Q = _prefix_roots(weights, importance)
        d = np.concatenate([np.square(rows) @ s for rows in np.array_split(Q, max(1, len(Q) // _COLUMNS))])
        variances, errors = np.zeros_like(d), np.zeros_like(d)
        # Prefixes of the columns of a factor of X⁻¹, some columns at a time.
        for start in range(0, len(s), _COLUMNS):
            half = Q[:, start : start + _COLUMNS] / np.sqrt(s[start : start + _COLUMNS])
            for out, scale in ((variances, np.sqrt(weights)), (errors, np.sqrt(d))):
                sums = np.cumsum(scale[:, None] * half, axis=0)
                out += np.einsum("ik,ik->i", sums, sums)
        # Roots lowered by what rounding may have added.
        noise = len(s) * np.finfo(float).eps / s.min() ** 2
        trace = float(np.sum(1 / np.sqrt(1 / np.square(s) + noise)))

        def gram() -> Vector:
            B = Q * np.sqrt(s) / np.sqrt(d)[:, None]
            X = np.asarray(B @ B.T)
            np.fill_diagonal(X, 1.0)
            return X

        return WorstPoint(weights, importance, trace, d / weights, variances, float(errors.max()), gram)

    def certified(self, point: WorstPoint) -> float:
        """The bound as it is: its rounding was taken off."""
        return point.bound / float(point.weights.sum() * point.importance.sum())


def weighing_of(W: Operator) -> Queries:
    """The way to weigh the queries of W; `TooLarge` where they or the cells are too many."""
    m, n = W.shape
    if isinstance(W, Prefix) and FEW_CELLS < n <= DECOMPOSITION_LIMIT:
        return PrefixQueries(W, None)
    if m > QUERY_LIMIT:
        raise TooLarge(
            f"the worst-query objective weighs every query, and {m} are more than {QUERY_LIMIT}; "
            "use objective='total'"
        )
    V = workload_gram(W)
    if W.full_column_rank:
        return Queries(W, None)
    L = row_space_factor(W, V)
    return Queries(W, None if L.shape[1] == n else np.asarray(scipy.linalg.qr(L, mode="economic")[0]))


def _prefix_roots(weights: Vector, importance: Vector) -> tuple[Vector, Vector]:
    """(s, Q): S = (Λ^½VΛ^½)^½ = Q diag(s) Qᵗ, from S⁻² = Λ^(−½) D M⁻¹ Dᵗ Λ^(−½) with D = W⁻¹ the differences."""
    diagonal = 1 / importance
    diagonal[1:] += 1 / importance[:-1]
    beside = -1 / (importance[:-1] * np.sqrt(weights[1:] * weights[:-1]))
    t, Q = scipy.linalg.eigh_tridiagonal(diagonal / weights, beside)
    return np.asarray(1 / np.sqrt(t)), np.asarray(Q, np.float64)


@dataclass(frozen=True)
class WorstAscent:
    """The points of least largest error and of best bound found, and how the search ended."""

    strategy: WorstPoint
    certificate: WorstPoint
    steps: int
    ending: str

    def is_within(self, gap: float) -> bool:
        """Whether the largest error is within a factor 1 + gap of the bound."""
        return self.strategy.worst <= (1 + gap) * self.certificate.bound


def ascend_worst(queries: Queries, gap: float, max_steps: int) -> WorstAscent:
    """Raise the bound until the strategy at hand is within a factor 1 + gap of it."""
    n = queries.W.shape[1]
    acceleration = Anderson()
    start, ending = _start(queries.W, gap, max_steps)
    point = queries.at(*start)
    found = WorstAscent(point, point, 1, ending)
    try:
        while ending == _CERTIFIED and not found.is_within(gap):
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
                min(found.strategy, point, key=lambda p: p.worst),
                max(found.certificate, point, key=lambda p: p.bound),
                steps,
                _CERTIFIED,
            )
    except KeyboardInterrupt:
        return replace(found, ending=_INTERRUPTED)
    return found


_CERTIFIED, _INTERRUPTED = "certified", "interrupted; best so far"


def _start(W: Operator, gap: float, max_steps: int) -> tuple[tuple[Vector, Vector], str]:
    """Equal weights, or those of half the cells, interpolated; and how that search ended."""
    m, n = W.shape
    if n <= FEW_CELLS or not isinstance(W, (Prefix, Ranges)):
        return (np.full(n, 1 / n), np.full(m, 1 / m)), _CERTIFIED
    coarse = type(W)(n // 2)
    found = ascend_worst(weighing_of(coarse), max(gap, COARSE_GAP), max_steps)
    logs = np.log(found.certificate.importance)
    if isinstance(W, Ranges):
        square = np.full((coarse.n, coarse.n), logs.min())
        square[np.triu_indices(coarse.n)] = logs
        logs = _refined(_refined(square, n).T, n).T[np.triu_indices(n)]
    else:
        logs = _refined(logs, n)
    weights = _simplex(_refined(np.log(found.certificate.weights), n), 0.0)
    ending = _INTERRUPTED if found.ending == _INTERRUPTED else _CERTIFIED
    return (weights, _simplex(logs, LEAST_IMPORTANCE)), ending


def _refined(logs: Vector, n: int) -> Vector:
    """Logarithms of weights over fewer cells, for n cells: weights are about powers of the distance from either end."""
    (here, there) = (np.log(t / (k - t)) for k in (len(logs), n) for t in (np.arange(k) + 0.5,))
    left = np.clip(np.searchsorted(here, there) - 1, 0, len(logs) - 2)
    share = (there - here[left]) / (here[left + 1] - here[left])
    share = share if logs.ndim == 1 else share[:, None]
    return np.asarray((1 - share) * logs[left] + share * logs[left + 1])


def _log_step(weights: Vector, values: Vector) -> Vector:
    """log of weights·values², normalized; what is far from mattering fades at a bounded rate."""
    image = np.log(weights) + 2 * np.log(np.maximum(values, 1e-3 * values.max()))
    return np.asarray(image - scipy.special.logsumexp(image))


def _simplex(logs: Vector, floor: float) -> Vector:
    values = np.maximum(np.exp(logs - logs.max()), 1e-30)
    return np.asarray((1 - floor) * values / values.sum() + floor / len(values))
