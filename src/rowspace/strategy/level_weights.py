"""The best weight for every level of a tree, from one energy per level of the workload.

For a regular tree AᵗA has one eigenvalue per level, λ_j = Σ_{ℓ≥j} w_ℓ²·size_ℓ (finer levels ℓ), on the vectors that
are constant on level j's blocks and sum to zero over level j−1's. So the trace is Σ_j s_j/λ_j with
s_j = tr(P_j WᵗW), and the sensitivity is a norm of w. That is a smooth problem in as many variables as levels;
for a tree whose last blocks are cut short it is an excellent guide, and the true error is computed afterwards.
"""

from __future__ import annotations

import numpy as np
import scipy

from rowspace.operators import Levels, Operator, Vector


def level_energies(W: Operator, levels: Levels) -> Vector:
    """s_j for every level: the energy of W on what level j adds to level j−1."""
    ones = np.ones(levels.n)
    within = [float(np.sum(W.segment_energy(ones, b) / np.diff(b))) for b in levels.bounds]
    return np.maximum(np.diff(np.concatenate(([0.0], within))), 0.0)


def optimal_level_weights(energies: Vector, sizes: Vector, norm: int) -> Vector:
    """Weights w ≥ 0, the finest level's at 1, that minimize ‖w‖² · Σ_j s_j/λ_j in the noise's norm."""
    finest = len(energies) - 1
    if finest == 0:
        return np.ones(1)

    def objective(head: Vector) -> tuple[float, Vector]:
        w = np.append(head, 1.0)
        eigenvalues = np.cumsum((w**2 * sizes)[::-1])[::-1]
        trace = float(np.sum(energies / eigenvalues))
        slope = -2 * w * sizes * np.cumsum(energies / eigenvalues**2)
        power = w.sum() if norm == 1 else np.sqrt(np.sum(w**2))
        power_slope = np.ones_like(w) if norm == 1 else w / power
        # The logarithm makes the problem scale-free, whatever the size of the workload.
        value = 2 * np.log(power) + np.log(trace)
        return float(value), np.asarray(2 * power_slope / power + slope / trace)[:-1]

    # L1 sensitivity makes the problem non-convex: start from equal weights and from a nearly flat tree.
    starts = [np.ones(finest), np.full(finest, 0.1)]
    found = [
        scipy.optimize.minimize(objective, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * finest)
        for start in starts
    ]
    best = min(found, key=lambda result: float(result.fun))
    return np.append(best.x, 1.0)
