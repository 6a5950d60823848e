"""The best strategy beside what is known already: planning against evidence.

Everything measured so far is an information matrix P = Σ AᵢᵗAᵢ/σᵢ². A strategy A bought now, with noise of variance σ²,
adds X = AᵗA/σ², and the queries, V = WᵗW, then err by tr(V(P + X)⁻¹) in all. A budget buys diag X ≤ c, where 1/c is
the variance of the noise at unit sensitivity (under Laplace noise also, whose L1 norms are no smaller than L2 norms).

*The search.* Under Gaussian noise the dual of `evidence_dual` is raised, whose steps bring strategies with them. Where
these do not come near enough, as where many cells are not asked about, one goes on from the best of them: raising a
column to norm c only helps, so A is any matrix with its columns scaled, a smooth function without constraints, which
L-BFGS minimizes. So it is under Laplace noise, where A is the identity over p non-negative rows, as in `p_identity`,
with columns scaled to L1 norm √c, and the dual only bounds.

*The bound* is that of `evidence_dual`, also beside facts, where G sees none of them. The noise that is drawn may buy a
little more than the continuous law, so the bound has another c than the search. At the optimum G = Y⁻¹VY⁻¹,
λ = diag(GX)/diag(X) attains it: those of the strategy at hand are taken, and what of G is above Λ is cut off.

*Doubt.* Where part of the evidence may be of no use, a mean of the errors with it and without is minimized: it is
convex, too, and little more than half of the gain is lost that way, while next to nothing is where it is of no use. The
bound is that with all evidence, which holds for less.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import scipy

from rowspace.error import noise_level, profile_trace
from rowspace.exceptions import InvalidInput, UnsupportedWorkload
from rowspace.operators import Dense, Identity, Operator, Stack, Vector, check_number, check_size
from rowspace.operators import PIdentity as PIdentityOperator
from rowspace.privacy import Neighbours, Privacy

from .dual import symmetric_roots
from .evidence_dual import Dual
from .gaussian_optimal import solve
from .p_identity import PIdentity
from .result import Result
from .row_space import workload_gram

LOOKS = (14, 30, 44, 64, 90, 130, 190, 270)
"""Steps of L-BFGS after which the bound is computed: it costs as much as some of them."""

RISES, GAIN = 6, 0.05
"""Most steps of the dual at first, and the share of the gap that the bound must gain for another."""

PAIRS = 6
"""Steps that L-BFGS remembers; more cost more time than they save."""

START_GAP, START_STEPS = 1e-3, 12
"""How well the problem is solved whose solution the search begins at."""

FLOOR = 1e-6
"""Least eigenvalue of the first X over the largest, so that no direction is closed to the search."""

RIDGE = 1e-9
"""Share of the mean of V's diagonal that is added to it where a root of it is needed."""

WEIGHTS = ((0.02, 1e-9), (0.02, 1e-3), (0.02, 1e-4), (0.0, 1e-3))
"""How λ is taken beside facts: share of diag G in it, and the least as a share of the largest. λ = diag(GX)/diag(X) of
a strategy that is nearly optimal is too small somewhere, and there much of G would be cut off."""

LOST = 1e-3
"""Share of the identity that brings back directions which rounding has lost: its square is added to the noise."""

OPEN_RIDGE = 3e-4
"""Share of the budget by which every direction counts as known in the search beside facts, where nothing else is. The
search shuns directions that nobody asks about, and without this its bound would be one of rounding errors."""

START_L1_STEPS = 60
"""The same under Laplace noise."""

HEDGED_STEPS = 60
"""Most steps for a mean of errors, of which nothing is proved."""

CHANCE = 0.25
"""How likely doubtful evidence is taken to be of no use."""


@dataclass(frozen=True, eq=False)
class AgainstEvidence:
    """The strategy of least error together with evidence, to a factor 1 + gap under Gaussian noise.

    evidence: what has been measured, each strategy divided by the standard deviation of its noise.
    chance: how likely only `sure` of it (nothing, unless given) is of any use; then the mean error is the least.

    Guarantees:
        - the lower bound holds for every strategy (`test_no_strategy_beats_the_bound`);
        - the error is that of the evidence and the strategy together (`test_error_by_brute_force`).

    >>> from rowspace import ZCDP, operators as op
    >>> result = AgainstEvidence(op.Identity(64)).optimize(op.Prefix(64), ZCDP(0.5))
    >>> result.total_error < 282.2 / 1.5, result.ratio < 1.001
    (True, True)
    """

    evidence: Operator
    gap: float = 1e-3
    max_steps: int = 300
    sure: Operator | None = None
    chance: float = 0.0
    _information: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if check_number("gap", self.gap) <= 0:
            raise InvalidInput(f"expected a gap above zero, got {self.gap}; 1e-3 is the default")
        check_size("max_steps", self.max_steps)
        object.__setattr__(self, "_information", _information(self.evidence))

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The strategy, judged together with the evidence; nothing is random."""
        started = time.perf_counter()
        V, c = workload_gram(W), 1 / privacy.unit_variance
        if len(V) != len(self._information):
            raise InvalidInput(f"expected evidence over {len(V)} cells, got {len(self._information)}")
        search = Search(V, self._information, c, 1 / max(privacy.least_variance, 1e-200), privacy.norm)
        if privacy.norm == 2:
            begun = [search.relaxed()]
            found, bound, steps = search.certified(begun[0], self.gap, self.max_steps)
        else:
            begun, bound = starts(W, len(V), privacy), search.bound(self.gap)
            found, steps = min(
                (search.descend(start, self.max_steps) for start in begun),
                key=lambda run: search.error(run[0]),
            )
        ending = ended(search.error(found), bound, self.gap, steps, self.max_steps)
        if self.chance:
            found, ending = self._hedged(search, found, begun), "no step improves the mean error"
        A: Operator = Dense(found)
        try:
            error = together(A, self.evidence, W, privacy)
        except UnsupportedWorkload:  # where next to nothing is asked of some direction, rounding loses it
            A = Stack(Dense(found), LOST * np.sqrt(c) * Identity(len(V)))
            error = together(A, self.evidence, W, privacy)
        if privacy.neighbours is not Neighbours.ADD_REMOVE:
            bound = 0.0  # the columns may be shifted there, which this bound does not know
        return Result(
            "beside the evidence", A, error, min(bound, error), ending, steps, time.perf_counter() - started
        )

    def _hedged(self, search: Search, found: Vector, begun: list[Vector]) -> Vector:
        """The strategy of least mean error; search: the one beside all evidence, which has found a strategy."""
        sure = np.zeros_like(search.P) if self.sure is None else _information(self.sure)
        hedged = replace(search, sure=sure, chance=self.chance)
        if search.norm == 2:
            blind = replace(search, P=sure)
            A = blind.columns_scaled(blind.relaxed())
            values, Q = scipy.linalg.eigh(found.T @ found + A.T @ A)
            begun = [np.asarray((Q * np.sqrt(np.maximum(values, FLOOR * values[-1]))).T)]
        runs = [hedged.descend(start, min(self.max_steps, HEDGED_STEPS)) for start in begun]
        return min((run[0] for run in runs), key=hedged.error)


def _information(evidence: Operator) -> Vector:
    P = evidence.gram().to_dense()
    return np.asarray(0.5 * (P + P.T))


def together(A: Operator, evidence: Operator, W: Operator, privacy: Privacy) -> float:
    """The total error of W from a strategy and the evidence, whose noise is one."""
    scale = 1 / np.sqrt(noise_level(A, privacy))
    return profile_trace(Stack(scale * A, evidence), W)


def starts(W: Operator, n: int, privacy: Privacy) -> list[Vector]:
    """Where the search begins under Laplace noise: anywhere, and at the strategy that is best without evidence."""
    found = PIdentity(max_steps=START_L1_STEPS).optimize(W, privacy).strategy
    anywhere = np.random.default_rng(0).random((max(1, n // 16), n))
    return [anywhere, *([found.theta.to_dense() + FLOOR] if isinstance(found, PIdentityOperator) else [])]


def ended(error: float, bound: float, gap: float, steps: int, max_steps: int) -> str:
    """How a search ended."""
    if error <= (1 + gap) * bound:
        return f"certified: within {max(error / bound - 1, 0.0):.1e} of the best possible"
    return (
        f"stopped after {steps} steps; raise max_steps"
        if steps >= max_steps
        else "no step improves it any more"
    )


def _relaxed(V: Vector, P: Vector, c: float) -> Vector:
    scale = np.sqrt(c + np.diagonal(P))
    V = V / np.multiply.outer(scale, scale)
    V[np.diag_indices_from(V)] += RIDGE * max(float(np.trace(V)), 1e-300) / len(V)
    root = Dense(scipy.linalg.cholesky(V, check_finite=False))
    Y = solve(root, V, START_GAP, START_STEPS).point.gram()
    values, Q = scipy.linalg.eigh(
        Y / np.diagonal(Y).max() * np.multiply.outer(scale, scale) - P, check_finite=False
    )
    least = FLOOR * max(float(np.abs(values).max()), c)
    return np.asarray((Q * np.sqrt(np.maximum(values, least))).T)


@dataclass(frozen=True, eq=False)
class Risen:
    """The best strategy seen, and what none goes below."""

    A: Vector
    error: float
    bound: float
    steps: int

    def or_better(self, later: Risen) -> Risen:
        """The later one, whose bound is no lower, with the better strategy of both."""
        return later if later.error <= self.error else replace(self, bound=later.bound)


@dataclass(frozen=True, eq=False)
class Search:
    """tr(V(P + AᵗA)⁻¹) as a function of A, whose columns have norm √c."""

    V: Vector
    P: Vector
    c: float
    most: float
    """What no integer strategy's diag X exceeds: c, or more where the noise of plain counts is less."""
    norm: int
    basis: Vector | None = None
    """Orthonormal columns of what public facts leave open; None where nothing is known for sure."""
    sure: Vector | None = None
    """What P is with a `chance`: then errors are the mean, and nothing is proved of them."""
    chance: float = 0.0

    def certified(self, start: Vector, gap: float, max_steps: int) -> tuple[Vector, float, int]:
        """(A, the bound, steps) under Gaussian noise, without facts: steps of the dual, then L-BFGS if they are not
        enough, whose strategies the dual goes on from."""
        A = self.columns_scaled(start)
        found = self._risen(A, self.error(A), 0.0, gap)
        looks = 0

        def look(intermediate_result: scipy.optimize.OptimizeResult) -> None:
            nonlocal found, looks
            looks += 1
            if looks in LOOKS:
                at = self.columns_scaled(intermediate_result.x)
                found = found.or_better(self._risen(at, float(intermediate_result.fun), found.bound, gap))
                if found.error <= (1 + gap) * found.bound:
                    raise StopIteration

        steps = found.steps
        if found.error > (1 + gap) * found.bound:
            last, more = self.descend(found.A, max_steps - steps, look)
            steps += more
            if found.error > (1 + gap) * found.bound:
                found = found.or_better(self._risen(last, self.error(last), found.bound, gap))
        return found.A, found.bound, steps

    def bound(self, gap: float) -> float:
        """What no strategy goes below, whatever its noise."""
        A = self.columns_scaled(self.relaxed())
        return self._risen(A, self.error(A), 0.0, gap).bound

    def _risen(self, A: Vector, error: float, bound: float, gap: float) -> Risen:
        """Steps of the dual from a strategy until they certify the best one seen, or gain little."""
        dual, steps, last = Dual.of(self.V, self.P, self.c, self.most, A), 0, 0.0
        while steps < RISES:
            reached, tried, dual = dual.step()
            steps, gained, last, bound = steps + 1, reached - last, reached, max(bound, reached)
            if (its := self.error(tried)) < error:
                A, error = tried, its
            if error <= (1 + gap) * bound or gained < GAIN * gap * bound:
                break
        return Risen(A, error, bound, steps)

    def descend(
        self,
        start: Vector,
        max_steps: int,
        look: Callable[..., None] | None = None,
    ) -> tuple[Vector, int]:
        """(A, steps) by L-BFGS from a first matrix, or its rows beside the identity. look: at every step."""
        found = scipy.optimize.minimize(
            self._value,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            bounds=None if self.norm == 2 else [(0.0, np.inf)] * start.size,
            callback=look,
            options={"maxiter": max_steps, "maxcor": PAIRS, "ftol": 1e-12, "gtol": 1e-12},
        )
        return self.columns_scaled(found.x), int(found.nit)

    def error(self, A: Vector) -> float:
        """tr(V(P + AᵗA)⁻¹), or the mean of two."""
        own = float(np.einsum("ij,ij->", self.V, self._inverse(self.P, A)))
        if self.sure is None:
            return own
        return (1 - self.chance) * own + self.chance * float(
            np.einsum("ij,ij->", self.V, self._inverse(self.sure, A))
        )

    def relaxed(self) -> Vector:
        """The start under Gaussian noise: the best Y = P + X with diag Y ≤ c + diag P, and of X = Y − P what is PSD.

        Without X ⪰ 0 that is the problem without evidence, with columns scaled; where X ⪰ 0, this is the solution.
        Cells that no query asks about are asked what the evidence ties to the others: with these as G says, an error in
        cells 2 costs tr(P₂₁GP₁₂·(P + X)₂₂⁻¹).
        """
        asked = np.diagonal(self.V) > 0
        if asked.all() or not asked.any():
            return _relaxed(self.V, self.P, self.c)
        one, other = np.ix_(asked, asked), np.ix_(~asked, ~asked)
        first = replace(self, V=self.V[one], P=self.P[one])
        A = first.columns_scaled(first.relaxed())
        tie = self.P[np.ix_(~asked, asked)] @ first._inverse(first.P, A)
        beside = _relaxed(tie @ first.V @ tie.T, self.P[other], self.c)
        whole = np.zeros((len(A) + len(beside), len(asked)))
        whole[: len(A), asked] = A
        whole[len(A) :, ~asked] = beside
        return whole

    def bound_beside_facts(self, A: Vector) -> float:
        """What no strategy goes below, by the G of this one and the better of some λ."""
        assert self.basis is not None
        G, X = self._point(A)[1], A.T @ A
        attained, own = np.einsum("ij,ij->j", G, X) / np.diagonal(X), np.diagonal(G)
        best = 0.0
        for share, least in WEIGHTS:
            weights = (1 - share) * attained + share * own
            weights = np.maximum(weights, least * weights.max())
            root = np.sqrt(weights)
            # What is left of G is KKᵗ ⪯ Λ, and sees no fact.
            R = scipy.linalg.qr(self.basis / root[:, None], mode="r")[0][: self.basis.shape[1]]
            H = R @ (self.basis.T @ G @ self.basis) @ R.T
            eigenvalues, Q = scipy.linalg.eigh(0.5 * (H + H.T))
            K = self.basis @ scipy.linalg.solve_triangular(
                R, Q * np.sqrt(np.clip(eigenvalues, 0.0, 1 - 1e-12))
            )
            roots, _ = symmetric_roots(K.T @ self.V @ K)
            paid = float(np.einsum("ij,ij->", self.P @ K, K)) + self.most * float(weights.sum())
            best = max(best, float(roots.sum()) ** 2 / paid)
        return best

    def columns_scaled(self, free: Vector) -> Vector:
        """The strategy that free numbers stand for."""
        return self._strategy(free)[0]

    def _strategy(self, free: Vector) -> tuple[Vector, Vector]:
        """(A, what its columns were divided by)."""
        n = len(self.V)
        M = free.reshape(-1, n)
        if self.norm == 2:
            divisor = np.sqrt(np.einsum("ij,ij->j", M, M) / self.c)
            return M / divisor, divisor
        divisor = (1 + M.sum(axis=0)) / np.sqrt(self.c)
        return np.concatenate((np.diag(1 / divisor), M / divisor)), divisor

    def _point(self, A: Vector) -> tuple[float, Vector]:
        """The error, and G = (P + X)⁻¹V(P + X)⁻¹, its derivative by X with the sign changed."""
        error, G = self._beside(self.P, A)
        if self.sure is None:
            return error, G
        other, H = self._beside(self.sure, A)
        return (1 - self.chance) * error + self.chance * other, (1 - self.chance) * G + self.chance * H

    def _beside(self, P: Vector, A: Vector) -> tuple[float, Vector]:
        inverse = self._inverse(P, A)
        return float(np.einsum("ij,ij->", self.V, inverse)), inverse @ self.V @ inverse

    def _inverse(self, P: Vector, A: Vector) -> Vector:
        Y = P + A.T @ A
        if self.basis is not None:
            Y = self.basis.T @ Y @ self.basis
        # Directions that neither the evidence nor A has are not those of V, but for rounding.
        Y[np.diag_indices_from(Y)] += (1e-13 if self.basis is None else OPEN_RIDGE) * self.c
        factor = scipy.linalg.lapack.dpotrf(Y, lower=1, overwrite_a=1)[0]
        half = scipy.linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)[0]
        inverse = np.tril(half) + np.tril(half, -1).T
        return np.asarray(inverse if self.basis is None else self.basis @ inverse @ self.basis.T)

    def _value(self, free: Vector) -> tuple[float, Vector]:
        A, divisor = self._strategy(free)
        value, G = self._point(A)
        slope = -2 * A @ G
        # What scaling a column takes back: its own direction in L2, all its rows alike in L1.
        along = np.einsum("ij,ij->j", slope, A)
        if self.norm == 2:
            return value, np.asarray((slope - A * (along / self.c)) / divisor).ravel()
        beside = slope[len(self.V) :]
        return value, np.asarray((beside - along / np.sqrt(self.c)) / divisor).ravel()
