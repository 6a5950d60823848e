"""The last digits of a rotation of least sensitivity: one linear program a step.

At a minimum many entries of B = QC are zero and many columns share the largest norm. Smoothing only approaches such a
corner. But Q turned by the skew matrix Ω is (I + Ω)Q to first order, so the best small turn is a linear program:
minimize t with Σ_i |b_ij + (ΩB)_ij| ≤ t for all j and |Ω_ab| ≤ radius. Where the corner determines Ω the steps converge
quadratically, as Newton's do.
"""

from __future__ import annotations

import numpy as np
import scipy

from rowspace.operators import Vector

MOST_ROWS = 16
"""Largest number of rows for which the linear programs are quick: 120 angles."""

MOST_ENTRIES = 2**11
"""Largest number of entries of B for the same reason."""

FIRST_RADIUS = 0.02
LAST_RADIUS = 1e-10
WORTH_A_STEP = 1e-10
"""Least relative gain promised by a linear program for its step to be taken."""


def quick_to_polish(m: int, k: int) -> bool:
    """Whether an m × k matrix B is small enough."""
    return m <= MOST_ROWS and m * k <= MOST_ENTRIES


def polish(Q: Vector, C: Vector, rounds: int) -> Vector:
    """Q (m × r) turned step by step until max_j ‖Q c_j‖₁ falls no more; never above the given one."""
    radius, current = FIRST_RADIUS, _sensitivity(Q, C)
    for _ in range(rounds):
        turn, predicted = _best_turn(Q @ C, radius)
        if predicted >= current * (1 - WORTH_A_STEP):
            break
        turned = _turned(Q, turn)
        reached = _sensitivity(turned, C)
        if reached < current:
            radius *= 2.0 if current - reached > 0.75 * (current - predicted) else 1.0
            Q, current = turned, reached
        else:
            radius *= 0.25
        if radius < LAST_RADIUS:
            break
    return Q


def _best_turn(B: Vector, radius: float) -> tuple[Vector, float]:
    """The skew Ω with entries up to `radius` that lowers the norms most, to first order, and the largest norm then."""
    m, k = B.shape
    first, second = np.triu_indices(m, 1)
    angles = len(first)
    # Row a gains ω·(row b) and row b loses ω·(row a): the derivative of every entry of B, m·k × angles.
    cells = np.arange(k)
    where = np.concatenate((first[:, None] * k + cells, second[:, None] * k + cells)).ravel()
    which = np.tile(np.repeat(np.arange(angles), k), 2)
    slopes = np.concatenate((B[second], -B[first])).ravel()
    D = scipy.sparse.csr_array((slopes, (where, which)), shape=(m * k, angles))
    # Only entries that a turn of this size can bring to zero need a variable for their absolute value.
    near = (np.abs(B) <= radius * np.sqrt(m) * np.linalg.norm(B, axis=0)).ravel()
    signs = np.where(near, 0.0, np.sign(B.ravel()))
    add_up = scipy.sparse.csr_array((np.ones(m * k), (np.tile(cells, m), np.arange(m * k))), shape=(k, m * k))
    bends = D[near]
    one = scipy.sparse.eye_array(int(near.sum()), format="csr")
    nothing = scipy.sparse.csr_array((int(near.sum()), 1))
    limits = scipy.sparse.block_array(
        [
            [add_up @ (signs[:, None] * D), add_up[:, near], scipy.sparse.csr_array(-np.ones((k, 1)))],
            [bends, -one, nothing],
            [-bends, -one, nothing],
        ],
        format="csr",
    )
    near_values = B.ravel()[near]
    right = np.concatenate((-(add_up @ (signs * B.ravel())), -near_values, near_values))
    cost = np.zeros(limits.shape[1])
    cost[-1] = 1.0
    bounds = np.full((len(cost), 2), (0.0, np.inf))
    bounds[:angles] = (-radius, radius)
    # The stubs do not know that limits may be sparse.
    solution = scipy.optimize.linprog(cost, limits, right, bounds=bounds, method="highs")  # type: ignore[call-overload]
    if solution.x is None:
        return np.zeros((m, m)), np.inf
    turn = np.zeros((m, m))
    turn[first, second] = solution.x[:angles]
    return turn - turn.T, float(solution.fun)


def _turned(Q: Vector, turn: Vector) -> Vector:
    """Cayley's rotation (I − Ω/2)⁻¹(I + Ω/2) applied to Q, cleaned of rounding."""
    half, one = 0.5 * turn, np.eye(len(Q))
    left, _, right = scipy.linalg.svd(scipy.linalg.solve(one - half, (one + half) @ Q), full_matrices=False)
    return np.asarray(left @ right)


def _sensitivity(Q: Vector, C: Vector) -> float:
    return float(np.abs(Q @ C).sum(axis=0).max())
