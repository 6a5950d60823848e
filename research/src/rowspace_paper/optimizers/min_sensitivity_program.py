"""Program 3 of the paper: least sensitivity for a profile, as a semidefinite program with a rank constraint."""

from __future__ import annotations

import time
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import scipy

from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.operators import Dense, Operator, Vector, check_number, check_size
from rowspace.privacy import Privacy
from rowspace.strategy import Optimizer, Result

from .min_sensitivity import Changes, Factor, Rotated, check_base, improved
from .rank_constrained import RankConstrained, Settled
from .rotations import random_rotations, sensitivities

MOST_CELLS = 16

FIRST_WEIGHT = 0.6
"""First weight of the rank constraint over Δ(start)/r. Below 0.5 the zero matrix is the better solution."""

GROWTH = 1.2
"""Slow: where the weight jumps, the start is hardly improved before it is frozen."""


@dataclass(frozen=True)
class MinSensitivityProgram:
    """Program 3 by the trace heuristic, for small domains: `MinSensitivity` is faster and finds better rotations.

    `starts` random rotations, at most `max_rounds` semidefinite programs each. The solution is rounded to the nearest
    matrix with exactly the given profile. Seconds at 8 cells; `TooLarge` past 16.

    >>> from rowspace import PureDP, operators as op
    >>> result = MinSensitivityProgram(op.Haar(4)).optimize(op.Ranges(4), PureDP(1.0))
    >>> round(result.strategy.max_column_norm(1), 3)             # from 3; the paper finds 2.210
    2.0
    """

    base: Optimizer | Operator
    rows: int | None = None
    starts: int = 4
    max_rounds: int = 25
    tolerance: float = 1e-7

    def __post_init__(self) -> None:
        check_base(self.base)
        if self.rows is not None:
            check_size("rows", self.rows)
        check_size("starts", self.starts)
        check_size("max_rounds", self.max_rounds)
        if check_number("tolerance", self.tolerance) <= 0:
            raise InvalidInput(f"expected a tolerance above zero, got {self.tolerance}; 1e-7 is the default")

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The base's strategy, rotated; the base's own result where no rotation is better."""
        rng = np.random.default_rng(0) if rng is None else rng

        def search(A: Operator, changes: Changes) -> Rotated:
            return self._searched(A, changes, rng)

        return improved(self.base, W, privacy, rng, search)

    def _searched(self, A: Operator, changes: Changes, rng: np.random.Generator) -> Rotated:
        started = time.perf_counter()
        if A.shape[1] > MOST_CELLS:
            raise TooLarge(
                f"Program 3 is solved up to {MOST_CELLS} cells, got {A.shape[1]}; use MinSensitivity, which "
                "searches the same rotations without semidefinite programs"
            )
        factor = Factor.of(A)
        m = factor.check_rows(self.rows)
        C = changes(factor.R)
        scale = float(np.linalg.norm(C, axis=0).max())
        best, steps = A, 0
        least = given = float(np.abs(changes(A.to_dense())).sum(axis=0).max())
        program = _program(C / scale, m)
        status = "rounded to the profile"
        try:
            for Q in random_rotations(self.starts, m, len(C), rng):
                weight = FIRST_WEIGHT * float(sensitivities(Q, C / scale)) / len(C)
                settled = program.settle(Q, weight, GROWTH, self.tolerance, self.max_rounds)
                if settled is None:
                    continue
                steps += settled.rounds
                rotated = _nearest_rotation(settled) @ factor.R
                reached = float(np.abs(changes(rotated)).sum(axis=0).max())
                if reached < least:
                    best, least = Dense(rotated), reached
        except KeyboardInterrupt:
            if least == given:
                raise
            status = "interrupted; best so far"
        return Rotated(best, least, scale, status, steps, time.perf_counter() - started)


def _program(C: Vector, m: int) -> RankConstrained:
    """minimize the largest ‖Q c_j‖₁ over m × r matrices Q with QᵗQ = I.

    The paper's A is QR and its M⁻¹ is RᵗR; the block matrix of A is that of Q between diag(I, R)ᵗ and diag(I, R), which
    changes no rank, and Q is scaled better.
    """
    r = len(C)
    Q = cp.Variable((m, r))
    return RankConstrained(Q, cp.Constant(np.eye(r)), cp.max(cp.sum(cp.abs(Q @ C), axis=0)), [])


def _nearest_rotation(settled: Settled) -> Vector:
    left, _, right = scipy.linalg.svd(settled.A, full_matrices=False)
    return np.asarray(left @ right)
