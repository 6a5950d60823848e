"""The search for the best strategy beside evidence (`evidence`): steps of the dual, then L-BFGS where these are not
enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from rowspace.operators import Dense, Vector

from .dual import symmetric_roots
from .evidence_dual import Dual
from .gaussian_optimal import solve
from .reflection import cell_diagonal, folded, unfolded

LOOKS = (14, 30, 44, 64, 90, 130, 190, 270)
"""Steps of L-BFGS after which the bound is computed: it costs as much as some of them."""

RISES, HOPE, POOR = 6, 0.3, 1.05
"""Most steps of the dual; the share of what its bound still lacks that a step must gain for another; and how much more
than the first strategy those of the dual may err to be a way on."""

FIRM = 1e-9
"""Share of a strategy that asks every cell alike, so that a triangular root of it is found."""

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

OPEN_RIDGE = 3e-4
"""Share of the budget by which every direction counts as known in the search beside facts, where nothing else is. The
search shuns directions that nobody asks about, and without this its bound would be one of rounding errors."""


def _relaxed(V: Vector, P: Vector, c: float) -> Vector:
    scale = np.sqrt(c + np.diagonal(P))
    V = V / np.multiply.outer(scale, scale)
    V[np.diag_indices_from(V)] += RIDGE * max(float(np.trace(V)), 1e-300) / len(V)
    root = Dense(scipy.linalg.cholesky(V, check_finite=False))
    Y = solve(root, V, START_GAP, START_STEPS).point.gram()
    (X,) = folded(Y / np.diagonal(Y).max() * np.multiply.outer(scale, scale) - P)
    values, Q = np.linalg.eigh(X)
    values = np.maximum(values, FLOOR * max(float(np.abs(values).max()), c))
    return _scaled(unfolded((Q * values[..., None, :]) @ Q.swapaxes(-1, -2)), c)


def _scaled(X: Vector, c: float) -> Vector:
    """X with columns scaled so that its diagonal is c."""
    scale = np.sqrt(c / np.diagonal(X))
    return X * np.multiply.outer(scale, scale)


def _gram(A: Vector) -> Vector:
    return np.asarray(A.swapaxes(-1, -2) @ A)


@dataclass(frozen=True, eq=False)
class Risen:
    """The best strategy seen, and what none goes below."""

    X: Vector
    error: float
    bound: float
    steps: int

    def or_better(self, later: Risen) -> Risen:
        """The later one, whose bound is no lower, with the better strategy of both."""
        return later if later.error <= self.error else replace(self, bound=later.bound)


@dataclass(frozen=True, eq=False)
class Search:
    """tr(V(P + AᵗA)⁻¹) as a function of A, whose columns have norm √c; V, P, A and X = AᵗA may be `folded`."""

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

    def folded(self) -> Search:
        """The same with matrices of half the size, if they have the symmetry."""
        V, P = folded(self.V, self.P)
        return replace(self, V=V, P=P)

    def certified(self, start: Vector, gap: float, max_steps: int) -> tuple[Vector, float, int]:
        """(A, the bound, steps) under Gaussian noise, without facts: steps of the dual, then L-BFGS if they are not
        enough, whose strategies the dual goes on from. start: the first X, over all cells."""
        found = self._risen(self._own(start), 0.0, gap, begun=True)
        looks = 0

        def look(intermediate_result: scipy.optimize.OptimizeResult) -> None:
            nonlocal found, looks
            looks += 1
            if looks in LOOKS:
                X = _gram(self.columns_scaled(intermediate_result.x))
                found = found.or_better(self._risen(X, found.bound, gap))
                if found.error <= (1 + gap) * found.bound:
                    raise StopIteration

        steps = found.steps
        if found.error > (1 + gap) * found.bound:
            last, more = self.descend(
                np.asarray(np.linalg.cholesky(found.X).swapaxes(-1, -2), dtype=np.float64),
                max_steps - steps,
                look,
            )
            steps += more
            if found.error > (1 + gap) * found.bound:
                found = found.or_better(self._risen(_gram(last), found.bound, gap))
        return scipy.linalg.cholesky(unfolded(found.X), check_finite=False), found.bound, steps

    def bound(self, gap: float) -> float:
        """What no strategy goes below, whatever its noise."""
        own = self.folded()
        return own._risen(own._own(self.relaxed()), 0.0, gap).bound

    def _own(self, X: Vector) -> Vector:
        """An X over all cells as this search has it; the mean with its mirror image, where it errs no more."""
        return X if self.V.ndim == 2 else folded(0.5 * (X + X[::-1, ::-1]))[0]

    def _risen(self, X: Vector, bound: float, gap: float, begun: bool = False) -> Risen:
        """Steps of the dual from a strategy until they certify the best one seen, or gain little.

        begun: whether strategies are looked for, and not only the bound.
        """
        X = (1 - FIRM) * X + FIRM * self.c * np.eye(X.shape[-1])
        dual, steps, last = Dual.of(self.V, self.P, self.c, self.most, X), 0, 0.0
        error = self._error(X)
        while steps < RISES:
            reached, tried, onward = dual.step()
            steps, gained, last, bound = steps + 1, reached - last, reached, max(bound, reached)
            if (its := self._error(tried)) < error:
                X, error = tried, its
            lacking = error / (1 + gap) - bound
            if lacking <= 0 or gained < HOPE * lacking or (begun and its > POOR * error):
                break
            dual = onward()
        return Risen(X, error, bound, steps)

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
        return self._error(_gram(A))

    def _error(self, X: Vector) -> float:
        own = float(np.vdot(self._root, self._applied(self.P, X)))
        if self.sure is None:
            return own
        beside = float(np.vdot(self._root, self._applied(self.sure, X)))
        return (1 - self.chance) * own + self.chance * beside

    def relaxed(self) -> Vector:
        """The first X under Gaussian noise: the best Y = P + X with diag Y ≤ c + diag P, and of X = Y − P what is PSD.

        Without X ⪰ 0 that is the problem without evidence, with columns scaled; where X ⪰ 0, this is the solution.
        Cells that no query asks about are asked what the evidence ties to the others: with these as G says, an error in
        cells 2 costs tr(P₂₁GP₁₂·(P + X)₂₂⁻¹).
        """
        asked = np.diagonal(self.V) > 0
        if asked.all() or not asked.any():
            return _relaxed(self.V, self.P, self.c)
        one, other = np.ix_(asked, asked), np.ix_(~asked, ~asked)
        first = replace(self, V=self.V[one], P=self.P[one])
        X = np.zeros_like(self.V)
        X[one] = first.relaxed()
        tie = self.P[np.ix_(~asked, asked)] @ first._applied(first.P, X[one])
        X[other] = _relaxed(tie @ tie.T, self.P[other], self.c)
        return X

    def bound_beside_facts(self, A: Vector) -> float:
        """What no strategy goes below, by the G of this one and the better of some λ."""
        assert self.basis is not None
        H, X = self._point(A)[1], A.T @ A
        G = H @ H.T
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
        *stack, n = self.V.shape[:-1]
        M = free.reshape(*stack, -1, n)
        if self.norm == 2:
            divisor = np.sqrt(self._over_rows(M, M) / self.c)
            return M / divisor, divisor
        divisor = (1 + M.sum(axis=0)) / np.sqrt(self.c)
        return np.concatenate((np.diag(1 / divisor), M / divisor)), divisor

    def _point(self, A: Vector) -> tuple[float, Vector]:
        """The error, and H: HHᵗ = (P + X)⁻¹V(P + X)⁻¹ is its derivative by X with the sign changed."""
        X = _gram(A)
        H = self._applied(self.P, X)
        error = float(np.vdot(self._root, H))
        if self.sure is None:
            return error, H
        other = self._applied(self.sure, X)
        error = (1 - self.chance) * error + self.chance * float(np.vdot(self._root, other))
        return error, np.concatenate((np.sqrt(1 - self.chance) * H, np.sqrt(self.chance) * other), axis=-1)

    def _over_rows(self, A: Vector, B: Vector) -> Vector:
        """For every column the sum of products over all rows, where these are over all cells."""
        found = np.einsum("...ij,...ij->...j", A, B)
        return np.asarray(found if found.ndim == 1 else found.mean(axis=0))

    @cached_property
    def _root(self) -> Vector:
        """L with V = LLᵗ: a column for every cell that is asked about."""
        asked = cell_diagonal(self.V) > 0
        V = self.V[..., asked, :][..., asked]
        found = np.zeros((*self.V.shape[:-1], V.shape[-1]))
        rounding = 1e-14 * float(np.abs(V).max(initial=0.0)) * np.eye(V.shape[-1])
        found[..., asked, :] = np.linalg.cholesky(V + rounding)
        return found

    def _applied(self, P: Vector, X: Vector) -> Vector:
        """(P + X)⁻¹L."""
        pairs = zip(P + X, self._root, strict=True) if X.ndim > 2 else [(P + X, self._root)]
        found = [self._solved(*pair) for pair in pairs]
        return np.stack(found) if X.ndim > 2 else found[0]

    def _solved(self, Y: Vector, B: Vector) -> Vector:
        if self.basis is not None:
            Y, B = self.basis.T @ Y @ self.basis, self.basis.T @ B
        # Directions that neither the evidence nor A has are not those of V, but for rounding.
        Y[np.diag_indices_from(Y)] += (1e-13 if self.basis is None else OPEN_RIDGE) * self.c
        factor = scipy.linalg.lapack.dpotrf(Y, lower=1, overwrite_a=1)[0]
        found = scipy.linalg.lapack.dpotrs(factor, B, lower=1)[0]
        return np.asarray(found if self.basis is None else self.basis @ found)

    def _value(self, free: Vector) -> tuple[float, Vector]:
        A, divisor = self._strategy(free)
        value, H = self._point(A)
        slope = -2 * (A @ H) @ H.swapaxes(-1, -2)
        # What scaling a column takes back: its own direction in L2, all its rows alike in L1.
        along = self._over_rows(slope, A)
        if self.norm == 2:
            return value, np.asarray((slope - A * (along / self.c)) / divisor).ravel()
        beside = slope[len(self.V) :]
        return value, np.asarray((beside - along / np.sqrt(self.c)) / divisor).ravel()
