"""Semidefinite programs with the constraint Z = AᵗA, by the trace heuristic (Dattorro).

For an m × n matrix A, rank [[I, A], [Aᵗ, Z]] = m exactly when Z = AᵗA: then the columns of [A; −I] span its null
space. The constraint is not convex. The heuristic alternates two convex programs: minimize
objective + w·tr(U·[[I, A], [Aᵗ, Z]]) for a fixed U, and minimize the trace alone over 0 ⪯ U ⪯ I with tr U = n, whose
solution is closed: the projector onto the n smallest eigenvectors. The weight w grows until the trace is zero.

Two choices make it work. The block I is weighted by √(10n), which changes no rank but keeps the heuristic from taking
its directions for the ones to remove. And a remainder Z − AᵗA that will not vanish (A is losing rank) is given to A:
the nearest matrix B with BᵗB = Z has full rank again.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import scipy

from rowspace.operators import Vector


@dataclass(frozen=True)
class Settled:
    """Where the rounds ended: A, Z, how far the rank constraint is from holding, and the rounds taken."""

    A: Vector
    Z: Vector
    defect: float
    rounds: int

    def completed(self) -> Vector:
        """The matrix B nearest to A (in the metric of Z) with BᵗB = Z."""
        values, P = scipy.linalg.eigh(self.Z)
        roots = np.sqrt(np.maximum(values, 1e-12 * values[-1]))
        left, _, right = scipy.linalg.svd((self.A @ P) / roots, full_matrices=False)
        return np.asarray((left @ right * roots) @ P.T)


class RankConstrained:
    """minimize objective subject to constraints and Z = AᵗA, given as cvxpy expressions; compiled once."""

    def __init__(self, A: Any, Z: Any, objective: Any, constraints: Sequence[Any]) -> None:
        self.A, self.Z = A, Z
        self.m, self.n = A.shape
        block = cp.bmat([[np.eye(self.m), A], [A.T, Z]])
        self.direction = cp.Parameter(block.shape, symmetric=True)
        penalty = cp.sum(cp.multiply(self.direction, block))
        self.problem = cp.Problem(cp.Minimize(objective + penalty), [block >> 0, *constraints])

    def settle(
        self, start: Vector, weight: float, growth: float, tolerance: float, max_rounds: int
    ) -> Settled | None:
        """Alternate the two programs from a start, the weight growing; None when not even the first can be solved."""
        U = smallest_directions(start, start.T @ start)
        settled = None
        for rounds in range(1, max_rounds + 1):
            self.direction.value = weight * U
            if not self._solved():
                break
            A, Z = np.asarray(self.A.value), np.asarray(self.Z.value)
            Z = 0.5 * (Z + Z.T)
            defect = float(abs(np.trace(Z - A.T @ A)) / np.trace(Z))
            settled = Settled(A, Z, defect, rounds)
            if defect <= tolerance:
                break
            U = smallest_directions(A, Z)
            weight *= growth
        return settled

    def _solved(self) -> bool:
        """Solve for the current direction; large weights may exhaust the solver's digits."""
        with warnings.catch_warnings():
            # Reduced accuracy is announced as a warning; every result is rounded and judged afterwards.
            warnings.simplefilter("ignore", UserWarning)
            try:
                self.problem.solve(solver=cp.CLARABEL)
            except cp.SolverError:
                return False
        return self.problem.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)


def smallest_directions(A: Vector, Z: Vector) -> Vector:
    """The U of the second program: S·PPᵗ·S with P the n smallest eigenvectors of S[[I, A], [Aᵗ, Z]]S."""
    m, n = A.shape
    S = np.concatenate((np.full(m, np.sqrt(10.0 * n)), np.ones(n)))
    weights = np.multiply.outer(S, S)
    _, P = scipy.linalg.eigh(np.block([[np.eye(m), A], [A.T, Z]]) * weights, subset_by_index=(0, n - 1))
    return np.asarray(P @ P.T * weights)
