"""Lower triangles for Laplace noise: trees that close in time, and what a search makes of them."""

from __future__ import annotations

import numpy as np
import scipy

from rowspace.operators import Vector


def fenwick(n: int, branching: int) -> Vector:
    """Row i sums the cells that end at i and begin where the largest power of the branching that divides i + 1 says.

    A tree whose nodes close in time, without those that follow from the others.
    """
    C = np.zeros((n, n))
    for i in range(1, n + 1):
        width = 1
        while i % (width * branching) == 0:
            width *= branching
        C[i - 1, i - width : i] = 1.0
    return C


def searched(C: Vector, V: Vector) -> Vector:
    """A lower triangle of less error under Laplace noise: ‖C‖₁²·tr(V(CᵗC)⁻¹) falls by L-BFGS.

    Entries stay at or above zero, where norms are smooth. Columns are scaled to norm 1, which never hurts: each may be
    as long as the longest. With B = C⁻¹ and E = tr(BᵗVB), dE = −2 tr(BᵗVB·dC·B), so ∂E/∂C = −2 (B BᵗVB)ᵗ.
    """
    n = len(V)
    V = V / (np.trace(V) or 1.0)
    below = np.tril_indices(n)

    def loss(entries: Vector) -> tuple[float, Vector]:
        T = np.zeros((n, n))
        T[below] = entries
        norms = T.sum(axis=0)
        scaled = T / norms
        if np.diagonal(scaled).min() < 1e-9:
            return 1e300, np.zeros_like(entries)
        B = scipy.linalg.solve_triangular(scaled, np.eye(n), lower=True)
        VB = V @ B
        gradient = -2 * (B @ (B.T @ VB)).T
        # Through the scaling of columns: d(T/‖T‖) = dT/‖T‖ − T·ΣdT/‖T‖².
        gradient = (gradient - np.einsum("ij,ij->j", gradient, scaled)) / norms
        return float(np.einsum("ij,ij->", VB, B)), gradient[below]

    C = np.maximum(C, 0.0)
    start = C / C.sum(axis=0)
    found = scipy.optimize.minimize(
        loss,
        start[below],
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * len(below[0]),
        options={"maxiter": 300},
    )
    best = np.zeros((n, n))
    best[below] = found.x if found.fun < loss(start[below])[0] else start[below]
    return np.asarray(best / best.sum(axis=0))
