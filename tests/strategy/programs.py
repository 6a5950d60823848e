"""Programs as the paper writes them, given to a solver: oracles for small sizes."""

from __future__ import annotations

import cvxpy as cp
import numpy as np


def program_2(W: np.ndarray) -> float:
    """min tr(X⁻¹WᵗW) over X ⪰ 0 with diagonal at most 1."""
    X = cp.Variable((W.shape[1], W.shape[1]), PSD=True)
    problem = cp.Problem(cp.Minimize(cp.matrix_frac(W.T, X)), [cp.diag(X) <= 1])
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


def worst_query_program(W: np.ndarray) -> float:
    """min over the same X of the largest w X⁻¹ wᵗ."""
    X = cp.Variable((W.shape[1], W.shape[1]), PSD=True)
    largest = cp.max(cp.hstack([cp.matrix_frac(w, X) for w in W]))
    problem = cp.Problem(cp.Minimize(largest), [cp.diag(X) <= 1])
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)
